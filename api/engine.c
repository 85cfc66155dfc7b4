/* SPDX-License-Identifier: Apache-2.0 */
/* The engine thread: follows the feed, wakes watchers and waiters, runs their clocks.
 *
 * Why no wake is lost: a watcher that finds nothing says so by park_wait, which fails when somebody
 * has called park_wake since its last park_begin; and it calls park_begin before it reads the feed.
 * So an event that is committed after its read finds it either asleep (and resumes it) or about to
 * sleep (and makes it look again).
 *
 * Why positions may be moved: the engine hands each event to every watcher that it concerns. When a watcher sleeps,
 * it has sent all up to its own position; what the engine has seen since then did not concern it, or it would not
 * sleep. So before the engine looks at the events (seen, now], a sleeper's position may become `seen`. That
 * keeps the watch of a quiet resource away from the compaction point without ever waking it. */
#include "api/engine.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/http.h"
#include "api/metrics.h"
#include "api/server.h"

enum { BUCKETS = 256, KIND_IDS = 1 << 16, EPOLL_BATCH = 64 };
#define TICK_NS 500000000LL

/* One engine_wait. */
struct waiter {
	struct waiter *next;
	struct park *park;
	uint64_t revision;
	int64_t until;
};

struct engine {
	struct api *api;
	pthread_t thread;
	int epoll_fd, event_fd;
	struct subscriber subscriber;
	_Atomic uint64_t seen;       /* events up to here were handed out */
	_Atomic uint64_t compacted;
	_Atomic uint64_t *changed;   /* by id of the storage row */
	atomic_bool stop;
	atomic_uint count;
	int64_t next_clock;          /* monotonic ns: run_clocks is due; the thread's own */
	pthread_mutex_t lock;        /* guards what follows; taken inside no other lock of ours */
	struct watcher *bucket[BUCKETS]; /* by kind id */
	struct waiter *waiters;
	bool draining;
};

static struct watcher **bucket_of(struct engine *e, const struct kind *k)
{
	return &e->bucket[k->id % BUCKETS];
}

static void poke(struct engine *e)
{
	uint64_t one = 1;

	/* Fails only when the counter is full, and then the engine is awake anyway. */
	if (write(e->event_fd, &one, sizeof(one)) < 0)
		return;
}

static void on_commit(struct subscriber *self, uint64_t revision)
{
	(void)revision;
	poke((struct engine *)((char *)self - offsetof(struct engine, subscriber)));
}

/* Position first: it belongs to the watcher as soon as it is awake. `seen` is correct for sleepers only, but a
 * watcher that is awake writes its own, larger or re-read, position before it sleeps again. */
static void wake_watcher(struct engine *e, struct watcher *w)
{
	uint64_t seen = atomic_load(&e->seen);

	if (park_asleep(w->park) && atomic_load(&w->position) < seen)
		atomic_store(&w->position, seen);
	park_wake(w->park);
}

static bool concerns(const struct watcher *w, const struct event *ev)
{
	return w->kind == ev->kind && (!w->ns.ptr || str_eq(w->ns, ev->object.ns)) &&
	       (w->name.len == 0 || str_eq(w->name, ev->object.name));
}

static void hand_out(struct engine *e, const struct event *ev)
{
	atomic_store(&e->changed[ev->kind->id], ev->revision);
	for (struct watcher *w = *bucket_of(e, ev->kind); w; w = w->next)
		if (concerns(w, ev))
			wake_watcher(e, w);
}

static void wake_all(struct engine *e)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct watcher *w = e->bucket[i]; w; w = w->next)
			park_wake(w->park);
}

/* The feed was compacted under our feet: whatever we missed, everybody has to look. */
static uint64_t skip_gap(struct engine *e, struct read *r)
{
	uint64_t now = read_revision(r);

	for (unsigned i = 0; i < KIND_IDS; i++)
		if (atomic_load(&e->changed[i]))
			atomic_store(&e->changed[i], now);
	wake_all(e);
	return now;
}

static uint64_t read_feed(struct engine *e, struct read *r, struct status *st)
{
	uint64_t at = atomic_load(&e->seen);
	struct event ev;
	int rc;

	while ((rc = feed_next(r, at, &ev, st)) == 1) {
		hand_out(e, &ev);
		at = ev.revision;
	}
	if (rc == -ESTALE)
		return skip_gap(e, r);
	/* Revisions without events count as seen too. A damaged event stops us here; the watchers that run into it
	 * report it. */
	return rc == 0 && read_revision(r) > at ? read_revision(r) : at;
}

static void follow(struct engine *e)
{
	struct status st;
	struct read *r;

	status_clear(&st);
	if (read_begin(e->api->store, &r, &st) < 0) {
		log_error("msg=\"watches cannot read the store\" error=\"%s\"", st.message);
		return;
	}
	pthread_mutex_lock(&e->lock);
	atomic_store(&e->compacted, read_compacted(r));
	uint64_t at = read_feed(e, r, &st);
	atomic_store(&e->seen, at);
	pthread_mutex_unlock(&e->lock);
	read_end(r);
}

/* Wakes and drops the waiters whose time has come. */
static void run_waiters(struct engine *e, int64_t now, bool all)
{
	uint64_t revision = store_revision(e->api->store);

	for (struct waiter **at = &e->waiters; *at;) {
		struct waiter *w = *at;
		if (!all && w->revision > revision && w->until > now) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		park_wake(w->park);
		free(w);
	}
}

static unsigned watcher_due(struct watcher *w, int64_t now)
{
	unsigned due = 0;

	if (w->bookmark_at && now >= w->bookmark_at) {
		due |= DUE_BOOKMARK;
		w->bookmark_at = now + 60000000000LL;
	}
	if (w->last_bookmark_at && now >= w->last_bookmark_at) {
		due |= DUE_BOOKMARK;
		w->last_bookmark_at = 0;
	}
	if (now >= w->deadline)
		due |= DUE_END;
	return due;
}

static void earlier(int64_t *next, int64_t at)
{
	if (at && at < *next)
		*next = at;
}

static void run_watcher(struct engine *e, struct watcher *w, int64_t now)
{
	unsigned due = watcher_due(w, now);

	earlier(&e->next_clock, w->bookmark_at);
	earlier(&e->next_clock, w->last_bookmark_at);
	if (!(due & DUE_END))
		earlier(&e->next_clock, w->deadline);
	if (!due)
		return;
	atomic_fetch_or(&w->due, due);
	wake_watcher(e, w);
}

static void run_clocks(struct engine *e, int64_t now)
{
	e->next_clock = now + TICK_NS;
	pthread_mutex_lock(&e->lock);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct watcher *w = e->bucket[i]; w; w = w->next)
			run_watcher(e, w, now);
	pthread_mutex_unlock(&e->lock);
	http_check_deadlines(e->api, now);
}

static void hang_up(struct engine *e, struct watcher *w)
{
	epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	w->fd = -1;
	atomic_fetch_or(&w->due, DUE_HANGUP);
	park_wake(w->park);
}

static void drain_event_fd(struct engine *e)
{
	uint64_t n;

	if (read(e->event_fd, &n, sizeof(n)) < 0)
		return; /* somebody poked twice */
}

/* Milliseconds until something is due, at most a tick: what a watch registers comes later than that. */
static int next_tick(struct engine *e)
{
	int64_t now = clock_ns(), next = now + TICK_NS;

	earlier(&next, e->next_clock);
	pthread_mutex_lock(&e->lock);
	for (struct waiter *w = e->waiters; w; w = w->next)
		earlier(&next, w->until);
	pthread_mutex_unlock(&e->lock);
	return next <= now ? 0 : (int)((next - now) / 1000000 + 1);
}

/* Events are fetched and handled under the lock, so that each is about a watcher that is still there. */
static void handle_events(struct engine *e)
{
	struct epoll_event events[EPOLL_BATCH];

	pthread_mutex_lock(&e->lock);
	int n = epoll_wait(e->epoll_fd, events, EPOLL_BATCH, 0);
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			hang_up(e, events[i].data.ptr);
		else
			drain_event_fd(e);
	}
	run_waiters(e, clock_ns(), e->draining);
	pthread_mutex_unlock(&e->lock);
}

static void *run(void *arg)
{
	struct engine *e = arg;

	while (!atomic_load(&e->stop)) {
		/* An epoll descriptor can itself be polled. */
		struct pollfd pfd = {.fd = e->epoll_fd, .events = POLLIN};
		poll(&pfd, 1, next_tick(e));
		handle_events(e);
		if (store_revision(e->api->store) != atomic_load(&e->seen))
			follow(e);
		int64_t now = clock_ns();
		if (now >= e->next_clock)
			run_clocks(e, now);
	}
	return NULL;
}

static int open_fds(struct engine *e)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};

	e->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (e->event_fd < 0 || e->epoll_fd < 0)
		return -1;
	return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->event_fd, &ev);
}

static void engine_free(struct engine *e)
{
	if (e->event_fd >= 0)
		close(e->event_fd);
	if (e->epoll_fd >= 0)
		close(e->epoll_fd);
	pthread_mutex_destroy(&e->lock);
	free(e->changed);
	free(e);
}

int engine_start(struct api *api, struct engine **ret, struct status *st)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return status_no_memory(st);
	e->api = api;
	e->event_fd = e->epoll_fd = -1;
	e->subscriber.wake = on_commit;
	pthread_mutex_init(&e->lock, NULL);
	/* 512 KiB of which only the pages of known kinds are ever touched. */
	e->changed = calloc(KIND_IDS, sizeof(*e->changed));
	/* What changed before we started counts as changed now. */
	uint64_t now = store_revision(api->store);
	atomic_store(&e->seen, now);
	if (!e->changed || open_fds(e) < 0 || pthread_create(&e->thread, NULL, run, e) != 0) {
		engine_free(e);
		return status_set(st, REASON_UNAVAILABLE, "cannot start the watch thread: %s", strerror(errno));
	}
	store_subscribe(api->store, &e->subscriber);
	poke(e);
	*ret = e;
	return 0;
}

void engine_drain(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
	e->draining = true;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct watcher *w = e->bucket[i]; w; w = w->next) {
			atomic_fetch_or(&w->due, DUE_END);
			park_wake(w->park);
		}
	run_waiters(e, clock_ns(), true);
	pthread_mutex_unlock(&e->lock);
}

void engine_stop(struct engine *e)
{
	if (!e)
		return;
	store_unsubscribe(e->api->store, &e->subscriber);
	atomic_store(&e->stop, true);
	poke(e);
	pthread_join(e->thread, NULL);
	engine_free(e);
}

void engine_watch(struct engine *e, struct watcher *w)
{
	struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = w};

	pthread_mutex_lock(&e->lock);
	struct watcher **head = bucket_of(e, w->kind);
	w->next = *head;
	w->link = head;
	if (w->next)
		w->next->link = &w->next;
	*head = w;
	if (e->draining)
		atomic_fetch_or(&w->due, DUE_END);
	atomic_fetch_add(&e->count, 1);
	if (w->fd >= 0 && epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, w->fd, &ev) < 0)
		w->fd = -1;
	pthread_mutex_unlock(&e->lock);
}

void engine_forget(struct engine *e, struct watcher *w)
{
	pthread_mutex_lock(&e->lock);
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	atomic_fetch_sub(&e->count, 1);
	if (w->fd >= 0)
		epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	pthread_mutex_unlock(&e->lock);
}

int engine_wait(struct engine *e, struct park *park, uint64_t revision, int64_t until, struct status *st)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return status_no_memory(st);
	*w = (struct waiter){.park = park, .revision = revision, .until = until};
	pthread_mutex_lock(&e->lock);
	w->next = e->waiters;
	e->waiters = w;
	pthread_mutex_unlock(&e->lock);
	poke(e);
	return 0;
}

void engine_unwait(struct engine *e, struct park *park)
{
	pthread_mutex_lock(&e->lock);
	for (struct waiter **at = &e->waiters; *at; at = &(*at)->next) {
		struct waiter *w = *at;
		if (w->park != park)
			continue;
		*at = w->next;
		free(w);
		break;
	}
	pthread_mutex_unlock(&e->lock);
}

uint64_t engine_changed(struct engine *e, const struct kind *k, uint64_t now)
{
	if (atomic_load(&e->seen) < now)
		return UINT64_MAX;
	return atomic_load(&e->changed[k->id]);
}

uint64_t engine_compacted(struct engine *e)
{
	return atomic_load(&e->compacted);
}

unsigned engine_watchers(struct engine *e)
{
	return atomic_load(&e->count);
}
