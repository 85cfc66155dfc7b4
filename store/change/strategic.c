/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' strategic merge patch, maps.
 *
 * A patch looks like the object it changes, and merges into it as RFC 7386 would, but for two things. Lists
 * of which the schema knows a merge key are merged element by element (strategic_list.c). And members whose
 * name starts with `$` are directives about the map they stand in or about a list beside them:
 *
 *     $patch: replace | delete | merge       what to do with this map
 *     $retainKeys: [k, ...]                  drop all members but these, then merge (unions)
 *     $setElementOrder/LIST: [...]           order of LIST afterwards
 *     $deleteFromPrimitiveList/LIST: [...]   scalars to take out of LIST
 *
 * Semantics and texts are those of apimachinery's strategicpatch in v1.36. What it leaves to the random order of
 * Go's maps is fixed here: merge, then order, then delete. */
#include "store/change/strategic.h"

#include <errno.h>

#include "store/change/patch.h"
#include "store/change/weave.h"

static const struct str order_prefix = STR_INIT("$setElementOrder");
static const struct str delete_prefix = STR_INIT("$deleteFromPrimitiveList");

/* Fields of objects that a patch replaces as a whole (patchStrategy: replace); a schema_node of a map has
 * no word for it. There is one. */
static const struct {
	const char *def, *field;
} replaced[] = {
	{"policy.v1.PodDisruptionBudgetSpec", "selector"},
};

/* A map being merged: what the weave's callback needs. */
struct merging {
	struct strategic *s;
	const struct schema_node *node;
	const struct tree *patch;
	bool ordered; /* patch has a $setElementOrder */
};

static int no_memory(struct strategic *s)
{
	return status_no_memory(s->st);
}

static bool is_directive(struct str key)
{
	return str_is(key, "$patch") || str_is(key, "$retainKeys") || str_starts(key, order_prefix) ||
	       str_starts(key, delete_prefix);
}

static const struct schema_node *node_child(const struct schema_node *node, struct str key)
{
	if (!node)
		return NULL;
	if (node->type == SCHEMA_MAP)
		return node->item;
	const struct schema_field *f = node->def ? schema_field(node->def, key) : NULL;
	return f ? &f->node : NULL;
}

static bool is_replaced(const struct schema_node *node, struct str key)
{
	if (!node || !node->def)
		return false;
	for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++)
		if (str_is(node->def->name, replaced[i].def) && str_is(key, replaced[i].field))
			return true;
	return false;
}

static int copy_items(struct strategic *s, const struct tree *patch, struct tree **ret)
{
	struct tree *copy = tree_array(s->arena);

	if (!copy)
		return no_memory(s);
	for (uint32_t i = 0; i < patch->len; i++) {
		struct tree *value;
		int r = strategic_copy(s, patch->items[i], &value);
		if (r < 0)
			return r;
		if (value && !tree_append(s->arena, copy, value))
			return no_memory(s);
	}
	*ret = copy;
	return 0;
}

int strategic_copy_members(struct strategic *s, const struct tree *patch, struct tree **ret)
{
	struct tree *copy = tree_object(s->arena);

	if (!copy)
		return no_memory(s);
	for (uint32_t i = 0; i < patch->len; i++) {
		const struct tree_member *m = &patch->members[i];
		struct tree *value;
		if (m->value->type == TREE_NULL || is_directive(m->key))
			continue;
		int r = strategic_copy(s, m->value, &value);
		if (r < 0)
			return r;
		if (value && !tree_set(s->arena, copy, m->key, value))
			return no_memory(s);
	}
	*ret = copy;
	return 0;
}

int strategic_copy(struct strategic *s, const struct tree *patch, struct tree **ret)
{
	const struct tree *directive = tree_getz(patch, "$patch");

	*ret = NULL;
	if (directive && !str_is(tree_text(directive), "merge"))
		return 0;
	if (patch->type == TREE_ARRAY)
		return copy_items(s, patch, ret);
	if (patch->type == TREE_OBJECT)
		return strategic_copy_members(s, patch, ret);
	*ret = tree_copy(s->arena, patch);
	return *ret ? 0 : no_memory(s);
}

/* The list that a parallel directive, `PREFIX/LIST`, is about. */
static bool parallel_list(struct str key, struct str prefix, struct str *ret)
{
	if (!str_starts(key, prefix) || key.len == prefix.len || key.ptr[prefix.len] != '/')
		return false;
	*ret = str_skip(key, prefix.len + 1);
	return true;
}

/* The parallel directives must be well-formed before anything is merged. */
static int check_directives(struct strategic *s, const struct tree *patch, bool *ret_ordered)
{
	struct str list;

	*ret_ordered = false;
	for (uint32_t i = 0; i < patch->len; i++) {
		const struct tree_member *m = &patch->members[i];
		if (str_starts(m->key, order_prefix)) {
			*ret_ordered = true;
			if (!parallel_list(m->key, order_prefix, &list) || m->value->type != TREE_ARRAY)
				return status_set(s->st, REASON_BAD_REQUEST,
						  "invalid patch format of setElementOrder list");
		}
		if (str_starts(m->key, delete_prefix) &&
		    (!parallel_list(m->key, delete_prefix, &list) || m->value->type != TREE_ARRAY))
			return status_set(s->st, REASON_BAD_REQUEST, "invalid patch format of primitive list");
	}
	return 0;
}

/* The $setElementOrder list for a member of the patch; NULL when it has none. */
static int order_of(const struct merging *m, struct str key, struct tree **ret)
{
	*ret = NULL;
	if (!m->ordered)
		return 0;
	char *name = arena_alloc(m->s->arena, order_prefix.len + 1 + key.len);
	if (!name)
		return no_memory(m->s);
	memcpy(name, order_prefix.ptr, order_prefix.len);
	name[order_prefix.len] = '/';
	if (key.len)
		memcpy(name + order_prefix.len + 1, key.ptr, key.len);
	*ret = tree_get(m->patch, str_n(name, order_prefix.len + 1 + key.len));
	return 0;
}

/* A list with its $setElementOrder: merged, then brought into that order. */
static int merge_ordered(const struct merging *m, const struct schema_node *node, const struct tree *old,
			 const struct tree *patch, const struct tree *order, struct tree **ret)
{
	struct strategic *s = m->s;

	if (patch->type != TREE_ARRAY)
		return strategic_bad_type(s, "[]interface {}", patch);
	if (old && old->type != TREE_ARRAY)
		return strategic_bad_type(s, "[]interface {}", old);
	int r = strategic_order_check(s, node, patch, order);
	if (r < 0)
		return r;
	struct tree *merged;
	r = old ? strategic_list(s, node, old, patch, &merged) : strategic_copy(s, patch, &merged);
	return r < 0 ? r : strategic_order(s, node, merged, order, old, ret);
}

static int merge_member(void *arg, struct str key, struct tree *old, const struct tree *patch, struct tree **ret)
{
	const struct merging *m = arg;
	const struct schema_node *node = node_child(m->node, key);
	struct tree *order;

	if (is_directive(key)) {
		*ret = old;
		return 0;
	}
	int r = order_of(m, key, &order);
	if (r < 0)
		return r;
	if (order)
		return merge_ordered(m, node, old, patch, order, ret);
	if (patch->type == TREE_NULL) {
		*ret = NULL;
		return 0;
	}
	if (!old || old->type != patch->type || patch->type < TREE_ARRAY)
		return strategic_copy(m->s, patch, ret);
	if (patch->type == TREE_ARRAY)
		return strategic_list(m->s, node, old, patch, ret);
	if (is_replaced(m->node, key))
		return strategic_copy_members(m->s, patch, ret);
	return strategic_map(m->s, node, old, patch, ret);
}

/* What the directives ask of lists that the patch does not name otherwise. The members exist: replacing
 * them moves nothing. */
static int apply_directive(const struct merging *m, const struct tree_member *directive, struct tree *object)
{
	struct strategic *s = m->s;
	struct str key;
	struct tree *done;
	int r;

	if (parallel_list(directive->key, order_prefix, &key)) {
		const struct tree *list = tree_get(object, key);
		if (!list || tree_get(m->patch, key))
			return 0;
		if (list->type != TREE_ARRAY)
			return strategic_bad_type(s, "[]interface {}", list);
		r = strategic_order(s, node_child(m->node, key), list, directive->value, list, &done);
	} else if (parallel_list(directive->key, delete_prefix, &key)) {
		const struct tree *list = tree_get(object, key);
		if (!tree_is(list, TREE_ARRAY))
			return 0;
		r = strategic_delete(s, list, directive->value, &done);
	} else {
		return 0;
	}
	if (r < 0)
		return r;
	return tree_set(s->arena, object, key, done) ? 0 : no_memory(s);
}

static int apply_directives(const struct merging *m, struct tree *object)
{
	for (uint32_t i = 0; i < m->patch->len; i++) {
		int r = apply_directive(m, &m->patch->members[i], object);
		if (r < 0)
			return r;
	}
	return 0;
}

/* $retainKeys: old without what the list does not name. All that the patch sets must be in it. */
static int retain_keys(struct strategic *s, const struct tree *patch, const struct tree *keys, struct tree *old,
		       struct tree **ret)
{
	struct tree *kept = tree_object(s->arena);
	struct index index;

	if (keys->type != TREE_ARRAY)
		return status_set(s->st, REASON_BAD_REQUEST, "invalid patch format of retainKeys");
	if (!kept)
		return no_memory(s);
	int r = index_build(s, keys, (struct str){0}, &index);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < patch->len; i++) {
		struct tree name = {.type = TREE_STRING, .text = patch->members[i].key};
		if (patch->members[i].value->type != TREE_NULL && !is_directive(name.text) &&
		    index_find(&index, &name) == INDEX_NONE)
			return status_set(s->st, REASON_BAD_REQUEST, "invalid patch format of retainKeys");
	}
	for (uint32_t i = 0; old && i < old->len; i++) {
		struct tree name = {.type = TREE_STRING, .text = old->members[i].key};
		if (index_find(&index, &name) != INDEX_NONE &&
		    !tree_set(s->arena, kept, name.text, old->members[i].value))
			return no_memory(s);
	}
	*ret = kept;
	return 0;
}

int strategic_map(struct strategic *s, const struct schema_node *node, struct tree *old, const struct tree *patch,
		  struct tree **ret)
{
	struct merging m = {.s = s, .node = node, .patch = patch};
	const struct tree *directive = tree_getz(patch, "$patch"), *keys = tree_getz(patch, "$retainKeys");
	struct str word = tree_text(directive);
	struct tree *merged;

	if (str_is(word, "replace"))
		return strategic_copy_members(s, patch, ret);
	if (str_is(word, "delete")) {
		*ret = tree_object(s->arena);
		return *ret ? 0 : no_memory(s);
	}
	if (directive && !str_is(word, "merge"))
		return strategic_bad_directive(s, patch);
	int r = check_directives(s, patch, &m.ordered);
	if (r == 0 && keys)
		r = retain_keys(s, patch, keys, old, &old);
	if (r < 0)
		return r;
	r = weave(s->arena, old, patch, merge_member, &m, &merged);
	if (r < 0) /* the weave itself fails for one cause only, which may not be in st yet */
		return r == -ENOMEM ? no_memory(s) : r;
	r = apply_directives(&m, merged);
	if (r < 0)
		return r;
	*ret = merged;
	return 0;
}

int patch_strategic(struct arena *a, const struct schema_def *def, struct tree *object, const struct tree *patch,
		    struct tree **ret, struct status *st)
{
	struct strategic s = {a, st};
	const struct schema_node root = {.type = SCHEMA_OBJECT, .def = def};

	if (patch->type != TREE_OBJECT)
		return status_set(st, REASON_BAD_REQUEST, "invalid JSON document");
	return strategic_map(&s, &root, object, patch, ret);
}
