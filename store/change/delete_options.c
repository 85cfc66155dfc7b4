/* SPDX-License-Identifier: Apache-2.0 */
/* Reads DeleteOptions. */
#include "store/change/delete_options.h"

#include "store/codec/tree.h"

void propagation_parse(struct str text, enum propagation *ret, struct status *st)
{
	if (str_is(text, "Background"))
		*ret = PROPAGATION_BACKGROUND;
	else if (str_is(text, "Foreground"))
		*ret = PROPAGATION_FOREGROUND;
	else if (str_is(text, "Orphan"))
		*ret = PROPAGATION_ORPHAN;
	else
		status_cause(st, CAUSE_NOT_SUPPORTED, "propagationPolicy",
			     ": \"%.*s\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
			     STR_ARG(text));
}

static void read_dry_run(const struct tree *list, struct delete_options *o, struct status *st)
{
	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++) {
		if (str_is(tree_text(list->items[i]), "All"))
			o->dry_run = true;
		else
			status_cause(st, CAUSE_NOT_SUPPORTED, "dryRun", ": \"%.*s\": supported values: \"All\"",
				     STR_ARG(tree_text(list->items[i])));
	}
}

static int read_preconditions(const struct tree *p, struct delete_options *o, struct status *st)
{
	struct str revision = tree_gets(p, "resourceVersion");

	o->uid = tree_gets(p, "uid");
	if (revision.len && !str_u64(revision, &o->revision))
		return status_set(st, REASON_BAD_REQUEST, "invalid resource version \"%.*s\"", STR_ARG(revision));
	return 0;
}

static int read_fields(const struct tree *t, struct delete_options *o, struct status *st)
{
	const struct tree *grace = tree_getz(t, "gracePeriodSeconds"), *orphan = tree_getz(t, "orphanDependents");
	const struct tree *policy = tree_getz(t, "propagationPolicy");

	if (grace && grace->type != TREE_NULL && !tree_i64(grace, &o->grace))
		return status_set(st, REASON_BAD_REQUEST, "gracePeriodSeconds must be an integer");
	/* kube-apiserver takes a negative period for one second. */
	if (grace && grace->type != TREE_NULL && o->grace < 0)
		o->grace = 1;
	o->orphan_dependents_given = tree_is(orphan, TREE_TRUE) || tree_is(orphan, TREE_FALSE);
	o->orphan_dependents = tree_is_true(orphan);
	if (policy && policy->type != TREE_NULL)
		propagation_parse(tree_text(policy), &o->propagation, st);
	if (o->orphan_dependents_given && policy && policy->type != TREE_NULL)
		status_cause(st, CAUSE_INVALID, "propagationPolicy",
			     ": \"%.*s\": orphanDependents and deletionPropagation cannot be both set",
			     STR_ARG(tree_text(policy)));
	else if (o->orphan_dependents_given)
		o->propagation = o->orphan_dependents ? PROPAGATION_ORPHAN : PROPAGATION_BACKGROUND;
	read_dry_run(tree_getz(t, "dryRun"), o, st);
	return read_preconditions(tree_getz(t, "preconditions"), o, st);
}

int delete_options_parse(struct arena *a, struct str json, struct delete_options *ret, struct status *st)
{
	struct delete_options o = {.grace = -1};
	struct tree *t;

	if (json.len) {
		int rc = tree_parse(a, json, &t, NULL, st);
		if (rc < 0)
			return rc;
		if (t->type != TREE_OBJECT)
			return status_set(st, REASON_BAD_REQUEST, "DeleteOptions must be an object");
		struct str kind = tree_gets(t, "kind");
		if (kind.len && !str_is(kind, "DeleteOptions"))
			return status_set(st, REASON_BAD_REQUEST, "the body of a delete must be DeleteOptions, not %.*s",
					  STR_ARG(kind));
		rc = read_fields(t, &o, st);
		if (rc == 0)
			rc = status_invalid(st, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""));
		if (rc < 0)
			return rc;
	}
	*ret = o;
	return 0;
}
