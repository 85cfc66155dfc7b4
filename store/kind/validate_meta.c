/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of metadata, which all kinds share. */
#include "store/kind/checks.h"

#include <stdio.h>

#include "store/kind/names.h"

static void check_name(const struct checking *c, const struct tree *metadata)
{
	struct str name = tree_gets(metadata, "name"), prefix = tree_gets(metadata, "generateName");
	const char *wrong;

	if (c->old)
		return;
	if (prefix.len && (wrong = name_of_kind(c->kind, prefix, true)))
		check_invalid_text(c, NULL, "metadata.generateName", prefix, wrong);
	if (name.len && (wrong = name_of_kind(c->kind, name, false)))
		check_invalid_text(c, NULL, "metadata.name", name, wrong);
	if (!name.len && !prefix.len)
		check_missing(c, NULL, "metadata.name", "name or generateName is required");
}

static void check_namespace(const struct checking *c, const struct tree *metadata)
{
	struct str ns = tree_gets(metadata, "namespace");
	const char *wrong;

	if (!kind_is(c->kind, KIND_NAMESPACED)) {
		if (ns.len)
			check_forbidden(c, NULL, "metadata.namespace", "not allowed on this type");
	} else if (!ns.len)
		check_missing(c, NULL, "metadata.namespace", "");
	else if ((wrong = name_dns1123_label(ns)))
		check_invalid_text(c, NULL, "metadata.namespace", ns, wrong);
}

/* ---- owners ---- */

static void check_owner(const struct checking *c, const struct tree *owner)
{
	static const struct {
		const char *key, *field, *detail;
	} parts[] = {
		{"apiVersion", "metadata.ownerReferences.apiVersion", "version must not be empty"},
		{"kind", "metadata.ownerReferences.kind", "must not be empty"},
		{"name", "metadata.ownerReferences.name", "must not be empty"},
		{"uid", "metadata.ownerReferences.uid", "must not be empty"},
	};
	struct str version = tree_gets(owner, "apiVersion");

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!tree_gets(owner, parts[i].key).len)
			check_invalid_text(c, NULL, parts[i].field, STR(""), parts[i].detail);
	if (version.len && version.ptr[version.len - 1] == '/')
		check_invalid_text(c, NULL, parts[0].field, version, parts[0].detail);
	if (str_is(version, "v1") && str_is(tree_gets(owner, "kind"), "Event"))
		check_invalid(c, NULL, "metadata.ownerReferences", owner,
			      "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(const struct checking *c, const struct tree *metadata)
{
	const struct tree *owners = tree_getz(metadata, "ownerReferences");
	const struct tree *controller = NULL;

	for (uint32_t i = 0; i < check_items(owners); i++) {
		const struct tree *owner = owners->items[i];
		check_owner(c, owner);
		if (!tree_is_true(tree_getz(owner, "controller")))
			continue;
		if (controller) {
			char detail[256];
			snprintf(detail, sizeof(detail),
				 "Only one reference can have Controller set to true. Found \"true\" in references "
				 "for %.*s and %.*s",
				 STR_ARG(tree_gets(controller, "name")), STR_ARG(tree_gets(owner, "name")));
			check_invalid(c, NULL, "metadata.ownerReferences", owners, detail);
			return;
		}
		controller = owner;
	}
}

/* ---- finalizers ---- */

static bool standard_finalizer(struct str s)
{
	return str_is(s, "kubernetes") || str_is(s, "orphan") || str_is(s, "foregroundDeletion");
}

static void check_finalizer(const struct checking *c, uint32_t i, struct str s)
{
	const char *wrong = name_label_key(s);

	if (wrong)
		check_invalid_text(c, NULL, "metadata.finalizers", s, wrong);
	else if (!c->old && !kind_is(c->kind, KIND_CUSTOM) && str_chr(s, '/') < 0 && !standard_finalizer(s)) {
		struct place list = place_field(NULL, "metadata.finalizers"), item = place_item(&list, i);
		check_invalid_text(c, &item, NULL, s,
				   "name is neither a standard finalizer name nor is it fully qualified");
	}
}

/* A terminating object only loses finalizers. */
static void check_new_finalizers(const struct checking *c, const struct tree *finalizers)
{
	const struct tree *old = tree_path(c->old, "metadata.finalizers");
	struct check_seen before = {0};

	for (uint32_t i = 0; i < check_items(old); i++)
		check_seen_add(&before, c->arena, tree_text(old->items[i]));
	for (uint32_t i = 0; i < check_items(finalizers); i++) {
		struct str s = tree_text(finalizers->items[i]);
		char detail[256];
		if (check_seen_has(&before, s))
			continue;
		snprintf(detail, sizeof(detail),
			 "no new finalizers can be added if the object is being deleted, found new finalizers "
			 "[]string{\"%.*s\"}",
			 STR_ARG(s));
		check_forbidden(c, NULL, "metadata.finalizers", detail);
		return;
	}
}

static void check_finalizers(const struct checking *c, const struct tree *metadata)
{
	const struct tree *finalizers = tree_getz(metadata, "finalizers");
	bool orphan = false, foreground = false;

	for (uint32_t i = 0; i < check_items(finalizers); i++) {
		struct str s = tree_text(finalizers->items[i]);
		check_finalizer(c, i, s);
		orphan |= str_is(s, "orphan");
		foreground |= str_is(s, "foregroundDeletion");
	}
	if (orphan && foreground)
		check_invalid(c, NULL, "metadata.finalizers", finalizers,
			      "finalizer orphan and foregroundDeletion cannot be both set");
	if (c->old && tree_gets(tree_getz(c->old, "metadata"), "deletionTimestamp").len)
		check_new_finalizers(c, finalizers);
}

/* ---- what an update may not change ---- */

/* The deletion fields are the server's own; whoever sets them does not come from a client. */
static void check_identity(const struct checking *c, const struct tree *metadata)
{
	const struct tree *old = tree_getz(c->old, "metadata");

	if (!c->old)
		return;
	check_immutable(c, "metadata.name");
	check_immutable(c, "metadata.namespace");
	if (tree_gets(metadata, "uid").len && tree_gets(old, "uid").len)
		check_immutable(c, "metadata.uid");
	if (tree_getz(metadata, "creationTimestamp"))
		check_immutable(c, "metadata.creationTimestamp");
	if (tree_getz(metadata, "generation") &&
	    check_int(tree_getz(metadata, "generation"), 0) < check_int(tree_getz(old, "generation"), 0))
		check_invalid(c, NULL, "metadata.generation", tree_getz(metadata, "generation"),
			      "must not be decremented");
}

void check_metadata(const struct checking *c)
{
	const struct tree *metadata = tree_getz(c->root, "metadata");

	check_name(c, metadata);
	check_namespace(c, metadata);
	check_identity(c, metadata);
	check_label_map(c, NULL, "metadata.labels", tree_getz(metadata, "labels"));
	check_annotation_map(c, NULL, "metadata.annotations", tree_getz(metadata, "annotations"));
	check_owners(c, metadata);
	check_finalizers(c, metadata);
}
