/* SPDX-License-Identifier: Apache-2.0 */
/* WATCH: a position in the feed, and a stream that turns what lies behind it into frames.
 *
 * A watch first sends the objects of one revision as ADDED (if asked to), window by window like a large list, then
 * follows the feed from that revision. Each read takes a snapshot, fills the watch's buffer, ends the snapshot, and
 * only then sends. With nothing to send the connection sleeps; the engine wakes it for events that concern it,
 * for bookmarks and for its end. */
#include "api/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "api/engine.h"
#include "api/http.h"
#include "api/listopts.h"
#include "api/metrics.h"
#include "api/reply.h"
#include "api/shape.h"
#include "api/wait.h"

enum {
	WINDOW = 32 << 10,       /* bytes framed in one snapshot */
	BUFFER_KEPT = 4 << 10,   /* a sleeping watch keeps no larger buffer */
	EVENTS_BUDGET = 4096,    /* feed entries looked at in one snapshot */
	ROUNDS = 16,             /* snapshots without a single frame before the thread's other connections get their turn */
	SECONDS_MIN = 1800,      /* life of a watch that names none */
};

enum phase { PHASE_INITIAL, PHASE_LIVE, PHASE_OVER };

struct watch {
	struct stream stream;
	struct watcher watcher;
	struct request *r;
	struct watchopts opts;
	struct shape shape;
	enum phase phase;
	uint64_t revision;         /* of the initial list */
	char last_ns[64], last_name[254];
	bool started;              /* the initial list: last_* are set */
	bool columns_sent;
	bool bookmark_due;
	bool initial_end_due;      /* caught up is to be said once (sendInitialEvents=false) */
	bool failed;               /* end with an error, not with a last chunk */
	struct buf out;
	size_t sent;
	uint64_t events, bytes;    /* not yet in the metrics */
};

/* ---- frames ---- */

static bool table_columns(struct watch *w)
{
	bool first = !w->columns_sent;

	w->columns_sent = true;
	return first;
}

static void add_frame(struct watch *w, const char *type, const struct object *o)
{
	buf_addf(&w->out, "{\"type\":\"%s\",\"object\":", type);
	shape_object(&w->shape, o, table_columns(w), &w->out);
	buf_adds(&w->out, "}\n");
	w->events++;
}

static void add_bookmark(struct watch *w, uint64_t revision, bool initial_end)
{
	buf_adds(&w->out, "{\"type\":\"BOOKMARK\",\"object\":");
	shape_bookmark(&w->shape, revision, initial_end, table_columns(w), &w->out);
	buf_adds(&w->out, "}\n");
}

static void add_error(struct watch *w, const struct status *st)
{
	buf_adds(&w->out, "{\"type\":\"ERROR\",\"object\":");
	status_json(st, &w->out);
	buf_adds(&w->out, "}\n");
	w->phase = PHASE_OVER;
}

/* The same object as of another revision: the previous state that leaves a selector carries the revision of the
 * event that made it leave. */
static bool add_restamped(struct watch *w, const char *type, const struct object *o, uint64_t revision)
{
	size_t len = record_stamped_len(o->raw, revision);
	char *raw = malloc(len);
	struct object copy;

	if (!raw)
		return false;
	record_stamp(o->raw, revision, raw);
	bool good = record_view(str_n(raw, len), o->ns, o->name, &copy);
	if (good)
		add_frame(w, type, &copy);
	free(raw);
	return good;
}

/* ---- selectors ---- */

static bool matches(const struct watch *w, struct str labels, struct str fields, const struct object *o)
{
	return (!w->opts.labels || selector_match_labels(w->opts.labels, labels)) &&
	       (!w->opts.fields || selector_match_fields(w->opts.fields, fields, o->ns, o->name));
}

static int modified(struct watch *w, struct read *read, const struct event *e)
{
	bool is = matches(w, e->object.labels, e->object.fields, &e->object);
	bool was = matches(w, e->old_labels, e->old_fields, &e->object);
	struct object before;

	if (is)
		add_frame(w, was ? "MODIFIED" : "ADDED", &e->object);
	if (is || !was)
		return 0;
	/* A state that is not kept any more is as lost as a compacted event. */
	if (feed_before(read, e, &before) < 0)
		return -ESTALE;
	return add_restamped(w, "DELETED", &before, e->revision) ? 0 : -ENOMEM;
}

static int add_event(struct watch *w, struct read *read, const struct event *e)
{
	if (w->opts.only.len && !str_eq(w->opts.only, e->object.name))
		return 0;
	if (e->type == EVENT_MODIFIED)
		return modified(w, read, e);
	if (matches(w, e->object.labels, e->object.fields, &e->object))
		add_frame(w, e->type == EVENT_ADDED ? "ADDED" : "DELETED", &e->object);
	return 0;
}

/* ---- following the feed ---- */

static void expired(struct watch *w, struct read *read)
{
	struct status st;

	status_clear(&st);
	status_set(&st, REASON_EXPIRED, "too old resource version: %llu (%llu)",
		   (unsigned long long)atomic_load(&w->watcher.position), (unsigned long long)read_compacted(read));
	add_error(w, &st);
}

static void advance(struct watch *w, uint64_t revision)
{
	if (revision > atomic_load(&w->watcher.position))
		atomic_store(&w->watcher.position, revision);
}

/* Fills a window. 1: there may be more; 0: all is read; negative: failed. */
static int read_events(struct watch *w, struct read *read, struct status *st)
{
	uint64_t seen;
	struct event e;
	int rc;

	do {
		rc = feed_next_of(read, atomic_load(&w->watcher.position), w->watcher.kind, w->watcher.ns, EVENTS_BUDGET,
				  &seen, &e, st);
		if (rc < 0)
			return rc;
		if (rc == 1) {
			seen = e.revision;
			int err = add_event(w, read, &e);
			if (err < 0)
				return err;
		}
		advance(w, seen);
	} while (rc == 1 && w->out.len < WINDOW);
	return rc == 1 || atomic_load(&w->watcher.position) < read_revision(read);
}

static bool fill_live(struct watch *w)
{
	struct status st;
	struct read *read;

	status_clear(&st);
	if (read_begin(w->r->api->store, &read, &st) < 0) {
		add_error(w, &st);
		return false;
	}
	int rc = read_events(w, read, &st);
	if (rc == -ESTALE)
		expired(w, read);
	else if (rc < 0)
		add_error(w, &st);
	read_end(read);
	return rc > 0;
}

/* ---- the initial list ---- */

static bool set_last(struct watch *w, const struct object *o)
{
	if (o->ns.len >= sizeof(w->last_ns) || o->name.len >= sizeof(w->last_name))
		return false;
	memcpy(w->last_ns, o->ns.ptr ? o->ns.ptr : "", o->ns.len);
	memcpy(w->last_name, o->name.ptr, o->name.len);
	w->last_ns[o->ns.len] = w->last_name[o->name.len] = '\0';
	w->started = true;
	return true;
}

static int list_window(struct watch *w, struct list *l, struct status *st)
{
	struct object o;
	int rc = 0;

	while (w->out.len < WINDOW && (rc = list_next(l, &o, st)) == 1) {
		if (!set_last(w, &o))
			return status_set(st, REASON_INTERNAL, "an object name is too long");
		add_frame(w, "ADDED", &o);
	}
	return rc;
}

/* The list is at its end: go live. */
static void initial_done(struct watch *w)
{
	advance(w, w->revision);
	w->phase = PHASE_LIVE;
	if (w->opts.initial_end)
		add_bookmark(w, w->revision, true);
}

/* One known name in one place is a point read, however many objects there are. */
static bool is_point(const struct watch *w)
{
	return w->opts.only.len && (w->r->ns.ptr || !kind_is(w->r->kind, KIND_NAMESPACED));
}

static int list_point(struct watch *w, struct read *read, struct status *st)
{
	struct object o;
	int rc = read_get(read, w->r->kind, w->r->ns.ptr ? w->r->ns : STR(""), w->opts.only, &o, st);

	if (rc == 0 && matches(w, o.labels, o.fields, &o))
		add_frame(w, "ADDED", &o);
	return rc == -ENOENT ? 0 : rc;
}

static int read_initial(struct watch *w, struct read *read, struct arena *a, struct status *st)
{
	struct list_query q = {
		.kind = w->r->kind,
		.ns = w->r->ns,
		.labels = w->opts.labels,
		.fields = w->opts.fields,
		.at = w->revision,
	};
	struct list *l;

	if (!w->revision) {
		w->revision = q.at = read_revision(read);
		if (is_point(w))
			return list_point(w, read, st);
	}
	if (w->started) {
		q.after_ns = str_of(w->last_ns);
		q.after_name = str_of(w->last_name);
	}
	int rc = list_begin(read, a, &q, &l, st);
	if (rc < 0)
		return rc;
	rc = list_window(w, l, st);
	list_end(l);
	return rc;
}

static void fill_initial(struct watch *w)
{
	_cleanup_(arena_done) struct arena a;
	struct status st;
	struct read *read;

	arena_init(&a, 0);
	status_clear(&st);
	int rc = read_begin(w->r->api->store, &read, &st);
	if (rc == 0) {
		rc = read_initial(w, read, &a, &st);
		read_end(read);
	}
	if (rc < 0)
		add_error(w, &st);
	else if (rc == 0)
		initial_done(w);
}

/* ---- the stream ---- */

static void note_metrics(struct watch *w)
{
	if (w->events)
		metrics_watch(w->r->api->metrics, w->r->kind, w->events, w->bytes);
	w->events = w->bytes = 0;
}

/* What the engine wanted besides events. */
static void take_due(struct watch *w)
{
	unsigned due = atomic_fetch_and(&w->watcher.due, ~(unsigned)DUE_BOOKMARK);

	if (due & DUE_BOOKMARK)
		w->bookmark_due = true;
	if (due & DUE_HANGUP)
		w->failed = true;
	if (due & (DUE_END | DUE_HANGUP))
		w->phase = PHASE_OVER;
}

/* All is read up to position: say so. */
static void bookmark_if_due(struct watch *w)
{
	if ((!w->bookmark_due && !w->initial_end_due) || w->phase != PHASE_LIVE)
		return;
	add_bookmark(w, atomic_load(&w->watcher.position), w->initial_end_due);
	w->bookmark_due = w->initial_end_due = false;
}

/* Fills the buffer unless there is nothing. True: there may be more, do not sleep. */
static bool fill(struct watch *w)
{
	bool more = true;

	w->shape.now = time(NULL);
	if (w->phase == PHASE_INITIAL) {
		fill_initial(w);
		return true;
	}
	for (unsigned i = 0; more && !w->out.len && w->phase == PHASE_LIVE && i < ROUNDS; i++)
		more = fill_live(w);
	if (!more)
		bookmark_if_due(w);
	return more;
}

static ptrdiff_t send_some(struct watch *w, char *out, size_t max)
{
	size_t n = w->out.len - w->sent;

	n = n < max ? n : max;
	memcpy(out, w->out.ptr + w->sent, n);
	w->sent += n;
	w->bytes += n;
	return (ptrdiff_t)n;
}

static void empty_buffer(struct watch *w)
{
	note_metrics(w);
	w->sent = 0;
	if (w->out.cap > BUFFER_KEPT)
		buf_done(&w->out);
	else
		buf_clear(&w->out);
}

static ptrdiff_t watch_read(struct stream *stream, char *out, size_t max)
{
	struct watch *w = (struct watch *)stream;

	if (w->sent < w->out.len)
		return send_some(w, out, max);
	empty_buffer(w);
	take_due(w);
	if (w->phase == PHASE_OVER)
		return w->failed ? STREAM_FAIL : STREAM_END;
	bool more = fill(w);
	if (w->out.failed)
		return STREAM_FAIL;
	if (w->out.len)
		return send_some(w, out, max);
	return more || w->phase == PHASE_OVER ? STREAM_AGAIN : 0;
}

static void watch_free(struct stream *stream)
{
	struct watch *w = (struct watch *)stream;

	engine_forget(w->r->api->engine, &w->watcher);
	note_metrics(w);
	buf_done(&w->out);
	free(w);
}

/* Lives of watches that name none are spread, or all clients would come back at the same time. */
static int64_t life_ns(const struct watchopts *o)
{
	unsigned seconds = o->seconds ? o->seconds : SECONDS_MIN + (unsigned)random() % SECONDS_MIN;

	return seconds * 1000000000LL;
}

static void set_clocks(struct watch *w)
{
	int64_t now = clock_ns(), life = life_ns(&w->opts);

	w->watcher.deadline = now + life;
	if (!w->opts.bookmarks)
		return;
	/* The first of a minute is spread, too. */
	w->watcher.bookmark_at = now + 30000000000LL + random() % 30000 * 1000000LL;
	w->watcher.last_bookmark_at = w->watcher.deadline - (life > 4000000000LL ? 2000000000LL : life / 2);
}

static int start(struct request *r, const struct watchopts *opts, struct reply *p, struct status *st)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return status_no_memory(st);
	w->stream = (struct stream){.read = watch_read, .free = watch_free, .park = &r->park};
	w->r = r;
	w->opts = *opts;
	w->shape = (struct shape){.kind = r->kind, .form = r->accept.form, .beta = r->accept.beta};
	int rc = include_parse(request_param(r, "includeObject"), &w->shape.include, st);
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->phase = opts->initial ? PHASE_INITIAL : PHASE_LIVE;
	w->initial_end_due = !opts->initial && opts->initial_end;
	w->watcher.kind = r->kind->storage;
	w->watcher.ns = r->ns;
	w->watcher.name = opts->only;
	w->watcher.park = &r->park;
	w->watcher.fd = http_fd(r);
	atomic_store(&w->watcher.position, opts->initial ? 0 : opts->after);
	set_clocks(w);
	engine_watch(r->api->engine, &w->watcher);
	p->code = 200;
	p->stream = &w->stream;
	return 0;
}

int watch_handle(struct request *r, struct reply *p, struct status *st)
{
	struct watchopts opts;
	int rc = watchopts_parse(r, &opts, st);

	if (rc == 0 && opts.initial)
		rc = wait_revision(r, opts.after, st);
	if (rc != 0)
		return rc;
	/* Neither a revision nor the state: from now on. */
	if (!opts.initial && !opts.after)
		opts.after = store_revision(r->api->store);
	return start(r, &opts, p, st);
}
