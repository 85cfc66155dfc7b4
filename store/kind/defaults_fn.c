/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of the other kinds that depend on more than one field. */
#include "store/kind/defaults_fn.h"

#include <time.h>

#include "store/base/cleanup.h"
#include "store/codec/base64.h"
#include "store/kind/cells.h"

/* ---- core ---- */

static struct str base64(struct arena *a, struct str s, struct buf *scratch)
{
	buf_clear(scratch);
	base64_encode(s, scratch);
	return scratch->failed ? (struct str){0} : arena_str(a, buf_str(scratch));
}

/* stringData is a way to write data; it is never kept. */
static bool fold_string_data(struct arena *a, struct tree *object)
{
	const struct tree *plain = tree_getz(object, "stringData");
	_cleanup_(buf_done) struct buf scratch = {0};

	if (tree_is_empty(plain)) {
		tree_removez(object, "stringData");
		return true;
	}
	struct tree *data = tree_ensure(a, object, STR("data"));
	for (uint32_t i = 0; data && i < members_of(plain); i++) {
		struct str text = base64(a, tree_text(plain->members[i].value), &scratch);
		if (!text.ptr || !tree_set(a, data, plain->members[i].key, tree_string(a, text)))
			return false;
	}
	tree_removez(object, "stringData");
	return data;
}

DEFAULT_FN(secret)
{
	struct str old = tree_gets(d->old, "type");

	if (!fold_string_data(d->arena, object))
		return false;
	return fill(d->arena, object, "type", tree_string(d->arena, old.len ? old : STR("Opaque")));
}

static bool holds(const struct tree *list, const char *text)
{
	for (uint32_t i = 0; i < items_of(list); i++)
		if (str_is(tree_text(list->items[i]), text))
			return true;
	return false;
}

/* The finalizer is for creates only: taking it off is how a deletion ends. */
static bool namespace_finalizer(const struct defaulting *d, struct tree *object)
{
	struct tree *spec = tree_getz(object, "spec"), *list = tree_getz(spec, "finalizers");

	if (d->old || holds(list, "kubernetes"))
		return true;
	if (!list && (!(list = tree_array(d->arena)) || !tree_setz(d->arena, spec, "finalizers", list)))
		return false;
	return tree_append(d->arena, list, tree_string(d->arena, STR("kubernetes")));
}

DEFAULT_FN(namespace)
{
	struct tree *metadata = tree_getz(object, "metadata");
	struct str name = tree_gets(metadata, "name");

	if (!namespace_finalizer(d, object))
		return false;
	if (!name.len)
		return true;
	struct tree *labels = tree_ensure(d->arena, metadata, STR("labels"));
	return labels && tree_sets(d->arena, labels, "kubernetes.io/metadata.name", name);
}

DEFAULT_FN(account_secrets)
{
	const struct tree *secrets = tree_getz(object, "secrets");

	for (uint32_t i = 0; i < items_of(secrets); i++) {
		struct tree *name = tree_getz(secrets->items[i], "name"), *only = tree_object(d->arena);
		if (!only || (name && !tree_setz(d->arena, only, "name", name)))
			return false;
		secrets->items[i] = only;
	}
	return true;
}

DEFAULT_FN(node)
{
	struct tree *status = tree_getz(object, "status");
	const struct tree *capacity = tree_getz(status, "capacity");

	return !capacity || fill_absent(d->arena, status, "allocatable", tree_copy(d->arena, capacity));
}

/* Copies the entries of from that to lacks; makes to when there is something to copy. */
static bool fill_list(struct arena *a, struct tree *item, const char *to, const char *from)
{
	const struct tree *source = tree_getz(item, from);

	if (!members_of(source))
		return true;
	struct tree *target = tree_ensure(a, item, str_of(to));
	for (uint32_t i = 0; target && i < members_of(source); i++)
		if (!tree_get(target, source->members[i].key) &&
		    !tree_set(a, target, source->members[i].key, source->members[i].value))
			return false;
	return target;
}

DEFAULT_FN(limit_range_item)
{
	if (!str_is(tree_gets(object, "type"), "Container"))
		return true;
	return fill_list(d->arena, object, "default", "max") &&
	       fill_list(d->arena, object, "defaultRequest", "default") &&
	       fill_list(d->arena, object, "defaultRequest", "min");
}

/* ---- storage ---- */

/* dataSource and dataSourceRef say the same; only claims of their own, not those in templates. */
DEFAULT_FN(claim_source)
{
	struct tree *spec = tree_getz(object, "spec");
	const struct tree *source = tree_getz(spec, "dataSource"), *ref = tree_getz(spec, "dataSourceRef");

	if (object != d->root || !source == !ref)
		return true;
	if (source)
		return tree_setz(d->arena, spec, "dataSourceRef", tree_copy(d->arena, source));
	if (tree_gets(ref, "namespace").len)
		return true;
	struct tree *copy = tree_copy(d->arena, ref);
	if (copy)
		tree_removez(copy, "namespace");
	return tree_setz(d->arena, spec, "dataSource", copy);
}

/* Since when the volume is in its phase: now, at create and when the phase has changed. */
DEFAULT_FN(volume_phase_time)
{
	struct tree *status = tree_getz(object, "status");
	const struct tree *old = tree_getz(d->old, "status");
	bool changed = !d->old || !str_eq(tree_gets(status, "phase"), tree_gets(old, "phase"));

	if (!changed || !tree_is(status, TREE_OBJECT) || (!d->old && tree_getz(status, "lastPhaseTransitionTime")))
		return true;
	char text[20];
	time_format((int64_t)time(NULL), text);
	struct str now = arena_str(d->arena, str_n(text, sizeof(text)));
	return now.ptr && tree_sets(d->arena, status, "lastPhaseTransitionTime", now);
}

/* ---- other groups ---- */

DEFAULT_FN(policy_types)
{
	struct tree *list;

	if (!tree_is_empty(tree_getz(object, "policyTypes")))
		return true;
	if (!(list = tree_array(d->arena)) || !tree_append(d->arena, list, tree_string(d->arena, STR("Ingress"))))
		return false;
	if (!tree_is_empty(tree_getz(object, "egress")) &&
	    !tree_append(d->arena, list, tree_string(d->arena, STR("Egress"))))
		return false;
	return tree_setz(d->arena, object, "policyTypes", list);
}

DEFAULT_FN(subject_group)
{
	struct str kind = tree_gets(object, "kind");

	if (!str_is(kind, "User") && !str_is(kind, "Group"))
		return true;
	return fill(d->arena, object, "apiGroup", tree_string(d->arena, STR("rbac.authorization.k8s.io")));
}

DEFAULT_FN(device_count)
{
	if (!str_is(tree_gets(object, "allocationMode"), "ExactCount"))
		return true;
	return fill(d->arena, object, "count", tree_int(d->arena, 1));
}

static bool crd_names(struct arena *a, struct tree *names)
{
	struct str kind = tree_gets(names, "kind");

	if (!kind.len)
		return true;
	char *lower = arena_alloc(a, kind.len);
	struct str list = arena_printf(a, "%.*sList", STR_ARG(kind));
	if (!lower || !list.ptr)
		return false;
	for (size_t i = 0; i < kind.len; i++)
		lower[i] = (char)(kind.ptr[i] | (kind.ptr[i] >= 'A' && kind.ptr[i] <= 'Z' ? 0x20 : 0));
	return fill(a, names, "singular", tree_string(a, str_n(lower, kind.len))) &&
	       fill(a, names, "listKind", tree_string(a, list));
}

static bool crd_stored_versions(struct arena *a, struct tree *object)
{
	const struct tree *versions = tree_path(object, "spec.versions");
	struct tree *status = tree_getz(object, "status");

	if (!tree_is_empty(tree_getz(status, "storedVersions")))
		return true;
	for (uint32_t i = 0; i < items_of(versions); i++) {
		struct tree *name = tree_getz(versions->items[i], "name"), *list;
		if (!name || !tree_is_true(tree_getz(versions->items[i], "storage")))
			continue;
		list = tree_array(a);
		return list && tree_append(a, list, name) && tree_setz(a, status, "storedVersions", list);
	}
	return true;
}

DEFAULT_FN(crd)
{
	struct tree *names = tree_path(object, "spec.names");

	if (tree_is(names, TREE_OBJECT) && !crd_names(d->arena, names))
		return false;
	return crd_stored_versions(d->arena, object);
}
