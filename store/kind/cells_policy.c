/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules of kinds that govern access and use: role bindings, quotas, certificate requests, API services. */
#include "store/kind/cells_private.h"

void rule_subjects(struct cells *c)
{
	const struct tree *subjects = cell_place(c);
	struct str kind = cell_keys(c).key[0];
	bool namespaced = str_is(kind, "ServiceAccount");
	struct cell_list list = {0};

	for (uint32_t i = 0; i < cell_items(subjects); i++) {
		struct str name = tree_gets(subjects->items[i], "name");
		if (!str_eq(tree_gets(subjects->items[i], "kind"), kind))
			continue;
		if (namespaced)
			name = cell_concat(c, tree_gets(subjects->items[i], "namespace"), STR("/"), name);
		list_add(c, &list, name);
	}
	list_cell(c, &list, ", ", STR(""));
}

/* `name: used/hard` of the resources whose names do or do not start with "limits.", in the order of their names. */
static void quota_cell(struct cells *c, bool limits)
{
	const struct tree *hard = tree_path(c->object, "status.hard"), *used = tree_path(c->object, "status.used");
	bool first = true;

	cell_begin(c);
	for (uint32_t i = 0; tree_is(hard, TREE_OBJECT) && i < hard->len; i++) {
		struct str name = hard->members[i].key;
		if (str_starts(name, STR("limits.")) != limits)
			continue;
		if (!first)
			cell_addz(c, ", ");
		first = false;
		cell_add(c, name);
		cell_addz(c, ": ");
		cell_add_quantity(c, tree_get(used, name), "0");
		cell_addz(c, "/");
		cell_add_quantity(c, hard->members[i].value, "0");
	}
	cell_end(c);
}

void rule_quota_requests(struct cells *c)
{
	quota_cell(c, false);
}

void rule_quota_limits(struct cells *c)
{
	quota_cell(c, true);
}

/* Presence of a condition is what counts; its status is always "True". */
void rule_csr_condition(struct cells *c)
{
	const struct tree *conditions = cell_place(c);
	struct str certificate = tree_text(tree_path(c->object, "status.certificate"));

	cell_begin(c);
	if (cell_by_type(conditions, STR("Denied")))
		cell_addz(c, "Denied");
	else if (cell_by_type(conditions, STR("Approved")))
		cell_addz(c, "Approved");
	else
		cell_addz(c, "Pending");
	if (cell_by_type(conditions, STR("Failed")))
		cell_addz(c, ",Failed");
	if (certificate.len)
		cell_addz(c, ",Issued");
	cell_end(c);
}

void rule_api_available(struct cells *c)
{
	const struct tree *condition = cell_by_type(cell_place(c), STR("Available"));
	struct str status = tree_gets(condition, "status"), reason = tree_gets(condition, "reason");

	if (!condition) {
		cell_textz(c, "Unknown");
		return;
	}
	cell_begin(c);
	cell_add(c, status);
	if (!str_is(status, "True") && reason.len) {
		cell_addz(c, " (");
		cell_add(c, reason);
		cell_addz(c, ")");
	}
	cell_end(c);
}
