/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of CustomResourceDefinitions; their schemas are checked where they are compiled. */
#include "store/kind/checks.h"

#include "store/kind/names.h"

static bool established(const struct tree *object)
{
	const struct tree *list = tree_path(object, "status.conditions");

	for (uint32_t i = 0; i < check_items(list); i++)
		if (str_is(tree_gets(list->items[i], "type"), "Established"))
			return str_is(tree_gets(list->items[i], "status"), "True");
	return false;
}

/* Groups of the project itself ask for a word of approval. */
static bool protected_group(struct str group)
{
	return str_is(group, "k8s.io") || str_is(group, "kubernetes.io") || str_ends(group, STR(".k8s.io")) ||
	       str_ends(group, STR(".kubernetes.io"));
}

static void check_approval(const struct checking *c, const struct tree *object, struct str group)
{
	const struct tree *annotations = tree_path(object, "metadata.annotations");

	if (!protected_group(group) || tree_gets(annotations, "api-approved.kubernetes.io").len)
		return;
	/* What was stored without it may stay so. */
	if (c->old && !tree_gets(tree_path(c->old, "metadata.annotations"), "api-approved.kubernetes.io").len)
		return;
	check_missing(c, NULL, "metadata.annotations[api-approved.kubernetes.io]",
		      "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
		      "https://github.com/kubernetes/enhancements/pull/1111");
}

static void check_crd_name(const struct checking *c, const struct tree *object, struct str group)
{
	struct str name = tree_gets(tree_getz(object, "metadata"), "name");
	struct str plural = tree_gets(tree_path(object, "spec.names"), "plural");
	struct str want = arena_printf(c->arena, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group));

	if (!c->old && name.len && !str_eq(name, want))
		check_invalid_text(c, NULL, "metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
}

static void check_group(const struct checking *c, struct str group)
{
	const char *wrong = name_dns1123_subdomain(group);

	if (!group.len)
		check_missing(c, NULL, "spec.group", "");
	else if (wrong)
		check_invalid_text(c, NULL, "spec.group", group, wrong);
	else if (str_chr(group, '.') < 0)
		check_invalid_text(c, NULL, "spec.group", group, "should be a domain with at least one dot");
}

static void check_versions(const struct checking *c, const struct tree *spec, struct check_seen *names)
{
	const struct tree *versions = tree_getz(spec, "versions");
	unsigned stored = 0;
	bool unique = true;

	for (uint32_t i = 0; i < check_items(versions); i++) {
		unique &= !check_seen_add(names, c->arena, tree_gets(versions->items[i], "name"));
		stored += tree_is_true(tree_getz(versions->items[i], "storage"));
	}
	if (!unique)
		check_invalid(c, NULL, "spec.versions", versions, "must contain unique version names");
	if (stored != 1)
		check_invalid(c, NULL, "spec.versions", versions,
			      "must have exactly one version marked as storage version");
}

static void check_stored(const struct checking *c, const struct tree *object, const struct check_seen *names)
{
	const struct tree *stored = tree_path(object, "status.storedVersions");
	struct place list = place_field(NULL, "status.storedVersions");

	for (uint32_t i = 0; i < check_items(stored); i++) {
		struct place item = place_item(&list, i);
		if (!check_seen_has(names, tree_text(stored->items[i])))
			check_invalid(c, &item, NULL, stored->items[i], "missing from spec.versions");
	}
}

CHECK_FN(crd)
{
	const struct tree *spec = tree_getz(object, "spec");
	struct str group = tree_gets(spec, "group");
	struct check_seen names = {0};

	(void)at;
	check_crd_name(c, object, group);
	check_group(c, group);
	check_versions(c, spec, &names);
	check_stored(c, object, &names);
	check_approval(c, object, group);
	if (tree_is_true(tree_getz(spec, "preserveUnknownFields")) &&
	    !tree_is_true(tree_path(c->old, "spec.preserveUnknownFields")))
		check_invalid(c, NULL, "spec.preserveUnknownFields", tree_getz(spec, "preserveUnknownFields"),
			      "must be false in order to use defaults in the schema");
	if (established(c->old)) {
		check_immutable(c, "spec.scope");
		check_immutable(c, "spec.names.kind");
	}
	check_immutable(c, "spec.group");
	check_immutable(c, "spec.names.plural");
}

/* ---- names ---- */

/* kind and listKind are labels once in lower case. */
static void check_kind_name(const struct checking *c, const struct place *at, const char *field, struct str s)
{
	char lower[64];

	if (s.len > sizeof(lower)) {
		check_format(c, at, field, s, name_dns1035_label);
		return;
	}
	for (size_t i = 0; i < s.len; i++)
		lower[i] = (char)(s.ptr[i] | (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? 0x20 : 0));
	const char *wrong = s.len ? name_dns1035_label(str_n(lower, s.len)) : NULL;
	if (wrong)
		check_invalid_text(c, at, field, s, wrong);
}

CHECK_FN(crd_names)
{
	static const char *const required[] = {"plural", "singular", "kind", "listKind"};
	struct str kind = tree_gets(object, "kind"), list = tree_gets(object, "listKind");
	struct str path = at ? at->name : (struct str){0};

	if (!str_is(path, "names")) /* status.acceptedNames is the server's own */
		return;
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
		if (!tree_gets(object, required[i]).len)
			check_missing(c, at, required[i], "");
	check_kind_name(c, at, "kind", kind);
	check_kind_name(c, at, "listKind", list);
	if (kind.len && str_eq(kind, list))
		check_invalid_text(c, at, "listKind", list, "kind and listKind may not be the same");
}

/* ---- versions ---- */

CHECK_FN(crd_version)
{
	static const struct str types[] = {STR_INIT("integer"), STR_INIT("number"), STR_INIT("string"),
					   STR_INIT("boolean"), STR_INIT("date")};
	static const char type_detail[] = "must be one of boolean,date,integer,number,string";
	const struct tree *columns = tree_getz(object, "additionalPrinterColumns");
	struct place list = place_field(at, "additionalPrinterColumns");

	if (!tree_path(object, "schema.openAPIV3Schema"))
		check_missing(c, at, "schema.openAPIV3Schema", "schemas are required");
	for (uint32_t i = 0; i < check_items(columns); i++) {
		const struct tree *column = columns->items[i];
		struct place item = place_item(&list, i);
		struct str path = tree_gets(column, "jsonPath"), type = tree_gets(column, "type");
		if (!tree_gets(column, "name").len)
			check_missing(c, &item, "name", "");
		if (!type.len)
			check_missing(c, &item, "type", type_detail);
		else if (!check_one_of(type, types, 5))
			check_invalid_text(c, &item, "type", type, type_detail);
		if (!path.len)
			check_missing(c, &item, "JSONPath", "");
		else if (path.ptr[0] != '.')
			check_invalid_text(c, &item, "JSONPath", path, "must be a simple json path starting with .");
	}
}
