/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of cell rules: writing string cells in pieces, reading values by path, lists of texts. */
#include <stdlib.h>

#include "store/kind/cells_private.h"
#include "store/kind/quantity.h"

#define QUANTITY_MAX 48

/* 0001-01-01T00:00:00Z, which Go takes for "not set". */
#define ZERO_TIME (-62135596800)

void cell_begin(struct cells *c)
{
	buf_addc(&c->text, '"');
}

void cell_end(struct cells *c)
{
	buf_addc(&c->text, '"');
}

void cell_add(struct cells *c, struct str s)
{
	struct buf *b = &c->text;
	size_t start = b->len;

	/* The escapes of buf_add_json without its quotes. */
	buf_add_json(b, s);
	if (b->failed)
		return;
	memmove(b->ptr + start, b->ptr + start + 1, b->len - start - 1);
	b->len -= 2;
}

void cell_addz(struct cells *c, const char *z)
{
	cell_add(c, str_of(z));
}

static void add_int(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_addc(b, '-');
	buf_add_u64(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void cell_add_int(struct cells *c, int64_t v)
{
	add_int(&c->text, v);
}

void cell_add_duration(struct cells *c, int64_t seconds)
{
	char age[AGE_MAX];

	buf_add(&c->text, age, age_text(seconds, age));
}

void cell_add_more(struct cells *c, uint64_t n)
{
	buf_adds(&c->text, " + ");
	buf_add_u64(&c->text, n);
	buf_adds(&c->text, " more...");
}

void cell_add_quantity(struct cells *c, const struct tree *t, const char *other)
{
	bool scalar = tree_is(t, TREE_STRING) || tree_is(t, TREE_NUMBER);
	struct str text = scalar ? t->text : (struct str){0};
	struct quantity q;
	char out[QUANTITY_MAX];

	if (text.len == 0)
		cell_addz(c, other);
	else if (quantity_parse(text, &q))
		cell_add(c, str_n(out, quantity_text(&q, out)));
	else
		cell_add(c, text);
}

void cell_text(struct cells *c, struct str s)
{
	buf_add_json(&c->text, s);
}

void cell_textz(struct cells *c, const char *z)
{
	buf_add_json(&c->text, str_of(z));
}

void cell_int(struct cells *c, int64_t v)
{
	add_int(&c->text, v);
}

void cell_bool(struct cells *c, bool v)
{
	buf_adds(&c->text, v ? "true" : "false");
}

/* Takes the first step off a path that is not empty: a key, or what stands between brackets. */
static struct str path_step(struct str *path, bool *ret_item)
{
	bool item = path->ptr[0] == '[';
	size_t n = 1;

	while (n < path->len && (item ? path->ptr[n] != ']' : path->ptr[n] != '.' && path->ptr[n] != '['))
		n++;
	struct str step = {path->ptr + 1, n - 1};
	*path = str_skip(*path, item ? n + 1 : n);
	*ret_item = item;
	return step;
}

static const struct tree *step_into(const struct tree *t, struct str step, bool item)
{
	uint64_t index;

	if (!item)
		return tree_get(t, step);
	return str_u64(step, &index) && index < cell_items(t) ? t->items[index] : NULL;
}

const struct tree *cell_at(const struct tree *t, struct str path)
{
	while (t && path.len) {
		bool item;
		struct str step = path_step(&path, &item);
		t = step_into(t, step, item);
	}
	return t;
}

const struct tree *cell_place(const struct cells *c)
{
	struct str rest = c->path;
	struct str place = str_cut(&rest, '|');

	place = str_cut(&place, '/');
	return place.len ? cell_at(c->object, place) : NULL;
}

struct cell_keys cell_keys(const struct cells *c)
{
	struct cell_keys keys = {.other = c->path};
	struct str place = str_cut(&keys.other, '|');

	str_cut(&place, '/');
	keys.key[0] = str_cut(&place, '/');
	keys.key[1] = place;
	return keys;
}

const struct tree *cell_find(const struct cells *c, bool (*fits)(const struct tree *), struct str *ret_other)
{
	struct str rest = c->path;

	*ret_other = (struct str){0};
	while (rest.len) {
		struct str alternative = str_cut(&rest, '|');
		if (!str_starts(alternative, STR("."))) {
			*ret_other = alternative;
			return NULL;
		}
		const struct tree *t = cell_at(c->object, alternative);
		if (fits(t))
			return t;
	}
	return NULL;
}

uint32_t cell_count(const struct tree *t)
{
	return tree_is(t, TREE_ARRAY) || tree_is(t, TREE_OBJECT) ? t->len : 0;
}

int64_t cell_i64(const struct tree *t)
{
	int64_t v = 0;

	return tree_i64(t, &v) ? v : 0;
}

bool cell_time(const struct tree *t, int64_t *ret)
{
	int64_t time;

	if (!time_parse(tree_text(t), &time) || time == ZERO_TIME)
		return false;
	*ret = time;
	return true;
}

const struct tree *cell_by_type(const struct tree *array, struct str type)
{
	for (uint32_t i = 0; i < cell_items(array); i++)
		if (str_eq(tree_gets(array->items[i], "type"), type))
			return array->items[i];
	return NULL;
}

bool cell_is_true(const struct tree *conditions, const char *type)
{
	return str_is(tree_gets(cell_by_type(conditions, str_of(type)), "status"), "True");
}

bool cell_is_deleted(const struct cells *c)
{
	return tree_text(tree_path(c->object, "metadata.deletionTimestamp")).len != 0;
}

static bool list_grow(struct cells *c, struct cell_list *l)
{
	uint32_t cap = l->cap ? l->cap * 2 : 8;
	struct str *items = arena_calloc(c->arena, cap, sizeof(*items));

	if (!items) {
		c->failed = true;
		return false;
	}
	if (l->len)
		memcpy(items, l->items, l->len * sizeof(*items));
	l->items = items;
	l->cap = cap;
	return true;
}

void list_add(struct cells *c, struct cell_list *l, struct str s)
{
	if (l->len < l->cap || list_grow(c, l))
		l->items[l->len++] = s;
}

void list_collect(struct cells *c, struct cell_list *l, const struct tree *t, struct str path)
{
	/* Recursion is as deep as there are [*] in a row of our own table. */
	while (path.len) {
		bool item;
		struct str step = path_step(&path, &item);
		if (item && str_is(step, "*")) {
			for (uint32_t i = 0; i < cell_items(t); i++)
				list_collect(c, l, t->items[i], path);
			return;
		}
		t = step_into(t, step, item);
	}
	list_add(c, l, tree_text(t));
}

static int text_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void list_sort(struct cell_list *l)
{
	if (l->len > 1)
		qsort(l->items, l->len, sizeof(*l->items), text_order);
}

void list_unique(struct cell_list *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->len; i++)
		if (kept == 0 || !str_eq(l->items[kept - 1], l->items[i]))
			l->items[kept++] = l->items[i];
	l->len = kept;
}

bool list_has(const struct cell_list *l, struct str s)
{
	return l->len && bsearch(&s, l->items, l->len, sizeof(*l->items), text_order);
}

void list_write(struct cells *c, const struct cell_list *l, const char *separator, uint32_t max)
{
	for (uint32_t i = 0; i < l->len && i < max; i++) {
		if (i)
			cell_addz(c, separator);
		cell_add(c, l->items[i]);
	}
	if (l->len > max)
		cell_add_more(c, l->len - max);
}

void list_cell(struct cells *c, const struct cell_list *l, const char *separator, struct str other)
{
	cell_begin(c);
	if (l->len)
		list_write(c, l, separator, UINT32_MAX);
	else
		cell_add(c, other);
	cell_end(c);
}

struct str cell_concat(struct cells *c, struct str a, struct str b, struct str d)
{
	char *p = arena_alloc(c->arena, a.len + b.len + d.len + 1);

	if (!p) {
		c->failed = true;
		return (struct str){0};
	}
	memcpy(p, a.len ? a.ptr : "", a.len);
	memcpy(p + a.len, b.len ? b.ptr : "", b.len);
	memcpy(p + a.len + b.len, d.len ? d.ptr : "", d.len);
	return str_n(p, a.len + b.len + d.len);
}

struct str cell_lower(struct cells *c, struct str s)
{
	char *p = arena_alloc(c->arena, s.len + 1);

	if (!p) {
		c->failed = true;
		return (struct str){0};
	}
	for (size_t i = 0; i < s.len; i++)
		p[i] = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] + ('a' - 'A')) : s.ptr[i];
	return str_n(p, s.len);
}
