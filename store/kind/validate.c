/* SPDX-License-Identifier: Apache-2.0 */
/* rules_validate: metadata, then one walk over the object by its schema, applying the checks of each definition. */
#include "store/kind/rules.h"

#include <stdio.h>

#include "store/kind/checks.h"

/* One check of one field. value is present. False (a cause was added) ends the row. */
typedef bool (*flag_fn)(const struct checking *c, const struct check_rule *rule, const struct place *at,
			const struct tree *value);

static void refuse_value(const struct checking *c, const struct check_rule *rule, const struct place *at,
			 const struct tree *value)
{
	if (rule->flags & CHECK_CHOICE)
		check_invalid(c, at, NULL, value, rule->detail);
	else
		check_unsupported(c, at, NULL, value, rule->values, rule->nvalues);
}

static bool test_enum(const struct checking *c, const struct check_rule *rule, const struct place *at,
		      const struct tree *value)
{
	if (tree_is(value, TREE_ARRAY)) {
		bool good = true;
		for (uint32_t i = 0; i < value->len; i++) {
			struct place item = place_item(at, i);
			good &= test_enum(c, rule, &item, value->items[i]);
		}
		return good;
	}
	if (tree_is_empty(value) || check_one_of(tree_text(value), rule->values, rule->nvalues))
		return true;
	refuse_value(c, rule, at, value);
	return false;
}

static bool test_format(const struct checking *c, const struct check_rule *rule, const struct place *at,
			const struct tree *value)
{
	if (tree_is(value, TREE_ARRAY)) {
		bool good = true;
		for (uint32_t i = 0; i < value->len; i++) {
			struct place item = place_item(at, i);
			good &= test_format(c, rule, &item, value->items[i]);
		}
		return good;
	}
	struct str text = tree_text(value);
	const char *wrong = text.len ? rule->format(text) : NULL;
	if (wrong)
		check_invalid(c, at, NULL, value, wrong);
	return !wrong;
}

static bool test_range(const struct checking *c, const struct check_rule *rule, const struct place *at,
		       const struct tree *value)
{
	char detail[80];
	int64_t v;

	if (!tree_i64(value, &v) || (v == 0 && !(rule->flags & CHECK_ZERO)) || (v >= rule->min && v <= rule->max))
		return true;
	if (rule->max == INT64_MAX)
		snprintf(detail, sizeof(detail), "must be greater than %s0", rule->min ? "" : "or equal to ");
	else
		snprintf(detail, sizeof(detail), "must be between %lld and %lld, inclusive", (long long)rule->min,
			 (long long)rule->max);
	check_invalid(c, at, NULL, value, rule->detail[0] ? rule->detail : detail);
	return false;
}

static bool test_bytes(const struct checking *c, const struct check_rule *rule, const struct place *at,
		       const struct tree *value)
{
	if (tree_text(value).len <= (size_t)rule->max)
		return true;
	check_too_long(c, at, NULL, (size_t)rule->max);
	return false;
}

static bool test_unique(const struct checking *c, const struct check_rule *rule, const struct place *at,
			const struct tree *value)
{
	struct check_seen seen = {0};
	bool good = true;

	for (uint32_t i = 0; i < check_items(value); i++) {
		struct str text = rule->key[0] ? tree_gets(value->items[i], rule->key) : tree_text(value->items[i]);
		if (!check_seen_add(&seen, c->arena, text))
			continue;
		struct place item = place_item(at, i);
		check_duplicate(c, &item, rule->key[0] ? rule->key : NULL, text);
		good = false;
	}
	return good;
}

static bool test_labels(const struct checking *c, const struct check_rule *rule, const struct place *at,
			const struct tree *value)
{
	(void)rule;
	check_label_map(c, at, NULL, value);
	return true;
}

static const struct {
	uint16_t flag;
	flag_fn test;
} tests[] = {
	{CHECK_ENUM, test_enum},	{CHECK_FORMAT, test_format}, {CHECK_RANGE, test_range},
	{CHECK_MAX_BYTES, test_bytes},	{CHECK_UNIQUE, test_unique}, {CHECK_LABELS, test_labels},
};

static struct tree *dotted(const struct tree *object, struct str path)
{
	struct tree *t = tree_get(object, str_cut(&path, '.'));

	while (t && path.len)
		t = tree_get(t, str_cut(&path, '.'));
	return t;
}

static bool same_as_old(const struct checking *c, const struct check_rule *rule, const struct place *at,
			const struct tree *value)
{
	if (!c->old || check_same(value, dotted(c->old, rule->field)))
		return true;
	check_invalid(c, at, NULL, value, rule->detail[0] ? rule->detail : "field is immutable");
	return false;
}

static void apply_field(const struct checking *c, const struct check_rule *rule, const struct place *at,
			const struct tree *object)
{
	const struct tree *value = dotted(object, rule->field);
	struct place field = {.up = at, .step = PLACE_FIELD, .name = rule->path ? str_of(rule->path) : rule->field};

	if ((rule->flags & CHECK_IMMUTABLE) && !same_as_old(c, rule, &field, value))
		return;
	if ((rule->flags & CHECK_REQUIRED) && tree_is_empty(value)) {
		check_missing(c, &field, NULL, rule->required);
		return;
	}
	if (!value)
		return;
	if ((rule->flags & CHECK_WHOLE) && !tree_is_empty(value) &&
	    !check_one_of(tree_text(value), rule->values, rule->nvalues)) {
		refuse_value(c, rule, at, object);
		return;
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if ((rule->flags & tests[i].flag) && !tests[i].test(c, rule, &field, value))
			return;
}

static void apply(const struct checking *c, const struct rules_def *rules, const struct place *at,
		  const struct tree *object)
{
	for (unsigned i = 0; i < rules->nchecks; i++) {
		const struct check_rule *rule = &rules->checks[i];
		if ((rule->flags & CHECK_CREATE) && c->old)
			continue;
		if (rule->call)
			rule->call(c, at, object);
		else
			apply_field(c, rule, at, object);
	}
}

static void walk_object(const struct checking *c, const struct schema_def *def, const struct place *at,
			const struct tree *object);

static void walk_value(const struct checking *c, const struct schema_node *node, const struct place *at,
		       const struct tree *value)
{
	if (node->type == SCHEMA_OBJECT && tree_is(value, TREE_OBJECT)) {
		walk_object(c, node->def, at, value);
	} else if (node->type == SCHEMA_ARRAY && node->item->type == SCHEMA_OBJECT) {
		for (uint32_t i = 0; i < check_items(value); i++) {
			struct place item = place_item(at, i);
			walk_value(c, node->item, &item, value->items[i]);
		}
	} else if (node->type == SCHEMA_MAP && node->item->type == SCHEMA_OBJECT) {
		for (uint32_t i = 0; i < check_members(value); i++) {
			struct place member = place_key(at, value->members[i].key);
			walk_value(c, node->item, &member, value->members[i].value);
		}
	}
}

static void walk_object(const struct checking *c, const struct schema_def *def, const struct place *at,
			const struct tree *object)
{
	const struct rules_def *rules = rules_of(def);

	if (!rules || !rules->checks_below)
		return;
	apply(c, rules, at, object);
	for (uint32_t i = 0; i < object->len; i++) {
		const struct tree_member *m = &object->members[i];
		if (m->value->type < TREE_ARRAY)
			continue;
		const struct schema_field *field = schema_field(def, m->key);
		struct place below = {.up = at, .step = PLACE_FIELD, .name = m->key};
		if (field)
			walk_value(c, &field->node, &below, m->value);
	}
}

void rules_validate(struct arena *a, const struct kind *k, const struct tree *object, const struct tree *old,
		    struct status *st)
{
	const struct checking c = {.arena = a, .kind = k, .root = object, .old = old, .st = st};

	if (!tree_is(object, TREE_OBJECT))
		return;
	check_metadata(&c);
	if (k->schema && !kind_is(k, KIND_CUSTOM))
		walk_object(&c, k->schema, NULL, object);
}
