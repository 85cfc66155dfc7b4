/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscaler between autoscaling/v1 and v2.
 *
 * v1 knows one metric, the CPU's average utilization. kube-apiserver keeps the rest of a v2 object in four
 * annotations of the v1 form, as JSON of types that appear nowhere else; they go when the object becomes v2 again:
 *
 *     autoscaling.alpha.kubernetes.io/metrics          metrics, flat: {"type":"Pods","pods":{"metricName":...}}
 *     autoscaling.alpha.kubernetes.io/current-metrics  the same for status.currentMetrics
 *     autoscaling.alpha.kubernetes.io/behavior         the behavior with capitalized member names
 *     autoscaling.alpha.kubernetes.io/conditions       the conditions as they are
 *
 * An annotation that is not such JSON says nothing, as there. */
#include "store/kind/convert_private.h"

#include "store/base/cleanup.h"

static const char *const annotation_metrics = "autoscaling.alpha.kubernetes.io/metrics";
static const char *const annotation_current = "autoscaling.alpha.kubernetes.io/current-metrics";
static const char *const annotation_behavior = "autoscaling.alpha.kubernetes.io/behavior";
static const char *const annotation_conditions = "autoscaling.alpha.kubernetes.io/conditions";

/* One member of a metric in both forms. flat: the name in v1. place: where v2 has it, dotted. */
struct metric_member {
	const char *flat, *place;
	const char *absent; /* what v1 prints when v2 has none; NULL: nothing */
};

enum { MEMBERS_MAX = 6 };

/* A metric source or status: the member of the metric that holds it, and its members. */
struct metric_form {
	const char *source;
	struct metric_member members[MEMBERS_MAX];
	const char *type[3]; /* flat members that decide target.type, see target_type */
};

static const struct metric_form spec_forms[] = {
	{"object",
	 {{"target", "describedObject", NULL},
	  {"metricName", "metric.name", ""},
	  {"selector", "metric.selector", NULL},
	  {"targetValue", "target.value", "0"},
	  {"averageValue", "target.averageValue", NULL}},
	 {NULL, "averageValue", "targetValue"}},
	{"pods",
	 {{"metricName", "metric.name", ""},
	  {"selector", "metric.selector", NULL},
	  {"targetAverageValue", "target.averageValue", "0"}},
	 {NULL, "targetAverageValue", NULL}},
	{"resource",
	 {{"name", "name", ""},
	  {"targetAverageUtilization", "target.averageUtilization", NULL},
	  {"targetAverageValue", "target.averageValue", NULL}},
	 {"targetAverageUtilization", "targetAverageValue", NULL}},
	{"containerResource",
	 {{"name", "name", ""},
	  {"container", "container", ""},
	  {"targetAverageUtilization", "target.averageUtilization", NULL},
	  {"targetAverageValue", "target.averageValue", NULL}},
	 {"targetAverageUtilization", "targetAverageValue", NULL}},
	{"external",
	 {{"metricName", "metric.name", ""},
	  {"metricSelector", "metric.selector", NULL},
	  {"targetValue", "target.value", NULL},
	  {"targetAverageValue", "target.averageValue", NULL}},
	 {NULL, "targetAverageValue", "targetValue"}},
	{0},
};

static const struct metric_form status_forms[] = {
	{"object",
	 {{"target", "describedObject", NULL},
	  {"metricName", "metric.name", ""},
	  {"selector", "metric.selector", NULL},
	  {"currentValue", "current.value", "0"},
	  {"averageValue", "current.averageValue", NULL}},
	 {0}},
	{"pods",
	 {{"metricName", "metric.name", ""},
	  {"selector", "metric.selector", NULL},
	  {"currentAverageValue", "current.averageValue", "0"}},
	 {0}},
	{"resource",
	 {{"name", "name", ""},
	  {"currentAverageUtilization", "current.averageUtilization", NULL},
	  {"currentAverageValue", "current.averageValue", "0"}},
	 {0}},
	{"containerResource",
	 {{"name", "name", ""},
	  {"container", "container", ""},
	  {"currentAverageUtilization", "current.averageUtilization", NULL},
	  {"currentAverageValue", "current.averageValue", "0"}},
	 {0}},
	{"external",
	 {{"metricName", "metric.name", ""},
	  {"metricSelector", "metric.selector", NULL},
	  {"currentValue", "current.value", "0"},
	  {"currentAverageValue", "current.averageValue", NULL}},
	 {0}},
	{0},
};

/* Quantities that v1 must print though v2 has none come back as none. */
static bool is_stand_in(const struct metric_member *m, const struct tree *value)
{
	return m->absent && str_is(tree_text(value), m->absent) && str_starts(str_of(m->place), STR("current."));
}

static bool set_place(struct arena *a, struct tree *object, const char *place, struct tree *value)
{
	struct str name = str_of(place);

	while (object && str_chr(name, '.') >= 0)
		object = tree_ensure(a, object, str_cut(&name, '.'));
	return tree_set(a, object, name, value);
}

/* v2 source to v1; NULL when out of memory. */
static struct tree *source_flat(struct arena *a, const struct metric_form *form, const struct tree *source)
{
	struct tree *flat = tree_object(a);

	for (const struct metric_member *m = form->members; flat && m->flat; m++) {
		struct tree *value = tree_path(source, m->place);
		if (!value && m->absent)
			value = tree_string(a, str_of(m->absent));
		else if (!value)
			continue;
		if (!tree_setz(a, flat, m->flat, value))
			return NULL;
	}
	return flat;
}

/* v2's target.type is implied in v1 by the members that are there. */
static const char *target_type(const struct metric_form *form, const struct tree *flat)
{
	static const char *const types[] = {"Utilization", "AverageValue", "Value"};

	for (size_t i = 0; i < 3; i++)
		if (form->type[i] && tree_getz(flat, form->type[i]))
			return types[i];
	return form->type[2] ? "Value" : "AverageValue";
}

/* v1 source to v2. */
static struct tree *source_deep(struct arena *a, const struct metric_form *form, const struct tree *flat)
{
	struct tree *source = tree_object(a);
	bool typed = form->type[0] || form->type[1];
	const char *type = target_type(form, flat);

	for (const struct metric_member *m = form->members; source && m->flat; m++) {
		struct tree *value = tree_getz(flat, m->flat);
		if (!value || value->type == TREE_NULL || is_stand_in(m, value))
			continue;
		/* An average of the object metric leaves v1's obligatory targetValue at "0". */
		if (strcmp(m->place, "target.value") == 0 && strcmp(type, "Value") != 0)
			continue;
		if (!set_place(a, source, m->place, value))
			return NULL;
	}
	if (!source || (!typed && !tree_ensure(a, source, STR("current"))))
		return NULL;
	return !typed || set_place(a, source, "target.type", tree_string(a, str_of(type))) ? source : NULL;
}

typedef struct tree *source_fn(struct arena *a, const struct metric_form *form, const struct tree *source);

static struct tree *metric_convert(struct arena *a, const struct metric_form *forms, source_fn *fn,
				   const struct tree *metric)
{
	struct tree *out = tree_object(a);

	if (!tree_sets(a, out, "type", tree_gets(metric, "type")))
		return NULL;
	for (; forms->source; forms++) {
		const struct tree *source = tree_getz(metric, forms->source);
		if (tree_is(source, TREE_OBJECT) && !tree_setz(a, out, forms->source, fn(a, forms, source)))
			return NULL;
	}
	return out;
}

/* The average CPU utilization of a metric, where it says no more than that. */
static struct tree *cpu_utilization(const struct tree *metric, const char *place)
{
	const struct tree *resource = tree_getz(metric, "resource");

	if (!str_is(tree_gets(metric, "type"), "Resource") || !str_is(tree_gets(resource, "name"), "cpu"))
		return NULL;
	return tree_path(resource, place);
}

static bool annotate(struct arena *a, struct tree *object, const char *name, const struct tree *value)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct tree *metadata = tree_ensure(a, object, STR("metadata"));
	struct tree *annotations = metadata ? tree_ensure(a, metadata, STR("annotations")) : NULL;

	tree_write(value, &text);
	if (!annotations || text.failed)
		return false;
	struct str copy = arena_str(a, buf_str(&text));
	return copy.ptr && tree_sets(a, annotations, name, copy);
}

/* The status that parsing wants is large: off the frames of those who call. */
static __attribute__((noinline)) struct tree *parse(struct arena *a, struct str json)
{
	struct status st;
	struct tree *t;

	return tree_parse(a, json, &t, NULL, &st) == 0 ? t : NULL;
}

/* Takes an annotation away and reads it; NULL when there is none of that type. */
static struct tree *annotation_take(struct arena *a, struct tree *object, const char *name, enum tree_type type)
{
	struct tree *metadata = tree_getz(object, "metadata"), *annotations = tree_getz(metadata, "annotations");
	struct tree *value = tree_getz(annotations, name);

	if (!tree_removez(annotations, name))
		return NULL;
	if (annotations->len == 0)
		tree_removez(metadata, "annotations");
	value = value->type == TREE_STRING ? parse(a, value->text) : NULL;
	return tree_is(value, type) && value->len ? value : NULL;
}

/* The key with its first letter in the other case; .ptr is NULL when out of memory. */
static struct str recase_key(struct arena *a, struct str key, bool upper)
{
	struct str copy = arena_str(a, key);
	char *first = (char *)copy.ptr; /* ours */

	if (!first || copy.len == 0)
		return copy;
	if (upper && *first >= 'a' && *first <= 'z')
		*first = (char)(*first - 'a' + 'A');
	else if (!upper && *first >= 'A' && *first <= 'Z')
		*first = (char)(*first - 'A' + 'a');
	return copy;
}

/* JSON's names of all fields to Go's, `ScaleUp` (upper), or back. Nulls are left out. */
static struct tree *recase(struct arena *a, const struct tree *t, bool upper)
{
	if (t->type < TREE_ARRAY)
		return tree_copy(a, t);
	struct tree *out = t->type == TREE_OBJECT ? tree_object(a) : tree_array(a);
	for (uint32_t i = 0; out && i < t->len; i++) {
		const struct tree *value = t->type == TREE_OBJECT ? t->members[i].value : t->items[i];
		struct tree *child = recase(a, value, upper);
		struct str key = {0};
		bool good = false;
		if (value->type == TREE_NULL)
			continue;
		if (t->type == TREE_ARRAY)
			good = tree_append(a, out, child);
		else if ((key = recase_key(a, t->members[i].key, upper)).ptr)
			good = tree_set(a, out, key, child);
		if (!good)
			return NULL;
	}
	return out;
}

/* The metrics of `list` in v1's form, to an annotation. cpu: the place of what v1 says itself; such metrics are
 * left out unless `all`. */
static bool metrics_annotate(struct arena *a, struct tree *object, const char *name, const struct metric_form *forms,
			     const struct tree *list, const char *cpu, bool all)
{
	struct tree *flat = tree_array(a);

	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++) {
		if (!all && cpu_utilization(list->items[i], cpu))
			continue;
		struct tree *metric = metric_convert(a, forms, source_flat, list->items[i]);
		if (!flat || !metric || !tree_append(a, flat, metric))
			return false;
	}
	return flat && (flat->len == 0 || annotate(a, object, name, flat));
}

/* The first CPU utilization in list, as a member of v1. */
static bool cpu_member(struct arena *a, struct tree *to, const char *name, const struct tree *list, const char *place)
{
	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++) {
		struct tree *value = cpu_utilization(list->items[i], place);
		if (value)
			return tree_setz(a, to, name, value);
	}
	return true;
}

bool convert_hpa_to_v1(struct arena *a, struct tree *object)
{
	struct tree *spec = tree_getz(object, "spec"), *status = tree_getz(object, "status");
	struct tree *metrics = tree_getz(spec, "metrics"), *current = tree_getz(status, "currentMetrics");
	struct tree *behavior = tree_getz(spec, "behavior"), *conditions = tree_getz(status, "conditions");
	const char *cpu = "target.averageUtilization", *cpu_now = "current.averageUtilization";

	if (!metrics_annotate(a, object, annotation_metrics, spec_forms, metrics, cpu, false) ||
	    !metrics_annotate(a, object, annotation_current, status_forms, current, cpu_now, true) ||
	    !cpu_member(a, spec, "targetCPUUtilizationPercentage", metrics, cpu) ||
	    !cpu_member(a, status, "currentCPUUtilizationPercentage", current, cpu_now))
		return false;
	if (tree_is(behavior, TREE_OBJECT)) {
		struct tree *named = recase(a, behavior, true);
		if (!named || !annotate(a, object, annotation_behavior, named))
			return false;
	}
	if (tree_is(conditions, TREE_ARRAY) && conditions->len &&
	    !annotate(a, object, annotation_conditions, conditions))
		return false;
	tree_removez(spec, "metrics");
	tree_removez(spec, "behavior");
	tree_removez(status, "currentMetrics");
	tree_removez(status, "conditions");
	return true;
}

/* {"type":"Resource","resource":{"name":"cpu",VALUE:{"averageUtilization":N}}} */
static struct tree *cpu_metric(struct arena *a, const char *value, struct tree *utilization, const char *type)
{
	struct tree *metric = tree_object(a), *resource = tree_object(a), *target = tree_object(a);
	bool good = tree_sets(a, metric, "type", STR("Resource")) && tree_setz(a, metric, "resource", resource) &&
		    tree_sets(a, resource, "name", STR("cpu")) && tree_setz(a, resource, value, target) &&
		    tree_setz(a, target, "averageUtilization", utilization);

	if (good && type)
		good = tree_sets(a, target, "type", str_of(type));
	return good ? metric : NULL;
}

/* The list of v2 metrics made from an annotation; empty without one. NULL when out of memory. */
static struct tree *metrics_take(struct arena *a, struct tree *object, const char *name,
				 const struct metric_form *forms)
{
	struct tree *list = tree_array(a), *flat = annotation_take(a, object, name, TREE_ARRAY);

	for (uint32_t i = 0; list && flat && i < flat->len; i++) {
		if (flat->items[i]->type != TREE_OBJECT)
			continue;
		struct tree *metric = metric_convert(a, forms, source_deep, flat->items[i]);
		if (!metric || !tree_append(a, list, metric))
			return NULL;
	}
	return list;
}

static bool spec_to_v2(struct arena *a, struct tree *object, struct tree *spec)
{
	struct tree *cpu = tree_getz(spec, "targetCPUUtilizationPercentage");
	struct tree *metrics = metrics_take(a, object, annotation_metrics, spec_forms);
	struct tree *behavior = annotation_take(a, object, annotation_behavior, TREE_OBJECT);

	if (!metrics)
		return false;
	if (cpu && cpu->type != TREE_NULL && !tree_append(a, metrics, cpu_metric(a, "target", cpu, "Utilization")))
		return false;
	tree_removez(spec, "targetCPUUtilizationPercentage");
	if (behavior && !(behavior = recase(a, behavior, false)))
		return false;
	return (metrics->len == 0 || tree_setz(a, spec, "metrics", metrics)) &&
	       (!behavior || tree_setz(a, spec, "behavior", behavior));
}

/* With the annotation, which has all of them, the CPU's own member is not needed. */
static bool status_to_v2(struct arena *a, struct tree *object, struct tree *status)
{
	struct tree *cpu = tree_getz(status, "currentCPUUtilizationPercentage");
	struct tree *current = metrics_take(a, object, annotation_current, status_forms);
	struct tree *conditions = annotation_take(a, object, annotation_conditions, TREE_ARRAY);

	if (!current)
		return false;
	if (current->len == 0 && cpu && cpu->type != TREE_NULL &&
	    !tree_append(a, current, cpu_metric(a, "current", cpu, NULL)))
		return false;
	tree_removez(status, "currentCPUUtilizationPercentage");
	return (current->len == 0 || tree_setz(a, status, "currentMetrics", current)) &&
	       (!conditions || tree_setz(a, status, "conditions", conditions));
}

bool convert_hpa_to_v2(struct arena *a, struct tree *object)
{
	struct tree *spec = tree_ensure(a, object, STR("spec")), *status = tree_ensure(a, object, STR("status"));

	if (spec && !spec_to_v2(a, object, spec))
		return false;
	return !status || status_to_v2(a, object, status);
}
