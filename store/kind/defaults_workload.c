/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of Deployments, DaemonSets, StatefulSets, Jobs and ReplicationControllers beyond single fields. */
#include "store/kind/defaults_fn.h"

static bool rolling(const struct tree *strategy)
{
	return str_is(tree_gets(strategy, "type"), "RollingUpdate");
}

DEFAULT_FN(deployment_strategy)
{
	if (!rolling(object))
		return true;
	struct tree *update = tree_ensure(d->arena, object, STR("rollingUpdate"));
	return update && fill_absent(d->arena, update, "maxUnavailable", tree_string(d->arena, STR("25%"))) &&
	       fill_absent(d->arena, update, "maxSurge", tree_string(d->arena, STR("25%")));
}

DEFAULT_FN(daemon_set_strategy)
{
	if (!rolling(object))
		return true;
	struct tree *update = tree_ensure(d->arena, object, STR("rollingUpdate"));
	return update && fill_absent(d->arena, update, "maxUnavailable", tree_int(d->arena, 1)) &&
	       fill_absent(d->arena, update, "maxSurge", tree_int(d->arena, 0));
}

DEFAULT_FN(stateful_set_strategy)
{
	if (!tree_gets(object, "type").len) {
		if (!tree_sets(d->arena, object, "type", STR("RollingUpdate")) ||
		    !tree_ensure(d->arena, object, STR("rollingUpdate")))
			return false;
	}
	struct tree *update = tree_getz(object, "rollingUpdate");
	if (!rolling(object) || !tree_is(update, TREE_OBJECT))
		return true;
	return fill_absent(d->arena, update, "partition", tree_int(d->arena, 0));
}

DEFAULT_FN(stateful_set)
{
	const struct tree *claims = tree_path(object, "spec.volumeClaimTemplates");

	for (uint32_t i = 0; i < items_of(claims); i++) {
		struct tree *claim = claims->items[i];
		if (!fill(d->arena, claim, "apiVersion", tree_string(d->arena, STR("v1"))) ||
		    !fill(d->arena, claim, "kind", tree_string(d->arena, STR("PersistentVolumeClaim"))))
			return false;
	}
	return true;
}

/* ---- DaemonSet: a counter of template changes, as an annotation ---- */

#define GENERATION_KEY "deprecated.daemonset.template.generation"

static const struct tree *annotations_of(const struct tree *object)
{
	return tree_path(object, "metadata.annotations");
}

static uint64_t template_generation(const struct tree *object)
{
	uint64_t n;

	return str_u64(tree_gets(annotations_of(object), GENERATION_KEY), &n) ? n : 0;
}

DEFAULT_FN(daemon_set_generation)
{
	uint64_t n = 1;

	if (d->old) {
		bool same = tree_equal(tree_path(object, "spec.template"), tree_path(d->old, "spec.template"));
		n = template_generation(d->old) + !same;
	}
	struct tree *metadata = tree_ensure(d->arena, object, STR("metadata"));
	struct tree *annotations = metadata ? tree_ensure(d->arena, metadata, STR("annotations")) : NULL;
	struct str text = arena_printf(d->arena, "%llu", (unsigned long long)n);
	return annotations && text.ptr && tree_sets(d->arena, annotations, GENERATION_KEY, text);
}

/* ---- Job, ReplicationController: labels follow the template ---- */

static bool labels_from_template(struct arena *a, struct tree *object)
{
	const struct tree *labels = tree_path(object, "spec.template.metadata.labels");
	struct tree *metadata = tree_getz(object, "metadata");

	if (tree_is_empty(labels) || !tree_is(metadata, TREE_OBJECT))
		return true;
	return fill(a, metadata, "labels", tree_copy(a, labels));
}

DEFAULT_FN(replication_controller)
{
	const struct tree *labels = tree_path(object, "spec.template.metadata.labels");
	struct tree *spec = tree_getz(object, "spec");

	if (tree_is_empty(labels))
		return true;
	return fill(d->arena, spec, "selector", tree_copy(d->arena, labels)) &&
	       labels_from_template(d->arena, object);
}

static bool job_counts(struct arena *a, struct tree *spec)
{
	if (!tree_getz(spec, "completions") && !tree_getz(spec, "parallelism") &&
	    !tree_setz(a, spec, "completions", tree_int(a, 1)))
		return false;
	if (!fill_absent(a, spec, "parallelism", tree_int(a, 1)))
		return false;
	int64_t limit = tree_getz(spec, "backoffLimitPerIndex") ? INT32_MAX : 6;
	return fill_absent(a, spec, "backoffLimit", tree_int(a, limit));
}

/* The labels by which the controller finds its pods; they need the uid, which a create has by now. */
static bool job_labels(struct arena *a, struct tree *spec, const struct tree *metadata)
{
	struct str name = tree_gets(metadata, "name"), uid = tree_gets(metadata, "uid");
	const struct {
		const char *key;
		struct str value;
	} rows[] = {
		{"batch.kubernetes.io/job-name", name},
		{"job-name", name},
		{"batch.kubernetes.io/controller-uid", uid},
		{"controller-uid", uid},
	};
	struct tree *template = tree_ensure(a, spec, STR("template"));
	struct tree *pod = template ? tree_ensure(a, template, STR("metadata")) : NULL;
	struct tree *labels = pod ? tree_ensure(a, pod, STR("labels")) : NULL;

	if (!labels)
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!tree_getz(labels, rows[i].key) && !tree_sets(a, labels, rows[i].key, rows[i].value))
			return false;
	return true;
}

static bool job_selector(struct arena *a, struct tree *spec, struct str uid)
{
	struct tree *selector = tree_ensure(a, spec, STR("selector"));
	struct tree *labels = selector ? tree_ensure(a, selector, STR("matchLabels")) : NULL;

	return labels && fill_absent(a, labels, "batch.kubernetes.io/controller-uid", tree_string(a, uid));
}

DEFAULT_FN(job)
{
	struct tree *spec = tree_getz(object, "spec");
	const struct tree *metadata = tree_getz(object, "metadata");

	if (!tree_is(spec, TREE_OBJECT))
		return true;
	if (!job_counts(d->arena, spec) || !labels_from_template(d->arena, object))
		return false;
	struct str policy = tree_getz(spec, "podFailurePolicy") ? STR("Failed") : STR("TerminatingOrFailed");
	if (!fill_absent(d->arena, spec, "podReplacementPolicy", tree_string(d->arena, policy)))
		return false;
	struct str uid = tree_gets(metadata, "uid");
	if (d->old || !uid.len || tree_is_true(tree_getz(spec, "manualSelector")))
		return true;
	/* A server defaults once more when it reads: a job without labels of its own shows the generated ones. */
	return job_labels(d->arena, spec, metadata) && job_selector(d->arena, spec, uid) &&
	       labels_from_template(d->arena, object);
}
