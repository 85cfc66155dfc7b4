/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of volumes, claims and classes. */
#include "store/kind/checks.h"

#include "store/kind/quantity.h"

static const struct str modes[] = {STR_INIT("ReadOnlyMany"), STR_INIT("ReadWriteMany"), STR_INIT("ReadWriteOnce"),
				   STR_INIT("ReadWriteOncePod")};

static void check_modes(const struct checking *c, const struct place *at, const struct tree *list)
{
	bool alone = false;

	if (!check_items(list))
		check_missing(c, at, "accessModes", "at least 1 access mode is required");
	for (uint32_t i = 0; i < check_items(list); i++) {
		alone |= str_is(tree_text(list->items[i]), "ReadWriteOncePod");
		if (!check_one_of(tree_text(list->items[i]), modes, 4))
			check_unsupported(c, at, "accessModes", list->items[i], modes, 4);
	}
	if (alone && list->len > 1)
		check_forbidden(c, at, "accessModes", "may not use ReadWriteOncePod with other access modes");
}

/* ---- PersistentVolume ---- */

/* Members of a volume's spec that are no source. */
static const struct str volume_fields[] = {
	STR_INIT("accessModes"),
	STR_INIT("capacity"),
	STR_INIT("claimRef"),
	STR_INIT("mountOptions"),
	STR_INIT("nodeAffinity"),
	STR_INIT("persistentVolumeReclaimPolicy"),
	STR_INIT("storageClassName"),
	STR_INIT("volumeAttributesClassName"),
	STR_INIT("volumeMode"),
};

static bool is_source(struct str field)
{
	return !check_one_of(field, volume_fields, sizeof(volume_fields) / sizeof(volume_fields[0]));
}

static void check_capacity(const struct checking *c, const struct tree *capacity)
{
	static const struct str names[] = {STR_INIT("storage")};

	if (!check_members(capacity))
		check_missing(c, NULL, "spec.capacity", "");
	else if (capacity->len != 1 || !tree_getz(capacity, "storage"))
		check_unsupported(c, NULL, "spec.capacity", capacity, names, 1);
}

static void check_sources(const struct checking *c, const struct tree *spec)
{
	struct place at = place_field(NULL, "spec");
	unsigned found = 0;

	for (uint32_t i = 0; i < check_members(spec); i++) {
		struct place source = {.up = &at, .step = PLACE_FIELD, .name = spec->members[i].key};
		if (is_source(spec->members[i].key) && found++)
			check_forbidden(c, &source, NULL, "may not specify more than 1 volume type");
	}
	if (!found)
		check_missing(c, NULL, "spec", "must specify a volume type");
}

/* The same but for a controllerExpandSecretRef that CSI volumes may get later. */
static bool same_source(struct str name, const struct tree *now, const struct tree *old)
{
	if (tree_equal(now, old))
		return true;
	if (!str_is(name, "csi") || tree_getz(old, "controllerExpandSecretRef"))
		return false;
	for (uint32_t i = 0; i < check_members(now); i++)
		if (!str_is(now->members[i].key, "controllerExpandSecretRef") &&
		    !tree_equal(now->members[i].value, tree_get(old, now->members[i].key)))
			return false;
	return check_members(now) == check_members(old) + 1;
}

static void check_volume_update(const struct checking *c, const struct tree *spec, const struct tree *old)
{
	bool same = true;

	for (uint32_t i = 0; i < check_members(spec); i++)
		if (is_source(spec->members[i].key))
			same &= same_source(spec->members[i].key, spec->members[i].value,
					    tree_get(old, spec->members[i].key));
	for (uint32_t i = 0; i < check_members(old); i++)
		same &= !is_source(old->members[i].key) || tree_get(spec, old->members[i].key);
	if (!same)
		check_forbidden(c, NULL, "spec.persistentvolumesource",
				"spec.persistentvolumesource is immutable after creation");
	if (!check_same(tree_getz(spec, "volumeMode"), tree_getz(old, "volumeMode")))
		check_invalid(c, NULL, "volumeMode", tree_getz(spec, "volumeMode"), "field is immutable");
	if (tree_getz(old, "nodeAffinity") &&
	    !tree_equal(tree_getz(spec, "nodeAffinity"), tree_getz(old, "nodeAffinity")))
		check_invalid(c, NULL, "nodeAffinity", tree_getz(spec, "nodeAffinity"), "field is immutable");
}

CHECK_FN(persistent_volume)
{
	const struct tree *spec = tree_getz(object, "spec");
	struct place below = place_field(at, "spec");

	check_capacity(c, tree_getz(spec, "capacity"));
	check_modes(c, &below, tree_getz(spec, "accessModes"));
	check_sources(c, spec);
	if (c->old)
		check_volume_update(c, spec, tree_getz(c->old, "spec"));
}

/* ---- PersistentVolumeClaim ---- */

/* Also for the claims in templates. */
CHECK_FN(claim_spec)
{
	const struct quantity zero = {0};
	const struct tree *request = tree_path(object, "resources.requests.storage");
	struct place resources = place_field(at, "resources"), storage = place_key(&resources, STR("storage"));
	struct quantity q;

	check_modes(c, at, tree_getz(object, "accessModes"));
	if (!request)
		check_missing(c, &storage, NULL, "");
	else if (quantity_parse(tree_text(request), &q) && quantity_cmp(&q, &zero) <= 0)
		check_invalid(c, &storage, NULL, request, "must be greater than zero");
}

/* May the member differ on an update? */
static bool claim_may_change(const struct checking *c, struct str field, const struct tree *now,
			     const struct tree *old)
{
	bool bound = str_is(tree_gets(tree_getz(c->old, "status"), "phase"), "Bound");

	if (str_is(field, "volumeName"))
		return tree_is_empty(old);
	if (str_is(field, "storageClassName"))
		return !old;
	if (str_is(field, "volumeAttributesClassName"))
		return bound;
	if (str_is(field, "resources"))
		return check_same(tree_getz(now, "limits"), tree_getz(old, "limits")) &&
		       (bound || check_same(tree_getz(now, "requests"), tree_getz(old, "requests")));
	return false;
}

static bool claim_changed(const struct checking *c, const struct tree *spec, const struct tree *old)
{
	static const struct str mode[] = {STR_INIT("volumeMode")};

	for (uint32_t i = 0; i < check_members(spec); i++) {
		struct str key = spec->members[i].key;
		const struct tree *now = spec->members[i].value, *before = tree_get(old, key);
		if (!check_one_of(key, mode, 1) && !check_same(now, before) && !claim_may_change(c, key, now, before))
			return true;
	}
	for (uint32_t i = 0; i < check_members(old); i++)
		if (!tree_is_empty(old->members[i].value) && !tree_get(spec, old->members[i].key))
			return true;
	return false;
}

static void check_shrink(const struct checking *c, const struct tree *spec, const struct tree *old)
{
	const char *const path = "resources.requests.storage";
	struct quantity now, before, real;

	if (!quantity_parse(tree_text(tree_path(spec, path)), &now) ||
	    !quantity_parse(tree_text(tree_path(old, path)), &before) || quantity_cmp(&now, &before) >= 0)
		return;
	if (quantity_parse(tree_text(tree_path(c->old, "status.capacity.storage")), &real) &&
	    quantity_cmp(&now, &real) <= 0)
		check_forbidden(c, NULL, "spec.resources.requests.storage",
				"field can not be less than status.capacity");
}

CHECK_FN(claim)
{
	const struct tree *spec = tree_getz(object, "spec"), *old = tree_getz(c->old, "spec");

	(void)at;
	if (!c->old || object != c->root)
		return;
	if (claim_changed(c, spec, old))
		check_forbidden(c, NULL, "spec",
				"spec is immutable after creation except resources.requests and "
				"volumeAttributesClassName for bound claims");
	check_shrink(c, spec, old);
	if (!check_same(tree_getz(spec, "volumeMode"), tree_getz(old, "volumeMode")))
		check_invalid(c, NULL, "volumeMode", tree_getz(spec, "volumeMode"), "field is immutable");
}

CHECK_FN(attributes_class)
{
	static const char *const fields[] = {"driverName", "parameters"};

	(void)at;
	for (size_t i = 0; c->old && i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!check_same(tree_getz(object, fields[i]), tree_getz(c->old, fields[i])))
			check_forbidden(c, NULL, fields[i], "updates to driverName and parameters are forbidden.");
}
