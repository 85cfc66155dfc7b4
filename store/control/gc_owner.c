/* SPDX-License-Identifier: Apache-2.0 */
/* Owners that are being deleted and want something done about their dependents first: foregroundDeletion waits until
 * those that block it are gone, orphan sets them free. */
#include <errno.h>

#include "store/control/gc.h"

/* The reference to the object with this uid; NULL when there is none. */
static struct tree *find_reference(const struct tree *references, struct str uid, uint32_t *ret_at)
{
	for (uint32_t i = 0; tree_is(references, TREE_ARRAY) && i < references->len; i++)
		if (str_eq(tree_gets(references->items[i], "uid"), uid)) {
			*ret_at = i;
			return references->items[i];
		}
	return NULL;
}

/* Takes the reference to the owner away. */
static int orphan_dependent(struct control *c, struct read *r, const struct kind *k, const struct object *o,
			    struct batch *b, void *arg, struct status *st)
{
	const struct task *owner = arg;
	struct tree *metadata;
	struct arena a;
	uint32_t at;

	(void)c, (void)r;
	arena_init(&a, 0);
	int err = tree_parse(&a, o->metadata, &metadata, NULL, st);
	struct tree *references = err ? NULL : tree_getz(metadata, "ownerReferences");
	if (find_reference(references, owner->uid, &at)) {
		tree_delete_at(references, at);
		struct tree *patch = gc_metadata_patch(&a, "ownerReferences", references);
		if (patch)
			batch_patch(b, k, o, patch);
		else
			err = status_no_memory(st);
	}
	arena_done(&a);
	return err;
}

/* 1 when o keeps its owner from going. An owner does not wait for itself. */
static int find_blocker(struct control *c, struct read *r, const struct kind *k, const struct object *o,
			struct batch *b, void *arg, struct status *st)
{
	const struct task *owner = arg;
	struct tree *metadata;
	struct arena a;
	uint32_t at;

	(void)c, (void)r, (void)k, (void)b;
	if (str_eq(o->uid, owner->uid))
		return 0;
	arena_init(&a, 0);
	int err = tree_parse(&a, o->metadata, &metadata, NULL, st);
	if (!err) {
		const struct tree *reference = find_reference(tree_getz(metadata, "ownerReferences"), owner->uid, &at);
		err = tree_is_true(tree_getz(reference, "blockOwnerDeletion"));
	}
	arena_done(&a);
	return err;
}

/* Only as the owner is now: a finalizer that somebody adds meanwhile must not get lost. */
static int remove_finalizer(struct control *c, const struct task *t, struct tree *metadata, const char *name,
			    const struct object *o, struct arena *a, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};
	struct tree *list = tree_getz(metadata, "finalizers");
	uint32_t i = 0;

	while (i < list->len && !str_is(tree_text(list->items[i]), name))
		i++;
	tree_delete_at(list, i);
	struct tree *patch = gc_metadata_patch(a, "finalizers", list);
	if (patch)
		tree_write(patch, &body);
	if (!patch || body.failed)
		return status_no_memory(st);
	int err = control_write(c,
				&(struct write_request){.kind = t->kind,
							.verb = WRITE_PATCH,
							.patch = PATCH_TYPE_MERGE,
							.ns = t->ns,
							.name = t->name,
							.body = buf_str(&body),
							.expect_revision = o->revision,
							.expect_uid = t->uid},
				st);
	return err == -ENOENT ? 0 : err;
}

static int foreground(struct control *c, const struct task *t, struct tree *metadata, const struct object *o,
		      struct arena *a, struct status *st)
{
	struct waiting *w = gc_waiting_add(c, t->kind, o);
	int err = w ? 0 : status_no_memory(st);

	if (!err && !w->examined) {
		err = gc_each_dependent(c, t->uid, gc_examine, NULL, st);
		w->examined = !err;
	}
	if (!err)
		err = gc_each_dependent(c, t->uid, find_blocker, (void *)t, st);
	if (err == 1)
		return 0;
	return err ? err : remove_finalizer(c, t, metadata, "foregroundDeletion", o, a, st);
}

static int orphan(struct control *c, const struct task *t, struct tree *metadata, const struct object *o,
		  struct arena *a, struct status *st)
{
	int err = gc_each_dependent(c, t->uid, orphan_dependent, (void *)t, st);

	return err ? err : remove_finalizer(c, t, metadata, "orphan", o, a, st);
}

/* The owner as it is: revision, uid and metadata are copied to a, the rest of *ret does not outlive the snapshot. 1 when it is
 * terminating, 0 when there is nothing to do. */
static int read_owner(struct control *c, const struct task *t, struct arena *a, struct object *ret,
		      struct tree **ret_metadata, struct status *st)
{
	struct object o;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	err = read_get(r, t->kind, t->ns, t->name, &o, st);
	if (!err && str_eq(o.uid, t->uid) && (o.flags & RECORD_TERMINATING)) {
		struct str metadata = arena_str(a, o.metadata);
		err = metadata.ptr ? tree_parse(a, metadata, ret_metadata, NULL, st) : status_no_memory(st);
		*ret = (struct object){.revision = o.revision, .uid = t->uid, .ns = t->ns, .name = t->name};
		err = err ? err : 1;
	}
	read_end(r);
	return err == -ENOENT ? 0 : err;
}

static int owner_work(struct control *c, const struct task *t, struct status *st)
{
	struct tree *metadata;
	struct object o;
	struct arena a;

	arena_init(&a, 0);
	int err = read_owner(c, t, &a, &o, &metadata, st);
	if (err == 1) {
		if (!gc_has_finalizer(metadata, "foregroundDeletion"))
			gc_waiting_remove(c, t->uid);
		err = 0;
		if (gc_has_finalizer(metadata, "orphan"))
			err = orphan(c, t, metadata, &o, &a, st);
		else if (gc_has_finalizer(metadata, "foregroundDeletion"))
			err = foreground(c, t, metadata, &o, &a, st);
	} else if (err == 0) {
		gc_waiting_remove(c, t->uid);
	}
	arena_done(&a);
	return err;
}

const struct controller control_gc_owner = {.work = owner_work};
