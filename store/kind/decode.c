/* SPDX-License-Identifier: Apache-2.0 */
/* rules_decode: what Go's decoder does to an object of a built-in kind: check types, drop what is unknown,
 * bring times, quantities and base64 into their one canonical form. */
#include "store/kind/rules.h"

#include <stdio.h>

#include "store/kind/cells.h"
#include "store/kind/place.h"
#include "store/kind/quantity.h"

/* As many as apimachinery's strict decoder reports; bounds what hostile input can make us print. */
enum { PROBLEMS_MAX = 100 };

struct decoding {
	struct arena *arena;
	const struct kind *kind;
	struct status *st;
	struct field_problem **tail;
	unsigned problems;
};

/* Checks one value that is not null and may replace it. 0 or a negative errno with st filled. */
typedef int (*decode_fn)(struct decoding *d, const struct schema_node *node, struct tree **value,
			 const struct place *at);

static int decode_value(struct decoding *d, const struct schema_node *node, struct tree **value,
			const struct place *at);

/* ---- errors, in the words of encoding/json ---- */

static int refuse(struct decoding *d, const char *text)
{
	const struct kind *k = d->kind;

	return status_set(d->st, REASON_BAD_REQUEST, "%.*s in version \"%.*s\" cannot be handled as a %.*s: %s",
			  STR_ARG(k->kind), STR_ARG(k->version), STR_ARG(k->kind), text);
}

/* The last part of a definition name: core.v1.Pod gives Pod. */
static struct str go_name(const struct schema_def *def)
{
	struct str rest = def->name;

	for (ptrdiff_t dot = str_chr(rest, '.'); dot >= 0; dot = str_chr(rest, '.'))
		rest = str_skip(rest, (size_t)dot + 1);
	return rest;
}

/* Go's name of a type; lists and maps are at most three deep in any schema. */
static size_t go_type(const struct schema_node *node, char *out, size_t room)
{
	static const char *const names[] = {
		[SCHEMA_STRING] = "string",   [SCHEMA_NUMBER] = "float64",    [SCHEMA_BOOLEAN] = "bool",
		[SCHEMA_QUANTITY] = "string", [SCHEMA_TIME] = "string",       [SCHEMA_MICROTIME] = "string",
		[SCHEMA_BYTES] = "[]uint8",   [SCHEMA_INT_OR_STRING] = "int32", [SCHEMA_ANY] = "interface {}",
	};
	int n = 0;

	if (node->type == SCHEMA_INTEGER)
		n = snprintf(out, room, "int%u", node->bits);
	else if (node->type == SCHEMA_OBJECT)
		n = snprintf(out, room, "v1.%.*s", STR_ARG(go_name(node->def)));
	else if (node->type == SCHEMA_ARRAY || node->type == SCHEMA_MAP) {
		n = snprintf(out, room, "%s", node->type == SCHEMA_ARRAY ? "[]" : "map[string]");
		n += (int)go_type(node->item, out + n, room - (size_t)n);
	} else
		n = snprintf(out, room, "%s", names[node->type] ? names[node->type] : "interface {}");
	return (size_t)n < room ? (size_t)n : room - 1;
}

/* The fields on the way, without list indexes and map keys. */
static size_t go_path(const struct place *at, char *out, size_t room)
{
	size_t n = at->up ? go_path(at->up, out, room) : 0;

	if (at->def && n < room)
		n += (size_t)snprintf(out + n, room - n, "%s%.*s", n ? "." : "", STR_ARG(at->name));
	return n < room ? n : room - 1;
}

static const char *json_type(const struct tree *t)
{
	static const char *const names[] = {
		[TREE_NULL] = "null",     [TREE_FALSE] = "bool",  [TREE_TRUE] = "bool",    [TREE_NUMBER] = "number",
		[TREE_STRING] = "string", [TREE_ARRAY] = "array", [TREE_OBJECT] = "object",
	};
	return names[t->type];
}

/* `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`; a number
 * that does not fit is named too. */
static int refuse_type(struct decoding *d, const struct schema_node *node, const struct tree *value,
		       const struct place *at)
{
	char type[128], path[PLACE_TEXT_MAX], text[768], number[64] = "";
	const struct place *field = at;

	while (field && !field->def)
		field = field->up;
	if (value->type == TREE_NUMBER && node->type == SCHEMA_INTEGER)
		snprintf(number, sizeof(number), " %.*s", STR_ARG(value->text));
	go_type(node, type, sizeof(type));
	if (field) {
		go_path(field, path, sizeof(path));
		snprintf(text, sizeof(text), "json: cannot unmarshal %s%s into Go struct field %.*s.%s of type %s",
			 json_type(value), number, STR_ARG(go_name(field->def)), path, type);
	} else
		snprintf(text, sizeof(text), "json: cannot unmarshal %s into Go value of type %s", json_type(value),
			 type);
	return refuse(d, text);
}

/* The same, as types with a decoder of their own say it. */
static int refuse_own(struct decoding *d, const struct tree *value, const char *type)
{
	char text[128];

	snprintf(text, sizeof(text), "json: cannot unmarshal %s into Go value of type %s", json_type(value), type);
	return refuse(d, text);
}

/* ---- scalars ---- */

static int decode_any(struct decoding *d, const struct schema_node *node, struct tree **value,
		      const struct place *at)
{
	(void)d, (void)node, (void)value, (void)at;
	return 0;
}

static int decode_string(struct decoding *d, const struct schema_node *node, struct tree **value,
			 const struct place *at)
{
	return tree_is(*value, TREE_STRING) ? 0 : refuse_type(d, node, *value, at);
}

static int decode_boolean(struct decoding *d, const struct schema_node *node, struct tree **value,
			  const struct place *at)
{
	return tree_is(*value, TREE_TRUE) || tree_is(*value, TREE_FALSE) ? 0 : refuse_type(d, node, *value, at);
}

static int decode_number(struct decoding *d, const struct schema_node *node, struct tree **value,
			 const struct place *at)
{
	return tree_is(*value, TREE_NUMBER) ? 0 : refuse_type(d, node, *value, at);
}

static bool fits(int64_t v, unsigned bits)
{
	return bits == 64 || (v >= INT32_MIN && v <= INT32_MAX);
}

/* The one text of zero: -0 is a valid JSON number. */
static void plain_zero(struct tree *number, int64_t v)
{
	if (v == 0)
		number->text = STR("0");
}

static int decode_integer(struct decoding *d, const struct schema_node *node, struct tree **value,
			  const struct place *at)
{
	int64_t v;

	if (!tree_i64(*value, &v) || !fits(v, node->bits))
		return refuse_type(d, node, *value, at);
	plain_zero(*value, v);
	return 0;
}

static int decode_int_or_string(struct decoding *d, const struct schema_node *node, struct tree **value,
				const struct place *at)
{
	int64_t v;

	(void)node, (void)at;
	if (tree_is(*value, TREE_STRING))
		return 0;
	if (!tree_i64(*value, &v) || !fits(v, 32))
		return refuse_own(d, *value, "int32");
	plain_zero(*value, v);
	return 0;
}

static struct str trim(struct str s)
{
	while (s.len && memchr(" \t\r\n", s.ptr[0], 4))
		s = str_skip(s, 1);
	while (s.len && memchr(" \t\r\n", s.ptr[s.len - 1], 4))
		s.len--;
	return s;
}

static int decode_amount(struct decoding *d, struct tree **value, bool milli)
{
	struct quantity q;
	char text[64];

	if (!(tree_is(*value, TREE_STRING) || tree_is(*value, TREE_NUMBER)) ||
	    !quantity_parse(trim((*value)->text), &q))
		return refuse(d, "quantities must match the regular expression "
				 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	if (milli)
		quantity_round_milli(&q);
	struct str canonical = str_n(text, quantity_text(&q, text));
	if (tree_is(*value, TREE_STRING) && str_eq(canonical, (*value)->text))
		return 0;
	canonical = arena_str(d->arena, canonical);
	struct tree *new = canonical.ptr ? tree_string(d->arena, canonical) : NULL;
	if (!new)
		return status_no_memory(d->st);
	*value = new;
	return 0;
}

static int decode_quantity(struct decoding *d, const struct schema_node *node, struct tree **value,
			   const struct place *at)
{
	(void)node, (void)at;
	return decode_amount(d, value, false);
}

static int refuse_time(struct decoding *d, struct str s, const char *layout)
{
	char text[512];

	snprintf(text, sizeof(text), "parsing time \"%.*s\" as \"%s\": cannot parse \"%.*s\" as \"2006\"",
		 STR_ARG(s), layout, STR_ARG(s));
	return refuse(d, text);
}

static int replace_text(struct decoding *d, struct tree *string, struct str text)
{
	if (str_eq(string->text, text))
		return 0;
	struct str copy = arena_str(d->arena, text);
	if (!copy.ptr)
		return status_no_memory(d->st);
	string->text = copy;
	return 0;
}

static int decode_time(struct decoding *d, const struct schema_node *node, struct tree **value,
		       const struct place *at)
{
	char out[20];
	int64_t t;

	(void)node, (void)at;
	if (!tree_is(*value, TREE_STRING))
		return refuse_own(d, *value, "string");
	if (!time_parse((*value)->text, &t))
		return refuse_time(d, (*value)->text, "2006-01-02T15:04:05Z07:00");
	time_format(t, out);
	return replace_text(d, *value, str_n(out, sizeof(out)));
}

/* Six digits behind the seconds; time_parse has seen that s is well formed. */
static void fraction(struct str s, char out[6])
{
	ptrdiff_t dot = str_chr(s, '.');

	memset(out, '0', 6);
	for (size_t i = 0; dot >= 0 && i < 6; i++) {
		size_t from = (size_t)dot + 1 + i;
		if (from >= s.len || s.ptr[from] < '0' || s.ptr[from] > '9')
			break;
		out[i] = s.ptr[from];
	}
}

static int decode_microtime(struct decoding *d, const struct schema_node *node, struct tree **value,
			    const struct place *at)
{
	char out[27];
	int64_t t;

	(void)node, (void)at;
	if (!tree_is(*value, TREE_STRING))
		return refuse_own(d, *value, "string");
	if (!time_parse((*value)->text, &t))
		return refuse_time(d, (*value)->text, "2006-01-02T15:04:05.000000Z07:00");
	time_format(t, out);
	out[19] = '.';
	fraction((*value)->text, out + 20);
	out[26] = 'Z';
	return replace_text(d, *value, str_n(out, sizeof(out)));
}

/* ---- base64 ---- */

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static size_t skip_lines(struct str s, size_t i)
{
	while (i < s.len && (s.ptr[i] == '\n' || s.ptr[i] == '\r'))
		i++;
	return i;
}

/* What stands from a '=' on, j digits into its group of four. -1 when right, else the offset that Go's decoder
 * blames. */
static ptrdiff_t bad_padding(struct str s, size_t i, size_t j)
{
	if (j < 2)
		return (ptrdiff_t)i;
	size_t next = skip_lines(s, i + 1);
	if (j == 2) {
		if (next == s.len)
			return (ptrdiff_t)s.len;
		if (s.ptr[next] != '=')
			return (ptrdiff_t)next - 1;
		next = skip_lines(s, next + 1);
	}
	return next < s.len ? (ptrdiff_t)next : -1;
}

/* -1 for good base64, else the offset of what is wrong. *ret_plain: it is in canonical form (no line ends, unused
 * bits zero). */
static ptrdiff_t base64_error(struct str s, bool *ret_plain)
{
	size_t j = 0;
	int last = 0;

	*ret_plain = true;
	for (size_t i = 0; i < s.len; i++) {
		int v = base64_value(s.ptr[i]);
		if (v >= 0) {
			last = v;
			j = (j + 1) % 4;
			continue;
		}
		if (s.ptr[i] == '\n' || s.ptr[i] == '\r') {
			*ret_plain = false;
			continue;
		}
		if (s.ptr[i] != '=')
			return (ptrdiff_t)i;
		if (last & (j == 2 ? 15 : 3) || memchr(s.ptr + i, '\n', s.len - i) ||
		    memchr(s.ptr + i, '\r', s.len - i))
			*ret_plain = false;
		return bad_padding(s, i, j);
	}
	return j ? (ptrdiff_t)(s.len - j) : -1;
}

static int base64_canonical(struct decoding *d, struct tree *string)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct str s = string->text;
	char *out = arena_alloc(d->arena, s.len);
	size_t n = 0, pads = 0;

	if (!out)
		return status_no_memory(d->st);
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '\n' || s.ptr[i] == '\r')
			continue;
		pads += s.ptr[i] == '=';
		out[n++] = s.ptr[i];
	}
	if (pads)
		out[n - pads - 1] = digits[base64_value(out[n - pads - 1]) & (pads == 2 ? ~15 : ~3)];
	string->text = str_n(out, n);
	return 0;
}

static int decode_bytes(struct decoding *d, const struct schema_node *node, struct tree **value,
			const struct place *at)
{
	char text[64];
	bool plain;

	if (!tree_is(*value, TREE_STRING))
		return refuse_type(d, node, *value, at);
	ptrdiff_t bad = base64_error((*value)->text, &plain);
	if (bad < 0)
		return plain ? 0 : base64_canonical(d, *value);
	snprintf(text, sizeof(text), "illegal base64 data at input byte %td", bad);
	return refuse(d, text);
}

/* ---- containers ---- */

static int unknown(struct decoding *d, struct str name, const struct place *at)
{
	char path[PLACE_TEXT_MAX];
	struct place field = {.up = at, .step = PLACE_FIELD, .name = name};

	if (d->problems++ >= PROBLEMS_MAX)
		return 0;
	place_text(&field, path);
	struct field_problem *p = arena_calloc(d->arena, 1, sizeof(*p));
	if (!p || !(p->text = arena_printf(d->arena, "unknown field \"%s\"", path)).ptr)
		return status_no_memory(d->st);
	*d->tail = p;
	d->tail = &p->next;
	return 0;
}

/* Members are moved up in place as some of them go: removing them one by one would be quadratic. */
static int decode_members(struct decoding *d, const struct schema_def *def, struct tree *object,
			  const struct place *at)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < object->len; i++) {
		struct tree_member *m = &object->members[i];
		const struct schema_field *f = schema_field(def, m->key);
		int r = 0;

		if (!f) {
			if ((r = unknown(d, m->key, at)) < 0)
				return r;
			continue;
		}
		struct place field = {.up = at, .step = PLACE_FIELD, .name = m->key, .def = def};
		if (m->value->type != TREE_NULL && (r = decode_value(d, &f->node, &m->value, &field)) < 0)
			return r;
		if (m->value->type != TREE_NULL) /* empty lists and maps are kept: what was sent comes back */
			object->members[kept++] = *m;
	}
	object->len = kept;
	return 0;
}

static int decode_object(struct decoding *d, const struct schema_node *node, struct tree **value,
			 const struct place *at)
{
	if (!tree_is(*value, TREE_OBJECT))
		return refuse_type(d, node, *value, at);
	return decode_members(d, node->def, *value, at);
}

/* null in a list or map is Go's zero value of the element; NULL where that has no JSON form of its own. */
static struct tree *zero_value(struct decoding *d, const struct schema_node *node)
{
	switch (node->type) {
	case SCHEMA_STRING:
	case SCHEMA_BYTES: return tree_string(d->arena, STR(""));
	case SCHEMA_QUANTITY: return tree_string(d->arena, STR("0"));
	case SCHEMA_INTEGER:
	case SCHEMA_NUMBER:
	case SCHEMA_INT_OR_STRING: return tree_number(d->arena, STR("0"));
	case SCHEMA_BOOLEAN: return tree_bool(d->arena, false);
	case SCHEMA_OBJECT: return tree_object(d->arena);
	default: return NULL;
	}
}

/* An element of a list or map; *value becomes NULL when it is to be left out. */
static int decode_element(struct decoding *d, const struct schema_node *list, struct tree **value,
			  const struct place *at)
{
	const struct schema_node *node = list->item;

	if ((*value)->type != TREE_NULL)
		return list->type == SCHEMA_MAP && node->type == SCHEMA_QUANTITY
			       ? decode_amount(d, value, true) /* a ResourceList */
			       : decode_value(d, node, value, at);
	if (node->type == SCHEMA_ANY)
		return 0;
	*value = zero_value(d, node);
	return 0;
}

static int decode_array(struct decoding *d, const struct schema_node *node, struct tree **value,
			const struct place *at)
{
	struct tree *array = *value;
	uint32_t kept = 0;

	if (!tree_is(array, TREE_ARRAY))
		return refuse_type(d, node, array, at);
	for (uint32_t i = 0; i < array->len; i++) {
		struct place item = place_item(at, i);
		int r = decode_element(d, node, &array->items[i], &item);
		if (r < 0)
			return r;
		if (array->items[i])
			array->items[kept++] = array->items[i];
	}
	array->len = kept;
	return 0;
}

static int decode_map(struct decoding *d, const struct schema_node *node, struct tree **value,
		      const struct place *at)
{
	struct tree *map = *value;
	uint32_t kept = 0;

	if (!tree_is(map, TREE_OBJECT))
		return refuse_type(d, node, map, at);
	for (uint32_t i = 0; i < map->len; i++) {
		struct tree_member *m = &map->members[i];
		struct place member = {.up = at, .step = PLACE_FIELD, .name = m->key};
		int r = decode_element(d, node, &m->value, &member);
		if (r < 0)
			return r;
		if (m->value)
			map->members[kept++] = *m;
	}
	map->len = kept;
	return 0;
}

/* ---- the three unions of JSON Schema ---- */

static int decode_or_bool(struct decoding *d, const struct schema_node *node, struct tree **value,
			  const struct place *at)
{
	if (tree_is(*value, TREE_TRUE) || tree_is(*value, TREE_FALSE))
		return 0;
	if (!tree_is(*value, TREE_OBJECT))
		return refuse(d, "boolean or JSON schema expected");
	return decode_members(d, node->def, *value, at);
}

static int decode_or_list(struct decoding *d, const struct schema_node *node, const struct schema_node *item,
			  struct tree **value, const struct place *at)
{
	const struct schema_node list = {.type = SCHEMA_ARRAY, .item = item};

	if (tree_is(*value, TREE_OBJECT))
		return decode_members(d, node->def, *value, at);
	return decode_array(d, &list, value, at);
}

static int decode_or_array(struct decoding *d, const struct schema_node *node, struct tree **value,
			   const struct place *at)
{
	const struct schema_node item = {.type = SCHEMA_OBJECT, .def = node->def};

	return decode_or_list(d, node, &item, value, at);
}

static int decode_or_strings(struct decoding *d, const struct schema_node *node, struct tree **value,
			     const struct place *at)
{
	const struct schema_node item = {.type = SCHEMA_STRING};

	return decode_or_list(d, node, &item, value, at);
}

static int decode_value(struct decoding *d, const struct schema_node *node, struct tree **value,
			const struct place *at)
{
	static const decode_fn decoders[] = {
		[SCHEMA_ANY] = decode_any,
		[SCHEMA_STRING] = decode_string,
		[SCHEMA_INTEGER] = decode_integer,
		[SCHEMA_NUMBER] = decode_number,
		[SCHEMA_BOOLEAN] = decode_boolean,
		[SCHEMA_OBJECT] = decode_object,
		[SCHEMA_ARRAY] = decode_array,
		[SCHEMA_MAP] = decode_map,
		[SCHEMA_INT_OR_STRING] = decode_int_or_string,
		[SCHEMA_QUANTITY] = decode_quantity,
		[SCHEMA_TIME] = decode_time,
		[SCHEMA_MICROTIME] = decode_microtime,
		[SCHEMA_BYTES] = decode_bytes,
		[SCHEMA_RAW_OBJECT] = decode_any,
		[SCHEMA_JSON_OR_BOOL] = decode_or_bool,
		[SCHEMA_JSON_OR_ARRAY] = decode_or_array,
		[SCHEMA_JSON_OR_STRINGS] = decode_or_strings,
	};
	return decoders[node->type](d, node, value, at);
}

int rules_decode(struct arena *a, const struct kind *k, struct tree *object, struct field_problem **problems,
		 struct status *st)
{
	struct decoding d = {.arena = a, .kind = k, .st = st, .tail = problems};

	if (!k->schema || kind_is(k, KIND_CUSTOM))
		return 0;
	while (*d.tail)
		d.tail = &(*d.tail)->next;
	const struct schema_node root = {.type = SCHEMA_OBJECT, .def = k->schema};
	return decode_object(&d, &root, &object, NULL);
}
