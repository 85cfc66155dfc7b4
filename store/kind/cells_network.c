/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules of networking kinds: Service, Ingress, Endpoints, EndpointSlice, IPAddress. */
#include "store/kind/cells_private.h"

#define SHOWN 3

/* Adds the distinct addresses of a status.loadBalancer.ingress, sorted, to an empty list. */
static void list_load_balancer(struct cells *c, struct cell_list *l, const struct tree *ingress)
{
	for (uint32_t i = 0; i < cell_items(ingress); i++) {
		struct str address = tree_gets(ingress->items[i], "ip");
		if (address.len == 0)
			address = tree_gets(ingress->items[i], "hostname");
		if (address.len)
			list_add(c, l, address);
	}
	list_sort(l);
	list_unique(l);
}

void rule_load_balancer(struct cells *c)
{
	struct cell_list list = {0};

	list_load_balancer(c, &list, cell_place(c));
	list_cell(c, &list, ",", STR(""));
}

void rule_service_external_ip(struct cells *c)
{
	const struct tree *spec = tree_getz(c->object, "spec");
	struct str type = tree_gets(spec, "type");
	bool balanced = str_is(type, "LoadBalancer");
	struct cell_list list = {0};

	if (str_is(type, "ExternalName")) {
		cell_text(c, tree_gets(spec, "externalName"));
		return;
	}
	if (!balanced && !str_is(type, "ClusterIP") && !str_is(type, "NodePort")) {
		cell_textz(c, "<unknown>");
		return;
	}
	if (balanced)
		list_load_balancer(c, &list, tree_path(c->object, "status.loadBalancer.ingress"));
	list_collect(c, &list, spec, STR(".externalIPs[*]"));
	list_cell(c, &list, ",", balanced ? STR("<pending>") : STR("<none>"));
}

void rule_service_ports(struct cells *c)
{
	const struct tree *ports = cell_place(c);
	uint32_t n = cell_items(ports);

	cell_begin(c);
	for (uint32_t i = 0; i < n; i++) {
		int64_t node_port = cell_i64(tree_getz(ports->items[i], "nodePort"));
		if (i)
			cell_addz(c, ",");
		cell_add_int(c, cell_i64(tree_getz(ports->items[i], "port")));
		if (node_port > 0) {
			cell_addz(c, ":");
			cell_add_int(c, node_port);
		}
		cell_addz(c, "/");
		cell_add(c, tree_gets(ports->items[i], "protocol"));
	}
	if (n == 0)
		cell_addz(c, "<none>");
	cell_end(c);
}

void rule_ingress_hosts(struct cells *c)
{
	const struct tree *items = cell_place(c);
	uint32_t shown = 0, i, n = cell_items(items);

	cell_begin(c);
	for (i = 0; i < n && shown < SHOWN; i++) {
		struct str host = tree_gets(items->items[i], "host");
		if (host.len == 0)
			continue;
		if (shown++)
			cell_addz(c, ",");
		cell_add(c, host);
	}
	if (shown == 0)
		cell_addz(c, "*");
	/* Counted from all rules, also those without a host. */
	if (i < n)
		cell_add_more(c, n - SHOWN);
	cell_end(c);
}

void rule_ingress_ports(struct cells *c)
{
	cell_textz(c, cell_items(cell_place(c)) ? "80, 443" : "80");
}

void rule_class_parameters(struct cells *c)
{
	const struct tree *parameters = cell_place(c);
	struct str group = tree_gets(parameters, "apiGroup");

	if (!tree_is(parameters, TREE_OBJECT)) {
		cell_textz(c, "<none>");
		return;
	}
	cell_begin(c);
	cell_add(c, tree_gets(parameters, "kind"));
	if (group.len) {
		cell_addz(c, ".");
		cell_add(c, group);
	}
	cell_addz(c, "/");
	cell_add(c, tree_gets(parameters, "name"));
	cell_end(c);
}

static void add_endpoint(struct cells *c, struct str ip, const struct tree *port)
{
	bool brackets = port && str_chr(ip, ':') >= 0;

	if (brackets)
		cell_addz(c, "[");
	cell_add(c, ip);
	if (brackets)
		cell_addz(c, "]");
	if (!port)
		return;
	cell_addz(c, ":");
	cell_add_int(c, cell_i64(tree_getz(port, "port")));
}

/* Adds the addresses of a subset, for each of its ports if it has any, until SHOWN stand there. Returns how many
 * now do. */
static uint32_t add_subset(struct cells *c, const struct tree *addresses, const struct tree *ports, uint32_t shown)
{
	uint32_t n = cell_items(ports);

	for (uint32_t p = 0; p < (n ? n : 1); p++) {
		for (uint32_t i = 0; i < cell_items(addresses); i++) {
			if (shown == SHOWN)
				return shown;
			if (shown++)
				cell_addz(c, ",");
			add_endpoint(c, tree_gets(addresses->items[i], "ip"), n ? ports->items[p] : NULL);
		}
	}
	return shown;
}

void rule_endpoints(struct cells *c)
{
	const struct tree *subsets = cell_place(c);
	uint32_t shown = 0;
	uint64_t total = 0;

	cell_begin(c);
	for (uint32_t i = 0; i < cell_items(subsets); i++) {
		const struct tree *addresses = tree_getz(subsets->items[i], "addresses");
		const struct tree *ports = tree_getz(subsets->items[i], "ports");
		uint32_t n = cell_items(ports);
		shown = add_subset(c, addresses, ports, shown);
		total += (uint64_t)cell_items(addresses) * (n ? n : 1);
	}
	if (total > SHOWN)
		cell_add_more(c, total - SHOWN);
	if (cell_items(subsets) == 0)
		cell_addz(c, "<none>");
	cell_end(c);
}

static void add_slice_port(struct cells *c, const struct tree *port)
{
	const struct tree *name = tree_getz(port, "name");
	int64_t number;

	if (tree_i64(tree_getz(port, "port"), &number))
		cell_add_int(c, number);
	else if (tree_is(name, TREE_STRING))
		cell_add(c, name->text);
	else
		cell_addz(c, "*");
}

void rule_slice_ports(struct cells *c)
{
	const struct tree *ports = cell_place(c);
	uint32_t n = cell_items(ports);

	cell_begin(c);
	size_t start = c->text.len;
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		if (i)
			cell_addz(c, ",");
		add_slice_port(c, ports->items[i]);
	}
	if (n > SHOWN)
		cell_add_more(c, n - SHOWN);
	/* A single port with an empty name and no number leaves nothing, too. */
	if (c->text.len == start)
		cell_addz(c, "<unset>");
	cell_end(c);
}

static void add_parent(struct cells *c, const struct tree *ref)
{
	struct str group = tree_gets(ref, "group"), namespace = tree_gets(ref, "namespace");

	cell_add(c, cell_lower(c, tree_gets(ref, "resource")));
	if (group.len) {
		cell_addz(c, ".");
		cell_add(c, cell_lower(c, group));
	}
	if (namespace.len) {
		cell_addz(c, "/");
		cell_add(c, namespace);
	}
	cell_addz(c, "/");
	cell_add(c, tree_gets(ref, "name"));
}

void rule_parent_ref(struct cells *c)
{
	const struct tree *ref = cell_place(c);

	cell_begin(c);
	if (tree_is(ref, TREE_OBJECT))
		add_parent(c, ref);
	else
		cell_addz(c, "<none>");
	cell_end(c);
	/* kube-apiserver sends an age here for which it declares no column; clients that count cells may see it. */
	buf_addc(&c->text, ',');
	c->path = STR(".metadata.creationTimestamp");
	rule_age(c);
}
