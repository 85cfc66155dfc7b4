/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the strategic merge, with values printed as Go prints them: clients see these texts. */
#include "store/change/strategic.h"

enum { LINE_MAX_BYTES = 900 };

/* Text of bounded length; what does not fit is left out. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

static void line_add(struct line *l, struct str s)
{
	size_t room = sizeof(l->text) - l->len;
	size_t n = s.len < room ? s.len : room;

	if (n)
		memcpy(l->text + l->len, s.ptr, n);
	l->len += n;
}

static bool line_full(const struct line *l)
{
	return l->len == sizeof(l->text);
}

static void line_value(struct line *l, const struct tree *t);

static void line_members(struct line *l, const struct tree *t)
{
	line_add(l, STR("map["));
	for (uint32_t i = 0; i < t->len && !line_full(l); i++) {
		if (i)
			line_add(l, STR(" "));
		line_add(l, t->members[i].key);
		line_add(l, STR(":"));
		line_value(l, t->members[i].value);
	}
	line_add(l, STR("]"));
}

static void line_items(struct line *l, const struct tree *t)
{
	line_add(l, STR("["));
	for (uint32_t i = 0; i < t->len && !line_full(l); i++) {
		if (i)
			line_add(l, STR(" "));
		line_value(l, t->items[i]);
	}
	line_add(l, STR("]"));
}

/* %v. The recursion ends when the line is full. */
static void line_value(struct line *l, const struct tree *t)
{
	if (line_full(l))
		return;
	switch (t->type) {
	case TREE_NULL: line_add(l, STR("<nil>")); break;
	case TREE_FALSE: line_add(l, STR("false")); break;
	case TREE_TRUE: line_add(l, STR("true")); break;
	case TREE_NUMBER:
	case TREE_STRING: line_add(l, t->text); break;
	case TREE_ARRAY: line_items(l, t); break;
	case TREE_OBJECT: line_members(l, t); break;
	}
}

int strategic_no_key(struct strategic *s, const struct tree *map, struct str merge_key)
{
	struct line l = {.len = 0};

	line_value(&l, map);
	return status_set(s->st, REASON_UNKNOWN, "map: %.*s does not contain declared merge key: %.*s", (int)l.len, l.text,
			  STR_ARG(merge_key));
}

int strategic_bad_type(struct strategic *s, const char *expected, const struct tree *received)
{
	static const char *const names[] = {
		[TREE_NULL] = "%!s(<nil>)", [TREE_FALSE] = "bool",	      [TREE_TRUE] = "bool",
		[TREE_NUMBER] = "int64",    [TREE_STRING] = "string",	      [TREE_ARRAY] = "[]interface {}",
		[TREE_OBJECT] = "map[string]interface {}",
	};

	return status_set(s->st, REASON_UNKNOWN, "expected a %s, but received a %s", expected, names[received->type]);
}

int strategic_bad_directive(struct strategic *s, const struct tree *map)
{
	struct line l = {.len = 0}, directive = {.len = 0};

	line_value(&l, map);
	line_value(&directive, tree_getz(map, "$patch"));
	return status_set(s->st, REASON_UNKNOWN, "unknown patch type: %.*s in map: %.*s", (int)directive.len,
			  directive.text, (int)l.len, l.text);
}

int strategic_bad_order(struct strategic *s, const struct tree *patch, const struct tree *order)
{
	struct line l = {.len = 0}, wanted = {.len = 0};

	line_value(&l, patch);
	line_value(&wanted, order);
	return status_set(s->st, REASON_UNKNOWN,
			  "the order in patch list:\n%.*s\n doesn't match $setElementOrder list:\n%.*s", (int)l.len, l.text,
			  (int)wanted.len, wanted.text);
}

int strategic_mixed(struct strategic *s, const struct tree *old, const struct tree *patch)
{
	struct line l = {.len = 0};

	line_add(&l, STR("["));
	line_value(&l, old);
	line_add(&l, STR(" "));
	line_value(&l, patch);
	line_add(&l, STR("]"));
	return status_set(s->st, REASON_UNKNOWN, "list element types are not identical: %.*s", (int)l.len, l.text);
}
