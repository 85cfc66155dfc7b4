/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Events, Nodes and CertificateSigningRequests. */
#include "store/kind/checks.h"

/* ---- events ---- */

/* The namespaces that may hold events about objects without one. */
static bool event_home(struct str ns, bool modern)
{
	if (str_is(ns, "default"))
		return true;
	return modern ? str_is(ns, "kube-system") : !ns.len;
}

static void check_event_namespace(const struct checking *c, const char *field, struct str about, bool modern)
{
	struct str ns = tree_gets(tree_getz(c->root, "metadata"), "namespace");
	bool good = about.len ? str_eq(about, ns) : event_home(ns, modern);

	if (!good)
		check_invalid_text(c, NULL, field, about, "does not match event.namespace");
}

static void check_reporter(const struct checking *c, const struct tree *object, const char *controller)
{
	const char *const fields[] = {controller, "reportingInstance", "action", "reason"};
	enum { TEXT_MAX = 128 };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t len = tree_gets(object, fields[i]).len;
		if (!len)
			check_missing(c, NULL, fields[i], "");
		else if (i > 0 && len > TEXT_MAX)
			check_invalid_text(c, NULL, fields[i], STR(""), "can have at most 128 characters");
	}
}

CHECK_FN(core_event)
{
	bool modern = tree_getz(object, "eventTime") != NULL;

	(void)at;
	check_event_namespace(c, "involvedObject.namespace",
			      tree_gets(tree_getz(object, "involvedObject"), "namespace"), modern);
	if (modern)
		check_reporter(c, object, "reportingComponent");
}

static void check_event_update(const struct checking *c, const struct tree *object)
{
	static const char *const fields[] = {
		"regarding", "reason", "action", "related", "note", "type", "reportingController",
		"reportingInstance", "eventTime", "deprecatedSource", "deprecatedFirstTimestamp",
		"deprecatedLastTimestamp", "deprecatedCount",
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!check_same(tree_getz(object, fields[i]), tree_getz(c->old, fields[i])))
			check_invalid(c, NULL, fields[i], tree_getz(object, fields[i]), "field is immutable");
}

CHECK_FN(event)
{
	static const struct str types[] = {STR_INIT("Normal"), STR_INIT("Warning")};
	enum { NOTE_MAX = 1024 };
	const struct tree *type = tree_getz(object, "type");

	(void)at;
	if (c->old) {
		check_event_update(c, object);
		return;
	}
	if (!tree_getz(object, "eventTime"))
		check_missing(c, NULL, "eventTime", "");
	check_reporter(c, object, "reportingController");
	if (!check_one_of(tree_text(type), types, 2))
		check_invalid_text(c, NULL, "type", tree_text(type), "has invalid value");
	if (tree_gets(object, "note").len > NOTE_MAX)
		check_invalid_text(c, NULL, "note", STR(""), "can have at most 1024 characters");
	check_event_namespace(c, "regarding.namespace",
			      tree_gets(tree_getz(object, "regarding"), "namespace"), true);
}

/* ---- nodes ---- */

CHECK_FN(node)
{
	static const char *const fields[] = {"podCIDRs", "providerID"};
	static const char *const details[] = {
		"node updates may not change podCIDR except from \"\" to valid",
		"node updates may not change providerID except from \"\" to valid",
	};
	const struct tree *spec = tree_getz(object, "spec"), *old = tree_getz(c->old, "spec");

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct tree *before = tree_getz(old, fields[i]);
		struct place below = place_field(at, "spec");
		if (!tree_is_empty(before) && !tree_equal(before, tree_getz(spec, fields[i])))
			check_forbidden(c, &below, fields[i], details[i]);
	}
}

/* ---- certificate signing requests ---- */

static bool has_condition(const struct tree *object, struct str type)
{
	const struct tree *list = tree_path(object, "status.conditions");

	for (uint32_t i = 0; i < check_items(list); i++)
		if (str_eq(tree_gets(list->items[i], "type"), type))
			return true;
	return false;
}

CHECK_FN(signing_request)
{
	static const struct str kept[] = {STR_INIT("Approved"), STR_INIT("Denied"), STR_INIT("Failed")};
	static const char *const required[] = {"request", "signerName", "usages"};
	const struct tree *spec = tree_getz(object, "spec");
	struct place below = place_field(at, "spec");

	for (size_t i = 0; !c->old && i < sizeof(required) / sizeof(required[0]); i++)
		if (tree_is_empty(tree_getz(spec, required[i])))
			check_missing(c, &below, required[i], "");
	for (size_t i = 0; c->old && i < sizeof(kept) / sizeof(kept[0]); i++) {
		char detail[96] = "updates may not remove a condition of type ";
		if (!has_condition(c->old, kept[i]) || has_condition(object, kept[i]))
			continue;
		memcpy(detail + strlen(detail), kept[i].ptr, kept[i].len + 1);
		check_forbidden(c, NULL, "status.conditions", detail);
	}
}
