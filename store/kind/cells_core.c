/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules of Node, ComponentStatus and Event. */
#include "store/kind/cells_private.h"

void rule_node_status(struct cells *c)
{
	const struct tree *conditions = cell_place(c);
	const char *status = "Unknown";

	for (uint32_t i = 0; i < cell_items(conditions); i++)
		if (str_is(tree_gets(conditions->items[i], "type"), "Ready"))
			status = str_is(tree_gets(conditions->items[i], "status"), "True") ? "Ready" : "NotReady";
	cell_begin(c);
	cell_addz(c, status);
	if (tree_is_true(tree_path(c->object, "spec.unschedulable")))
		cell_addz(c, ",SchedulingDisabled");
	cell_end(c);
}

void rule_node_roles(struct cells *c)
{
	static const struct str prefix = STR_INIT("node-role.kubernetes.io/");
	const struct tree *labels = cell_place(c);
	struct str role = tree_gets(labels, "kubernetes.io/role");
	struct cell_list list = {0};

	for (uint32_t i = 0; tree_is(labels, TREE_OBJECT) && i < labels->len; i++) {
		struct str key = labels->members[i].key;
		if (str_starts(key, prefix) && key.len > prefix.len)
			list_add(c, &list, str_skip(key, prefix.len));
	}
	if (role.len)
		list_add(c, &list, role);
	list_sort(&list);
	list_unique(&list);
	list_cell(c, &list, ",", STR("<none>"));
}

void rule_node_kernel(struct cells *c)
{
	struct str kernel = tree_text(cell_place(c));
	struct str architecture = tree_text(tree_path(c->object, "status.nodeInfo.architecture"));

	cell_begin(c);
	cell_add(c, kernel.len ? kernel : cell_keys(c).other);
	if (architecture.len) {
		cell_addz(c, " (");
		cell_add(c, architecture);
		cell_addz(c, ")");
	}
	cell_end(c);
}

void rule_component_status(struct cells *c)
{
	const struct tree *healthy = cell_by_type(cell_place(c), STR("Healthy"));

	if (!healthy)
		cell_textz(c, "Unknown");
	else
		cell_textz(c, str_is(tree_gets(healthy, "status"), "True") ? "Healthy" : "Unhealthy");
}

void rule_event_last_seen(struct cells *c)
{
	/* A series counts on its own, even without a time. */
	if (tree_is(tree_getz(c->object, "series"), TREE_OBJECT))
		c->path = STR(".series.lastObservedTime");
	rule_age(c);
}

void rule_event_object(struct cells *c)
{
	const struct tree *object = cell_place(c);
	struct str name = tree_gets(object, "name");

	cell_begin(c);
	cell_add(c, cell_lower(c, tree_gets(object, "kind")));
	if (name.len) {
		cell_addz(c, "/");
		cell_add(c, name);
	}
	cell_end(c);
}

static struct str text_or(struct str a, struct str b)
{
	return a.len ? a : b;
}

void rule_event_source(struct cells *c)
{
	const struct tree *source = cell_place(c);
	struct str component = tree_gets(source, "component");
	struct str host = text_or(tree_gets(source, "host"), tree_gets(c->object, "reportingInstance"));

	/* What core/v1 calls reportingComponent is reportingController in events.k8s.io/v1. */
	component = text_or(component, tree_gets(c->object, "reportingComponent"));
	component = text_or(component, tree_gets(c->object, "reportingController"));
	cell_begin(c);
	cell_add(c, component);
	if (host.len) {
		cell_addz(c, ", ");
		cell_add(c, host);
	}
	cell_end(c);
}

void rule_event_count(struct cells *c)
{
	const struct tree *series = tree_getz(c->object, "series");
	int64_t count = cell_i64(cell_place(c));

	if (tree_is(series, TREE_OBJECT))
		cell_int(c, cell_i64(tree_getz(series, "count")));
	else
		cell_int(c, count ? count : 1);
}
