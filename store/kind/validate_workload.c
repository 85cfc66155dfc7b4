/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Deployments, ReplicaSets, DaemonSets, StatefulSets, ReplicationControllers, Jobs and CronJobs. */
#include "store/kind/checks.h"

#include <stdio.h>

#include "store/kind/names.h"

static const struct str always[] = {STR_INIT("Always")};

/* ---- what the controllers of pods share ---- */

/* The selector is there, selects something and the pods of the template. `kind` is the word of the message. */
static void check_selector(const struct checking *c, const struct tree *object, const char *kind)
{
	const struct tree *selector = tree_path(object, "spec.selector");
	const struct tree *labels = tree_path(object, "spec.template.metadata.labels");
	char detail[80];

	if (!selector) {
		check_missing(c, NULL, "spec.selector", "");
		return;
	}
	if (tree_is_empty(tree_getz(selector, "matchLabels")) &&
	    tree_is_empty(tree_getz(selector, "matchExpressions"))) {
		snprintf(detail, sizeof(detail), "empty selector is invalid for %s", kind);
		check_invalid(c, NULL, "spec.selector", selector, detail);
		return;
	}
	if (!check_selects(selector, labels))
		check_invalid(c, NULL, "spec.template.metadata.labels", labels,
			      "`selector` does not match template `labels`");
}

/* Pods that always run again and never end on their own. */
static void check_endless(const struct checking *c, const struct tree *object, const char *kind)
{
	const struct tree *spec = tree_path(object, "spec.template.spec");
	const struct tree *policy = tree_getz(spec, "restartPolicy");
	char detail[80];

	if (tree_text(policy).len && !str_is(tree_text(policy), "Always"))
		check_unsupported(c, NULL, "spec.template.spec.restartPolicy", policy, always, 1);
	if (!tree_getz(spec, "activeDeadlineSeconds"))
		return;
	snprintf(detail, sizeof(detail), "activeDeadlineSeconds in %s is not Supported", kind);
	check_forbidden(c, NULL, "spec.template.spec.activeDeadlineSeconds", detail);
}

CHECK_FN(deployment)
{
	const struct tree *deadline = tree_path(object, "spec.progressDeadlineSeconds");

	(void)at;
	check_selector(c, object, "deployment");
	check_endless(c, object, "Deployment");
	if (deadline && check_int(deadline, 0) <= check_int(tree_path(object, "spec.minReadySeconds"), 0))
		check_invalid(c, NULL, "spec.progressDeadlineSeconds", deadline,
			      "must be greater than minReadySeconds");
}

CHECK_FN(replica_set)
{
	(void)at;
	check_selector(c, object, "deployment"); /* the server's own wording */
	check_endless(c, object, "ReplicaSet");
}

CHECK_FN(daemon_set)
{
	(void)at;
	check_selector(c, object, "daemonset");
	check_endless(c, object, "DaemonSet");
}

CHECK_FN(replication_controller)
{
	const struct tree *selector = tree_path(object, "spec.selector");
	const struct tree *template = tree_path(object, "spec.template");
	const struct tree *labels = tree_path(template, "metadata.labels");
	const struct tree exact = {.type = TREE_OBJECT, .len = 1,
				   .members = &(struct tree_member){STR("matchLabels"), (struct tree *)selector}};

	(void)at;
	if (tree_is_empty(selector))
		check_missing(c, NULL, "spec.selector", "");
	else if (template && !check_selects(&exact, labels))
		check_invalid(c, NULL, "spec.template.metadata.labels", labels,
			      "`selector` does not match template `labels`");
	if (!template)
		check_missing(c, NULL, "spec.template", "");
	check_endless(c, object, "ReplicationController");
}

/* ---- rolling updates ---- */

static bool percent_over(const struct checking *c, const struct place *at, const char *field,
			 const struct tree *value, int64_t n, bool percent)
{
	if (!percent || n <= 100)
		return false;
	check_invalid(c, at, field, value, "must not be greater than 100%");
	return true;
}

CHECK_FN(deployment_strategy)
{
	const struct tree *update = tree_getz(object, "rollingUpdate");
	const struct tree *down = tree_getz(update, "maxUnavailable"), *up = tree_getz(update, "maxSurge");
	struct place rolling = place_field(at, "rollingUpdate");
	int64_t n = 0, surge = 0;
	bool percent, surge_percent;

	if (str_is(tree_gets(object, "type"), "Recreate")) {
		if (update)
			check_forbidden(c, at, "rollingUpdate",
					"may not be specified when strategy `type` is 'Recreate'");
		return;
	}
	if (!update)
		return;
	bool good = check_count_or_percent(c, &rolling, "maxUnavailable", down, &n, &percent);
	good &= check_count_or_percent(c, &rolling, "maxSurge", up, &surge, &surge_percent);
	if (!good)
		return;
	if (n == 0 && surge == 0)
		check_invalid(c, &rolling, "maxUnavailable", down, "may not be 0 when `maxSurge` is 0");
	percent_over(c, &rolling, "maxUnavailable", down, n, percent);
}

CHECK_FN(daemon_set_strategy)
{
	const struct tree *update = tree_getz(object, "rollingUpdate");
	const struct tree *down = tree_getz(update, "maxUnavailable"), *up = tree_getz(update, "maxSurge");
	struct place rolling = place_field(at, "rollingUpdate");
	int64_t n = 0, surge = 0;
	bool percent, surge_percent;

	if (!str_is(tree_gets(object, "type"), "RollingUpdate"))
		return;
	if (!update) {
		check_missing(c, at, "rollingUpdate", "");
		return;
	}
	if (!check_count_or_percent(c, &rolling, "maxUnavailable", down, &n, &percent) ||
	    !check_count_or_percent(c, &rolling, "maxSurge", up, &surge, &surge_percent))
		return;
	percent_over(c, &rolling, "maxUnavailable", down, n, percent);
	percent_over(c, &rolling, "maxSurge", up, surge, surge_percent);
	if (n && surge)
		check_invalid(c, &rolling, "maxSurge", up, "may not be set when maxUnavailable is non-zero");
	else if (!n && !surge)
		check_missing(c, &rolling, "maxUnavailable", "cannot be 0 when maxSurge is 0");
}

/* ---- StatefulSet ---- */

static const struct str stateful_mutable[] = {
	STR_INIT("minReadySeconds"),
	STR_INIT("ordinals"),
	STR_INIT("persistentVolumeClaimRetentionPolicy"),
	STR_INIT("replicas"),
	STR_INIT("revisionHistoryLimit"),
	STR_INIT("template"),
	STR_INIT("updateStrategy"),
};

static bool changed_in(const struct tree *now, const struct tree *old, const struct str *except, size_t n)
{
	for (uint32_t i = 0; i < check_members(now); i++)
		if (!check_one_of(now->members[i].key, except, n) &&
		    !check_same(now->members[i].value, tree_get(old, now->members[i].key)))
			return true;
	return false;
}

CHECK_FN(stateful_set)
{
	const struct tree *spec = tree_getz(object, "spec"), *old = tree_getz(c->old, "spec");
	const size_t n = sizeof(stateful_mutable) / sizeof(stateful_mutable[0]);
	struct str service = tree_gets(spec, "serviceName");

	(void)at;
	check_selector(c, object, "statefulset");
	const struct tree *policy = tree_path(spec, "template.spec.restartPolicy");
	if (tree_text(policy).len && !str_is(tree_text(policy), "Always"))
		check_unsupported(c, NULL, "spec.template.spec.restartPolicy", policy, always, 1);
	if (!c->old)
		check_format(c, NULL, "spec.serviceName", service, name_dns1123_label);
	else if (changed_in(spec, old, stateful_mutable, n) || changed_in(old, spec, stateful_mutable, n))
		check_forbidden(c, NULL, "spec",
				"updates to statefulset spec for fields other than 'replicas', 'ordinals', "
				"'template', 'updateStrategy', 'revisionHistoryLimit', "
				"'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}
