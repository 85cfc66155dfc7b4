/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers' thread: feed, queue, clock. */
#include "store/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "store/control/gc.h"

static const struct controller *const controllers[] = {
	&control_content,   &control_purge,	   &control_finalize,	  &control_gc,	     &control_gc_scan,
	&control_gc_absent, &control_gc_dependent, &control_gc_owner, &control_compact,
};

enum {
	EVENTS_AT_ONCE = 256, /* in one snapshot */
	TASKS_AT_ONCE = 16,   /* before the feed is looked at again */
	RETRY_FIRST_MS = 50,
	RETRY_LAST_MS = 30 * 1000,
};

void control_queue(struct control *c, const struct controller *controller, const struct kind *kind, struct str ns,
		   struct str name, struct str uid, int64_t delay)
{
	struct task t = {
		.controller = controller, .kind = kind, .ns = ns, .name = name, .uid = uid, .due = queue_now() + delay};

	c->rescan = !queue_add(&c->queue, &t) || c->rescan;
}

static void wake(struct subscriber *self, uint64_t revision)
{
	struct control *c = (struct control *)((char *)self - offsetof(struct control, subscriber));

	(void)revision;
	pthread_mutex_lock(&c->lock);
	c->woken = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static bool stopped(struct control *c)
{
	pthread_mutex_lock(&c->lock);
	bool stop = c->stop;
	pthread_mutex_unlock(&c->lock);
	return stop;
}

/* Waits for a commit, the next task or the end. */
static void wait(struct control *c, int64_t until)
{
	struct timespec t = {.tv_sec = (time_t)(until / 1000), .tv_nsec = (long)(until % 1000) * 1000000};

	pthread_mutex_lock(&c->lock);
	while (!c->woken && !c->stop) {
		int err = until == INT64_MAX ? pthread_cond_wait(&c->changed, &c->lock)
					     : pthread_cond_timedwait(&c->changed, &c->lock, &t);
		if (err == ETIMEDOUT)
			break;
	}
	c->woken = false;
	pthread_mutex_unlock(&c->lock);
}

/* Finds out what there is to do, and from where on the feed tells. */
static int scan(struct control *c, struct status *st)
{
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	c->seen = read_revision(r);
	c->rescan = false;
	for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++)
		if (controllers[i]->on_start)
			controllers[i]->on_start(c, r);
	read_end(r);
	return 0;
}

/* Shows new events to all: 1 when there may be more, 0, or -errno. */
static int follow(struct control *c, struct status *st)
{
	struct event e;
	struct read *r;
	int n = 0, err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	while (n < EVENTS_AT_ONCE && (err = feed_next(r, c->seen, &e, st)) == 1) {
		for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++)
			if (controllers[i]->on_event)
				controllers[i]->on_event(c, r, &e);
		c->seen = e.revision;
		n++;
	}
	read_end(r);
	if (err == -ESTALE)
		c->rescan = true;
	return err < 0 ? err : n == EVENTS_AT_ONCE;
}

static int64_t retry_delay(unsigned tries)
{
	int64_t delay = (int64_t)RETRY_FIRST_MS << (tries < 16 ? tries : 16);

	return delay < RETRY_LAST_MS ? delay : RETRY_LAST_MS;
}

/* Works off what is due, a few at a time: 1 when there may be more, 0. */
static int work(struct control *c, struct status *st)
{
	for (unsigned n = 0; n < TASKS_AT_ONCE; n++) {
		struct task *t = stopped(c) ? NULL : queue_take(&c->queue, queue_now());
		if (!t)
			return 0;
		status_clear(st);
		if (t->controller->work(c, t, st) < 0) {
			t->due = queue_now() + retry_delay(t->tries++);
			c->rescan = !queue_add(&c->queue, t) || c->rescan;
		}
		task_free(t);
	}
	return 1;
}

static void *run(void *arg)
{
	struct control *c = arg;
	struct status st;

	c->rescan = true;
	while (!stopped(c)) {
		/* An error here is the store's or the memory's: it may pass. */
		int64_t retry = queue_now() + RETRY_LAST_MS;
		int more = c->rescan ? scan(c, &st) : 0;
		more = more < 0 ? more : follow(c, &st);
		int busy = work(c, &st);
		if (more > 0 || busy > 0 || (more == -ESTALE && c->rescan))
			continue;
		wait(c, more < 0 && retry < queue_due(&c->queue) ? retry : queue_due(&c->queue));
	}
	return NULL;
}

static int init_lock(struct control *c)
{
	pthread_condattr_t attributes;
	int err = pthread_condattr_init(&attributes);

	if (err)
		return err;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	err = pthread_cond_init(&c->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return err ? err : pthread_mutex_init(&c->lock, NULL);
}

static void control_free(struct control *c)
{
	queue_done(&c->queue);
	gc_forget_all(c);
	free((char *)c->ca_pem.ptr);
	free(c);
}

static bool find_kinds(struct control *c)
{
	const struct kinds *ks = store_kinds(c->store);

	c->namespaces = kinds_find(ks, STR(""), STR("v1"), STR("namespaces"));
	c->pods = kinds_find(ks, STR(""), STR("v1"), STR("pods"));
	c->accounts = kinds_find(ks, STR(""), STR("v1"), STR("serviceaccounts"));
	c->config_maps = kinds_find(ks, STR(""), STR("v1"), STR("configmaps"));
	return c->namespaces && c->pods && c->accounts && c->config_maps;
}

int control_start(struct store *s, struct str ca_pem, struct control **ret, struct status *st)
{
	struct control *c = calloc(1, sizeof(*c));
	char *pem = malloc(ca_pem.len + 1);

	if (!c || !pem) {
		free(c);
		free(pem);
		return status_no_memory(st);
	}
	if (ca_pem.len)
		memcpy(pem, ca_pem.ptr, ca_pem.len);
	c->ca_pem = str_n(pem, ca_pem.len);
	c->store = s;
	c->subscriber.wake = wake;
	if (!find_kinds(c)) {
		control_free(c);
		return status_set(st, REASON_INTERNAL, "Internal error occurred: a kind of the core group is missing");
	}
	int err = init_lock(c);
	store_subscribe(s, &c->subscriber);
	if (!err)
		err = pthread_create(&c->thread, NULL, run, c);
	if (err) {
		store_unsubscribe(s, &c->subscriber);
		control_free(c);
		return status_set(st, REASON_INTERNAL, "Internal error occurred: no thread for the controllers: %s",
				  strerrordesc_np(err));
	}
	*ret = c;
	return 0;
}

void control_stop(struct control *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	store_unsubscribe(c->store, &c->subscriber);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	control_free(c);
}
