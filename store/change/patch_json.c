/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patch (RFC 6902): a list of operations, applied one after the other or not at all.
 *
 * A patch is small and what it does may be large: copies double, insertions move whole arrays. Both
 * are counted and bounded, and so is the depth of the result. */
#include "store/change/patch.h"

#include <errno.h>

#include "store/codec/scan.h"

/* Elements that insertions and removals may move: seconds at most. */
enum { MOVES_MAX = 1 << 28 };

struct run {
	struct arena *arena;
	struct tree *root;
	size_t copied; /* bytes, by `copy` */
	size_t moved;  /* elements, by insertions and removals */
	struct status *st;
};

struct operation {
	struct str path, from;
	const struct tree *value;
};

/* Where a pointer ends: the container and the name in it. No container: the whole document. */
struct place {
	struct tree *container;
	struct str name;
};

/* kube-apiserver tells clients no more than this about a failed operation. */
static int refused(struct run *r)
{
	return status_set(r->st, REASON_INVALID, "the server rejected our request due to an error in our request");
}

/* Reads ~0 and ~1; any other ~ is an error. */
static int unescape(struct run *r, struct str token, struct str *ret)
{
	if (str_chr(token, '~') < 0) {
		*ret = token;
		return 0;
	}
	char *out = arena_alloc(r->arena, token.len);
	size_t n = 0;
	if (!out)
		return status_no_memory(r->st);
	for (size_t i = 0; i < token.len; i++) {
		char c = token.ptr[i];
		if (c == '~') {
			if (++i == token.len || (token.ptr[i] != '0' && token.ptr[i] != '1'))
				return refused(r);
			c = token.ptr[i] == '0' ? '~' : '/';
		}
		out[n++] = c;
	}
	*ret = str_n(out, n);
	return 0;
}

/* An index as RFC 6901 writes it: digits without a leading zero; at most `max`. */
static bool index_parse(struct str name, uint32_t max, uint32_t *ret)
{
	uint64_t v;

	if (!str_u64(name, &v) || v > max || (name.len > 1 && name.ptr[0] == '0'))
		return false;
	*ret = (uint32_t)v;
	return true;
}

static struct tree *child(const struct tree *t, struct str name)
{
	uint32_t i;

	if (!tree_is(t, TREE_ARRAY))
		return tree_get(t, name);
	return index_parse(name, t->len, &i) && i < t->len ? t->items[i] : NULL;
}

/* The place itself need not exist, its container must. */
static int place_find(struct run *r, struct str pointer, struct place *ret)
{
	struct tree *t = r->root;

	*ret = (struct place){0};
	if (pointer.len == 0)
		return 0;
	if (pointer.ptr[0] != '/')
		return refused(r);
	struct str rest = str_skip(pointer, 1);
	for (;;) {
		bool last = str_chr(rest, '/') < 0;
		struct str name;
		int e = unescape(r, str_cut(&rest, '/'), &name);
		if (e < 0)
			return e;
		if (!t || t->type < TREE_ARRAY)
			return refused(r);
		if (last) {
			*ret = (struct place){t, name};
			return 0;
		}
		t = child(t, name);
	}
}

/* What stands at a pointer; *ret is NULL when only its container exists. */
static int value_find(struct run *r, struct str pointer, struct tree **ret)
{
	struct place p;
	int e = place_find(r, pointer, &p);

	if (e < 0)
		return e;
	*ret = p.container ? child(p.container, p.name) : r->root;
	return 0;
}

static int count_moves(struct run *r, const struct tree *container)
{
	r->moved += container->len;
	return r->moved > MOVES_MAX ? refused(r) : 0;
}

static int put(struct run *r, struct str pointer, struct tree *value)
{
	struct place p;
	uint32_t i;
	int e = place_find(r, pointer, &p);

	if (e < 0)
		return e;
	if (!p.container) {
		r->root = value;
		return 0;
	}
	if ((e = count_moves(r, p.container)) < 0)
		return e;
	if (p.container->type == TREE_OBJECT)
		return tree_set(r->arena, p.container, p.name, value) ? 0 : status_no_memory(r->st);
	i = p.container->len;
	if (!str_is(p.name, "-") && !index_parse(p.name, p.container->len, &i))
		return refused(r);
	return tree_insert(r->arena, p.container, i, value) ? 0 : status_no_memory(r->st);
}

static int take(struct run *r, struct str pointer, struct tree **ret)
{
	struct place p;
	uint32_t i;
	int e = place_find(r, pointer, &p);

	if (e < 0)
		return e;
	struct tree *value = child(p.container, p.name);
	if (!value)
		return refused(r);
	if ((e = count_moves(r, p.container)) < 0)
		return e;
	if (p.container->type == TREE_OBJECT)
		tree_remove(p.container, p.name);
	else if (index_parse(p.name, p.container->len, &i))
		tree_delete_at(p.container, i);
	*ret = value;
	return 0;
}

/* Adds the length of t's text to *bytes, about. False when it is beyond max or t is too deep. */
static bool measure(const struct tree *t, unsigned depth, size_t max, size_t *bytes)
{
	*bytes += t->type == TREE_STRING || t->type == TREE_NUMBER ? t->text.len + 2 : 2;
	if (*bytes > max)
		return false;
	if (t->type < TREE_ARRAY)
		return true;
	if (depth >= SCAN_DEPTH_MAX)
		return false;
	for (uint32_t i = 0; i < t->len; i++) {
		if (t->type == TREE_OBJECT)
			*bytes += t->members[i].key.len + 3;
		if (!measure(t->type == TREE_OBJECT ? t->members[i].value : t->items[i], depth + 1, max, bytes))
			return false;
	}
	return true;
}

/* A number as sign, significant digits and the power of ten of the first of them. */
struct decimal {
	bool negative;
	struct str digits; /* from the first to the last that is not 0, a point may stand between; empty: zero */
	int64_t power;
};

/* Exponents are compared up to this; whoever writes 1e999999999999 means no number that matters. */
static const int64_t power_max = (int64_t)1 << 40;

static int64_t exponent_parse(struct str text)
{
	bool negative = text.len && text.ptr[0] == '-';
	uint64_t v = (uint64_t)power_max;

	if (text.len && (text.ptr[0] == '-' || text.ptr[0] == '+'))
		text = str_skip(text, 1);
	if (text.len == 0)
		return 0;
	if (!str_u64(text, &v) || v > (uint64_t)power_max)
		v = (uint64_t)power_max;
	return negative ? -(int64_t)v : (int64_t)v;
}

static struct decimal decimal_parse(struct str text)
{
	struct decimal d = {.negative = text.len && text.ptr[0] == '-'};
	struct str mantissa = d.negative ? str_skip(text, 1) : text;
	size_t e = 0, first = 0, point;

	while (e < mantissa.len && mantissa.ptr[e] != 'e' && mantissa.ptr[e] != 'E')
		e++;
	d.power = exponent_parse(str_skip(mantissa, e + 1));
	mantissa.len = e;
	point = str_chr(mantissa, '.') < 0 ? e : (size_t)str_chr(mantissa, '.');
	while (mantissa.len && (mantissa.ptr[mantissa.len - 1] < '1' || mantissa.ptr[mantissa.len - 1] > '9'))
		mantissa.len--;
	while (first < mantissa.len && (mantissa.ptr[first] < '1' || mantissa.ptr[first] > '9'))
		first++;
	d.digits = str_skip(mantissa, first);
	if (d.digits.len == 0)
		return (struct decimal){0};
	d.power += first < point ? (int64_t)(point - first - 1) : -(int64_t)(first - point);
	return d;
}

static bool number_equal(struct str a, struct str b)
{
	struct decimal x = decimal_parse(a), y = decimal_parse(b);
	size_t i = 0, j = 0;

	if (x.negative != y.negative || x.power != y.power)
		return false;
	for (;; i++, j++) {
		i += i < x.digits.len && x.digits.ptr[i] == '.';
		j += j < y.digits.len && y.digits.ptr[j] == '.';
		if (i >= x.digits.len || j >= y.digits.len)
			return i >= x.digits.len && j >= y.digits.len;
		if (x.digits.ptr[i] != y.digits.ptr[j])
			return false;
	}
}

/* b comes from the patch: no deeper than the scanner lets it be. */
static bool value_equal(const struct tree *a, const struct tree *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == TREE_NUMBER)
		return number_equal(a->text, b->text);
	if (a->type < TREE_ARRAY)
		return tree_equal(a, b);
	if (a->len != b->len)
		return false;
	for (uint32_t i = 0; i < a->len; i++) {
		bool same = a->type == TREE_ARRAY ? value_equal(a->items[i], b->items[i])
						  : str_eq(a->members[i].key, b->members[i].key) &&
							    value_equal(a->members[i].value, b->members[i].value);
		if (!same)
			return false;
	}
	return true;
}

/* The patch is applied again when the object changed meanwhile: its values are copied, never moved. */
static int add(struct run *r, const struct operation *o)
{
	struct tree *value = tree_copy(r->arena, o->value);

	return value ? put(r, o->path, value) : status_no_memory(r->st);
}

static int remove_value(struct run *r, const struct operation *o)
{
	struct tree *gone;

	return take(r, o->path, &gone);
}

static int replace(struct run *r, const struct operation *o)
{
	struct tree *old;
	struct tree *value = tree_copy(r->arena, o->value);
	int e = value_find(r, o->path, &old);

	if (e < 0)
		return e;
	if (!value)
		return status_no_memory(r->st);
	if (!old)
		return refused(r);
	*old = *value;
	return 0;
}

static int move(struct run *r, const struct operation *o)
{
	struct tree *value = NULL;
	int e;

	if (str_eq(o->from, o->path)) {
		e = value_find(r, o->from, &value);
		return e < 0 ? e : value ? 0 : refused(r);
	}
	if (str_starts(o->path, o->from) && o->path.ptr[o->from.len] == '/')
		return refused(r);
	e = take(r, o->from, &value);
	return e < 0 ? e : put(r, o->path, value);
}

static int copy(struct run *r, const struct operation *o)
{
	struct tree *value;
	int e = value_find(r, o->from, &value);

	if (e < 0)
		return e;
	if (!value || !measure(value, 0, PATCH_COPY_BYTES_MAX, &r->copied))
		return refused(r);
	value = tree_copy(r->arena, value);
	return value ? put(r, o->path, value) : status_no_memory(r->st);
}

/* As in kube-apiserver an absent member is equal to null: clients guard an `add` so. */
static int test(struct run *r, const struct operation *o)
{
	struct tree *value;
	int e = value_find(r, o->path, &value);

	if (e < 0)
		return e;
	bool same = value ? value_equal(value, o->value) : o->value->type == TREE_NULL;
	return same ? 0 : refused(r);
}

static const struct operation_row {
	const char *name;
	bool has_value, has_from;
	int (*apply)(struct run *r, const struct operation *o);
} operations[] = {
	{"add", true, false, add},	   {"remove", false, false, remove_value},
	{"replace", true, false, replace}, {"move", false, true, move},
	{"copy", false, true, copy},	   {"test", true, false, test},
};

static int apply(struct run *r, const struct tree *t)
{
	const struct tree *path = tree_getz(t, "path"), *from = tree_getz(t, "from");
	struct operation o = {tree_text(path), tree_text(from), tree_getz(t, "value")};
	struct str name = tree_gets(t, "op");

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const struct operation_row *row = &operations[i];
		if (!str_is(name, row->name))
			continue;
		if (!tree_is(path, TREE_STRING) || (row->has_value && !o.value) ||
		    (row->has_from && !tree_is(from, TREE_STRING)))
			break;
		return row->apply(r, &o);
	}
	return refused(r);
}

static int check_form(const struct tree *patch, struct status *st)
{
	if (patch->type != TREE_ARRAY)
		return status_set(st, REASON_BAD_REQUEST, "json: cannot unmarshal into Go value of type jsonpatch.Patch");
	for (uint32_t i = 0; i < patch->len; i++)
		if (patch->items[i]->type != TREE_OBJECT)
			return status_set(st, REASON_BAD_REQUEST,
					  "json: cannot unmarshal into Go value of type jsonpatch.Operation");
	if (patch->len > PATCH_OPERATIONS_MAX)
		return status_set(st, REASON_TOO_LARGE,
				  "Request entity too large: The allowed maximum operations in a JSON patch is %d, got %u",
				  PATCH_OPERATIONS_MAX, patch->len);
	return 0;
}

int patch_json(struct arena *a, struct tree *object, const struct tree *patch, struct tree **ret, struct status *st)
{
	struct run r = {.arena = a, .root = object, .st = st};
	size_t bytes = 0;
	int e = check_form(patch, st);

	for (uint32_t i = 0; e == 0 && i < patch->len; i++)
		e = apply(&r, patch->items[i]);
	if (e < 0)
		return e;
	if (r.root->type != TREE_OBJECT || !measure(r.root, 0, SIZE_MAX, &bytes))
		return refused(&r);
	*ret = r.root;
	return 0;
}
