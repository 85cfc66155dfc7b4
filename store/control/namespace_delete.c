/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces being deleted: pods go first, then everything else; when nothing is left the namespace itself.
 *
 * Objects with finalizers are marked and waited for: their DELETED event brings us back. What is still there
 * is written into the namespace's conditions. */
#include <errno.h>

#include "store/control/namespace_status.h"

static void purge_queue(struct control *c, struct str ns)
{
	control_queue(c, &control_purge, c->namespaces, (struct str){0}, ns, (struct str){0}, 0);
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
			purge_queue(c, o.name);
	}
	list_end(list);
	arena_done(&a);
	c->rescan = err < 0 || c->rescan;
}

static bool is_terminating(struct control *c, struct read *r, struct str ns)
{
	struct status st;
	struct object o;

	return read_get(r, c->namespaces, (struct str){0}, ns, &o, &st) == 0 && (o.flags & RECORD_TERMINATING);
}

static void purge_event(struct control *c, struct read *r, const struct event *e)
{
	if (e->kind == c->namespaces && e->type != EVENT_DELETED && (e->object.flags & RECORD_TERMINATING))
		purge_queue(c, e->object.name);
	else if (e->object.ns.len && e->type == EVENT_DELETED && is_terminating(c, r, e->object.ns))
		purge_queue(c, e->object.ns);
}

/* Adds the deletes that kind k still wants in ns to the batch; counts what is there. */
static int collect(struct read *r, const struct kind *k, struct str ns, struct batch *b, struct remaining *left,
		   struct status *st)
{
	struct list_query q = {.kind = k, .ns = ns};
	struct list *list = NULL;
	struct arena a;
	struct object o;
	uint64_t n = read_count(r, k, ns);

	if (!n)
		return 0;
	remaining_add(left, k, n);
	arena_init(&a, 0);
	int err = list_begin(r, &a, &q, &list, st);
	while (!err && !batch_is_full(b) && (err = list_next(list, &o, st)) == 1) {
		err = 0;
		if (o.flags & RECORD_FINALIZERS)
			left->held++;
		if (!(o.flags & RECORD_TERMINATING))
			batch_delete(b, k, &o, PROPAGATION_BACKGROUND);
	}
	list_end(list);
	arena_done(&a);
	return err < 0 ? err : 0;
}

/* One round over everything in ns under one snapshot: pods alone as long as there are any. */
static int look_around(struct control *c, struct read *r, struct str ns, struct batch *b, struct remaining *left,
		       struct status *st)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(c->store), &n);
	int err = collect(r, c->pods, ns, b, left, st);

	for (size_t i = 0; !err && i < n && !left->pods; i++)
		if (all[i] != c->pods && control_is_content(all[i]))
			err = collect(r, all[i], ns, b, left, st);
	return err;
}

static int purge_round(struct control *c, struct str ns, struct remaining *left, bool *ret_deleted, struct status *st)
{
	struct batch *b = malloc(sizeof(*b));
	struct read *r;

	if (!b)
		return status_no_memory(st);
	batch_init(b, c->store);
	*left = (struct remaining){0};
	int err = read_begin(c->store, &r, st);
	if (!err) {
		if (is_terminating(c, r, ns))
			err = look_around(c, r, ns, b, left, st);
		else
			left->gone = true;
		read_end(r);
	}
	*ret_deleted = b->len > 0;
	if (!err && b->len)
		err = batch_run(b, st);
	batch_done(b);
	free(b);
	return err;
}

static int purge_work(struct control *c, const struct task *t, struct status *st)
{
	struct remaining left;
	bool deleted;
	int err;

	do
		err = purge_round(c, t->name, &left, &deleted, st);
	while (!err && deleted);
	if (err || left.gone)
		return err;
	if (!left.kinds) {
		control_queue(c, &control_finalize, c->namespaces, (struct str){0}, t->name, (struct str){0}, 0);
		return 0;
	}
	return namespace_tell(c, t->name, &left, st);
}

const struct controller control_purge = {purge_start, purge_event, purge_work};

/* The object without the finalizer `kubernetes`; false when it does not carry it. */
static bool drop_finalizer(struct tree *object)
{
	struct tree *list = tree_path(object, "spec.finalizers");

	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++)
		if (str_is(tree_text(list->items[i]), "kubernetes")) {
			tree_delete_at(list, i);
			return true;
		}
	return false;
}

static int finalize_work(struct control *c, const struct task *t, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};
	struct arena a;
	struct read *r;
	struct object o;
	uint64_t revision = 0;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	arena_init(&a, 0);
	err = read_get(r, c->namespaces, (struct str){0}, t->name, &o, st);
	if (!err && (o.flags & RECORD_TERMINATING)) {
		struct tree *object = object_tree(&a, c->namespaces, &o);
		revision = o.revision;
		if (!object)
			err = status_no_memory(st);
		else if (drop_finalizer(object))
			tree_write(object, &body);
	}
	read_end(r);
	arena_done(&a);
	if (err || !body.len)
		return err == -ENOENT ? 0 : err;
	err = control_write(c,
			    &(struct write_request){.kind = c->namespaces,
						    .verb = WRITE_UPDATE,
						    .name = t->name,
						    .subresource = STR("finalize"),
						    .body = buf_str(&body),
						    .expect_revision = revision},
			    st);
	return err == -ENOENT ? 0 : err;
}

const struct controller control_finalize = {NULL, NULL, finalize_work};
