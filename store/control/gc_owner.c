/* SPDX-License-Identifier: Apache-2.0 */
/* Owners being deleted with a policy: `orphan` cuts the dependents loose, `foregroundDeletion` waits for those that block. */
#include <errno.h>

#include "store/control/gc.h"
#include "store/db/owners.h"

static bool carries(const struct tree *object, const char *finalizer)
{
	const struct tree *list = tree_path(object, "metadata.finalizers");

	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++)
		if (str_is(tree_text(list->items[i]), finalizer))
			return true;
	return false;
}

/* A merge patch of one list in metadata. */
static struct tree *metadata_patch(struct arena *a, const char *key, struct tree *list)
{
	struct tree *patch = tree_object(a), *metadata = tree_object(a), *value = list->len ? list : tree_null(a);

	return patch && metadata && value && tree_setz(a, metadata, key, value) &&
			       tree_setz(a, patch, "metadata", metadata)
		       ? patch
		       : NULL;
}

static bool add_unfinalize(struct arena *a, struct batch *b, const struct kind *k, const struct object *o,
			   const struct tree *object, const char *finalizer)
{
	const struct tree *list = tree_path(object, "metadata.finalizers");
	struct tree *kept = tree_array(a);

	for (uint32_t i = 0; kept && i < list->len; i++)
		if (!str_is(tree_text(list->items[i]), finalizer) && !tree_append(a, kept, list->items[i]))
			return false;
	struct tree *patch = kept ? metadata_patch(a, "finalizers", kept) : NULL;
	if (patch)
		batch_patch(b, k, o, patch);
	return patch != NULL;
}

/* The dependent without its references to uid. *ret_blocks: does one of them hold the owner back? */
static struct tree *without_owner(struct arena *a, const struct tree *object, struct str uid, bool *ret_blocks)
{
	const struct tree *refs = tree_path(object, "metadata.ownerReferences");
	struct tree *kept = tree_array(a);

	*ret_blocks = false;
	for (uint32_t i = 0; kept && tree_is(refs, TREE_ARRAY) && i < refs->len; i++) {
		if (str_eq(tree_gets(refs->items[i], "uid"), uid))
			*ret_blocks = *ret_blocks || tree_is_true(tree_getz(refs->items[i], "blockOwnerDeletion"));
		else if (!tree_append(a, kept, refs->items[i]))
			return NULL;
	}
	return kept;
}

static bool has_dependents(struct read *r, struct str uid)
{
	struct owner_cursor cursor = {0};
	const struct kind *k;
	struct str ns, name;

	return owners_next(r, uid, &cursor, &k, &ns, &name) == 1;
}

struct round {
	struct control *c;
	struct read *r;
	struct arena *a;
	struct batch *b;
	struct str uid;     /* of the owner */
	bool orphan;
	unsigned blocking;  /* dependents that hold the owner back */
	unsigned left;      /* dependents that a batch's end left out */
};

static bool dependent(struct round *g, const struct kind *k, const struct object *o)
{
	struct tree *object = object_tree(g->a, k, o);
	bool blocks;
	struct tree *kept = object ? without_owner(g->a, object, g->uid, &blocks) : NULL;

	if (!kept)
		return false;
	if (g->orphan || kept->len) { /* another owner keeps it */
		struct tree *patch = metadata_patch(g->a, "ownerReferences", kept);
		if (patch && g->orphan)
			batch_patch(g->b, k, o, patch);
		return patch != NULL;
	}
	g->blocking += blocks;
	if (!(o->flags & RECORD_TERMINATING))
		batch_delete(g->b, k, o,
			     has_dependents(g->r, o->uid) ? PROPAGATION_FOREGROUND : PROPAGATION_BACKGROUND);
	return true;
}

static int dependents(struct round *g, struct status *st)
{
	struct owner_cursor cursor = {0};
	const struct kind *k;
	struct str ns, name;
	struct object o;

	while (owners_next(g->r, g->uid, &cursor, &k, &ns, &name) == 1) {
		if (batch_is_full(g->b)) {
			g->left++;
			return 0;
		}
		int err = read_get(g->r, k, ns, name, &o, st);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		if (!dependent(g, k, &o))
			return status_no_memory(st);
	}
	return 0;
}

/* One look at the owner and its dependents: *ret_again when a full batch left some out. */
static int owner_round(struct control *c, const struct task *t, struct read *r, struct arena *a, struct batch *b,
		       bool *ret_again, struct status *st)
{
	struct object o;
	int err = read_get(r, t->kind, t->ns, t->name, &o, st);

	*ret_again = false;
	if (err || !(o.flags & RECORD_TERMINATING))
		return err == -ENOENT ? 0 : err;
	struct tree *object = object_tree(a, t->kind, &o);
	struct round g = {.c = c, .r = r, .a = a, .b = b, .uid = o.uid};
	g.orphan = carries(object, "orphan");
	const char *finalizer = g.orphan ? "orphan" : "foregroundDeletion";
	if (!object)
		return status_no_memory(st);
	if (!carries(object, finalizer))
		return 0;
	err = dependents(&g, st);
	if (err)
		return err;
	*ret_again = g.left > 0 || (g.orphan && b->len > 0);
	if (g.blocking) {
		gc_wait_for(c, t->kind, &o);
		return 0;
	}
	gc_forget(c, o.uid);
	if (!*ret_again && !batch_is_full(b) && !add_unfinalize(a, b, t->kind, &o, object, finalizer))
		return status_no_memory(st);
	return 0;
}

static int owner_work(struct control *c, const struct task *t, struct status *st)
{
	struct batch *b = malloc(sizeof(*b));
	bool again = b != NULL;
	int err = b ? 0 : status_no_memory(st);

	while (!err && again) {
		struct arena a;
		struct read *r;
		err = read_begin(c->store, &r, st);
		if (err)
			break;
		arena_init(&a, 0);
		batch_init(b, c->store);
		err = owner_round(c, t, r, &a, b, &again, st);
		read_end(r);
		if (!err && b->len)
			err = batch_run(b, st);
		batch_done(b);
		arena_done(&a);
	}
	free(b);
	return err;
}

const struct controller control_gc_owner = {NULL, NULL, owner_work};
