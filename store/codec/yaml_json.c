/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML document's nodes as JSON text: aliases expanded, merge keys resolved.
 *
 * A chain of aliases can grow without bound from a small text; it costs no more than what the limits on
 * nodes and bytes allow. Merge keys are resolved here because only now all keys of a mapping are known:
 * its own win over merged ones wherever the << stands. */
#include "store/codec/yaml_node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/codec/scan.h"
#include "store/codec/yaml.h"

struct writer {
	struct arena *arena;
	struct buf *out;
	size_t limit; /* of out->len */
	size_t nodes;     /* written or merged so far */
	size_t key_bytes; /* of merged mappings, within limit too: they are sorted */
	struct status *st;
};

/* A member of a mapping that has merge keys. */
struct entry {
	struct str key;
	const struct node *value;
	size_t order; /* explicit members first, then those merged, the strongest first */
	bool merged, lost;
};

struct entries {
	struct entry *list;
	size_t len, cap;
};

static int write_node(struct writer *w, const struct node *n, unsigned depth);

/* Counts one more written (or merged) value. */
static int check_limits(struct writer *w, const struct node *n)
{
	if (++w->nodes > YAML_NODES_MAX || w->out->len > w->limit)
		return yaml_fail(n->line, w->st, "document contains excessive aliasing");
	return w->out->failed ? status_no_memory(w->st) : 0;
}

/* sigs.k8s.io/yaml prints a fractional key as Go's FormatFloat(v, 'g', -1, 32) does: the shortest
 * digits that give the same float32. */
static struct str float_key(struct arena *a, struct str number)
{
	struct str z = arena_str(a, number);
	char e[32];
	int digits = 0;

	if (!z.ptr)
		return z;
	float v = strtof(z.ptr, NULL);
	if (isinf(v))
		return v > 0 ? STR(".inf") : STR("-.inf");
	do {
		snprintf(e, sizeof(e), "%.*e", digits, (double)v);
	} while (strtof(e, NULL) != v && ++digits < 9);
	int exponent = atoi(strchr(e, 'e') + 1);
	if (exponent < -4 || exponent >= 6)
		return arena_str(a, str_of(e));
	return arena_printf(a, "%.*f", digits > exponent ? digits - exponent : 0, (double)v);
}

static bool has_fraction(struct str number)
{
	return str_chr(number, '.') >= 0 || str_chr(number, 'e') >= 0 || str_chr(number, 'E') >= 0;
}

static int key_text(const struct writer *w, const struct node *key, struct str *ret)
{
	const struct node *n = node_target(key);

	switch (n->type) {
	case NODE_STRING: *ret = n->text; return 0;
	case NODE_TRUE: *ret = STR("true"); return 0;
	case NODE_FALSE: *ret = STR("false"); return 0;
	case NODE_NUMBER: break;
	case NODE_NULL: return yaml_fail(key->line, w->st, "unsupported map key of type: null");
	default: return yaml_fail(key->line, w->st, "invalid map key: a mapping or a sequence");
	}
	*ret = has_fraction(n->text) ? float_key(w->arena, n->text) : n->text;
	return ret->ptr ? 0 : status_no_memory(w->st);
}

static int write_member(struct writer *w, struct str key, const struct node *value, bool first, unsigned depth)
{
	if (!first)
		buf_addc(w->out, ',');
	buf_add_json(w->out, key);
	buf_addc(w->out, ':');
	return write_node(w, value, depth);
}

static bool entries_grow(struct entries *v)
{
	size_t cap = v->cap ? v->cap * 2 : 16;
	struct entry *list = reallocarray(v->list, cap, sizeof(*list));

	if (!list)
		return false;
	v->list = list;
	v->cap = cap;
	return true;
}

static int entry_add(struct writer *w, struct entries *v, const struct node *key, bool merged)
{
	struct entry e = {.value = key->next, .order = v->len, .merged = merged};
	int r = check_limits(w, key);

	if (r == 0)
		r = key_text(w, key, &e.key);
	if (r < 0)
		return r;
	w->key_bytes += e.key.len;
	if (w->key_bytes > w->limit)
		return yaml_fail(key->line, w->st, "document contains excessive aliasing");
	if (v->len == v->cap && !entries_grow(v))
		return status_no_memory(w->st);
	v->list[v->len++] = e;
	return 0;
}

static int gather(struct writer *w, struct entries *v, const struct node *map, bool merged, unsigned depth);

static int gather_one(struct writer *w, struct entries *v, const struct node *node, unsigned depth)
{
	const struct node *map = node_target(node);
	int r = check_limits(w, node);

	if (r < 0)
		return r;
	if (map->type != NODE_MAP)
		return yaml_fail(node->line, w->st, "map merge requires map or sequence of maps as the value");
	return gather(w, v, map, true, depth);
}

/* The value of a merge key: a mapping or a sequence of mappings, earlier ones stronger. */
static int gather_merge(struct writer *w, struct entries *v, const struct node *value, unsigned depth)
{
	const struct node *list = node_target(value);
	int r = 0;

	if (list->type != NODE_LIST)
		return gather_one(w, v, value, depth);
	for (const struct node *item = list->first; r == 0 && item; item = item->next)
		r = gather_one(w, v, item, depth);
	return r;
}

/* Members of map first, then what it merges: the order of strength. */
static int gather(struct writer *w, struct entries *v, const struct node *map, bool merged, unsigned depth)
{
	int r = 0;

	if (depth > SCAN_DEPTH_MAX)
		return yaml_fail(map->line, w->st, "exceeded max depth");
	for (const struct node *key = map->first; r == 0 && key; key = key->next->next)
		if (!key->merge)
			r = entry_add(w, v, key, merged);
	for (const struct node *key = map->first; r == 0 && key; key = key->next->next)
		if (key->merge)
			r = gather_merge(w, v, key->next, depth + 1);
	return r;
}

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = str_cmp(x->key, y->key);

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* Marks merged members whose key a stronger one has. */
static void drop_weaker(struct entries *v)
{
	qsort(v->list, v->len, sizeof(*v->list), by_key);
	for (size_t i = 1; i < v->len; i++)
		v->list[i].lost = v->list[i].merged && str_eq(v->list[i].key, v->list[i - 1].key);
	qsort(v->list, v->len, sizeof(*v->list), by_order);
}

static int write_merged_map(struct writer *w, const struct node *map, unsigned depth)
{
	struct entries v = {0};
	int r = gather(w, &v, map, false, 0);
	bool first = true;

	if (r == 0 && v.len)
		drop_weaker(&v);
	buf_addc(w->out, '{');
	for (size_t i = 0; r == 0 && i < v.len; i++) {
		if (v.list[i].lost)
			continue;
		r = write_member(w, v.list[i].key, v.list[i].value, first, depth);
		first = false;
	}
	buf_addc(w->out, '}');
	free(v.list);
	return r;
}

static bool has_merge(const struct node *map)
{
	for (const struct node *key = map->first; key; key = key->next->next)
		if (key->merge)
			return true;
	return false;
}

static int write_map(struct writer *w, const struct node *map, unsigned depth)
{
	int r = 0;

	if (has_merge(map))
		return write_merged_map(w, map, depth);
	buf_addc(w->out, '{');
	for (const struct node *key = map->first; r == 0 && key; key = key->next->next) {
		struct str text;
		r = key_text(w, key, &text);
		if (r == 0)
			r = write_member(w, text, key->next, key == map->first, depth);
	}
	buf_addc(w->out, '}');
	return r;
}

static int write_list(struct writer *w, const struct node *list, unsigned depth)
{
	int r = 0;

	buf_addc(w->out, '[');
	for (const struct node *item = list->first; r == 0 && item; item = item->next) {
		if (item != list->first)
			buf_addc(w->out, ',');
		r = write_node(w, item, depth);
	}
	buf_addc(w->out, ']');
	return r;
}

static int write_node(struct writer *w, const struct node *node, unsigned depth)
{
	const struct node *n = node_target(node);
	int r = check_limits(w, node);

	if (r < 0)
		return r;
	if (depth == SCAN_DEPTH_MAX && n->type >= NODE_LIST)
		return yaml_fail(node->line, w->st, "exceeded max depth");
	switch (n->type) {
	case NODE_NULL: buf_adds(w->out, "null"); return 0;
	case NODE_TRUE: buf_adds(w->out, "true"); return 0;
	case NODE_FALSE: buf_adds(w->out, "false"); return 0;
	case NODE_NUMBER: buf_add_str(w->out, n->text); return 0;
	case NODE_STRING: buf_add_json(w->out, n->text); return 0;
	case NODE_LIST: return write_list(w, n, depth + 1);
	default: return write_map(w, n, depth + 1);
	}
}

int yaml_write_nodes(struct arena *a, const struct node *root, size_t limit, struct buf *out, struct status *st)
{
	struct writer w = {.arena = a, .out = out, .limit = limit, .st = st};
	int r = write_node(&w, root, 0);

	if (r < 0)
		return r;
	return out->failed ? status_no_memory(st) : 0;
}
