/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of pod specs, wherever they are embedded; single containers are in validate_container.c. */
#include "store/kind/checks.h"

#include <stdio.h>

#include "store/kind/names.h"

CHECK_FN(label_requirement)
{
	struct str operator = tree_gets(object, "operator"), key = tree_gets(object, "key");
	const struct tree *values = tree_getz(object, "values");
	const char *wrong = name_label_key(key);
	bool sets = str_is(operator, "In") || str_is(operator, "NotIn");

	if (wrong)
		check_invalid_text(c, at, "key", key, wrong);
	if (!sets && !str_is(operator, "Exists") && !str_is(operator, "DoesNotExist"))
		check_invalid_text(c, at, "operator", operator, "not a valid selector operator");
	else if (sets && !check_items(values))
		check_missing(c, at, "values", "must be specified when `operator` is 'In' or 'NotIn'");
	else if (!sets && check_items(values))
		check_forbidden(c, at, "values",
				"may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
	struct place list = place_field(at, "values");
	for (uint32_t i = 0; i < check_items(values); i++) {
		struct place item = place_item(&list, i);
		check_format(c, &item, NULL, tree_text(values->items[i]), name_label_value);
	}
}

CHECK_FN(toleration)
{
	static const struct str operators[] = {STR_INIT("Equal"), STR_INIT("Exists")};
	static const struct str effects[] = {STR_INIT("NoSchedule"), STR_INIT("PreferNoSchedule"),
					     STR_INIT("NoExecute")};
	struct str key = tree_gets(object, "key"), operator = tree_gets(object, "operator");
	struct str effect = tree_gets(object, "effect");

	check_format(c, at, "key", key, name_label_key);
	if (!key.len && !str_is(operator, "Exists"))
		check_invalid_text(c, at, "operator", operator,
				   "operator must be Exists when `key` is empty, which means \"match all values and "
				   "all keys\"");
	if (tree_getz(object, "tolerationSeconds") && !str_is(effect, "NoExecute"))
		check_invalid_text(c, at, "effect", effect,
				   "effect must be 'NoExecute' when `tolerationSeconds` is set");
	if (operator.len && !check_one_of(operator, operators, 2))
		check_unsupported(c, at, "operator", tree_getz(object, "operator"), operators, 2);
	else if (str_is(operator, "Exists") && tree_gets(object, "value").len)
		check_invalid(c, at, "operator", object, "value must be empty when `operator` is 'Exists'");
	if (effect.len && !check_one_of(effect, effects, 3))
		check_unsupported(c, at, "effect", tree_getz(object, "effect"), effects, 3);
}

CHECK_FN(volume)
{
	unsigned sources = 0;

	for (uint32_t i = 0; i < object->len; i++) {
		struct str key = object->members[i].key;
		struct place source = {.up = at, .step = PLACE_FIELD, .name = key};
		if (!str_is(key, "name") && sources++)
			check_forbidden(c, &source, NULL, "may not specify more than 1 volume type");
	}
	if (!sources)
		check_missing(c, at, NULL, "must specify a volume type");
}

CHECK_FN(pod_template)
{
	check_label_map(c, at, "metadata.labels", tree_path(object, "metadata.labels"));
	check_annotation_map(c, at, "metadata.annotations", tree_path(object, "metadata.annotations"));
}

/* ---- what the containers of a pod have in common ---- */

/* One list of containers of one pod. */
struct container_list {
	const char *field;
	const struct tree *items;
};

enum { LISTS = 3 };

/* The claims of a StatefulSet are volumes of its pods. */
static void add_claims(const struct checking *c, struct check_seen *volumes)
{
	const struct tree *claims = tree_path(c->root, "spec.volumeClaimTemplates");

	for (uint32_t i = 0; i < check_items(claims); i++)
		check_seen_add(volumes, c->arena, tree_gets(tree_getz(claims->items[i], "metadata"), "name"));
}

static void check_mounts(const struct checking *c, const struct place *at, const struct tree *container,
			 const struct check_seen *volumes)
{
	const struct tree *mounts = tree_getz(container, "volumeMounts");
	const struct tree *devices = tree_getz(container, "volumeDevices");
	struct place list = place_field(at, "volumeMounts");
	struct check_seen paths = {0};

	for (uint32_t i = 0; i < check_items(mounts); i++) {
		struct str name = tree_gets(mounts->items[i], "name");
		struct str path = tree_gets(mounts->items[i], "mountPath");
		struct place item = place_item(&list, i);
		if (name.len && !check_seen_has(volumes, name))
			check_not_found(c, &item, "name", name);
		if (check_seen_add(&paths, c->arena, path))
			check_invalid_text(c, &item, "mountPath", path, "must be unique");
	}
	list = place_field(at, "volumeDevices");
	for (uint32_t i = 0; i < check_items(devices); i++) {
		struct str name = tree_gets(devices->items[i], "name");
		struct place item = place_item(&list, i);
		if (name.len && !check_seen_has(volumes, name))
			check_not_found(c, &item, "name", name);
	}
}

/* With the host's network a port of the pod is a port of the host. In a template 0 will be defaulted later. */
static void check_host_network(const struct checking *c, const struct place *item, const struct tree *port, bool pod)
{
	int64_t host = check_int(tree_getz(port, "hostPort"), 0);

	if ((!pod && host == 0) || host == check_int(tree_getz(port, "containerPort"), 0))
		return;
	char text[24];
	snprintf(text, sizeof(text), "%lld", (long long)host);
	const struct tree number = {.type = TREE_NUMBER, .text = str_of(text)};
	check_invalid(c, item, "hostPort", &number, "must match `containerPort` when `hostNetwork` is true");
}

static void check_host_ports(const struct checking *c, const struct place *at, const struct tree *container,
			     const struct tree *spec, struct check_seen *taken)
{
	const struct tree *ports = tree_getz(container, "ports");
	bool host_network = tree_is_true(tree_getz(spec, "hostNetwork"));
	struct place list = place_field(at, "ports");

	for (uint32_t i = 0; i < check_items(ports); i++) {
		const struct tree *port = ports->items[i], *host = tree_getz(port, "hostPort");
		struct place item = place_item(&list, i);
		if (host_network)
			check_host_network(c, &item, port, spec == tree_getz(c->root, "spec"));
		if (!tree_is(host, TREE_NUMBER) || tree_is_empty(host))
			continue;
		struct str key = arena_printf(c->arena, "%.*s/%.*s/%.*s", STR_ARG(tree_gets(port, "protocol")),
					      STR_ARG(tree_gets(port, "hostIP")), STR_ARG(host->text));
		if (check_seen_add(taken, c->arena, key))
			check_duplicate(c, &item, "hostPort", key);
	}
}

/* An init container that does not stay has nothing to probe and no life to hook into. */
static void check_init(const struct checking *c, const struct place *at, const struct tree *container)
{
	static const char *const fields[] = {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"};
	static const struct str policies[] = {STR_INIT("Always")};
	struct str policy = tree_gets(container, "restartPolicy");

	if (policy.len && !str_is(policy, "Always"))
		check_unsupported(c, at, "restartPolicy", tree_getz(container, "restartPolicy"), policies, 1);
	if (str_is(policy, "Always"))
		return;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (tree_getz(container, fields[i]))
			check_forbidden(c, at, fields[i],
					"may not be set for init containers without restartPolicy=Always");
}

CHECK_FN(pod_spec)
{
	const struct container_list lists[LISTS] = {
		{"containers", tree_getz(object, "containers")},
		{"initContainers", tree_getz(object, "initContainers")},
		{"ephemeralContainers", tree_getz(object, "ephemeralContainers")},
	};
	const struct tree *volumes = tree_getz(object, "volumes");
	struct check_seen names = {0}, known = {0}, ports = {0};

	for (uint32_t i = 0; i < check_items(volumes); i++)
		check_seen_add(&known, c->arena, tree_gets(volumes->items[i], "name"));
	add_claims(c, &known);
	for (int l = 0; l < LISTS; l++) {
		struct place list = place_field(at, lists[l].field);
		for (uint32_t i = 0; i < check_items(lists[l].items); i++) {
			const struct tree *container = lists[l].items->items[i];
			struct place item = place_item(&list, i);
			struct str name = tree_gets(container, "name");
			if (check_seen_add(&names, c->arena, name))
				check_duplicate(c, &item, "name", name);
			check_mounts(c, &item, container, &known);
			if (l == 0)
				check_host_ports(c, &item, container, object, &ports);
			if (l == 1)
				check_init(c, &item, container);
		}
	}
}

/* ---- Pod: what an update may change ---- */

static const char update_detail[] =
	"pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/* Equal but for the members that `except` lists; both are objects sorted by key. */
static bool same_except(const struct tree *a, const struct tree *b, const struct str *except, size_t n)
{
	uint32_t i = 0, j = 0;

	for (;;) {
		while (i < check_members(a) && check_one_of(a->members[i].key, except, n))
			i++;
		while (j < check_members(b) && check_one_of(b->members[j].key, except, n))
			j++;
		if (i == check_members(a) || j == check_members(b))
			return i == check_members(a) && j == check_members(b);
		if (!str_eq(a->members[i].key, b->members[j].key) ||
		    !tree_equal(a->members[i].value, b->members[j].value))
			return false;
		i++;
		j++;
	}
}

static bool same_containers(const struct tree *now, const struct tree *old)
{
	static const struct str image[] = {STR_INIT("image")};

	for (uint32_t i = 0; i < check_items(now); i++)
		if (!same_except(now->items[i], old->items[i], image, 1))
			return false;
	return true;
}

/* Longer lists than anybody writes are compared in order: looking each item up would be quadratic. */
enum { UNORDERED_MAX = 256 };

/* All of old is still there; with `ordered`, at the same place. */
static bool only_added(const struct tree *now, const struct tree *old, bool ordered)
{
	if (check_items(now) < check_items(old))
		return false;
	ordered |= check_items(now) > UNORDERED_MAX;
	for (uint32_t i = 0; i < check_items(old); i++) {
		bool found = tree_equal(now->items[i], old->items[i]);
		for (uint32_t j = 0; !ordered && !found && j < now->len; j++)
			found = tree_equal(now->items[j], old->items[i]);
		if (!found)
			return false;
	}
	return true;
}

static bool grace_may_change(const struct tree *now, const struct tree *old)
{
	return check_same(now, old) || (check_int(old, 0) < 0 && check_int(now, 0) == 1);
}

static void check_deadline(const struct checking *c, const struct tree *now, const struct tree *old)
{
	if (!old || tree_equal(now, old))
		return;
	if (!now)
		check_invalid(c, NULL, "spec.activeDeadlineSeconds", now,
			      "must not update from a positive integer to nil value");
	else if (check_int(now, 0) > check_int(old, 0))
		check_invalid(c, NULL, "spec.activeDeadlineSeconds", now,
			      "must be less than or equal to previous value");
}

static bool gates_removed_only(const struct checking *c, const struct tree *now, const struct tree *old)
{
	struct place list = place_field(NULL, "spec.schedulingGates");
	struct check_seen before = {0};

	for (uint32_t i = 0; i < check_items(old); i++)
		check_seen_add(&before, c->arena, tree_gets(old->items[i], "name"));
	for (uint32_t i = 0; i < check_items(now); i++) {
		struct place item = place_item(&list, i);
		if (check_seen_has(&before, tree_gets(now->items[i], "name")))
			continue;
		check_forbidden(c, &item, "name", "only deletion is allowed, but found new scheduling gate");
		return false;
	}
	return true;
}

static void check_pod_update(const struct checking *c, const struct tree *spec, const struct tree *old)
{
	/* nodeSelector and affinity may be narrowed while the pod is gated. Ephemeral containers are appended
	 * through their own subresource, which comes here too. */
	static const struct str other[] = {
		STR_INIT("activeDeadlineSeconds"), STR_INIT("containers"), STR_INIT("ephemeralContainers"),
		STR_INIT("initContainers"), STR_INIT("schedulingGates"), STR_INIT("terminationGracePeriodSeconds"),
		STR_INIT("tolerations"), STR_INIT("nodeSelector"), STR_INIT("affinity"),
	};
	bool gated = check_items(tree_getz(old, "schedulingGates"));
	const struct tree *now = tree_getz(spec, "containers"), *init = tree_getz(spec, "initContainers");

	check_deadline(c, tree_getz(spec, "activeDeadlineSeconds"), tree_getz(old, "activeDeadlineSeconds"));
	gates_removed_only(c, tree_getz(spec, "schedulingGates"), tree_getz(old, "schedulingGates"));
	if (check_items(now) != check_items(tree_getz(old, "containers")) ||
	    check_items(init) != check_items(tree_getz(old, "initContainers"))) {
		check_forbidden(c, NULL, "spec.containers", "pod updates may not add or remove containers");
		return;
	}
	if (!same_except(spec, old, other, sizeof(other) / sizeof(other[0]) - 2 * !gated) ||
	    !same_containers(now, tree_getz(old, "containers")) ||
	    !same_containers(init, tree_getz(old, "initContainers")) ||
	    !only_added(tree_getz(spec, "tolerations"), tree_getz(old, "tolerations"), false) ||
	    !only_added(tree_getz(spec, "ephemeralContainers"), tree_getz(old, "ephemeralContainers"), true) ||
	    !grace_may_change(tree_getz(spec, "terminationGracePeriodSeconds"),
			      tree_getz(old, "terminationGracePeriodSeconds")))
		check_forbidden(c, NULL, "spec", update_detail);
}

CHECK_FN(pod)
{
	const struct tree *spec = tree_getz(object, "spec");

	(void)at;
	if (c->old) {
		check_pod_update(c, spec, tree_getz(c->old, "spec"));
		return;
	}
	if (check_items(tree_getz(spec, "ephemeralContainers")))
		check_forbidden(c, NULL, "spec.ephemeralContainers", "cannot be set on create");
	if (tree_gets(spec, "nodeName").len && check_items(tree_getz(spec, "schedulingGates")))
		check_forbidden(c, NULL, "spec.nodeName",
				"cannot be set until all schedulingGates have been cleared");
}
