/* SPDX-License-Identifier: Apache-2.0 */
/* Has an object an owner left? */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "store/control/gc.h"

enum owner { OWNER_THERE, OWNER_GONE, OWNER_UNKNOWN, OWNER_ERROR };

/* An owner is cluster-scoped or in the namespace of its dependent. */
static enum owner find_owner(struct control *c, struct read *r, const struct tree *ref, struct str ns)
{
	const struct kind *k = kinds_by_gvk(store_kinds(c->store), tree_gets(ref, "apiVersion"), tree_gets(ref, "kind"));
	struct status st;
	struct object o;

	if (!k || !kind_is(k, KIND_STORED))
		return OWNER_UNKNOWN;
	int err = read_get(r, k, kind_is(k, KIND_NAMESPACED) ? ns : (struct str){0}, tree_gets(ref, "name"), &o, &st);
	if (err && err != -ENOENT)
		return OWNER_ERROR;
	return err || !str_eq(o.uid, tree_gets(ref, "uid")) ? OWNER_GONE : OWNER_THERE;
}

static struct tree *unlink_patch(struct arena *a, struct tree *refs)
{
	struct tree *patch = tree_object(a), *metadata = tree_object(a);
	struct tree *value = refs->len ? refs : tree_null(a);

	return patch && metadata && value && tree_setz(a, metadata, "ownerReferences", value) &&
			       tree_setz(a, patch, "metadata", metadata)
		       ? patch
		       : NULL;
}

enum verdict gc_judge(struct control *c, struct read *r, struct arena *a, const struct kind *k, const struct object *o,
		      struct tree **ret_patch)
{
	struct tree *object = object_tree(a, k, o), *kept = tree_array(a);
	const struct tree *refs = tree_path(object, "metadata.ownerReferences");
	unsigned gone = 0;

	if (!object || !kept)
		return VERDICT_ERROR;
	for (uint32_t i = 0; tree_is(refs, TREE_ARRAY) && i < refs->len; i++) {
		enum owner is = find_owner(c, r, refs->items[i], o->ns);
		if (is == OWNER_ERROR)
			return VERDICT_ERROR;
		if (is == OWNER_GONE)
			gone++;
		else if (!tree_append(a, kept, refs->items[i]))
			return VERDICT_ERROR;
	}
	if (!gone)
		return VERDICT_KEEP;
	if (!kept->len)
		return VERDICT_DELETE;
	*ret_patch = unlink_patch(a, kept);
	return *ret_patch ? VERDICT_UNLINK : VERDICT_ERROR;
}

bool gc_carry_out(struct control *c, struct read *r, const struct kind *k, const struct object *o, struct batch *b)
{
	struct tree *patch = NULL;
	struct arena a;

	if (kind_is(k, KIND_NO_OWNER))
		return true;
	arena_init(&a, 0);
	enum verdict v = gc_judge(c, r, &a, k, o, &patch);
	if (v == VERDICT_DELETE && !(o->flags & RECORD_TERMINATING))
		batch_delete(b, k, o, PROPAGATION_BACKGROUND);
	else if (v == VERDICT_UNLINK)
		batch_patch(b, k, o, patch);
	arena_done(&a);
	return v != VERDICT_ERROR;
}

static int by_uid(const void *a, const void *b)
{
	return str_cmp(((const struct waiting *)a)->uid, ((const struct waiting *)b)->uid);
}

void gc_wait_for(struct control *c, const struct kind *k, const struct object *o)
{
	if (gc_waiting(c, o->uid))
		return;
	struct waiting *w = malloc(sizeof(*w) + o->uid.len + o->ns.len + o->name.len);
	if (!w) {
		c->rescan = true;
		return;
	}
	char *p = w->text;
	w->kind = k;
	w->uid = str_n(p, o->uid.len);
	w->ns = str_n(p + o->uid.len, o->ns.len);
	w->name = str_n(p + o->uid.len + o->ns.len, o->name.len);
	p = (char *)mempcpy(p, o->uid.ptr, o->uid.len);
	p = (char *)mempcpy(p, o->ns.ptr, o->ns.len);
	memcpy(p, o->name.ptr, o->name.len);
	if (!tsearch(w, &c->foreground, by_uid)) {
		free(w);
		c->rescan = true;
	}
}

const struct waiting *gc_waiting(struct control *c, struct str uid)
{
	struct waiting key = {.uid = uid};
	void *found = tfind(&key, &c->foreground, by_uid);

	return found ? *(struct waiting **)found : NULL;
}

void gc_forget(struct control *c, struct str uid)
{
	struct waiting key = {.uid = uid};
	void *found = tfind(&key, &c->foreground, by_uid);

	if (!found)
		return;
	struct waiting *w = *(struct waiting **)found;
	tdelete(w, &c->foreground, by_uid);
	free(w);
}

void gc_forget_all(struct control *c)
{
	tdestroy(c->foreground, free);
	c->foreground = NULL;
}
