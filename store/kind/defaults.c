/* SPDX-License-Identifier: Apache-2.0 */
/* rules_default: one walk over an object by its schema, applying the rules of each definition on the way. */
#include "store/kind/rules.h"

#include "store/kind/rules_tables.h"

const struct rules_def *rules_of(const struct schema_def *def)
{
	return def && def->id < rules_defs_count ? &rules_defs[def->id] : NULL;
}

/* The tables hold JSON that tree_parse takes; the status it wants is large, so it stays off the walk's frames. */
static __attribute__((noinline)) struct tree *parse(struct arena *a, struct str json)
{
	struct status st;
	struct tree *t;

	return tree_parse(a, json, &t, NULL, &st) == 0 ? t : NULL;
}

static struct tree *value_new(struct arena *a, struct str json)
{
	switch (json.ptr[0]) {
	case '"':
		if (!memchr(json.ptr, '\\', json.len))
			return tree_string(a, str_n(json.ptr + 1, json.len - 2));
		break;
	case 't':
	case 'f': return tree_bool(a, json.ptr[0] == 't');
	case '[': break;
	case '{':
		if (json.len == 2)
			return tree_object(a);
		break;
	default: return tree_number(a, json);
	}
	return parse(a, json);
}

/* The object that holds the last step of a dotted field; NULL where a step before it is absent. */
static struct tree *holder(struct tree *object, struct str *field)
{
	ptrdiff_t dot;

	while (object && (dot = str_chr(*field, '.')) >= 0) {
		object = tree_get(object, str_n(field->ptr, (size_t)dot));
		*field = str_skip(*field, (size_t)dot + 1);
	}
	return tree_is(object, TREE_OBJECT) ? object : NULL;
}

static bool apply_field(const struct defaulting *d, const struct default_rule *rule, struct tree *object)
{
	struct str field = rule->field;

	object = holder(object, &field);
	if (!object)
		return true;
	const struct tree *value = tree_get(object, field);
	if (rule->when == DEFAULT_OMIT) {
		if (value && tree_is_empty(value))
			tree_remove(object, field);
		return true;
	}
	if (value && !(rule->when == DEFAULT_EMPTY && tree_is_empty(value)))
		return true;
	return tree_set(d->arena, object, field, value_new(d->arena, rule->value));
}

static bool apply(const struct defaulting *d, const struct rules_def *rules, struct tree *object, bool after)
{
	for (unsigned i = 0; i < rules->ndefaults; i++) {
		const struct default_rule *rule = &rules->defaults[i];
		bool good = true;

		if ((rule->when == DEFAULT_AFTER) != after)
			continue;
		good = rule->call ? rule->call(d, object) : apply_field(d, rule, object);
		if (!good)
			return false;
	}
	return true;
}

static bool walk_object(const struct defaulting *d, const struct schema_def *def, struct tree *object);

static bool walk_value(const struct defaulting *d, const struct schema_node *node, struct tree *value)
{
	if (node->type == SCHEMA_OBJECT)
		return !tree_is(value, TREE_OBJECT) || walk_object(d, node->def, value);
	if (node->type == SCHEMA_ARRAY && tree_is(value, TREE_ARRAY)) {
		for (uint32_t i = 0; i < value->len; i++)
			if (!walk_value(d, node->item, value->items[i]))
				return false;
	} else if (node->type == SCHEMA_MAP && tree_is(value, TREE_OBJECT)) {
		for (uint32_t i = 0; i < value->len; i++)
			if (!walk_value(d, node->item, value->members[i].value))
				return false;
	}
	return true;
}

static bool walk_object(const struct defaulting *d, const struct schema_def *def, struct tree *object)
{
	const struct rules_def *rules = rules_of(def);

	if (!rules || !rules->defaults_below)
		return true;
	if (!apply(d, rules, object, false))
		return false;
	for (uint32_t i = 0; i < object->len; i++) {
		const struct tree_member *m = &object->members[i];
		if (m->value->type < TREE_ARRAY)
			continue;
		const struct schema_field *field = schema_field(def, m->key);
		if (field && !walk_value(d, &field->node, m->value))
			return false;
	}
	return apply(d, rules, object, true);
}

bool rules_default(struct arena *a, const struct kind *k, struct tree *object, const struct tree *old)
{
	const struct defaulting d = {.arena = a, .kind = k, .root = object, .old = old};

	if (!k->schema || kind_is(k, KIND_CUSTOM) || !tree_is(object, TREE_OBJECT))
		return true;
	return walk_object(&d, k->schema, object);
}
