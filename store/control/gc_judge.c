/* SPDX-License-Identifier: Apache-2.0 */
/* Which owners of an object are still there. */
#include <errno.h>

#include "store/control/gc.h"

bool gc_has_finalizer(const struct tree *metadata, const char *name)
{
	const struct tree *list = tree_getz(metadata, "finalizers");

	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++)
		if (str_is(tree_text(list->items[i]), name))
			return true;
	return false;
}

bool gc_is_foreground(const struct object *o)
{
	struct arena a;
	struct tree *metadata;
	struct status st;

	if ((o->flags & (RECORD_TERMINATING | RECORD_FINALIZERS)) != (RECORD_TERMINATING | RECORD_FINALIZERS))
		return false;
	arena_init(&a, 0);
	bool foreground = tree_parse(&a, o->metadata, &metadata, NULL, &st) == 0 &&
			  gc_has_finalizer(metadata, "foregroundDeletion");
	arena_done(&a);
	return foreground;
}

/* Judges one reference of an object in namespace ns. */
static int judge_reference(struct control *c, struct read *r, struct str ns, const struct tree *reference,
			   struct verdict *v, bool *ret_solid, struct status *st)
{
	const struct kind *k = kinds_by_gvk(store_kinds(c->store), tree_gets(reference, "apiVersion"),
					    tree_gets(reference, "kind"));
	struct object owner;

	*ret_solid = true;
	if (!k || !kind_is(k, KIND_STORED)) {
		/* A kind we do not know may have its objects elsewhere. */
		v->solid++;
		return 0;
	}
	if (kind_is(k, KIND_NAMESPACED) && !ns.len) {
		v->spared = true;
		return 0;
	}
	int err = read_get(r, k, kind_is(k, KIND_NAMESPACED) ? ns : (struct str){0}, tree_gets(reference, "name"),
			   &owner, st);
	if (err && err != -ENOENT)
		return err;
	bool there = !err && str_eq(owner.uid, tree_gets(reference, "uid"));
	*ret_solid = there && !gc_is_foreground(&owner);
	*(*ret_solid ? &v->solid : there ? &v->waiting : &v->dangling) += 1;
	return 0;
}

int gc_judge(struct control *c, struct read *r, struct arena *a, const struct kind *k, const struct object *o,
	     struct verdict *ret, struct status *st)
{
	struct verdict v = {.solids = tree_array(a)};
	int err = tree_parse(a, o->metadata, &v.metadata, NULL, st);
	const struct tree *references = err ? NULL : tree_getz(v.metadata, "ownerReferences");

	(void)k;
	if (!v.solids)
		return status_no_memory(st);
	for (uint32_t i = 0; !err && tree_is(references, TREE_ARRAY) && i < references->len; i++) {
		bool solid;
		err = judge_reference(c, r, o->ns, references->items[i], &v, &solid, st);
		if (!err && solid && !tree_append(a, v.solids, references->items[i]))
			err = status_no_memory(st);
	}
	*ret = v;
	return err;
}

struct tree *gc_metadata_patch(struct arena *a, const char *key, struct tree *list)
{
	struct tree *patch = tree_object(a), *metadata = tree_object(a);
	struct tree *value = list && !list->len ? tree_null(a) : list;

	return tree_setz(a, metadata, key, value) && tree_setz(a, patch, "metadata", metadata) ? patch : NULL;
}
