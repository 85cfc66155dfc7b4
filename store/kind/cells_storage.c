/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules of storage kinds: volumes, claims, classes. */
#include "store/kind/cells_private.h"

void rule_phase(struct cells *c)
{
	if (cell_is_deleted(c))
		cell_textz(c, "Terminating");
	else
		rule_text(c);
}

void rule_class_name(struct cells *c)
{
	const struct tree *metadata = tree_getz(c->object, "metadata");
	const struct tree *annotations = tree_getz(metadata, "annotations");
	struct str keys = c->path;
	bool is_default = false;

	while (keys.len)
		is_default |= str_is(tree_text(tree_get(annotations, str_cut(&keys, '|'))), "true");
	cell_begin(c);
	cell_add(c, tree_gets(metadata, "name"));
	if (is_default)
		cell_addz(c, " (default)");
	cell_end(c);
}

/* In the order in which they are shown. */
static const struct {
	const char *mode, *text;
} access_modes[] = {
	{"ReadWriteOnce", "RWO"},
	{"ReadOnlyMany", "ROX"},
	{"ReadWriteMany", "RWX"},
	{"ReadWriteOncePod", "RWOP"},
};

static bool has_mode(const struct tree *modes, const char *mode)
{
	for (uint32_t i = 0; i < cell_items(modes); i++)
		if (str_is(tree_text(modes->items[i]), mode))
			return true;
	return false;
}

void rule_access_modes(struct cells *c)
{
	const struct tree *modes = cell_place(c);
	struct cell_list list = {0};

	for (size_t i = 0; i < sizeof(access_modes) / sizeof(*access_modes); i++)
		if (has_mode(modes, access_modes[i].mode))
			list_add(c, &list, str_of(access_modes[i].text));
	list_cell(c, &list, ",", STR(""));
}

void rule_storage_class(struct cells *c)
{
	const struct tree *annotations = tree_path(c->object, "metadata.annotations");
	const struct tree *beta = tree_getz(annotations, "volume.beta.kubernetes.io/storage-class");

	/* An annotation that is there wins even when it is empty. */
	if (tree_is(beta, TREE_STRING))
		cell_text(c, beta->text);
	else
		rule_text(c);
}

static bool is_bound(const struct cells *c)
{
	return tree_text(tree_path(c->object, "spec.volumeName")).len != 0;
}

void rule_claim_capacity(struct cells *c)
{
	if (is_bound(c))
		rule_quantity(c);
	else
		cell_textz(c, "");
}

void rule_claim_access_modes(struct cells *c)
{
	if (is_bound(c))
		rule_access_modes(c);
	else
		cell_textz(c, "");
}

/* ResourceClaim. */
void rule_claim_state(struct cells *c)
{
	const struct tree *status = tree_getz(c->object, "status");
	bool allocated = tree_is(tree_getz(status, "allocation"), TREE_OBJECT), deleted = cell_is_deleted(c);
	struct cell_list list = {0};

	if (deleted)
		list_add(c, &list, STR("deleted"));
	if (allocated)
		list_add(c, &list, STR("allocated"));
	else if (!deleted)
		list_add(c, &list, STR("pending"));
	if (allocated && cell_items(tree_getz(status, "reservedFor")))
		list_add(c, &list, STR("reserved"));
	list_cell(c, &list, ",", STR(""));
}
