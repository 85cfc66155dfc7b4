/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of Services: what the type asks for, and what an update keeps of the stored object. Addresses and
 * ports that must be free are given elsewhere. */
#include "store/kind/defaults_fn.h"

/* What a type of Service makes use of. */
struct service_use {
	const char *type;
	bool cluster_ip, node_port, load_balancer;
};

static const struct service_use *use_of(const struct tree *spec)
{
	static const struct service_use uses[] = {
		{"ClusterIP", true, false, false},
		{"NodePort", true, true, false},
		{"LoadBalancer", true, true, true},
		{"ExternalName", false, false, false},
	};
	struct str type = tree_gets(spec, "type");

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (str_is(type, uses[i].type))
			return &uses[i];
	return &uses[3]; /* an unknown type: validation refuses it, nothing to fill in */
}

static bool health_check(const struct tree *spec)
{
	return use_of(spec)->load_balancer && str_is(tree_gets(spec, "externalTrafficPolicy"), "Local");
}

DEFAULT_FN(target_port)
{
	struct tree *port = tree_getz(object, "port");

	return !port || fill(d->arena, object, "targetPort", port);
}

static bool affinity(struct arena *a, struct tree *spec)
{
	if (!str_is(tree_gets(spec, "sessionAffinity"), "ClientIP")) {
		if (str_is(tree_gets(spec, "sessionAffinity"), "None"))
			tree_removez(spec, "sessionAffinityConfig");
		return true;
	}
	struct tree *config = tree_ensure(a, spec, STR("sessionAffinityConfig"));
	struct tree *client = config ? tree_ensure(a, config, STR("clientIP")) : NULL;
	return client && fill_absent(a, client, "timeoutSeconds", tree_int(a, 10800));
}

static bool policies(struct arena *a, struct tree *spec, const struct service_use *use)
{
	bool external = use->node_port || (use->cluster_ip && items_of(tree_getz(spec, "externalIPs")));

	if (external && !fill(a, spec, "externalTrafficPolicy", tree_string(a, STR("Cluster"))))
		return false;
	if (use->cluster_ip && !fill_absent(a, spec, "internalTrafficPolicy", tree_string(a, STR("Cluster"))))
		return false;
	return !use->load_balancer || fill_absent(a, spec, "allocateLoadBalancerNodePorts", tree_bool(a, true));
}

static bool ingress_modes(struct arena *a, const struct tree *object)
{
	const struct tree *ingress = tree_path(object, "status.loadBalancer.ingress");

	for (uint32_t i = 0; i < items_of(ingress); i++)
		if (tree_gets(ingress->items[i], "ip").len &&
		    !fill_absent(a, ingress->items[i], "ipMode", tree_string(a, STR("VIP"))))
			return false;
	return true;
}

/* ---- clusterIP is always clusterIPs[0] ---- */

static struct tree *one(struct arena *a, struct str text)
{
	struct tree *list = tree_array(a), *item = tree_string(a, text);

	return list && item && tree_append(a, list, item) ? list : NULL;
}

static struct str first(const struct tree *list)
{
	return items_of(list) ? tree_text(list->items[0]) : (struct str){0};
}

static bool cluster_ips(const struct defaulting *d, struct tree *spec)
{
	struct str ip = tree_gets(spec, "clusterIP"), head = first(tree_getz(spec, "clusterIPs"));
	const struct tree *old = tree_getz(d->old, "spec");

	if (ip.len && !head.len)
		return tree_setz(d->arena, spec, "clusterIPs", one(d->arena, ip));
	if (head.len && !ip.len)
		return tree_sets(d->arena, spec, "clusterIP", head);
	/* Only the old field was changed: it speaks for the first address. */
	if (old && !str_eq(ip, head) && !str_eq(ip, tree_gets(old, "clusterIP")) &&
	    str_eq(head, first(tree_getz(old, "clusterIPs"))))
		return tree_setz(d->arena, spec, "clusterIPs", one(d->arena, ip));
	return true;
}

static struct str family_of(struct str ip)
{
	return str_chr(ip, ':') >= 0 ? STR("IPv6") : STR("IPv4");
}

/* The families of the given addresses, else that of the cluster, which is IPv4. */
static struct tree *families_new(struct arena *a, const struct tree *spec)
{
	const struct tree *ips = tree_getz(spec, "clusterIPs");
	struct tree *list = tree_array(a);

	for (uint32_t i = 0; list && i < items_of(ips); i++) {
		struct str ip = tree_text(ips->items[i]);
		if (ip.len && !str_is(ip, "None") && !tree_append(a, list, tree_string(a, family_of(ip))))
			return NULL;
	}
	if (list && !list->len && !tree_append(a, list, tree_string(a, STR("IPv4"))))
		return NULL;
	return list;
}

static bool second_family(struct arena *a, const struct tree *spec)
{
	struct tree *list = tree_getz(spec, "ipFamilies");

	if (items_of(list) != 1 || !str_is(tree_gets(spec, "ipFamilyPolicy"), "RequireDualStack"))
		return true;
	return tree_append(a, list, tree_string(a, str_is(first(list), "IPv4") ? STR("IPv6") : STR("IPv4")));
}

static bool families(struct arena *a, struct tree *spec)
{
	bool headless = str_is(first(tree_getz(spec, "clusterIPs")), "None");
	bool bare = headless && tree_is_empty(tree_getz(spec, "selector"));

	if (!fill(a, spec, "ipFamilyPolicy", tree_string(a, bare ? STR("RequireDualStack") : STR("SingleStack"))))
		return false;
	if (!items_of(tree_getz(spec, "ipFamilies")) &&
	    !tree_setz(a, spec, "ipFamilies", families_new(a, spec)))
		return false;
	return second_family(a, spec);
}

/* ---- update ---- */

static bool port_number_used(const struct tree *ports, const struct tree *number)
{
	for (uint32_t i = 0; i < items_of(ports); i++)
		if (tree_equal(tree_getz(ports->items[i], "nodePort"), number))
			return true;
	return false;
}

static struct tree *node_port_of(const struct tree *ports, struct str name)
{
	for (uint32_t i = 0; i < items_of(ports); i++)
		if (str_eq(tree_gets(ports->items[i], "name"), name))
			return tree_getz(ports->items[i], "nodePort");
	return NULL;
}

/* Beyond this many ports nobody matches them by name. */
enum { KEPT_PORTS_MAX = 256 };

/* Node ports that the request left out, by port name. */
static bool keep_node_ports(struct arena *a, const struct tree *spec, const struct tree *old)
{
	const struct tree *ports = tree_getz(spec, "ports"), *before = tree_getz(old, "ports");

	if (items_of(ports) > KEPT_PORTS_MAX || items_of(before) > KEPT_PORTS_MAX)
		return true;
	for (uint32_t i = 0; i < items_of(ports); i++) {
		const struct tree *number = node_port_of(before, tree_gets(ports->items[i], "name"));
		if (tree_is_empty(number) || !tree_is_empty(tree_getz(ports->items[i], "nodePort")) ||
		    port_number_used(ports, number))
			continue;
		if (!tree_setz(a, ports->items[i], "nodePort", tree_copy(a, number)))
			return false;
	}
	return true;
}

/* What was allocated and what the request left out stays as it was, as long as the type needs it. */
static bool keep_allocated(struct arena *a, struct tree *spec, const struct tree *old)
{
	const struct service_use *now = use_of(spec), *before = use_of(old);

	if (now->cluster_ip && before->cluster_ip) {
		if (!tree_gets(spec, "clusterIP").len && !items_of(tree_getz(spec, "clusterIPs")) &&
		    (!take(a, spec, old, "clusterIP") || !take(a, spec, old, "clusterIPs")))
			return false;
		if (!items_of(tree_getz(spec, "clusterIPs")) &&
		    str_eq(tree_gets(spec, "clusterIP"), tree_gets(old, "clusterIP")) &&
		    !take(a, spec, old, "clusterIPs"))
			return false;
		if (!tree_gets(spec, "ipFamilyPolicy").len && !take(a, spec, old, "ipFamilyPolicy"))
			return false;
		if (!items_of(tree_getz(spec, "ipFamilies")) && !take(a, spec, old, "ipFamilies"))
			return false;
	}
	if (now->node_port && before->node_port && !keep_node_ports(a, spec, old))
		return false;
	if (health_check(spec) && health_check(old) && tree_is_empty(tree_getz(spec, "healthCheckNodePort")))
		return take(a, spec, old, "healthCheckNodePort");
	return true;
}

/* Removes a field that the new type has no use for, where the request left it as stored. */
static void drop(struct tree *spec, const struct tree *old, const char *key)
{
	if (tree_equal(tree_getz(spec, key), tree_getz(old, key)))
		tree_removez(spec, key);
}

static bool same_node_ports(const struct tree *ports, const struct tree *before)
{
	if (items_of(ports) != items_of(before))
		return false;
	for (uint32_t i = 0; i < items_of(ports); i++)
		if (!tree_equal(tree_getz(ports->items[i], "nodePort"), tree_getz(before->items[i], "nodePort")))
			return false;
	return true;
}

static void drop_unused(struct tree *spec, const struct tree *old)
{
	const struct service_use *now = use_of(spec), *before = use_of(old);
	const struct tree *ports = tree_getz(spec, "ports");

	if (before->cluster_ip && !now->cluster_ip) {
		drop(spec, old, "clusterIP");
		drop(spec, old, "clusterIPs");
		drop(spec, old, "ipFamilies");
		drop(spec, old, "ipFamilyPolicy");
	}
	if (before->node_port && !now->node_port && same_node_ports(ports, tree_getz(old, "ports")))
		for (uint32_t i = 0; i < items_of(ports); i++)
			tree_removez(ports->items[i], "nodePort");
	if (health_check(old) && !health_check(spec))
		drop(spec, old, "healthCheckNodePort");
	if (before->load_balancer && !now->load_balancer) {
		drop(spec, old, "allocateLoadBalancerNodePorts");
		drop(spec, old, "loadBalancerClass");
	}
	if (before->node_port && !now->node_port && !items_of(tree_getz(spec, "externalIPs")))
		drop(spec, old, "externalTrafficPolicy");
}

static bool update(const struct defaulting *d, struct tree *object, struct tree *spec)
{
	const struct tree *old = tree_getz(d->old, "spec");

	if (!tree_is(old, TREE_OBJECT))
		return true;
	if (!keep_allocated(d->arena, spec, old))
		return false;
	drop_unused(spec, old);
	struct tree *status = tree_getz(object, "status");
	if (use_of(old)->load_balancer && !use_of(spec)->load_balancer && tree_is(status, TREE_OBJECT))
		return tree_setz(d->arena, status, "loadBalancer", tree_object(d->arena));
	return true;
}

DEFAULT_FN(service)
{
	struct tree *spec = tree_getz(object, "spec");

	if (!tree_is(spec, TREE_OBJECT))
		return true;
	const struct service_use *use = use_of(spec);
	if (d->old && !update(d, object, spec))
		return false;
	if (!affinity(d->arena, spec) || !policies(d->arena, spec, use) || !cluster_ips(d, spec))
		return false;
	if (use->load_balancer && !ingress_modes(d->arena, object))
		return false;
	return !use->cluster_ip || families(d->arena, spec);
}
