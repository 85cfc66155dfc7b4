/* SPDX-License-Identifier: Apache-2.0 */
/* Following the feed for owners that go and dependents that come. */
#include "store/control/gc.h"

#include <errno.h>

#include "store/db/owners.h"

enum { SCAN_PAGE = 1024 };

static bool has_owners(const struct object *o)
{
	size_t at = 0;
	struct str uid;

	return record_list_next(o->owners, &at, &uid);
}

static bool is_ending(const struct object *o)
{
	return (o->flags & (RECORD_TERMINATING | RECORD_FINALIZERS)) == (RECORD_TERMINATING | RECORD_FINALIZERS);
}

static bool has_dependents(struct read *r, struct str uid)
{
	struct owner_cursor cursor = {0};
	const struct kind *k;
	struct str ns, name;

	return owners_next(r, uid, &cursor, &k, &ns, &name) == 1;
}

/* A dependent went: owners that wait for it look again. */
static void wake_owners(struct control *c, const struct object *o)
{
	struct str uid;

	for (size_t at = 0; record_list_next(o->owners, &at, &uid);) {
		const struct waiting *w = gc_waiting(c, uid);
		if (w)
			control_queue(c, &control_gc_owner, w->kind, w->ns, w->name, (struct str){0}, 0);
	}
}

static void gc_event(struct control *c, struct read *r, const struct event *e)
{
	const struct object *o = &e->object;

	if (e->type == EVENT_DELETED) {
		if (has_dependents(r, o->uid))
			control_queue(c, &control_gc_absent, NULL, (struct str){0}, (struct str){0}, o->uid, 0);
		wake_owners(c, o);
		return;
	}
	if (is_ending(o))
		control_queue(c, &control_gc_owner, e->kind, o->ns, o->name, (struct str){0}, 0);
	if (has_owners(o) && e->type == EVENT_ADDED)
		control_queue(c, &control_gc_dependent, e->kind, o->ns, o->name, (struct str){0}, 0);
}

const struct controller control_gc = {NULL, gc_event, NULL};

/* At start every object with owners is judged once, a page of a kind at a time. */
static void scan_start(struct control *c, struct read *r)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(c->store), &n);

	for (size_t i = 0; i < n; i++)
		if (all[i]->storage == all[i] && kind_is(all[i], KIND_STORED) &&
		    read_count(r, all[i], (struct str){0}))
			control_queue(c, &control_gc_scan, all[i], (struct str){0}, (struct str){0}, (struct str){0}, 0);
}

/* Looks at up to SCAN_PAGE objects behind the task's place; 1 when there are more, from *next on. */
static int scan_page(struct control *c, struct read *r, const struct task *t, struct batch *b, struct arena *a,
		     struct object *next, struct status *st)
{
	struct list_query q = {.kind = t->kind};
	struct list *list = NULL;
	int err;

	if (t->name.len) {
		q.after_ns = t->ns.ptr ? t->ns : STR("");
		q.after_name = t->name;
	}
	err = list_begin(r, a, &q, &list, st);
	for (unsigned n = 0; !err && n < SCAN_PAGE && !batch_is_full(b); n++) {
		err = list_next(list, next, st);
		if (err <= 0)
			break;
		err = 0;
		if (is_ending(next))
			control_queue(c, &control_gc_owner, t->kind, next->ns, next->name, (struct str){0}, 0);
		if (has_owners(next) && !gc_carry_out(c, r, t->kind, next, b))
			err = status_no_memory(st);
		if (n + 1 == SCAN_PAGE || batch_is_full(b)) {
			list_end(list);
			return err ? err : 1;
		}
	}
	list_end(list);
	return err < 0 ? err : 0;
}

static int scan_work(struct control *c, const struct task *t, struct status *st)
{
	struct batch *b = malloc(sizeof(*b));
	struct arena a;
	struct object next;
	struct read *r;

	if (!b)
		return status_no_memory(st);
	int err = read_begin(c->store, &r, st);
	if (err < 0) {
		free(b);
		return err;
	}
	batch_init(b, c->store);
	arena_init(&a, 0);
	err = scan_page(c, r, t, b, &a, &next, st);
	if (err == 1)
		control_queue(c, &control_gc_scan, t->kind, next.ns, next.name, (struct str){0}, 0);
	read_end(r);
	if (err >= 0)
		err = b->len ? batch_run(b, st) : 0;
	arena_done(&a);
	batch_done(b);
	free(b);
	return err;
}

const struct controller control_gc_scan = {scan_start, NULL, scan_work};

/* One batch of the dependents of a uid that is gone; *cursor goes on behind those that stay. */
static int absent_round(struct control *c, struct str uid, struct owner_cursor *cursor, struct batch *b,
			bool *ret_more, struct status *st)
{
	const struct kind *k;
	struct str ns, name;
	struct object o;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	*ret_more = false;
	if (err < 0)
		return err;
	while (!err && !*ret_more && owners_next(r, uid, cursor, &k, &ns, &name) == 1) {
		err = read_get(r, k, ns, name, &o, st);
		if (!err && !gc_carry_out(c, r, k, &o, b))
			err = status_no_memory(st);
		err = err == -ENOENT ? 0 : err;
		*ret_more = batch_is_full(b);
	}
	read_end(r);
	return err;
}

static int absent_work(struct control *c, const struct task *t, struct status *st)
{
	struct batch *b = malloc(sizeof(*b));
	struct owner_cursor cursor = {0};
	bool more = true;
	int err = b ? 0 : status_no_memory(st);

	while (!err && more) {
		batch_init(b, c->store);
		err = absent_round(c, t->uid, &cursor, b, &more, st);
		if (!err && b->len)
			err = batch_run(b, st);
		batch_done(b);
	}
	free(b);
	return err;
}

const struct controller control_gc_absent = {NULL, NULL, absent_work};

static int dependent_work(struct control *c, const struct task *t, struct status *st)
{
	struct batch *b = malloc(sizeof(*b));
	struct object o;
	struct read *r;
	int err = b ? read_begin(c->store, &r, st) : status_no_memory(st);

	if (err < 0) {
		free(b);
		return err;
	}
	batch_init(b, c->store);
	err = read_get(r, t->kind, t->ns, t->name, &o, st);
	if (!err && !gc_carry_out(c, r, t->kind, &o, b))
		err = status_no_memory(st);
	read_end(r);
	if (!err && b->len)
		err = batch_run(b, st);
	batch_done(b);
	free(b);
	return err == -ENOENT ? 0 : err;
}

const struct controller control_gc_dependent = {NULL, NULL, dependent_work};
