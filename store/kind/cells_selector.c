/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules for labels and label selectors. */
#include <stdlib.h>

#include "store/kind/cells_private.h"

void rule_labels(struct cells *c)
{
	const struct tree *map = cell_place(c);
	uint32_t n = tree_is(map, TREE_OBJECT) ? map->len : 0;
	struct cell_list list = {0};

	for (uint32_t i = 0; i < n; i++)
		list_add(c, &list, cell_concat(c, map->members[i].key, STR("="), tree_text(map->members[i].value)));
	/* Sorted as whole texts: '-' and '.' come before '=', so the order of the keys is another one. */
	list_sort(&list);
	list_cell(c, &list, ",", STR("<none>"));
}

enum selector_operator { OPERATOR_IN, OPERATOR_NOT_IN, OPERATOR_EXISTS, OPERATOR_NOT_EXISTS };

/* How an operator is written around the key, and whether it takes values. */
static const struct {
	struct str name, before, after;
	bool has_values;
} operators[] = {
	[OPERATOR_IN] = {STR_INIT("In"), STR_INIT(""), STR_INIT(" in ("), true},
	[OPERATOR_NOT_IN] = {STR_INIT("NotIn"), STR_INIT(""), STR_INIT(" notin ("), true},
	[OPERATOR_EXISTS] = {STR_INIT("Exists"), STR_INIT(""), STR_INIT(""), false},
	[OPERATOR_NOT_EXISTS] = {STR_INIT("DoesNotExist"), STR_INIT("!"), STR_INIT(""), false},
};

#define OPERATORS (sizeof(operators) / sizeof(*operators))

/* One requirement: key=value of a label, or an expression with an operator. */
struct requirement {
	struct str key;
	struct str value;               /* of a label */
	const struct tree *values;      /* of an expression */
	size_t operator;                /* OPERATORS for a label */
	size_t place;                   /* equal keys keep their order */
};

static int requirement_order(const void *pa, const void *pb)
{
	const struct requirement *a = pa, *b = pb;
	int order = str_cmp(a->key, b->key);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* False when the expression is not valid. */
static bool expression_read(const struct tree *expression, struct requirement *r)
{
	struct str name = tree_gets(expression, "operator");

	r->key = tree_gets(expression, "key");
	r->values = tree_getz(expression, "values");
	r->operator = 0;
	while (r->operator < OPERATORS && !str_eq(operators[r->operator].name, name))
		r->operator++;
	return r->key.len && r->operator < OPERATORS && operators[r->operator].has_values == (cell_items(r->values) > 0);
}

static void expression_write(struct cells *c, const struct requirement *r)
{
	struct cell_list values = {0};

	cell_add(c, operators[r->operator].before);
	cell_add(c, r->key);
	cell_add(c, operators[r->operator].after);
	if (!operators[r->operator].has_values)
		return;
	list_collect(c, &values, r->values, STR("[*]"));
	list_sort(&values);
	list_write(c, &values, ",", UINT32_MAX);
	cell_addz(c, ")");
}

static void requirement_write(struct cells *c, const struct requirement *r)
{
	if (r->operator < OPERATORS) {
		expression_write(c, r);
		return;
	}
	cell_add(c, r->key);
	cell_addz(c, "=");
	cell_add(c, r->value);
}

/* All requirements of a selector, sorted by key. *ret_valid tells whether every expression is good. NULL when
 * there are none (or no memory is left: c->failed). */
static struct requirement *selector_read(struct cells *c, const struct tree *selector, size_t *ret_count, bool *ret_valid)
{
	const struct tree *labels = tree_getz(selector, "matchLabels");
	const struct tree *expressions = tree_getz(selector, "matchExpressions");
	size_t nlabels = tree_is(labels, TREE_OBJECT) ? labels->len : 0, nexpressions = cell_items(expressions);
	size_t count = nlabels + nexpressions;

	*ret_count = 0;
	*ret_valid = true;
	if (count == 0)
		return NULL;
	struct requirement *r = arena_calloc(c->arena, count, sizeof(*r));
	if (!r) {
		c->failed = true;
		return NULL;
	}
	for (size_t i = 0; i < nlabels; i++)
		r[i] = (struct requirement){.key = labels->members[i].key,
					    .value = tree_text(labels->members[i].value),
					    .operator = OPERATORS, .place = i};
	for (size_t i = 0; i < nexpressions; i++) {
		r[nlabels + i].place = nlabels + i;
		*ret_valid &= expression_read(expressions->items[i], &r[nlabels + i]);
	}
	qsort(r, count, sizeof(*r), requirement_order);
	*ret_count = count;
	return r;
}

static void selector_cell(struct cells *c, const char *empty, const char *invalid)
{
	size_t count;
	bool valid;
	struct requirement *r = selector_read(c, cell_place(c), &count, &valid);

	if (!valid || count == 0) {
		cell_textz(c, valid ? empty : invalid);
		return;
	}
	cell_begin(c);
	for (size_t i = 0; i < count; i++) {
		if (i)
			cell_addz(c, ",");
		requirement_write(c, &r[i]);
	}
	cell_end(c);
}

void rule_selector(struct cells *c)
{
	selector_cell(c, "<none>", "<error>");
}

void rule_selector_deployment(struct cells *c)
{
	selector_cell(c, "", "<invalid>");
}

static void debug_labels(struct cells *c, const struct tree *labels)
{
	for (uint32_t i = 0; tree_is(labels, TREE_OBJECT) && i < labels->len; i++) {
		cell_add(c, labels->members[i].key);
		cell_addz(c, ": ");
		cell_add(c, tree_text(labels->members[i].value));
		cell_addz(c, ",");
	}
}

static void debug_expressions(struct cells *c, const struct tree *expressions)
{
	for (uint32_t i = 0; i < cell_items(expressions); i++) {
		struct cell_list values = {0};
		const struct tree *e = expressions->items[i];
		list_collect(c, &values, e, STR(".values[*]"));
		cell_addz(c, "LabelSelectorRequirement{Key:");
		cell_add(c, tree_gets(e, "key"));
		cell_addz(c, ",Operator:");
		cell_add(c, tree_gets(e, "operator"));
		cell_addz(c, ",Values:[");
		list_write(c, &values, " ", UINT32_MAX);
		cell_addz(c, "],},");
	}
}

/* The selector as Go prints the struct: that is what kube-apiserver shows here. */
static void debug_selector(struct cells *c, const struct tree *selector)
{
	cell_begin(c);
	cell_addz(c, "&LabelSelector{MatchLabels:map[string]string{");
	debug_labels(c, tree_getz(selector, "matchLabels"));
	cell_addz(c, "},MatchExpressions:[]LabelSelectorRequirement{");
	debug_expressions(c, tree_getz(selector, "matchExpressions"));
	cell_addz(c, "},}");
	cell_end(c);
}

void rule_param_ref(struct cells *c)
{
	const struct tree *ref = cell_place(c), *selector = tree_getz(ref, "selector");
	struct str name = tree_gets(ref, "name"), namespace = tree_gets(ref, "namespace");

	if (name.len)
		cell_text(c, cell_concat(c, namespace.len ? namespace : STR("*"), STR("/"), name));
	else if (tree_is(selector, TREE_OBJECT))
		debug_selector(c, selector);
	else
		cell_textz(c, "<unset>");
}
