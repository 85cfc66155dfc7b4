/* SPDX-License-Identifier: Apache-2.0 */
/* Owner garbage collection: follows the feed, and collects what has lost its owners. gc.h says what is what. */
#include "store/control/gc.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "store/db/owners.h"

enum { SCAN_PAGE = 1000 };

static void dependent_queue(struct control *c, const struct kind *k, const struct object *o)
{
	control_queue(c, &control_gc_dependent, k, o->ns, o->name, o->uid, 0);
}

static void owner_queue(struct control *c, const struct kind *k, struct str ns, struct str name, struct str uid)
{
	control_queue(c, &control_gc_owner, k, ns, name, uid, 0);
}

/* Owners in foreground deletion. */

static int waiting_compare(const void *a, const void *b)
{
	return str_cmp(((const struct waiting *)a)->uid, ((const struct waiting *)b)->uid);
}

struct waiting *gc_waiting_find(struct control *c, struct str uid)
{
	struct waiting key = {.uid = uid};
	struct waiting **found = tfind(&key, &c->foreground, waiting_compare);

	return found ? *found : NULL;
}

static char *put(char *at, struct str from, struct str *ret)
{
	if (from.len)
		memcpy(at, from.ptr, from.len);
	*ret = str_n(at, from.len);
	return at + from.len;
}

struct waiting *gc_waiting_add(struct control *c, const struct kind *k, const struct object *o)
{
	struct waiting *w = gc_waiting_find(c, o->uid);

	if (w)
		return w;
	w = malloc(sizeof(*w) + o->uid.len + o->ns.len + o->name.len);
	if (!w)
		return NULL;
	*w = (struct waiting){.kind = k};
	char *at = put((char *)(w + 1), o->uid, &w->uid);
	at = put(at, o->ns, &w->ns);
	put(at, o->name, &w->name);
	if (tsearch(w, &c->foreground, waiting_compare))
		return w;
	free(w);
	return NULL;
}

void gc_waiting_remove(struct control *c, struct str uid)
{
	struct waiting *w = gc_waiting_find(c, uid);

	if (!w)
		return;
	tdelete(w, &c->foreground, waiting_compare);
	free(w);
}

void gc_forget_all(struct control *c)
{
	tdestroy(c->foreground, free);
	c->foreground = NULL;
}

/* Events. */

static void wake_owners(struct control *c, struct str owners)
{
	size_t at = 0;
	struct str uid;

	while (c->foreground && record_list_next(owners, &at, &uid)) {
		const struct waiting *w = gc_waiting_find(c, uid);
		if (w)
			owner_queue(c, w->kind, w->ns, w->name, w->uid);
	}
}

static bool has_owners(struct str owners)
{
	size_t at = 0;
	struct str uid;

	return record_list_next(owners, &at, &uid);
}

static bool has_dependents(struct read *r, struct str uid)
{
	struct owner_cursor cursor = {0};
	const struct kind *k;
	struct str ns, name;

	return owners_next(r, uid, &cursor, &k, &ns, &name) == 1;
}

static void deleted(struct control *c, struct read *r, const struct object *o)
{
	gc_waiting_remove(c, o->uid);
	if (has_dependents(r, o->uid))
		control_queue(c, &control_gc_absent, NULL, (struct str){0}, (struct str){0}, o->uid, 0);
	wake_owners(c, o->owners);
}

static void gc_event(struct control *c, struct read *r, const struct event *e)
{
	const struct object *o = &e->object;
	struct object old = {0};

	if (kind_is(e->kind, KIND_NO_OWNER))
		return;
	if (e->type == EVENT_DELETED) {
		deleted(c, r, o);
		return;
	}
	if ((o->flags & RECORD_TERMINATING) && (o->flags & RECORD_FINALIZERS))
		owner_queue(c, e->kind, o->ns, o->name, o->uid);
	if (!c->foreground && !has_owners(o->owners))
		return;
	bool changed = e->type == EVENT_ADDED || feed_before(r, e, &old) < 0 || !str_eq(old.owners, o->owners);
	if (changed && has_owners(o->owners))
		dependent_queue(c, e->kind, o);
	wake_owners(c, old.owners);
	wake_owners(c, o->owners);
}

const struct controller control_gc = {.on_event = gc_event};

/* The look at everything: a page a task, so that others have their turn. */

static const struct kind *next_kind(struct control *c, const struct kind *after)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(c->store), &n);

	for (size_t i = after ? after->id + 1u : 0; i < n; i++)
		if (all[i] == all[i]->storage && kind_is(all[i], KIND_STORED) && !kind_is(all[i], KIND_NO_OWNER))
			return all[i];
	return NULL;
}

static void scan_start(struct control *c, struct read *r)
{
	(void)r;
	control_queue(c, &control_gc_scan, next_kind(c, NULL), (struct str){0}, (struct str){0}, (struct str){0}, 0);
}

static int scan_object(struct control *c, struct read *r, const struct kind *k, const struct object *o, struct status *st)
{
	struct verdict v = {0};
	struct arena a;

	if ((o->flags & RECORD_TERMINATING) && (o->flags & RECORD_FINALIZERS))
		owner_queue(c, k, o->ns, o->name, o->uid);
	if (!has_owners(o->owners))
		return 0;
	arena_init(&a, 0);
	int err = gc_judge(c, r, &a, k, o, &v, st);
	arena_done(&a);
	if (!err && v.dangling + v.waiting)
		dependent_queue(c, k, o);
	return err;
}

/* The task's ns and name say behind which object to go on. */
static int scan_page(struct control *c, struct read *r, const struct task *t, struct status *st)
{
	struct list_query q = {.kind = t->kind, .after_ns = t->ns};
	struct list *list = NULL;
	struct object o = {0};
	struct arena a;
	unsigned n = 0;

	if (t->name.len)
		q.after_name = t->name;
	arena_init(&a, 0);
	int err = list_begin(r, &a, &q, &list, st);
	while (!err && n < SCAN_PAGE && (err = list_next(list, &o, st)) == 1) {
		err = scan_object(c, r, t->kind, &o, st);
		n++;
	}
	if (!err && n == SCAN_PAGE)
		control_queue(c, &control_gc_scan, t->kind, o.ns, o.name, (struct str){0}, 0);
	else if (!err && next_kind(c, t->kind))
		control_queue(c, &control_gc_scan, next_kind(c, t->kind), (struct str){0}, (struct str){0},
			      (struct str){0}, 0);
	list_end(list);
	arena_done(&a);
	return err;
}

static int scan_work(struct control *c, const struct task *t, struct status *st)
{
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	err = scan_page(c, r, t, st);
	read_end(r);
	return err;
}

const struct controller control_gc_scan = {.on_start = scan_start, .work = scan_work};

/* One dependent. */

/* Foreground deletion of objects that own each other would never end: when a dependent of o is being deleted so as well, o's
 * own references must no longer block. True when there is such a dependent. */
static bool is_in_cycle(struct read *r, const struct object *o)
{
	struct owner_cursor cursor = {0};
	const struct kind *k;
	struct str ns, name;
	struct object dependent;
	struct status st;

	while (owners_next(r, o->uid, &cursor, &k, &ns, &name) == 1)
		if (read_get(r, k, ns, name, &dependent, &st) == 0 && gc_is_foreground(&dependent))
			return true;
	return false;
}

/* The references of metadata with blockOwnerDeletion false; NULL in *ret when they are so. */
static bool unblock(struct arena *a, const struct tree *metadata, struct tree **ret)
{
	struct tree *references = tree_getz(metadata, "ownerReferences");
	bool good = true;

	*ret = NULL;
	for (uint32_t i = 0; good && i < references->len; i++) {
		if (!tree_is_true(tree_getz(references->items[i], "blockOwnerDeletion")))
			continue;
		good = tree_setz(a, references->items[i], "blockOwnerDeletion", tree_bool(a, false));
		*ret = references;
	}
	return good;
}

static int patch_references(struct arena *a, const struct kind *k, const struct object *o, struct tree *references,
			    struct batch *b, struct status *st)
{
	struct tree *patch = gc_metadata_patch(a, "ownerReferences", references);

	if (!patch)
		return status_no_memory(st);
	batch_patch(b, k, o, patch);
	return 0;
}

static int collect(struct read *r, struct arena *a, const struct kind *k, const struct object *o,
		   const struct verdict *v, struct batch *b, struct status *st)
{
	struct tree *unblocked = NULL;
	enum propagation how = PROPAGATION_BACKGROUND;

	if (v->waiting && has_dependents(r, o->uid)) {
		if (is_in_cycle(r, o) && !unblock(a, v->metadata, &unblocked))
			return status_no_memory(st);
		/* Its event brings us back. */
		if (unblocked)
			return patch_references(a, k, o, unblocked, b, st);
		how = PROPAGATION_FOREGROUND;
	} else if (gc_has_finalizer(v->metadata, "orphan")) {
		how = PROPAGATION_ORPHAN;
	} else if (gc_has_finalizer(v->metadata, "foregroundDeletion")) {
		how = PROPAGATION_FOREGROUND;
	}
	batch_delete(b, k, o, how);
	return 0;
}

int gc_examine(struct control *c, struct read *r, const struct kind *k, const struct object *o, struct batch *b,
	       void *arg, struct status *st)
{
	struct verdict v;
	struct arena a;

	(void)arg;
	if ((o->flags & RECORD_TERMINATING) || !has_owners(o->owners))
		return 0;
	arena_init(&a, 0);
	int err = gc_judge(c, r, &a, k, o, &v, st);
	if (!err && !v.spared && v.waiting + v.dangling)
		err = v.solid ? patch_references(&a, k, o, v.solids, b, st) : collect(r, &a, k, o, &v, b, st);
	arena_done(&a);
	return err;
}

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
	if (!err && str_eq(o.uid, t->uid))
		err = gc_examine(c, r, t->kind, &o, b, NULL, st);
	read_end(r);
	if (!err)
		err = batch_run(b, st);
	batch_done(b);
	free(b);
	return err == -ENOENT ? 0 : err;
}

const struct controller control_gc_dependent = {.work = dependent_work};

/* All dependents of an owner. */

/* Goes on in snapshot r until the batch may be full: 1 when fn said so, 2 at the end, 0, -errno. */
static int each_in_snapshot(struct control *c, struct read *r, struct str uid, struct owner_cursor *cursor,
			    gc_dependent_fn *fn, struct batch *b, void *arg, struct status *st)
{
	const struct kind *k;
	struct str ns, name;
	struct object o;
	int err = 0;

	for (unsigned n = 0; !err && n < BATCH_MAX; n++) {
		int found = owners_next(r, uid, cursor, &k, &ns, &name);
		if (found < 0)
			return status_set(st, REASON_INTERNAL, "Internal error occurred: the owners index cannot be read");
		if (!found)
			return 2;
		err = read_get(r, k, ns, name, &o, st);
		if (!err)
			err = fn(c, r, k, &o, b, arg, st);
		err = err == -ENOENT ? 0 : err;
	}
	return err;
}

/* The same with a snapshot of its own; what fn added is run when that has ended. */
static int each_batch(struct control *c, struct str uid, struct owner_cursor *cursor, gc_dependent_fn *fn,
		      struct batch *b, void *arg, struct status *st)
{
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	err = each_in_snapshot(c, r, uid, cursor, fn, b, arg, st);
	read_end(r);
	if (err < 0)
		return err;
	int run = batch_run(b, st);
	return run < 0 ? run : err;
}

int gc_each_dependent(struct control *c, struct str owner_uid, gc_dependent_fn *fn, void *arg, struct status *st)
{
	struct owner_cursor cursor = {0};
	struct batch *b = malloc(sizeof(*b));
	int err = b ? 0 : status_no_memory(st);

	if (err)
		return err;
	batch_init(b, c->store);
	while (!err)
		err = each_batch(c, owner_uid, &cursor, fn, b, arg, st);
	batch_done(b);
	free(b);
	return err == 2 ? 0 : err;
}


static int absent_work(struct control *c, const struct task *t, struct status *st)
{
	return gc_each_dependent(c, t->uid, gc_examine, NULL, st);
}

const struct controller control_gc_absent = {.work = absent_work};
