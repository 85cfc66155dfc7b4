/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Services; what depends on addresses and ports of others is checked where those are given out. */
#include "store/kind/checks.h"

#include "store/kind/names.h"

enum service_type { CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT, OTHER_TYPE };

static const struct str types[] = {STR_INIT("ClusterIP"), STR_INIT("ExternalName"), STR_INIT("LoadBalancer"),
				   STR_INIT("NodePort")};
static const struct str protocols[] = {STR_INIT("SCTP"), STR_INIT("TCP"), STR_INIT("UDP")};

static enum service_type type_of(const struct tree *spec)
{
	struct str type = tree_gets(spec, "type");

	for (int i = 0; i < OTHER_TYPE; i++)
		if (str_eq(type, types[i]))
			return (enum service_type)i;
	return OTHER_TYPE;
}

static struct str head_of(const struct tree *list)
{
	return check_items(list) ? tree_text(list->items[0]) : (struct str){0};
}

static bool headless(const struct tree *spec)
{
	return str_is(head_of(tree_getz(spec, "clusterIPs")), "None") || str_is(tree_gets(spec, "clusterIP"), "None");
}

/* ---- ports ---- */

static void check_port_name(const struct checking *c, const struct place *item, const struct tree *port, bool needed,
			    struct check_seen *names)
{
	struct str name = tree_gets(port, "name");

	if (!name.len) {
		if (needed)
			check_missing(c, item, "name", "");
		return;
	}
	check_format(c, item, "name", name, name_dns1123_label);
	if (check_seen_add(names, c->arena, name))
		check_duplicate(c, item, "name", name);
}

static void check_numbers(const struct checking *c, const struct place *item, const struct tree *port,
			  enum service_type type)
{
	const struct tree *protocol = tree_getz(port, "protocol");

	check_port(c, item, "port", tree_getz(port, "port"));
	if (!tree_text(protocol).len)
		check_missing(c, item, "protocol", "");
	else if (!check_one_of(tree_text(protocol), protocols, 3))
		check_unsupported(c, item, "protocol", protocol, protocols, 3);
	if (tree_getz(port, "targetPort"))
		check_port(c, item, "targetPort", tree_getz(port, "targetPort"));
	if (type == CLUSTER_IP && !tree_is_empty(tree_getz(port, "nodePort")))
		check_forbidden(c, item, "nodePort", "may not be used when `type` is 'ClusterIP'");
}

static struct str pair(const struct checking *c, const struct tree *port, const char *field)
{
	const struct tree *number = tree_getz(port, field);

	if (!tree_is(number, TREE_NUMBER) || tree_is_empty(number))
		return (struct str){0};
	return arena_printf(c->arena, "%.*s/%.*s", STR_ARG(tree_gets(port, "protocol")), STR_ARG(number->text));
}

/* The server prints its internal form of the port here. */
static void port_twice(const struct checking *c, const struct place *item, const struct tree *port)
{
	char path[PLACE_TEXT_MAX];

	place_text(item, path);
	status_cause(c->st, CAUSE_DUPLICATE, path,
		     ": {\"Name\":\"\",\"Protocol\":\"%.*s\",\"AppProtocol\":null,\"Port\":%lld,\"TargetPort\":0,"
		     "\"NodePort\":0}",
		     STR_ARG(tree_gets(port, "protocol")), (long long)check_int(tree_getz(port, "port"), 0));
}

static void node_port_twice(const struct checking *c, const struct place *item, const struct tree *port)
{
	struct place field = place_field(item, "nodePort");
	char path[PLACE_TEXT_MAX];

	place_text(&field, path);
	status_cause(c->st, CAUSE_DUPLICATE, path, ": %lld", (long long)check_int(tree_getz(port, "nodePort"), 0));
}

static void check_ports(const struct checking *c, const struct tree *spec, enum service_type type)
{
	const struct tree *ports = tree_getz(spec, "ports");
	struct place list = place_field(NULL, "spec.ports");
	struct check_seen names = {0}, pairs = {0}, node_pairs = {0};

	if (!check_items(ports) && type != EXTERNAL_NAME && !headless(spec))
		check_missing(c, &list, NULL, "");
	for (uint32_t i = 0; i < check_items(ports); i++) {
		struct place item = place_item(&list, i);
		const struct tree *port = ports->items[i];
		check_port_name(c, &item, port, ports->len > 1, &names);
		check_numbers(c, &item, port, type);
		if (check_seen_add(&pairs, c->arena, pair(c, port, "port")))
			port_twice(c, &item, port);
		if (check_seen_add(&node_pairs, c->arena, pair(c, port, "nodePort")))
			node_port_twice(c, &item, port);
	}
}

/* ---- what belongs to a type ---- */

static void check_external_name(const struct checking *c, const struct tree *spec)
{
	struct str name = tree_gets(spec, "externalName");

	if (!check_same(tree_getz(spec, "clusterIPs"), NULL))
		check_forbidden(c, NULL, "spec.clusterIPs", "may not be set for ExternalName services");
	if (str_ends(name, STR(".")))
		name.len--;
	if (!name.len)
		check_missing(c, NULL, "spec.externalName", "");
	check_format(c, NULL, "spec.externalName", name, name_dns1123_subdomain);
}

static void check_load_balancer_fields(const struct checking *c, const struct tree *spec)
{
	static const char *const fields[] = {"loadBalancerClass", "allocateLoadBalancerNodePorts",
					     "loadBalancerSourceRanges"};
	static const char *const places[] = {"spec.loadBalancerClass", "spec.allocateLoadBalancerNodePorts",
					     "spec.LoadBalancerSourceRanges"}; /* the server's own spelling */

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (tree_getz(spec, fields[i]))
			check_forbidden(c, NULL, places[i], "may only be used when `type` is 'LoadBalancer'");
}

/* ---- what an update may not change ---- */

static void unchanged_head(const struct checking *c, const char *field, const struct tree *now,
			   const struct tree *old)
{
	struct place list = place_field(NULL, field), first = place_item(&list, 0);

	if (head_of(old).len && !str_eq(head_of(now), head_of(old)))
		check_invalid(c, &first, NULL, check_items(now) ? now->items[0] : now,
			      "may not change once set");
}

static void check_update(const struct checking *c, const struct tree *spec, const struct tree *old)
{
	enum service_type now = type_of(spec), before = type_of(old);

	if (now != EXTERNAL_NAME && before != EXTERNAL_NAME) {
		unchanged_head(c, "spec.clusterIPs", tree_getz(spec, "clusterIPs"), tree_getz(old, "clusterIPs"));
		unchanged_head(c, "spec.ipFamilies", tree_getz(spec, "ipFamilies"), tree_getz(old, "ipFamilies"));
	}
	if (now == LOAD_BALANCER && before == LOAD_BALANCER &&
	    !check_same(tree_getz(spec, "loadBalancerClass"), tree_getz(old, "loadBalancerClass")))
		check_invalid(c, NULL, "spec.loadBalancerClass", tree_getz(spec, "loadBalancerClass"),
			      "may not change once set");
}

CHECK_FN(service)
{
	const struct tree *spec = tree_getz(object, "spec");
	enum service_type type = type_of(spec);
	struct place ips = place_field(NULL, "spec.clusterIPs"), first = place_item(&ips, 0);

	(void)at;
	if (type == OTHER_TYPE)
		check_unsupported(c, NULL, "spec.type", tree_getz(spec, "type"), types, OTHER_TYPE);
	check_ports(c, spec, type);
	if (type == EXTERNAL_NAME)
		check_external_name(c, spec);
	if (type == LOAD_BALANCER && headless(spec))
		check_invalid_text(c, &first, NULL, STR("None"),
				   "may not be set to 'None' for LoadBalancer services");
	if (type == NODE_PORT && headless(spec))
		check_invalid_text(c, &first, NULL, STR("None"), "may not be set to 'None' for NodePort services");
	if (type != LOAD_BALANCER)
		check_load_balancer_fields(c, spec);
	check_label_map(c, NULL, "spec.selector", tree_getz(spec, "selector"));
	if (c->old)
		check_update(c, spec, tree_getz(c->old, "spec"));
}
