/* SPDX-License-Identifier: Apache-2.0 */
/* DELETE of a collection: lists the names, then deletes them, several at a time so that they share commits. The
 * answer is the list of what was deleted, or is being deleted. */
#include "api/deletecollection.h"

#include <errno.h>
#include <stdlib.h>

#include "api/listopts.h"
#include "api/reply.h"
#include "api/shape.h"
#include "api/wait.h"
#include "api/write.h"

enum { LANES = 16 };

/* One object to delete, from the list; strings in the request's arena. */
struct victim {
	struct victim *next;
	struct str ns, name, uid;
};

/* One delete under way. */
struct lane {
	struct purge *purge;
	struct write_request req;
	struct write *write;
	bool ready; /* write_step should be called; under purge->lock */
};

struct purge {
	struct request *r;
	/* Guards lane.ready and orders the writer's wake before our end: whoever finds a lane ready has waited for
	 * its wake to return. */
	pthread_mutex_t lock;
	struct lane lane[LANES];
	struct delete_options options;
	struct listopts opts;
	struct shape shape;
	struct victim *victims;   /* not started yet */
	struct pool_buf *items;
	uint64_t count;
	uint64_t revision;
	bool failed;              /* st of the first failure is in `failure` */
	struct status failure;
};

static void purge_free(void *state)
{
	struct purge *p = state;

	for (unsigned i = 0; i < LANES; i++)
		write_free(p->lane[i].write);
	pool_unref(p->items);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void lane_wake(void *arg)
{
	struct lane *lane = arg;
	struct purge *p = lane->purge;

	pthread_mutex_lock(&p->lock);
	lane->ready = true;
	park_wake(&p->r->park);
	pthread_mutex_unlock(&p->lock);
}

static bool take_ready(struct lane *lane)
{
	pthread_mutex_lock(&lane->purge->lock);
	bool ready = lane->ready;
	lane->ready = false;
	pthread_mutex_unlock(&lane->purge->lock);
	return ready;
}

/* ---- which objects ---- */

static int add_victim(struct purge *p, struct victim ***tail, const struct object *o, struct status *st)
{
	struct arena *a = &p->r->arena;
	struct victim *v = arena_alloc(a, sizeof(*v));

	if (!v)
		return status_no_memory(st);
	*v = (struct victim){NULL, arena_str(a, o->ns), arena_str(a, o->name), arena_str(a, o->uid)};
	if (!v->ns.ptr || !v->name.ptr || !v->uid.ptr)
		return status_no_memory(st);
	**tail = v;
	*tail = &v->next;
	return 0;
}

static int collect(struct purge *p, struct list *l, struct status *st)
{
	struct victim **tail = &p->victims;
	struct object o;
	uint64_t n = 0;
	int rc = 0;

	while ((!p->opts.limit || n < p->opts.limit) && (rc = list_next(l, &o, st)) == 1) {
		rc = add_victim(p, &tail, &o, st);
		if (rc < 0)
			return rc;
		n++;
	}
	return p->opts.limit && n == p->opts.limit ? 0 : rc;
}

static int find_victims(struct purge *p, struct status *st)
{
	struct list_query q = {
		.kind = p->r->kind,
		.ns = p->r->ns,
		.labels = p->opts.labels,
		.fields = p->opts.fields,
		.at = p->opts.at,
	};
	struct list *l;
	struct read *read;
	int rc = read_begin(p->r->api->store, &read, st);

	if (rc < 0)
		return rc;
	if (p->opts.continued) {
		q.after_ns = p->opts.token.ns;
		q.after_name = p->opts.token.name;
	}
	p->revision = read_revision(read);
	rc = list_begin(read, &p->r->arena, &q, &l, st);
	if (rc == 0) {
		rc = collect(p, l, st);
		list_end(l);
	}
	read_end(read);
	return rc;
}

/* ---- deleting them ---- */

static void fill(struct purge *p, struct lane *lane, const struct victim *v)
{
	lane->req = (struct write_request){
		.kind = p->r->kind,
		.verb = WRITE_DELETE,
		.origin = ORIGIN_API,
		.ns = v->ns,
		.name = v->name,
		.dry_run = p->options.dry_run,
		.grace = p->options.grace,
		.propagation = p->options.propagation,
		/* What was put in its place since the list is not ours to delete. */
		.expect_uid = p->options.uid.len ? p->options.uid : v->uid,
		.expect_revision = p->options.revision,
	};
}

static bool start_next(struct purge *p, struct lane *lane)
{
	struct victim *v = p->victims;

	if (!v || p->failed)
		return false;
	p->victims = v->next;
	fill(p, lane, v);
	lane->write = write_new(p->r->api->store, &lane->req, lane_wake, lane);
	if (!lane->write) {
		status_no_memory(&p->failure);
		p->failed = true;
	}
	return lane->write != NULL;
}

static void add_result(struct purge *p, const struct write_result *res)
{
	struct str meta = p->r->kind->type_meta, object = res->object;
	struct buf *out = &p->items->buf;

	if (object.len == 0)
		return;
	if (p->count++)
		buf_addc(out, ',');
	buf_addc(out, '{');
	object = str_skip(object, 1);
	if (!kind_is(p->r->kind, KIND_CUSTOM) && str_starts(object, meta))
		object = str_skip(object, meta.len);
	buf_add_str(out, object);
}

/* True: the lane is free again. Gone already or replaced by another object: as good as deleted. */
static bool step(struct purge *p, struct lane *lane)
{
	struct status st;

	status_clear(&st);
	int rc = write_step(lane->write, &st);
	if (rc == 1)
		return false;
	if (rc == 0)
		add_result(p, write_result(lane->write));
	else if (st.reason != REASON_NOT_FOUND && st.reason != REASON_CONFLICT && !p->failed) {
		p->failed = true;
		p->failure = st;
	}
	write_free(steal(&lane->write));
	return true;
}

/* Runs a lane until it waits or there is nothing left for it. True: it waits. */
static bool run_lane(struct purge *p, struct lane *lane)
{
	if (lane->write && !take_ready(lane))
		return true;
	while (lane->write || start_next(p, lane))
		if (!step(p, lane))
			return true;
	return false;
}

static bool run_lanes(struct purge *p)
{
	bool waits = false;

	for (unsigned i = 0; i < LANES; i++)
		waits = run_lane(p, &p->lane[i]) || waits;
	return waits;
}

static int answer(struct purge *p, struct reply *reply, struct status *st)
{
	struct pool_buf *b = pool_get(p->r->api->pool);

	if (p->failed || !b) {
		pool_unref(b);
		if (!b)
			return status_no_memory(st);
		*st = p->failure;
		return -reason_errno(st->reason);
	}
	shape_list_head(&p->shape, p->revision, STR(""), -1, &b->buf);
	buf_add_str(&b->buf, buf_str(&p->items->buf));
	shape_list_tail(&b->buf);
	b->buf.failed = b->buf.failed || p->items->buf.failed;
	return reply_json(reply, 200, b, 0, st);
}

static int start(struct request *r, struct status *st)
{
	struct purge *p = calloc(1, sizeof(*p));

	if (!p)
		return status_no_memory(st);
	pthread_mutex_init(&p->lock, NULL);
	r->state = p;
	r->state_free = purge_free;
	p->r = r;
	p->shape.kind = r->kind;
	for (unsigned i = 0; i < LANES; i++)
		p->lane[i].purge = p;
	p->items = pool_get(r->api->pool);
	if (!p->items)
		return status_no_memory(st);
	int rc = writeopts_delete(r, &p->options, st);
	if (rc == 0)
		rc = listopts_parse(r, &p->opts, st);
	return rc < 0 ? rc : find_victims(p, st);
}

int deletecollection_handle(struct request *r, struct reply *reply, struct status *st)
{
	int rc = r->state ? 0 : start(r, st);

	if (rc < 0)
		return rc;
	return run_lanes(r->state) ? REQUEST_WAIT : answer(r->state, reply, st);
}
