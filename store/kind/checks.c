/* SPDX-License-Identifier: Apache-2.0 */
/* Saying what is wrong with a field, and the checks that many kinds share. */
#include "store/kind/checks.h"

#include <stdio.h>

#include "store/base/cleanup.h"
#include "store/kind/names.h"

/* Longer values are cut in messages; a cause holds 512 bytes in all. */
enum { VALUE_MAX = 320 };

static void field_text(const struct place *at, const char *field, char out[PLACE_TEXT_MAX])
{
	struct place last = place_field(at, field ? field : "");

	place_text(field ? &last : at, out);
}

/* ---- values as Go prints them ---- */

/* How Go's %q writes one byte; NULL when it stands for itself. Bytes beyond ASCII are UTF-8 by now. */
static const char *go_escape(unsigned char b, char tmp[5])
{
	static const char named[] = "\a\b\t\n\v\f\r";
	static const char letters[] = "abtnvfr";
	const char *p = b ? strchr(named, b) : NULL;

	if (b >= 0x20 && b != 0x7f && b != '"' && b != '\\')
		return NULL;
	if (p || b == '"' || b == '\\')
		snprintf(tmp, 5, "\\%c", p ? letters[p - named] : b);
	else
		snprintf(tmp, 5, "\\x%02x", b);
	return tmp;
}

static void quote(struct str s, char out[VALUE_MAX])
{
	size_t n = 0;

	out[n++] = '"';
	for (size_t i = 0; i < s.len && n < VALUE_MAX - 7; i++) {
		char tmp[5];
		const char *escape = go_escape((unsigned char)s.ptr[i], tmp);
		if (escape)
			n += (size_t)snprintf(out + n, 5, "%s", escape);
		else
			out[n++] = s.ptr[i];
	}
	n = place_whole(out, n);
	out[n++] = '"';
	out[n] = '\0';
}

static void value_text(const struct tree *value, char out[VALUE_MAX])
{
	_cleanup_(buf_done) struct buf json = {0};

	if (tree_is(value, TREE_STRING)) {
		quote(value->text, out);
		return;
	}
	if (value)
		tree_write(value, &json);
	struct str text = value && !json.failed ? buf_str(&json) : STR("null");
	if (text.len > VALUE_MAX - 1)
		text.len = place_whole(text.ptr, VALUE_MAX - 1);
	snprintf(out, VALUE_MAX, "%.*s", STR_ARG(text));
}

/* ---- causes ---- */

static void add(const struct checking *c, enum cause_type type, const struct place *at, const char *field,
		const char *value, const char *detail)
{
	char path[PLACE_TEXT_MAX];

	field_text(at, field, path);
	status_cause(c->st, type, path, "%s%s%s%s", value ? ": " : "", value ? value : "", detail[0] ? ": " : "",
		     detail);
}

void check_missing(const struct checking *c, const struct place *at, const char *field, const char *detail)
{
	add(c, CAUSE_REQUIRED, at, field, NULL, detail);
}

void check_forbidden(const struct checking *c, const struct place *at, const char *field, const char *detail)
{
	add(c, CAUSE_FORBIDDEN, at, field, NULL, detail);
}

void check_invalid(const struct checking *c, const struct place *at, const char *field, const struct tree *value,
		   const char *detail)
{
	char text[VALUE_MAX];

	value_text(value, text);
	add(c, CAUSE_INVALID, at, field, text, detail);
}

void check_invalid_text(const struct checking *c, const struct place *at, const char *field, struct str value,
			const char *detail)
{
	char text[VALUE_MAX];

	quote(value, text);
	add(c, CAUSE_INVALID, at, field, text, detail);
}

void check_unsupported(const struct checking *c, const struct place *at, const char *field,
		       const struct tree *value, const struct str *values, size_t nvalues)
{
	static const struct tree none = {.type = TREE_STRING, .text = STR_INIT("")};
	char text[VALUE_MAX], detail[VALUE_MAX];
	size_t n = (size_t)snprintf(detail, sizeof(detail), "supported values: ");

	for (size_t i = 0; i < nvalues && n < sizeof(detail); i++)
		n += (size_t)snprintf(detail + n, sizeof(detail) - n, "%s\"%.*s\"", i ? ", " : "",
				      STR_ARG(values[i]));
	value_text(value ? value : &none, text);
	add(c, CAUSE_NOT_SUPPORTED, at, field, text, detail);
}

void check_duplicate(const struct checking *c, const struct place *at, const char *field, struct str value)
{
	char text[VALUE_MAX];

	quote(value, text);
	add(c, CAUSE_DUPLICATE, at, field, text, "");
}

void check_not_found(const struct checking *c, const struct place *at, const char *field, struct str value)
{
	char text[VALUE_MAX];

	quote(value, text);
	add(c, CAUSE_NOT_FOUND, at, field, text, "");
}

void check_too_long(const struct checking *c, const struct place *at, const char *field, size_t max)
{
	char detail[64];

	snprintf(detail, sizeof(detail), "may not be more than %zu byte%s", max, max == 1 ? "" : "s");
	add(c, CAUSE_TOO_LONG, at, field, NULL, detail);
}

void check_too_many(const struct checking *c, const struct place *at, const char *field, size_t found, size_t max)
{
	char value[32], detail[64];

	snprintf(value, sizeof(value), "%zu", found);
	snprintf(detail, sizeof(detail), "must have at most %zu item%s", max, max == 1 ? "" : "s");
	add(c, CAUSE_TOO_MANY, at, field, value, detail);
}

/* ---- shared checks ---- */

void check_format(const struct checking *c, const struct place *at, const char *field, struct str value,
		  format_fn format)
{
	const char *wrong = value.len ? format(value) : NULL;

	if (wrong)
		check_invalid_text(c, at, field, value, wrong);
}

void check_label_map(const struct checking *c, const struct place *at, const char *field, const struct tree *labels)
{
	for (uint32_t i = 0; i < check_members(labels); i++) {
		struct str key = labels->members[i].key, value = tree_text(labels->members[i].value);
		const char *wrong = name_label_key(key);
		if (wrong)
			check_invalid_text(c, at, field, key, wrong);
		if ((wrong = name_label_value(value)))
			check_invalid_text(c, at, field, value, wrong);
	}
}

void check_annotation_map(const struct checking *c, const struct place *at, const char *field,
			  const struct tree *annotations)
{
	enum { TOTAL_MAX = 262144 };
	size_t total = 0;

	for (uint32_t i = 0; i < check_members(annotations); i++) {
		struct str key = annotations->members[i].key;
		const char *wrong = name_annotation_key(key);
		if (wrong)
			check_invalid_text(c, at, field, key, wrong);
		total += key.len + tree_text(annotations->members[i].value).len;
	}
	if (total > TOTAL_MAX)
		check_too_long(c, at, field, TOTAL_MAX);
}

bool check_count_or_percent(const struct checking *c, const struct place *at, const char *field,
			    const struct tree *value, int64_t *ret, bool *ret_percent)
{
	uint64_t n;

	*ret_percent = tree_is(value, TREE_STRING);
	if (*ret_percent) {
		struct str s = value->text;
		if (!str_ends(s, STR("%")) || !str_u64(str_n(s.ptr, s.len - 1), &n) || n > INT32_MAX) {
			check_invalid(c, at, field, value,
				      "a valid percent string must be a numeric string followed by an ending '%' "
				      "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
			return false;
		}
		*ret = (int64_t)n;
		return true;
	}
	*ret = check_int(value, 0);
	if (*ret < 0) {
		check_invalid(c, at, field, value, "must be greater than or equal to 0");
		return false;
	}
	return true;
}

void check_port(const struct checking *c, const struct place *at, const char *field, const struct tree *port)
{
	int64_t n = check_int(port, 0);

	if (tree_is(port, TREE_STRING)) {
		const char *wrong = name_port_name(port->text);
		if (wrong)
			check_invalid(c, at, field, port, wrong);
	} else if (n < 1 || n > 65535)
		check_invalid(c, at, field, port, "must be between 1 and 65535, inclusive");
}

bool check_immutable(const struct checking *c, const char *field)
{
	const struct tree *now = tree_path(c->root, field);

	if (!c->old || check_same(now, tree_path(c->old, field)))
		return true;
	check_invalid(c, NULL, field, now, "field is immutable");
	return false;
}

static bool requirement_holds(const struct tree *requirement, const struct tree *labels)
{
	struct str operator = tree_gets(requirement, "operator");
	const struct tree *label = tree_get(labels, tree_gets(requirement, "key"));
	const struct tree *values = tree_getz(requirement, "values");
	bool in = false;

	for (uint32_t i = 0; label && i < check_items(values); i++)
		in |= str_eq(tree_text(values->items[i]), tree_text(label));
	if (str_is(operator, "In"))
		return in;
	if (str_is(operator, "NotIn"))
		return !in;
	if (str_is(operator, "Exists"))
		return label;
	return !str_is(operator, "DoesNotExist") || !label;
}

bool check_selects(const struct tree *selector, const struct tree *labels)
{
	const struct tree *exact = tree_getz(selector, "matchLabels");
	const struct tree *requirements = tree_getz(selector, "matchExpressions");

	for (uint32_t i = 0; i < check_members(exact); i++) {
		const struct tree *label = tree_get(labels, exact->members[i].key);
		if (!label || !str_eq(tree_text(label), tree_text(exact->members[i].value)))
			return false;
	}
	for (uint32_t i = 0; i < check_items(requirements); i++)
		if (!requirement_holds(requirements->items[i], labels))
			return false;
	return true;
}

/* ---- names seen ---- */

/* FNV-1a, started from where the table lies: nobody outside can make names collide on purpose. */
static uint32_t hash(const struct check_seen *seen, struct str s)
{
	uint32_t h = 2166136261u ^ (uint32_t)((uintptr_t)seen->slots >> 4);

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (uint8_t)s.ptr[i]) * 16777619u;
	return h ^ h >> 15;
}

/* The slot that holds text or the free one where it belongs; the table is never full. */
static struct str *slot(const struct check_seen *seen, struct str text)
{
	uint32_t i = hash(seen, text);

	while (seen->slots[i & (seen->size - 1)].len && !str_eq(seen->slots[i & (seen->size - 1)], text))
		i++;
	return &seen->slots[i & (seen->size - 1)];
}

static bool seen_grow(struct check_seen *seen, struct arena *a)
{
	struct check_seen more = {.size = seen->size ? seen->size * 2 : 16, .used = seen->used};

	more.slots = arena_calloc(a, more.size, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < seen->size; i++)
		if (seen->slots[i].len)
			*slot(&more, seen->slots[i]) = seen->slots[i];
	*seen = more;
	return true;
}

bool check_seen_has(const struct check_seen *seen, struct str text)
{
	return seen->size && text.len && slot(seen, text)->len;
}

bool check_seen_add(struct check_seen *seen, struct arena *a, struct str text)
{
	if (!text.len)
		return false;
	if ((seen->used + 1) * 2 > seen->size && !seen_grow(seen, a))
		return false;
	struct str *place = slot(seen, text);
	if (place->len)
		return true;
	*place = text;
	seen->used++;
	return false;
}
