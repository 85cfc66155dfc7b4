/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of one container: environment, resources, probes. */
#include "store/kind/checks.h"

#include <stdio.h>

#include "store/kind/names.h"
#include "store/kind/quantity.h"

CHECK_FN(env_source)
{
	static const char *const sources[] = {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef",
					      "fileKeyRef"};
	const struct tree *from = tree_getz(object, "valueFrom");
	unsigned found = 0;

	if (!from)
		return;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		found += tree_getz(from, sources[i]) != NULL;
	if (!found)
		check_invalid_text(c, at, "valueFrom", STR(""),
				   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
				   "`secretKeyRef` or `fileKeyRef`");
	else if (tree_gets(object, "value").len)
		check_invalid_text(c, at, "valueFrom", STR(""), "may not be specified when `value` is not empty");
	else if (found > 1)
		check_invalid_text(c, at, "valueFrom", STR(""), "may not have more than one field specified at a time");
}

/* ---- resources ---- */

static bool amount(const struct tree *list, struct str name, struct quantity *ret)
{
	const struct tree *value = tree_get(list, name);

	return tree_is(value, TREE_STRING) && quantity_parse(value->text, ret);
}

static void check_amounts(const struct checking *c, const struct place *at, const char *field,
			  const struct tree *list)
{
	const struct quantity zero = {0};
	struct place map = place_field(at, field);

	for (uint32_t i = 0; i < check_members(list); i++) {
		struct place item = place_key(&map, list->members[i].key);
		struct quantity q;
		if (amount(list, list->members[i].key, &q) && quantity_cmp(&q, &zero) < 0)
			check_invalid(c, &item, NULL, list->members[i].value, "must be greater than or equal to 0");
	}
}

/* Extended resources (with a domain that is not kubernetes.io) and huge pages are never promised twice. */
static bool overcommittable(struct str name)
{
	if (str_starts(name, STR("hugepages-")))
		return false;
	return str_chr(name, '/') < 0 || str_starts(name, STR("kubernetes.io/"));
}

static void check_request(const struct checking *c, const struct place *at, const struct tree_member *request,
			  const struct tree *limits)
{
	const struct tree *limit = tree_get(limits, request->key);
	struct quantity q, most;
	char detail[160];

	if (!limit) {
		if (!overcommittable(request->key))
			check_missing(c, at, "limits", "Limit must be set for non overcommitable resources");
		return;
	}
	if (!quantity_parse(tree_text(request->value), &q) || !amount(limits, request->key, &most))
		return;
	int order = quantity_cmp(&q, &most);
	bool equal = !overcommittable(request->key);
	if (order < 0 ? !equal : order == 0)
		return;
	snprintf(detail, sizeof(detail), "must be %sequal to %.*s limit of %.*s", equal ? "" : "less than or ",
		 STR_ARG(request->key), STR_ARG(tree_text(limit)));
	check_invalid(c, at, "requests", request->value, detail);
}

CHECK_FN(resources)
{
	const struct tree *limits = tree_getz(object, "limits"), *requests = tree_getz(object, "requests");

	check_amounts(c, at, "limits", limits);
	check_amounts(c, at, "requests", requests);
	for (uint32_t i = 0; i < check_members(requests); i++)
		check_request(c, at, &requests->members[i], limits);
}

/* ---- probes and hooks ---- */

/* Exactly one of the handlers. */
static void check_handlers(const struct checking *c, const struct place *at, const struct tree *object)
{
	static const char *const handlers[] = {"exec", "grpc", "httpGet", "sleep", "tcpSocket"};
	unsigned found = 0;

	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (tree_getz(object, handlers[i]) && found++)
			check_forbidden(c, at, handlers[i], "may not specify more than 1 handler type");
	if (!found)
		check_missing(c, at, NULL, "must specify a handler type");
}

CHECK_FN(probe)
{
	check_handlers(c, at, object);
}

CHECK_FN(hook)
{
	check_handlers(c, at, object);
}

/* What a probe or hook talks to: a port by number or name. */
CHECK_FN(target)
{
	const struct tree *port = tree_getz(object, "port");

	if (port)
		check_port(c, at, "port", port);
}

static bool blank(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

CHECK_FN(container)
{
	static const char *const once[] = {"livenessProbe", "startupProbe"};
	struct str image = tree_gets(object, "image");

	if (image.len && (blank(image.ptr[0]) || blank(image.ptr[image.len - 1])))
		check_invalid_text(c, at, "image", image, "must not have leading or trailing whitespace");
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
		const struct tree *threshold = tree_getz(tree_getz(object, once[i]), "successThreshold");
		struct place probe = place_field(at, once[i]);
		if (threshold && check_int(threshold, 1) != 1)
			check_invalid(c, &probe, "successThreshold", threshold, "must be 1");
	}
}
