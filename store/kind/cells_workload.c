/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules of workloads: replicas, Job, HorizontalPodAutoscaler, ControllerRevision. */
#include "store/kind/cells_private.h"

void rule_replicas_ready(struct cells *c)
{
	cell_begin(c);
	cell_add_int(c, cell_i64(tree_path(c->object, "status.readyReplicas")));
	cell_addz(c, "/");
	cell_add_int(c, cell_i64(tree_path(c->object, "spec.replicas")));
	cell_end(c);
}

void rule_job_status(struct cells *c)
{
	/* The first that holds. "Terminating" is no condition: it stands for a deletion time. */
	static const char *const states[] = {
		"Complete", "Failed", "Terminating", "Suspended", "FailureTarget", "SuccessCriteriaMet",
	};
	const struct tree *conditions = cell_place(c);
	bool deleted = cell_is_deleted(c);

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		bool holds = str_is(str_of(states[i]), "Terminating") ? deleted : cell_is_true(conditions, states[i]);
		if (holds) {
			cell_textz(c, states[i]);
			return;
		}
	}
	cell_textz(c, "Running");
}

void rule_job_completions(struct cells *c)
{
	const struct tree *spec = tree_getz(c->object, "spec");
	int64_t completions, parallelism = cell_i64(tree_getz(spec, "parallelism"));

	cell_begin(c);
	cell_add_int(c, cell_i64(tree_path(c->object, "status.succeeded")));
	cell_addz(c, "/");
	if (tree_i64(tree_getz(spec, "completions"), &completions)) {
		cell_add_int(c, completions);
	} else if (parallelism > 1) {
		cell_addz(c, "1 of ");
		cell_add_int(c, parallelism);
	} else {
		cell_addz(c, "1");
	}
	cell_end(c);
}

void rule_job_duration(struct cells *c)
{
	int64_t start, end;

	cell_begin(c);
	if (cell_time(tree_path(c->object, "status.startTime"), &start)) {
		if (cell_time(tree_path(c->object, "status.completionTime"), &end))
			cell_add_duration(c, end - start);
		else
			cell_add_age(c, start);
	}
	cell_end(c);
}

void rule_owner(struct cells *c)
{
	const struct tree *owners = cell_place(c), *owner = NULL;

	for (uint32_t i = 0; i < cell_items(owners) && !owner; i++)
		if (tree_is_true(tree_getz(owners->items[i], "controller")))
			owner = owners->items[i];
	if (!owner) {
		cell_textz(c, "<none>");
		return;
	}
	struct str version = tree_gets(owner, "apiVersion");
	struct str group = str_cut(&version, '/');
	cell_begin(c);
	cell_add(c, cell_lower(c, tree_gets(owner, "kind")));
	/* Without a slash there is only a version, and the group is the core one. */
	if (version.len) {
		cell_addz(c, ".");
		cell_add(c, group);
	}
	cell_addz(c, "/");
	cell_add(c, tree_gets(owner, "name"));
	cell_end(c);
}

#define UNKNOWN "<unknown>"
#define TARGETS_SHOWN 2

static void add_percent(struct cells *c, const struct tree *t, const char *other)
{
	int64_t v;

	if (!tree_i64(t, &v)) {
		cell_addz(c, other);
		return;
	}
	cell_add_int(c, v);
	cell_addz(c, "%");
}

static void add_resource(struct cells *c, const struct tree *source, const struct tree *target, const struct tree *current)
{
	const struct tree *average = tree_getz(target, "averageValue");

	cell_add(c, tree_gets(source, "name"));
	cell_addz(c, ": ");
	if (average) {
		cell_add_quantity(c, tree_getz(current, "averageValue"), UNKNOWN);
		cell_addz(c, "/");
		cell_add_quantity(c, average, UNKNOWN);
	} else {
		add_percent(c, tree_getz(current, "averageUtilization"), UNKNOWN);
		cell_addz(c, "/");
		add_percent(c, tree_getz(target, "averageUtilization"), "<auto>");
	}
}

static void add_value(struct cells *c, const struct tree *source, const struct tree *target, const struct tree *current)
{
	bool average = tree_getz(target, "averageValue") != NULL;
	const char *field = average ? "averageValue" : "value";

	(void)source;
	cell_add_quantity(c, tree_getz(current, field), UNKNOWN);
	cell_addz(c, "/");
	cell_add_quantity(c, tree_getz(target, field), UNKNOWN);
	if (average)
		cell_addz(c, " (avg)");
}

static void add_pods(struct cells *c, const struct tree *source, const struct tree *target, const struct tree *current)
{
	(void)source;
	cell_add_quantity(c, tree_getz(current, "averageValue"), UNKNOWN);
	cell_addz(c, "/");
	cell_add_quantity(c, tree_getz(target, "averageValue"), UNKNOWN);
}

static const struct metric_type {
	const char *type, *member;
	void (*add)(struct cells *c, const struct tree *source, const struct tree *target, const struct tree *current);
} metric_types[] = {
	{"Resource", "resource", add_resource},
	{"ContainerResource", "containerResource", add_resource},
	{"Pods", "pods", add_pods},
	{"Object", "object", add_value},
	{"External", "external", add_value},
};

static void add_metric(struct cells *c, const struct tree *metric, const struct tree *status)
{
	struct str type = tree_gets(metric, "type");

	for (size_t i = 0; i < sizeof(metric_types) / sizeof(*metric_types); i++) {
		const struct metric_type *m = &metric_types[i];
		if (!str_is(type, m->type))
			continue;
		const struct tree *source = tree_getz(metric, m->member);
		m->add(c, source, tree_getz(source, "target"), tree_getz(tree_getz(status, m->member), "current"));
		return;
	}
	cell_addz(c, "<unknown type>");
}

/* The form of autoscaling/v1 knows one target, the share of the requested CPU. */
static void add_cpu(struct cells *c, const struct tree *target)
{
	cell_addz(c, "cpu: ");
	add_percent(c, tree_path(c->object, "status.currentCPUUtilizationPercentage"), UNKNOWN);
	cell_addz(c, "/");
	add_percent(c, target, "<auto>");
}

void rule_hpa_targets(struct cells *c)
{
	const struct tree *metrics = cell_place(c), *current = tree_path(c->object, "status.currentMetrics");
	const struct tree *cpu = tree_path(c->object, "spec.targetCPUUtilizationPercentage");
	uint32_t n = cell_items(metrics);

	cell_begin(c);
	for (uint32_t i = 0; i < n && i < TARGETS_SHOWN; i++) {
		if (i)
			cell_addz(c, ", ");
		add_metric(c, metrics->items[i], i < cell_items(current) ? current->items[i] : NULL);
	}
	if (n > TARGETS_SHOWN)
		cell_add_more(c, n - TARGETS_SHOWN);
	else if (n == 0 && cpu)
		add_cpu(c, cpu);
	else if (n == 0)
		cell_addz(c, "<none>");
	cell_end(c);
}
