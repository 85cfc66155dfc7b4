/* SPDX-License-Identifier: Apache-2.0 */
/* Values as trees: making, looking up, changing, comparing and writing them. tree_parse.c reads them. */
#include "store/codec/tree.h"

#include "store/codec/scan.h"

static struct tree *node_new(struct arena *a, enum tree_type type)
{
	struct tree *t = arena_alloc(a, sizeof(*t));

	if (t)
		*t = (struct tree){.type = type};
	return t;
}

static struct tree *node_text(struct arena *a, enum tree_type type, struct str text)
{
	struct tree *t = node_new(a, type);

	if (t)
		t->text = text;
	return t;
}

struct tree *tree_null(struct arena *a)
{
	return node_new(a, TREE_NULL);
}

struct tree *tree_bool(struct arena *a, bool v)
{
	return node_new(a, v ? TREE_TRUE : TREE_FALSE);
}

struct tree *tree_int(struct arena *a, int64_t v)
{
	char digits[24];
	uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;

	digits[0] = '-';
	size_t n = u64_digits(magnitude, digits + 1);
	struct str text = arena_str(a, v < 0 ? str_n(digits, n + 1) : str_n(digits + 1, n));
	return text.ptr ? tree_number(a, text) : NULL;
}

struct tree *tree_number(struct arena *a, struct str text)
{
	return node_text(a, TREE_NUMBER, text);
}

struct tree *tree_string(struct arena *a, struct str text)
{
	return node_text(a, TREE_STRING, text);
}

struct tree *tree_array(struct arena *a)
{
	return node_new(a, TREE_ARRAY);
}

struct tree *tree_object(struct arena *a)
{
	return node_new(a, TREE_OBJECT);
}

/* Patches can nest a value deeper than any parser would; recursion ends where the scanner's does. */
static bool too_deep(const struct tree *t, unsigned depth)
{
	return t->type >= TREE_ARRAY && depth >= SCAN_DEPTH_MAX;
}

static struct tree *copy(struct arena *a, const struct tree *t, unsigned depth);

static bool copy_items(struct arena *a, const struct tree *from, struct tree *to, unsigned depth)
{
	to->items = arena_alloc(a, from->len * sizeof(struct tree *));
	if (!to->items)
		return false;
	for (uint32_t i = 0; i < from->len; i++)
		if (!(to->items[i] = copy(a, from->items[i], depth)))
			return false;
	return true;
}

static bool copy_members(struct arena *a, const struct tree *from, struct tree *to, unsigned depth)
{
	to->members = arena_alloc(a, from->len * sizeof(*to->members));
	if (!to->members)
		return false;
	for (uint32_t i = 0; i < from->len; i++) {
		to->members[i].key = from->members[i].key;
		if (!(to->members[i].value = copy(a, from->members[i].value, depth)))
			return false;
	}
	return true;
}

static struct tree *copy(struct arena *a, const struct tree *t, unsigned depth)
{
	struct tree *c = too_deep(t, depth) ? NULL : arena_alloc(a, sizeof(*c));

	if (!c)
		return NULL;
	*c = *t;
	if (t->type < TREE_ARRAY)
		return c;
	c->cap = t->len;
	if (t->len == 0)
		return c;
	bool done = t->type == TREE_ARRAY ? copy_items(a, t, c, depth + 1) : copy_members(a, t, c, depth + 1);
	return done ? c : NULL;
}

struct tree *tree_copy(struct arena *a, const struct tree *t)
{
	return copy(a, t, 0);
}

/* Index of key in a sorted object, or where it would stand. */
static bool find(const struct tree *object, struct str key, uint32_t *ret_index)
{
	uint32_t low = 0, high = object->len;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int c = str_cmp(object->members[mid].key, key);
		if (c == 0) {
			*ret_index = mid;
			return true;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_index = low;
	return false;
}

struct tree *tree_get(const struct tree *object, struct str key)
{
	uint32_t i;

	if (!tree_is(object, TREE_OBJECT) || !find(object, key, &i))
		return NULL;
	return object->members[i].value;
}

struct tree *tree_path(const struct tree *object, const char *path)
{
	struct str rest = str_of(path);
	struct tree *t = tree_get(object, str_cut(&rest, '.'));

	while (t && rest.len)
		t = tree_get(t, str_cut(&rest, '.'));
	return t;
}

struct str tree_text(const struct tree *t)
{
	return tree_is(t, TREE_STRING) ? t->text : (struct str){0};
}

struct str tree_gets(const struct tree *object, const char *key)
{
	return tree_text(tree_getz(object, key));
}

bool tree_i64(const struct tree *t, int64_t *ret)
{
	if (!tree_is(t, TREE_NUMBER))
		return false;
	bool negative = t->text.len && t->text.ptr[0] == '-';
	uint64_t magnitude;
	if (!str_u64(negative ? str_skip(t->text, 1) : t->text, &magnitude))
		return false;
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)-magnitude : (int64_t)magnitude;
	return true;
}

/* 0, -0, 0.00, 0e9. */
static bool number_is_zero(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] >= '1' && text.ptr[i] <= '9')
			return false;
		if (text.ptr[i] == 'e' || text.ptr[i] == 'E')
			break;
	}
	return true;
}

bool tree_is_empty(const struct tree *t)
{
	if (!t)
		return true;
	switch (t->type) {
	case TREE_NULL:
	case TREE_FALSE: return true;
	case TREE_TRUE: return false;
	case TREE_NUMBER: return number_is_zero(t->text);
	case TREE_STRING: return t->text.len == 0;
	case TREE_ARRAY:
	case TREE_OBJECT: break;
	}
	return t->len == 0;
}

/* Opens a hole at index; the elements are size bytes each. Old elements stay behind in the arena. */
static void *grow(struct arena *a, struct tree *t, void *elements, size_t size, uint32_t index)
{
	char *old = elements, *new = old;

	if (t->len == t->cap) {
		uint32_t cap = t->cap < 4 ? 4 : t->cap * 2;
		if (cap <= t->cap || !(new = arena_alloc(a, cap * size)))
			return NULL;
		if (index)
			memcpy(new, old, index * size);
		t->cap = cap;
	}
	if (index < t->len)
		memmove(new + (index + 1) * size, old + index * size, (t->len - index) * size);
	t->len++;
	return new;
}

bool tree_set(struct arena *a, struct tree *object, struct str key, struct tree *value)
{
	uint32_t i;

	if (!value || !tree_is(object, TREE_OBJECT))
		return false;
	if (find(object, key, &i)) {
		object->members[i].value = value;
		return true;
	}
	struct tree_member *members = grow(a, object, object->members, sizeof(*members), i);
	if (!members)
		return false;
	members[i] = (struct tree_member){key, value};
	object->members = members;
	return true;
}

bool tree_sets(struct arena *a, struct tree *object, const char *key, struct str text)
{
	return tree_set(a, object, str_of(key), tree_string(a, text));
}

struct tree *tree_ensure(struct arena *a, struct tree *object, struct str key)
{
	struct tree *t = tree_get(object, key);

	if (t && t->type != TREE_NULL)
		return t->type == TREE_OBJECT ? t : NULL;
	t = tree_object(a);
	return tree_set(a, object, key, t) ? t : NULL;
}

bool tree_remove(struct tree *object, struct str key)
{
	uint32_t i;

	if (!tree_is(object, TREE_OBJECT) || !find(object, key, &i))
		return false;
	object->len--;
	memmove(&object->members[i], &object->members[i + 1], (object->len - i) * sizeof(object->members[0]));
	return true;
}

bool tree_append(struct arena *a, struct tree *array, struct tree *value)
{
	return tree_is(array, TREE_ARRAY) && tree_insert(a, array, array->len, value);
}

bool tree_insert(struct arena *a, struct tree *array, uint32_t index, struct tree *value)
{
	if (!value || !tree_is(array, TREE_ARRAY) || index > array->len)
		return false;
	struct tree **items = grow(a, array, array->items, sizeof(struct tree *), index);
	if (!items)
		return false;
	items[index] = value;
	array->items = items;
	return true;
}

void tree_delete_at(struct tree *array, uint32_t index)
{
	if (!tree_is(array, TREE_ARRAY) || index >= array->len)
		return;
	array->len--;
	memmove(&array->items[index], &array->items[index + 1], (array->len - index) * sizeof(array->items[0]));
}

static bool equal(const struct tree *a, const struct tree *b, unsigned depth)
{
	if (a == b)
		return true;
	if (!a || !b || a->type != b->type || too_deep(a, depth))
		return false;
	if (a->type == TREE_NUMBER || a->type == TREE_STRING)
		return str_eq(a->text, b->text);
	if (a->len != b->len)
		return false;
	for (uint32_t i = 0; i < a->len; i++) {
		bool same = a->type == TREE_ARRAY ? equal(a->items[i], b->items[i], depth + 1)
						  : str_eq(a->members[i].key, b->members[i].key) &&
							    equal(a->members[i].value, b->members[i].value, depth + 1);
		if (!same)
			return false;
	}
	return true;
}

bool tree_equal(const struct tree *a, const struct tree *b)
{
	return equal(a, b, 0);
}

static void write_value(const struct tree *t, struct buf *out, unsigned depth);

static void write_items(const struct tree *t, struct buf *out, unsigned depth)
{
	buf_addc(out, '[');
	for (uint32_t i = 0; i < t->len; i++) {
		if (i)
			buf_addc(out, ',');
		write_value(t->items[i], out, depth);
	}
	buf_addc(out, ']');
}

static void write_members(const struct tree *t, struct buf *out, unsigned depth)
{
	buf_addc(out, '{');
	for (uint32_t i = 0; i < t->len; i++) {
		if (i)
			buf_addc(out, ',');
		buf_add_json(out, t->members[i].key);
		buf_addc(out, ':');
		write_value(t->members[i].value, out, depth);
	}
	buf_addc(out, '}');
}

static void write_value(const struct tree *t, struct buf *out, unsigned depth)
{
	if (too_deep(t, depth))
		out->failed = true;
	if (out->failed)
		return;
	switch (t->type) {
	case TREE_NULL: buf_adds(out, "null"); break;
	case TREE_FALSE: buf_adds(out, "false"); break;
	case TREE_TRUE: buf_adds(out, "true"); break;
	case TREE_NUMBER: buf_add_str(out, t->text); break;
	case TREE_STRING: buf_add_json(out, t->text); break;
	case TREE_ARRAY: write_items(t, out, depth + 1); break;
	case TREE_OBJECT: write_members(t, out, depth + 1); break;
	}
}

void tree_write(const struct tree *t, struct buf *out)
{
	write_value(t, out, 0);
}
