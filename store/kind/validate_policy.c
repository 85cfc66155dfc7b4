/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of roles and bindings, disruption budgets, autoscalers, priorities and API services. */
#include "store/kind/checks.h"

#include "store/kind/names.h"

/* ---- RBAC ---- */

static const struct str rbac_group[] = {STR_INIT("rbac.authorization.k8s.io")};

CHECK_FN(policy_rule)
{
	const struct tree *groups = tree_getz(object, "apiGroups"), *resources = tree_getz(object, "resources");
	const struct tree *urls = tree_getz(object, "nonResourceURLs"), *names = tree_getz(object, "resourceNames");

	if (!check_items(tree_getz(object, "verbs")))
		check_missing(c, at, "verbs", "verbs must contain at least one value");
	if (check_items(urls)) {
		if (str_is(c->kind->kind, "Role"))
			check_invalid(c, at, "nonResourceURLs", urls,
				      "namespaced rules cannot apply to non-resource URLs");
		if (check_items(groups) || check_items(resources) || check_items(names))
			check_invalid(c, at, "nonResourceURLs", urls,
				      "rules cannot apply to both regular resources and non-resource URLs");
		return;
	}
	if (!check_items(groups))
		check_missing(c, at, "apiGroups", "resource rules must supply at least one api group");
	if (!check_items(resources))
		check_missing(c, at, "resources", "resource rules must supply at least one resource");
}

CHECK_FN(role_binding)
{
	static const struct str kinds[] = {STR_INIT("Role"), STR_INIT("ClusterRole")};
	const struct tree *role = tree_getz(object, "roleRef"), *kind = tree_getz(role, "kind");
	const struct tree *group = tree_getz(role, "apiGroup");
	bool namespaced = kind_is(c->kind, KIND_NAMESPACED);

	(void)at;
	if (!str_eq(tree_text(group), rbac_group[0]))
		check_unsupported(c, NULL, "roleRef.apiGroup", group, rbac_group, 1);
	if (!check_one_of(tree_text(kind), kinds + !namespaced, 1 + namespaced))
		check_unsupported(c, NULL, "roleRef.kind", kind, kinds + !namespaced, 1 + namespaced);
	if (!tree_gets(role, "name").len)
		check_missing(c, NULL, "roleRef.name", "");
	else
		check_format(c, NULL, "roleRef.name", tree_gets(role, "name"), name_path_segment);
	if (c->old && !check_same(role, tree_getz(c->old, "roleRef")))
		check_invalid(c, NULL, "roleRef", role, "cannot change roleRef");
}

CHECK_FN(subject)
{
	static const struct str kinds[] = {STR_INIT("ServiceAccount"), STR_INIT("User"), STR_INIT("Group")};
	static const struct str no_group[] = {STR_INIT("")};
	const struct tree *kind = tree_getz(object, "kind"), *group = tree_getz(object, "apiGroup");
	bool account = str_is(tree_text(kind), "ServiceAccount");

	if (!tree_gets(object, "name").len)
		check_missing(c, at, "name", "");
	if (!check_one_of(tree_text(kind), kinds, 3)) {
		check_unsupported(c, at, "kind", kind, kinds, 3);
		return;
	}
	if (!str_eq(tree_text(group), account ? no_group[0] : rbac_group[0]))
		check_unsupported(c, at, "apiGroup", group, account ? no_group : rbac_group, 1);
	/* In a RoleBinding it is that of the binding itself. */
	if (account && !kind_is(c->kind, KIND_NAMESPACED) && !tree_gets(object, "namespace").len)
		check_missing(c, at, "namespace", "");
}

/* ---- disruption budgets ---- */

static void check_budget(const struct checking *c, const char *field, const struct tree *value)
{
	int64_t n;
	bool percent;

	if (value && check_count_or_percent(c, NULL, field, value, &n, &percent) && percent && n > 100)
		check_invalid(c, NULL, field, value, "must not be greater than 100%");
}

CHECK_FN(disruption_budget)
{
	const struct tree *spec = tree_getz(object, "spec");
	const struct tree *least = tree_getz(spec, "minAvailable"), *most = tree_getz(spec, "maxUnavailable");

	(void)at;
	if (least && most)
		check_invalid(c, NULL, "spec", spec, "minAvailable and maxUnavailable cannot be both set");
	check_budget(c, "spec.minAvailable", least);
	check_budget(c, "spec.maxUnavailable", most);
}

/* ---- autoscalers ---- */

CHECK_FN(autoscaler)
{
	const struct tree *spec = tree_getz(object, "spec");
	const struct tree *least = tree_getz(spec, "minReplicas"), *most = tree_getz(spec, "maxReplicas");

	(void)at;
	if (least && check_int(least, 1) < 1)
		check_invalid(c, NULL, "spec.minReplicas", least, "must be greater than or equal to 1");
	if (tree_is_empty(most))
		check_missing(c, NULL, "spec.maxReplicas", "");
	else if (check_int(most, 1) < 1)
		check_invalid(c, NULL, "spec.maxReplicas", most, "must be greater than 0");
	else if (least && check_int(most, 1) < check_int(least, 1))
		check_invalid(c, NULL, "spec.maxReplicas", most, "must be greater than or equal to `minReplicas`");
}

/* ---- priorities ---- */

CHECK_FN(priority_class)
{
	enum { USER_MAX = 1000000000 };
	const struct tree *value = tree_getz(object, "value");
	struct str name = tree_gets(tree_getz(object, "metadata"), "name");
	bool system = str_starts(name, STR("system-"));

	(void)at;
	if (c->old && !check_same(value, tree_getz(c->old, "value")))
		check_forbidden(c, NULL, "value", "may not be changed in an update.");
	if (system && !str_is(name, "system-node-critical") && !str_is(name, "system-cluster-critical"))
		check_forbidden(c, NULL, "metadata.name",
				"priority class names with 'system-' prefix are reserved for system use only. error: "
				"system priority class is not known");
	if (!system && check_int(value, 0) > USER_MAX)
		check_forbidden(c, NULL, "value",
				"maximum allowed value of a user defined priority is 1000000000");
}

/* ---- API services ---- */

CHECK_FN(api_service)
{
	const struct tree *spec = tree_getz(object, "spec");
	struct str name = tree_gets(tree_getz(object, "metadata"), "name");
	struct str want = arena_printf(c->arena, "%.*s.%.*s", STR_ARG(tree_gets(spec, "version")),
				       STR_ARG(tree_gets(spec, "group")));

	(void)at;
	if (!c->old && name.len && !str_eq(name, want))
		check_invalid_text(c, NULL, "metadata.name", name, "must be `spec.version+\".\"+spec.group`");
}
