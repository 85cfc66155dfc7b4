/* SPDX-License-Identifier: Apache-2.0 */
/* Namespace deletion: empties a terminating namespace, then lets go of it.
 *
 * Two tasks a namespace. `purge` deletes all content, pods first, and reports in status.conditions what stays
 * because of finalizers or a grace period; it looks at every object. `finalize` only looks at counters, so it may run at each
 * change in the namespace; once nothing is left it takes "kubernetes" from spec.finalizers, upon which the write
 * path removes the object. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "store/control/namespace_status.h"

/* Changes in a namespace full of objects come in crowds; one look is enough for all of them. */
enum { PURGE_DELAY_MS = 200 };

static void purge_queue(struct control *c, struct str ns, int64_t delay)
{
	control_queue(c, &control_purge, c->namespaces, (struct str){0}, ns, (struct str){0}, delay);
}

static void finalize_queue(struct control *c, struct str ns)
{
	control_queue(c, &control_finalize, c->namespaces, (struct str){0}, ns, (struct str){0}, 0);
}

static void purge_start(struct control *c, struct read *r)
{
	struct list_query q = {.kind = c->namespaces};
	struct list *list = NULL;
	struct arena a;
	struct object o;
	struct status st;

	arena_init(&a, 0);
	int err = list_begin(r, &a, &q, &list, &st);
	while (!err && (err = list_next(list, &o, &st)) == 1) {
		err = 0;
		if (o.flags & RECORD_TERMINATING)
			purge_queue(c, o.name, 0);
	}
	list_end(list);
	arena_done(&a);
	c->rescan = err < 0 || c->rescan;
}

static bool is_terminating(struct control *c, struct read *r, struct str ns)
{
	struct object o;
	struct status st;

	return read_get(r, c->namespaces, (struct str){0}, ns, &o, &st) == 0 && (o.flags & RECORD_TERMINATING);
}

static void purge_event(struct control *c, struct read *r, const struct event *e)
{
	if (e->kind == c->namespaces && e->type != EVENT_DELETED && (e->object.flags & RECORD_TERMINATING))
		purge_queue(c, e->object.name, 0);
	if (!e->object.ns.len || !is_terminating(c, r, e->object.ns))
		return;
	finalize_queue(c, e->object.ns);
	purge_queue(c, e->object.ns, PURGE_DELAY_MS);
}

/* A sweep over the objects of one kind in a namespace, a batch at a time. */
struct sweep {
	const struct kind *kind;
	struct str ns;
	struct arena arena; /* of `after` */
	struct str after;
	bool end;
	int64_t wait;       /* milliseconds until a pod's grace period is over; INT64_MAX */
};

/* Without a kubelet nobody else ends the grace period of a pod. True when it is over. */
static bool is_expired(struct sweep *s, const struct object *o)
{
	struct arena a;
	struct tree *metadata;
	struct status st;
	int64_t due;

	if (o->flags & RECORD_FINALIZERS)
		return false;
	arena_init(&a, 0);
	bool dated = tree_parse(&a, o->metadata, &metadata, NULL, &st) == 0 &&
		     time_parse(tree_gets(metadata, "deletionTimestamp"), &due);
	arena_done(&a);
	int64_t left = dated ? (due - time(NULL)) * 1000 : INT64_MAX;
	if (left > 0 && left < s->wait)
		s->wait = left;
	return left <= 0;
}

static void sweep_object(struct sweep *s, const struct control *c, const struct object *o, struct batch *b)
{
	struct write_request req = {
		.kind = s->kind,
		.verb = WRITE_DELETE,
		.ns = o->ns,
		.name = o->name,
		.expect_uid = o->uid,
		.grace = INT64_MIN,
		.propagation = PROPAGATION_BACKGROUND,
	};

	if (o->flags & RECORD_TERMINATING) {
		if (s->kind != c->pods || !is_expired(s, o))
			return;
		req.grace = 0;
	}
	batch_add(b, &req);
}

/* Collects the next batch of objects to delete; s->end when the kind has no more. */
static int sweep_next(struct sweep *s, struct control *c, struct batch *b, struct status *st)
{
	struct list_query q = {.kind = s->kind, .ns = s->ns, .after_ns = s->ns, .after_name = s->after};
	struct list *list = NULL;
	struct object o = {0};
	struct arena a;
	struct read *r;
	unsigned looked = 0;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	arena_init(&a, 0);
	err = list_begin(r, &a, &q, &list, st);
	while (!err && looked < BATCH_MAX && (err = list_next(list, &o, st)) == 1) {
		err = 0;
		looked++;
		sweep_object(s, c, &o, b);
	}
	s->end = looked < BATCH_MAX;
	arena_done(&s->arena);
	arena_init(&s->arena, 0);
	if (!err && !s->end) {
		s->after = arena_str(&s->arena, o.name);
		err = s->after.ptr ? 0 : status_no_memory(st);
	}
	list_end(list);
	arena_done(&a);
	read_end(r);
	return err;
}

/* Deletes all objects of a kind. *wait: see struct sweep. */
static int purge_kind(struct control *c, const struct kind *k, struct str ns, int64_t *wait, struct status *st)
{
	struct sweep s = {.kind = k, .ns = ns, .wait = INT64_MAX};
	struct batch *b = malloc(sizeof(*b));
	int err = b ? 0 : status_no_memory(st);

	if (err)
		return err;
	batch_init(b, c->store);
	arena_init(&s.arena, 0);
	while (!err && !s.end) {
		err = sweep_next(&s, c, b, st);
		if (!err)
			err = batch_run(b, st);
	}
	arena_done(&s.arena);
	batch_done(b);
	free(b);
	*wait = s.wait < *wait ? s.wait : *wait;
	return err;
}

static int count(struct control *c, const struct kind *k, struct str ns, uint64_t *ret, struct status *st)
{
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	*ret = read_count(r, k, ns);
	read_end(r);
	return 0;
}

/* Pods first; while there are any nothing else is touched. */
static int purge_all(struct control *c, struct str ns, int64_t *wait, struct status *st)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(c->store), &n);
	uint64_t left;
	int err = purge_kind(c, c->pods, ns, wait, st);

	if (!err)
		err = count(c, c->pods, ns, &left, st);
	if (err || left)
		return err;
	for (size_t i = 0; i < n && !err; i++) {
		if (!control_is_content(all[i]) || all[i] == c->pods)
			continue;
		err = count(c, all[i], ns, &left, st);
		if (!err && left)
			err = purge_kind(c, all[i], ns, wait, st);
	}
	return err;
}

static int purge_work(struct control *c, const struct task *t, struct status *st)
{
	int64_t wait = INT64_MAX;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	bool terminating = is_terminating(c, r, t->name);
	read_end(r);
	if (!terminating)
		return 0;
	err = purge_all(c, t->name, &wait, st);
	if (wait != INT64_MAX)
		purge_queue(c, t->name, wait);
	int told = namespace_tell(c, t->name, err ? st : NULL, st);
	finalize_queue(c, t->name);
	return err ? err : told;
}

const struct controller control_purge = {purge_start, purge_event, purge_work};

static bool is_empty(struct control *c, struct read *r, struct str ns)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(c->store), &n);

	for (size_t i = 0; i < n; i++)
		if (control_is_content(all[i]) && read_count(r, all[i], ns))
			return false;
	return true;
}

/* Takes "kubernetes" from spec.finalizers; false when it is not there. */
static bool take_finalizer(struct tree *object)
{
	struct tree *list = tree_path(object, "spec.finalizers");

	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++)
		if (str_is(tree_text(list->items[i]), "kubernetes")) {
			tree_delete_at(list, i);
			return true;
		}
	return false;
}

/* The namespace without the finalizer, as text; empty when there is nothing to do (yet). */
static int finalized(struct control *c, struct str ns, struct buf *out, struct status *st)
{
	struct object o;
	struct arena a;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	arena_init(&a, 0);
	err = read_get(r, c->namespaces, (struct str){0}, ns, &o, st);
	if (!err && (o.flags & RECORD_TERMINATING) && is_empty(c, r, ns)) {
		struct tree *object = object_tree(&a, c->namespaces, &o);
		if (!object)
			err = status_no_memory(st);
		else if (take_finalizer(object))
			tree_write(object, out);
	}
	arena_done(&a);
	read_end(r);
	if (out->failed)
		return status_no_memory(st);
	return err == -ENOENT ? 0 : err;
}

static int finalize_work(struct control *c, const struct task *t, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};
	int err = finalized(c, t->name, &body, st);

	if (err || !body.len)
		return err;
	err = control_write(c,
			    &(struct write_request){.kind = c->namespaces,
						    .verb = WRITE_UPDATE,
						    .name = t->name,
						    .subresource = STR("finalize"),
						    .body = buf_str(&body)},
			    st);
	return err == -ENOENT ? 0 : err;
}

const struct controller control_finalize = {NULL, NULL, finalize_work};
