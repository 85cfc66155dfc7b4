/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' strategic merge patch, lists.
 *
 * A list with the merge strategy is a set of scalars or a set of objects known by their merge key. The elements of the
 * result come in the order of the patch; those that only the server has keep their order and go before the
 * first patched element that stood behind them, as far as the patch's order lets them. Elements are
 * found by sorted indexes: the cost is n log n for hostile lists too. */
#include "store/change/strategic.h"

#include <stdlib.h>

/* One element of the result and where it stands in the two lists that decide its place. */
struct item {
	struct tree *value;
	uint32_t by_patch, by_old; /* positions or INDEX_NONE */
	uint32_t at;               /* before sorting */
};

struct items {
	struct item *items;
	uint32_t len;
};

static int no_memory(struct strategic *s)
{
	return status_no_memory(s->st);
}

static struct str scalar_text(const struct tree *t)
{
	static const struct str words[] = {
		[TREE_NULL] = STR_INIT("null"), [TREE_FALSE] = STR_INIT("false"), [TREE_TRUE] = STR_INIT("true")};

	return t->type <= TREE_TRUE ? words[t->type] : t->text;
}

/* False when the value has no key: it should be an object with a scalar there, or a scalar. */
static bool key_of(const struct tree *value, struct str merge_key, struct index_entry *ret)
{
	if (merge_key.len) {
		const struct tree *key = tree_get(value, merge_key);
		if (!key || key->type == TREE_NULL || key->type >= TREE_ARRAY)
			return false;
		*ret = (struct index_entry){scalar_text(key), TREE_STRING, 0};
		return true;
	}
	if (value->type >= TREE_ARRAY)
		return false;
	*ret = (struct index_entry){scalar_text(value), value->type, 0};
	return true;
}

static int key_compare(const struct index_entry *x, const struct index_entry *y)
{
	int c = str_cmp(x->text, y->text);

	return c ? c : (x->type > y->type) - (x->type < y->type);
}

static int entry_compare(const void *a, const void *b)
{
	const struct index_entry *x = a, *y = b;
	int c = key_compare(x, y);

	return c ? c : (x->at > y->at) - (x->at < y->at);
}

static int no_key(struct strategic *s, const struct tree *value, struct str merge_key)
{
	if (merge_key.len == 0)
		return strategic_bad_type(s, "string", value);
	if (value->type != TREE_OBJECT)
		return strategic_bad_type(s, "map[string]interface {}", value);
	return strategic_no_key(s, value, merge_key);
}

int index_build(struct strategic *s, const struct tree *list, struct str merge_key, struct index *ret)
{
	struct index x = {.len = list ? list->len : 0, .merge_key = merge_key};

	x.entries = arena_calloc(s->arena, x.len + 1, sizeof(*x.entries));
	if (!x.entries)
		return no_memory(s);
	for (uint32_t i = 0; i < x.len; i++) {
		if (!key_of(list->items[i], merge_key, &x.entries[i]))
			return no_key(s, list->items[i], merge_key);
		x.entries[i].at = i;
	}
	qsort(x.entries, x.len, sizeof(*x.entries), entry_compare);
	*ret = x;
	return 0;
}

uint32_t index_find(const struct index *x, const struct tree *value)
{
	struct index_entry key;
	uint32_t low = 0, high = x->len;

	if (!key_of(value, x->merge_key, &key))
		return INDEX_NONE;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (key_compare(&x->entries[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < x->len && key_compare(&x->entries[low], &key) == 0 ? x->entries[low].at : INDEX_NONE;
}

static int items_new(struct strategic *s, uint32_t room, struct items *ret)
{
	*ret = (struct items){arena_calloc(s->arena, (size_t)room + 1, sizeof(struct item)), 0};
	return ret->items ? 0 : no_memory(s);
}

static void items_add(struct items *l, struct tree *value, uint32_t by_patch, uint32_t by_old)
{
	l->items[l->len] = (struct item){value, by_patch, by_old, l->len};
	l->len++;
}

/* Patched elements by the patch's order, then those of the server by its own. */
static int item_compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->by_patch != y->by_patch)
		return x->by_patch < y->by_patch ? -1 : 1;
	if (x->by_patch == INDEX_NONE && x->by_old != y->by_old)
		return x->by_old < y->by_old ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* The list of all items in their final order. */
static int items_join(struct strategic *s, struct items *l, struct tree **ret)
{
	struct tree *list = tree_array(s->arena);
	uint32_t patched = 0;

	if (!list)
		return no_memory(s);
	qsort(l->items, l->len, sizeof(*l->items), item_compare);
	while (patched < l->len && l->items[patched].by_patch != INDEX_NONE)
		patched++;
	for (uint32_t i = 0, j = patched; i < patched || j < l->len;) {
		const struct item *p = &l->items[i], *o = &l->items[j];
		bool old_first = i == patched;
		if (i < patched && j < l->len)
			old_first = o->by_old != INDEX_NONE && p->by_old != INDEX_NONE && o->by_old < p->by_old;
		if (!tree_append(s->arena, list, old_first ? o->value : p->value))
			return no_memory(s);
		old_first ? j++ : i++;
	}
	*ret = list;
	return 0;
}

int strategic_order(struct strategic *s, const struct schema_node *node, const struct tree *list,
		    const struct tree *order, const struct tree *old, struct tree **ret)
{
	struct str merge_key = node ? node->merge_key : (struct str){0};
	struct index checked, wanted, before;
	struct items l;
	int r = index_build(s, list, merge_key, &checked);

	if (r == 0)
		r = index_build(s, order, merge_key, &wanted);
	if (r == 0)
		r = index_build(s, old, merge_key, &before);
	if (r == 0)
		r = items_new(s, list->len, &l);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < list->len; i++)
		items_add(&l, list->items[i], index_find(&wanted, list->items[i]), index_find(&before, list->items[i]));
	return items_join(s, &l, ret);
}

int strategic_order_check(struct strategic *s, const struct schema_node *node, const struct tree *patch,
			  const struct tree *order)
{
	struct str merge_key = node ? node->merge_key : (struct str){0};
	uint32_t j = 0;

	if (order->len == 0)
		return 0;
	for (uint32_t i = 0; i < patch->len; i++) {
		const struct tree *value = patch->items[i];
		struct index_entry want, have;
		if (tree_getz(value, "$patch"))
			continue;
		if (!key_of(value, merge_key, &want))
			return no_key(s, value, merge_key);
		do {
			if (j == order->len)
				return strategic_bad_order(s, patch, order);
			if (!key_of(order->items[j], merge_key, &have))
				return no_key(s, order->items[j], merge_key);
			j++;
		} while (key_compare(&want, &have) != 0);
	}
	return 0;
}

int strategic_delete(struct strategic *s, const struct tree *list, const struct tree *gone, struct tree **ret)
{
	struct tree *left = tree_array(s->arena);
	struct index index;
	int r = index_build(s, gone, (struct str){0}, &index);

	if (r < 0)
		return r;
	if (!left)
		return no_memory(s);
	for (uint32_t i = 0; i < list->len; i++)
		if (index_find(&index, list->items[i]) == INDEX_NONE &&
		    !tree_append(s->arena, left, list->items[i]))
			return no_memory(s);
	*ret = left;
	return 0;
}

/* Scalars: both lists together, each value once. */
static int merge_scalars(struct strategic *s, const struct tree *old, const struct tree *patch, struct tree **ret)
{
	struct index olds, patches;
	struct items l;
	int r = index_build(s, old, (struct str){0}, &olds);

	if (r == 0)
		r = index_build(s, patch, (struct str){0}, &patches);
	if (r == 0)
		r = items_new(s, old->len + patch->len, &l);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < old->len; i++)
		if (index_find(&olds, old->items[i]) == i)
			items_add(&l, old->items[i], index_find(&patches, old->items[i]), i);
	for (uint32_t i = 0; i < patch->len; i++) {
		if (index_find(&patches, patch->items[i]) != i || index_find(&olds, patch->items[i]) != INDEX_NONE)
			continue;
		struct tree *value = tree_copy(s->arena, patch->items[i]);
		if (!value)
			return no_memory(s);
		items_add(&l, value, i, INDEX_NONE);
	}
	return items_join(s, &l, ret);
}

/* What the elements of a patch that carry $patch ask for. */
struct special {
	struct tree *plain;   /* the elements without, `$patch: merge` among them */
	struct tree *deleted; /* those with `delete` */
	bool replace;
};

static int special_sort(struct strategic *s, const struct tree *patch, struct special *ret)
{
	struct special x = {tree_array(s->arena), tree_array(s->arena), false};

	if (!x.plain || !x.deleted)
		return no_memory(s);
	for (uint32_t i = 0; i < patch->len; i++) {
		struct tree *directive = tree_getz(patch->items[i], "$patch");
		struct str word = tree_text(directive);
		struct tree *to = !directive || str_is(word, "merge") ? x.plain : x.deleted;
		if (str_is(word, "replace")) {
			x.replace = true;
			continue;
		}
		if (to == x.deleted && !str_is(word, "delete"))
			return strategic_bad_directive(s, patch->items[i]);
		if (!tree_append(s->arena, to, patch->items[i]))
			return no_memory(s);
	}
	*ret = x;
	return 0;
}

static int drop_deleted(struct strategic *s, const struct tree *old, const struct tree *deleted, struct str merge_key,
			struct tree **ret)
{
	struct tree *left = tree_array(s->arena);
	struct index index;
	int r = index_build(s, deleted, merge_key, &index);

	if (r < 0)
		return r;
	if (!left)
		return no_memory(s);
	for (uint32_t i = 0; i < old->len; i++)
		if (index_find(&index, old->items[i]) == INDEX_NONE && !tree_append(s->arena, left, old->items[i]))
			return no_memory(s);
	*ret = left;
	return 0;
}

/* Merges each element of the patch into its namesake in l (which holds the old elements) or adds it. An element that
 * stands twice in the patch merges into its first occurrence: slots says where that went. */
static int merge_elements(struct strategic *s, const struct schema_node *node, const struct tree *patch,
			  const struct index *olds, const struct index *patches, struct items *l)
{
	uint32_t *slots = arena_calloc(s->arena, (size_t)patch->len + 1, sizeof(*slots));

	if (!slots)
		return no_memory(s);
	for (uint32_t i = 0; i < patch->len; i++) {
		struct tree *value;
		uint32_t first = index_find(patches, patch->items[i]);
		uint32_t slot = first < i ? slots[first] : index_find(olds, patch->items[i]);
		int r = slot == INDEX_NONE
				? strategic_copy_members(s, patch->items[i], &value)
				: strategic_map(s, node, l->items[slot].value, patch->items[i], &value);
		if (r < 0)
			return r;
		slots[i] = slot == INDEX_NONE ? l->len : slot;
		if (slot == INDEX_NONE)
			items_add(l, value, i, INDEX_NONE);
		else
			l->items[slot].value = value;
	}
	return 0;
}

static int merge_objects(struct strategic *s, const struct schema_node *node, const struct tree *old,
			 const struct tree *patch, struct tree **ret)
{
	struct index olds, patches;
	struct special special = {0};
	struct tree *left = NULL;
	struct items l;
	int r = special_sort(s, patch, &special);

	if (r == 0 && special.replace)
		return strategic_copy(s, special.plain, ret);
	if (r == 0)
		r = drop_deleted(s, old, special.deleted, node->merge_key, &left);
	if (r == 0)
		r = index_build(s, left, node->merge_key, &olds);
	if (r == 0)
		r = index_build(s, special.plain, node->merge_key, &patches);
	if (r == 0)
		r = items_new(s, left->len + special.plain->len, &l);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < left->len; i++)
		items_add(&l, left->items[i], index_find(&patches, left->items[i]), index_find(&olds, left->items[i]));
	r = merge_elements(s, node->item, special.plain, &olds, &patches, &l);
	return r < 0 ? r : items_join(s, &l, ret);
}

/* All elements of both lists must be of one type; `first` is one of them. */
static int check_types(struct strategic *s, const struct tree *old, const struct tree *patch, const struct tree *first)
{
	const struct tree *lists[] = {old, patch};

	if (first->type == TREE_ARRAY)
		return status_set(s->st, REASON_INVALID,
				  "the server rejected our request due to an error in our request");
	for (size_t n = 0; n < 2; n++)
		for (uint32_t i = 0; i < lists[n]->len; i++) {
			enum tree_type x = first->type, y = lists[n]->items[i]->type;
			bool booleans = (x == TREE_TRUE || x == TREE_FALSE) && (y == TREE_TRUE || y == TREE_FALSE);
			if (x != y && !booleans)
				return strategic_mixed(s, old, patch);
		}
	return 0;
}

int strategic_list(struct strategic *s, const struct schema_node *node, const struct tree *old,
		   const struct tree *patch, struct tree **ret)
{
	if (!node || !(node->patch & PATCH_MERGE) || old->len + patch->len == 0)
		return strategic_copy(s, patch, ret);
	const struct tree *first = old->len ? old->items[0] : patch->items[0];
	int r = check_types(s, old, patch, first);
	if (r < 0)
		return r;
	if (node->merge_key.len == 0 && first->type == TREE_OBJECT)
		return status_set(s->st, REASON_UNKNOWN, "cannot merge lists without merge key for %.*s",
				  STR_ARG(node->item && node->item->def ? node->item->def->name : (struct str){0}));
	if (node->merge_key.len && first->type != TREE_OBJECT)
		return strategic_bad_type(s, "map[string]interface {}", first);
	return first->type == TREE_OBJECT ? merge_objects(s, node, old, patch, ret)
					  : merge_scalars(s, old, patch, ret);
}
