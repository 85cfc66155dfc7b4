/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Ingresses, NetworkPolicies, EndpointSlices and ServiceCIDRs. */
#include "store/kind/checks.h"

#include <arpa/inet.h>

#include "store/kind/names.h"

/* ---- Ingress ---- */

CHECK_FN(ingress)
{
	const struct tree *spec = tree_getz(object, "spec");

	(void)at;
	if (!check_items(tree_getz(spec, "rules")) && !tree_getz(spec, "defaultBackend"))
		check_invalid(c, NULL, "spec", spec, "either `defaultBackend` or `rules` must be specified");
}

static bool is_address(struct str s)
{
	char text[INET6_ADDRSTRLEN], bytes[16];

	if (!s.len || s.len >= sizeof(text))
		return false;
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';
	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

CHECK_FN(ingress_rule)
{
	const struct tree *host = tree_getz(object, "host");
	struct str text = tree_text(host);
	const char *wrong;

	if (!text.len)
		return;
	if (is_address(text)) {
		check_invalid(c, at, "host", host, "must be a DNS name, not an IP address");
		return;
	}
	if (str_starts(text, STR("*.")))
		text = str_skip(text, 2);
	if ((wrong = name_dns1123_subdomain(text)))
		check_invalid(c, at, "host", host, wrong);
}

static bool contains(struct str s, const char *part)
{
	return memmem(s.ptr, s.len, part, strlen(part)) != NULL;
}

/* Exact and Prefix paths are compared by element: nothing in them may be read in two ways. */
static void check_plain_path(const struct checking *c, const struct place *at, const struct tree *path)
{
	static const struct {
		const char *part, *detail;
	} parts[] = {
		{"//", "must not contain '//'"},   {"/./", "must not contain '/./'"},
		{"/../", "must not contain '/../'"}, {"%2f", "must not contain '%2f'"},
		{"%2F", "must not contain '%2F'"},
	};
	struct str text = tree_text(path);

	if (!text.len || text.ptr[0] != '/') {
		check_invalid_text(c, at, "path", text, "must be an absolute path");
		return;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (contains(text, parts[i].part))
			check_invalid(c, at, "path", path, parts[i].detail);
	if (str_ends(text, STR("/..")))
		check_invalid(c, at, "path", path, "cannot end with '/..'");
	if (str_ends(text, STR("/.")))
		check_invalid(c, at, "path", path, "cannot end with '/.'");
}

CHECK_FN(ingress_path)
{
	static const struct str path_types[] = {STR_INIT("Exact"), STR_INIT("ImplementationSpecific"),
						STR_INIT("Prefix")};
	const struct tree *type = tree_getz(object, "pathType"), *path = tree_getz(object, "path");
	struct str text = tree_text(type);

	if (!type)
		check_missing(c, at, "pathType", "pathType must be specified");
	else if (!check_one_of(text, path_types, 3))
		check_unsupported(c, at, "pathType", type, path_types, 3);
	else if (!str_is(text, "ImplementationSpecific"))
		check_plain_path(c, at, path);
	else if (tree_text(path).len && tree_text(path).ptr[0] != '/')
		check_invalid(c, at, "path", path, "must be an absolute path");
}

CHECK_FN(ingress_backend)
{
	const struct tree *service = tree_getz(object, "service"), *resource = tree_getz(object, "resource");
	const struct tree *port = tree_getz(service, "port"), *number = tree_getz(port, "number");
	struct place below = place_field(at, "service");
	struct str name = tree_gets(port, "name");

	if (service && resource) {
		check_invalid_text(c, at, NULL, STR(""), "cannot set both resource and service backends");
		return;
	}
	if (!service) {
		if (!resource)
			check_invalid_text(c, at, NULL, STR(""), "must set one of resource or service backends");
		return;
	}
	if (!tree_gets(service, "name").len)
		check_missing(c, &below, "name", "");
	check_format(c, &below, "name", tree_gets(service, "name"), name_dns1123_label);
	if (name.len && !tree_is_empty(number))
		check_invalid_text(c, at, NULL, STR(""), "cannot set both port name & port number");
	else if (!name.len && tree_is_empty(number))
		check_missing(c, at, NULL, "port name or number is required");
	else if (name.len)
		check_format(c, &below, "port.name", name, name_port_name);
	else
		check_port(c, &below, "port.number", number);
}

/* ---- NetworkPolicy ---- */

CHECK_FN(network_peer)
{
	bool selects = tree_getz(object, "podSelector") || tree_getz(object, "namespaceSelector");
	const struct tree *block = tree_getz(object, "ipBlock");

	if (block && selects)
		check_forbidden(c, at, NULL, "may not specify both ipBlock and another peer");
	else if (!block && !selects)
		check_missing(c, at, NULL, "must specify a peer");
}

/* ---- EndpointSlice, ServiceCIDR ---- */

CHECK_FN(endpoint_slice)
{
	enum { ENDPOINTS_MAX = 1000, ADDRESSES_MAX = 100, PORTS_MAX = 20000 };
	const struct tree *endpoints = tree_getz(object, "endpoints"), *ports = tree_getz(object, "ports");
	struct place list = place_field(NULL, "endpoints");

	(void)at;
	if (check_items(endpoints) > ENDPOINTS_MAX) {
		check_too_many(c, NULL, "endpoints", endpoints->len, ENDPOINTS_MAX);
		return;
	}
	for (uint32_t i = 0; i < check_items(endpoints); i++) {
		struct place item = place_item(&list, i);
		uint32_t n = check_items(tree_getz(endpoints->items[i], "addresses"));
		if (!n)
			check_missing(c, &item, "addresses", "must contain at least 1 address");
		else if (n > ADDRESSES_MAX)
			check_too_many(c, &item, "addresses", n, ADDRESSES_MAX);
	}
	if (check_items(ports) > PORTS_MAX)
		check_too_many(c, NULL, "ports", ports->len, PORTS_MAX);
}

/* A second range may be added to one. */
CHECK_FN(service_cidr)
{
	const struct tree *now = tree_path(object, "spec.cidrs"), *old = tree_path(c->old, "spec.cidrs");

	(void)at;
	if (!c->old || check_same(now, old))
		return;
	if (check_items(old) == 1 && check_items(now) == 2 && tree_equal(now->items[0], old->items[0]))
		return;
	check_invalid(c, NULL, "spec.cidrs", now, "field is immutable");
}
