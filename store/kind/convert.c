/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds served in several forms: which conversions there are, and that of Event. */
#include "store/kind/convert.h"

#include "store/kind/convert_private.h"

/* Members of v1 Event that events.k8s.io/v1 calls otherwise; all others are the same. */
static const struct {
	const char *core, *events;
} event_names[] = {
	{"count", "deprecatedCount"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"involvedObject", "regarding"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
};

static bool member_rename(struct arena *a, struct tree *object, const char *from, const char *to)
{
	struct tree *value = tree_getz(object, from);

	if (!value)
		return true;
	tree_removez(object, from);
	return tree_setz(a, object, to, value);
}

static bool event_to_core(struct arena *a, struct tree *object)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
		good = good && member_rename(a, object, event_names[i].events, event_names[i].core);
	return good;
}

static bool event_to_events(struct arena *a, struct tree *object)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
		good = good && member_rename(a, object, event_names[i].core, event_names[i].events);
	return good;
}

static const struct {
	const char *kind, *from, *to; /* from and to: apiVersion */
	bool (*convert)(struct arena *a, struct tree *object);
} conversions[] = {
	{"Event", "v1", "events.k8s.io/v1", event_to_events},
	{"Event", "events.k8s.io/v1", "v1", event_to_core},
	{"HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2", convert_hpa_to_v2},
	{"HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1", convert_hpa_to_v1},
};

/* The few texts that schema.json has: null, "", {}, [] and numbers. */
static struct tree *emitted(struct arena *a, struct str json)
{
	switch (json.ptr[0]) {
	case 'n': return tree_null(a);
	case 't':
	case 'f': return tree_bool(a, json.ptr[0] == 't');
	case '{': return tree_object(a);
	case '[': return tree_array(a);
	case '"': return tree_string(a, str_n(json.ptr + 1, json.len - 2));
	default: return tree_number(a, json);
	}
}

/* What one form prints for an unset field the other leaves out, and the other way round. Objects within are
 * looked at as deep as both go; lists are not: their elements are made by the conversions. */
static bool fill(struct arena *a, const struct schema_def *def, struct tree *object)
{
	for (uint16_t i = 0; i < def->nfields; i++) {
		const struct schema_field *f = &def->fields[i];
		struct tree *value = tree_get(object, f->name);
		if (!value && f->emit.len) {
			value = emitted(a, f->emit);
			if (!tree_set(a, object, f->name, value))
				return false;
		} else if (value && !f->emit.len && tree_is(value, TREE_STRING) && value->text.len == 0) {
			tree_remove(object, f->name);
		} else if (value && !f->emit.len && value->type == TREE_NULL) {
			tree_remove(object, f->name);
		}
		if (f->node.type == SCHEMA_OBJECT && f->node.def && tree_is(value, TREE_OBJECT) &&
		    !fill(a, f->node.def, value))
			return false;
	}
	return true;
}

bool convert_object(struct arena *a, const struct kind *from, const struct kind *to, struct tree *object)
{
	for (size_t i = 0; from != to && i < sizeof(conversions) / sizeof(conversions[0]); i++) {
		if (!str_is(from->kind, conversions[i].kind) || !str_is(from->api_version, conversions[i].from) ||
		    !str_is(to->api_version, conversions[i].to))
			continue;
		if (!conversions[i].convert(a, object) || (to->schema && !fill(a, to->schema, object)))
			return false;
	}
	return tree_sets(a, object, "apiVersion", to->api_version) && tree_sets(a, object, "kind", to->kind);
}
