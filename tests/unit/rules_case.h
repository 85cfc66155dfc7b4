/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of rules_decode, rules_default and rules_validate share: objects from JSON text. */
#ifndef HOLDFS_RULES_CASE_H
#define HOLDFS_RULES_CASE_H

#include <stdlib.h>

#include "store/kind/rules.h"
#include "tests/unit/tap.h"

/* One object on its way through the rules; case_begin to case_end. */
struct rules_case {
	struct arena arena;
	struct status st;
	struct field_problem *problems;
	const struct kind *kind;
	struct tree *object;
};

__attribute__((unused))
static bool case_begin(struct rules_case *c, const char *json)
{
	arena_init(&c->arena, 0);
	status_clear(&c->st);
	c->problems = NULL;
	c->kind = NULL;
	if (tree_parse(&c->arena, str_of(json), &c->object, NULL, &c->st) < 0) {
		printf("# %s in %s\n", c->st.message, json);
		return false;
	}
	c->kind = kinds_by_gvk(kinds_builtin(), tree_gets(c->object, "apiVersion"), tree_gets(c->object, "kind"));
	return c->kind;
}

__attribute__((unused))
static void case_end(struct rules_case *c)
{
	arena_done(&c->arena);
}

__attribute__((unused))
static int case_decode(struct rules_case *c)
{
	return rules_decode(&c->arena, c->kind, c->object, &c->problems, &c->st);
}

/* The member at a dotted path as JSON; a step may be an index: "spec.containers.0.image". "absent" when there is
 * none. Valid until the next call. */
__attribute__((unused))
static const char *case_at(const struct tree *t, const char *path)
{
	static char text[8192];
	struct str rest = str_of(path);
	struct buf out = {0};
	uint64_t i;

	while (t && rest.len) {
		struct str step = str_cut(&rest, '.');
		if (t->type == TREE_ARRAY && str_u64(step, &i))
			t = i < t->len ? t->items[i] : NULL;
		else
			t = tree_get(t, step);
	}
	if (!t)
		return "absent";
	tree_write(t, &out);
	snprintf(text, sizeof(text), "%.*s", STR_ARG(buf_str(&out)));
	buf_done(&out);
	return text;
}

__attribute__((unused))
static bool is_text(const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return true;
	printf("# got  %s\n# want %s\n", got, want);
	return false;
}

/* Decoded and defaulted; old may be NULL. */
__attribute__((unused))
static bool case_default(struct rules_case *c, const struct rules_case *old)
{
	return case_decode(c) == 0 && rules_default(&c->arena, c->kind, c->object, old ? old->object : NULL);
}

#endif
