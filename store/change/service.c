/* SPDX-License-Identifier: Apache-2.0 */
/* Service addresses and node ports: one range each, every value in use is a claim of its object.
 *
 * Rules of bootstrap.json `serviceNetwork`: a static band at the start of the range is left to those who
 * name an address, free ones are taken from the rest from a random start upwards. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/random.h>

#include "store/change/prepare.h"
#include "store/db/claims.h"

/* 10.96.0.0/12, the range kubeadm sets up, and kube-apiserver's default node ports. */
enum { NET_BASE = (10 << 24) | (96 << 16), NET_SIZE = 1 << 20, NET_BAND = 256 };
enum { PORT_FIRST = 30000, PORT_LAST = 32767, PORT_BAND = 86 };
#define NET_TEXT "10.96.0.0/12"
#define PORT_TEXT "30000-32767"

static bool is_service(const struct kind *k)
{
	return !k->group.len && str_is(k->kind, "Service");
}

static struct str ip_text(struct arena *a, uint32_t offset)
{
	uint32_t ip = (uint32_t)NET_BASE + offset;

	return arena_printf(a, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

static uint32_t random_below(uint32_t n)
{
	uint32_t r = 0;

	return getrandom(&r, sizeof(r), 0) == sizeof(r) ? r % n : 0;
}

static bool is_free(struct prepare *p, struct str claim)
{
	return claim.ptr && claim_free(p->read, claim, p->storage, p->req->ns, p->name);
}

/* A free address: the dynamic band from a random start, wrapping, then the static one. */
static struct str free_ip(struct prepare *p)
{
	uint32_t size = NET_SIZE - 2 - NET_BAND, start = random_below(size);

	for (uint32_t i = 0; i < size; i++) {
		struct str ip = ip_text(p->arena, 1 + NET_BAND + (start + i) % size);
		if (!ip.ptr || is_free(p, arena_printf(p->arena, "ip/%.*s", STR_ARG(ip))))
			return ip;
	}
	for (uint32_t i = 1; i <= NET_BAND; i++) {
		struct str ip = ip_text(p->arena, i);
		if (!ip.ptr || is_free(p, arena_printf(p->arena, "ip/%.*s", STR_ARG(ip))))
			return ip;
	}
	return (struct str){0};
}

static int set_ip(struct prepare *p, struct tree *spec, struct status *st)
{
	struct str ip = free_ip(p);
	struct tree *list = tree_array(p->arena), *text = tree_string(p->arena, ip);

	if (!ip.ptr)
		return status_set(st, REASON_INTERNAL,
				  "Internal error occurred: failed to allocate a serviceIP for Service \"%.*s\": range is full",
				  STR_ARG(p->name));
	if (!list || !text || !tree_append(p->arena, list, text) || !tree_setz(p->arena, spec, "clusterIP", text) ||
	    !tree_setz(p->arena, spec, "clusterIPs", list))
		return status_no_memory(st);
	return 0;
}

/* An address that the object names itself. */
static void check_ip(struct prepare *p, struct str ip, struct status *st)
{
	char z[64];
	struct in_addr v4;
	const char *why = NULL;

	snprintf(z, sizeof(z), "%.*s", STR_ARG(ip));
	if (inet_pton(AF_INET, z, &v4) != 1)
		return; /* validation says so, or it is IPv6 */
	uint32_t offset = ntohl(v4.s_addr) - (uint32_t)NET_BASE;
	if (offset >= NET_SIZE)
		why = "the provided network does not match the current range";
	else if (offset == 0 || offset == NET_SIZE - 1)
		why = "the provided IP is not in the valid range. The range of valid IPs is " NET_TEXT;
	else if (!is_free(p, arena_printf(p->arena, "ip/%.*s", STR_ARG(ip))))
		why = "provided IP is already allocated";
	if (why)
		status_cause(st, CAUSE_INVALID, "spec.clusterIPs", ": [\"%s\"]: failed to allocate IP %s: %s", z, z, why);
}

static bool uses_ports(const struct tree *spec)
{
	struct str type = tree_gets(spec, "type");
	const struct tree *allocate = tree_getz(spec, "allocateLoadBalancerNodePorts");

	return str_is(type, "NodePort") || (str_is(type, "LoadBalancer") && !tree_is(allocate, TREE_FALSE));
}

/* Does this object already have n, in ports[0..before)? (TCP and UDP may share one.) */
static int64_t shared_port(const struct tree *ports, uint32_t before, int64_t port)
{
	int64_t other, node;

	for (uint32_t i = 0; i < before; i++)
		if (tree_i64(tree_getz(ports->items[i], "port"), &other) && other == port &&
		    tree_i64(tree_getz(ports->items[i], "nodePort"), &node))
			return node;
	return 0;
}

static bool port_taken_here(const struct tree *spec, int64_t n)
{
	const struct tree *ports = tree_getz(spec, "ports");
	int64_t node;

	for (uint32_t i = 0; tree_is(ports, TREE_ARRAY) && i < ports->len; i++)
		if (tree_i64(tree_getz(ports->items[i], "nodePort"), &node) && node == n)
			return true;
	return tree_i64(tree_getz(spec, "healthCheckNodePort"), &node) && node == n;
}

static int64_t free_port(struct prepare *p, const struct tree *spec)
{
	uint32_t first = PORT_FIRST + PORT_BAND, size = PORT_LAST - first + 1, start = random_below(size);

	for (uint32_t i = 0; i < size + PORT_BAND; i++) {
		int64_t n = i < size ? first + (start + i) % size : PORT_FIRST + (i - size);
		if (!port_taken_here(spec, n) && is_free(p, arena_printf(p->arena, "port/%jd", (intmax_t)n)))
			return n;
	}
	return 0;
}

static int set_port(struct prepare *p, const struct tree *spec, struct tree *in, const char *key, int64_t n,
		    struct status *st)
{
	struct tree *number;

	if (!n)
		n = free_port(p, spec);
	if (!n)
		return status_set(st, REASON_INTERNAL,
				  "Internal error occurred: failed to allocate a nodePort: range is full");
	number = tree_int(p->arena, n);
	return number && tree_setz(p->arena, in, key, number) ? 0 : status_no_memory(st);
}

static void check_port(struct prepare *p, const char *field, int64_t n, struct status *st)
{
	if (n < PORT_FIRST || n > PORT_LAST)
		status_cause(st, CAUSE_INVALID, field,
			     ": %jd: provided port is not in the valid range. The range of valid ports is " PORT_TEXT,
			     (intmax_t)n);
	else if (!is_free(p, arena_printf(p->arena, "port/%jd", (intmax_t)n)))
		status_cause(st, CAUSE_INVALID, field, ": %jd: provided port is already allocated", (intmax_t)n);
}

static int allocate_ports(struct prepare *p, struct tree *spec, struct status *st)
{
	struct tree *ports = tree_getz(spec, "ports");
	bool uses = uses_ports(spec);

	for (uint32_t i = 0; tree_is(ports, TREE_ARRAY) && i < ports->len; i++) {
		int64_t node = 0, port = 0;
		tree_i64(tree_getz(ports->items[i], "nodePort"), &node);
		tree_i64(tree_getz(ports->items[i], "port"), &port);
		if (node) {
			char field[64];
			snprintf(field, sizeof(field), "spec.ports[%u].nodePort", i);
			check_port(p, field, node, st);
		} else if (uses) {
			int err = set_port(p, spec, ports->items[i], "nodePort", shared_port(ports, i, port), st);
			if (err)
				return err;
		}
	}
	return 0;
}

static int allocate_health_port(struct prepare *p, struct tree *spec, struct status *st)
{
	int64_t n = 0;

	tree_i64(tree_getz(spec, "healthCheckNodePort"), &n);
	if (!str_is(tree_gets(spec, "type"), "LoadBalancer") ||
	    !str_is(tree_gets(spec, "externalTrafficPolicy"), "Local"))
		return 0;
	if (!n)
		return set_port(p, spec, spec, "healthCheckNodePort", 0, st);
	check_port(p, "spec.healthCheckNodePort", n, st);
	return 0;
}

int service_allocate(struct prepare *p, struct status *st)
{
	struct tree *spec = tree_getz(p->next, "spec");

	if (!is_service(p->storage) || !spec)
		return 0;
	struct str ip = tree_gets(spec, "clusterIP");
	int err = 0;
	if (str_is(tree_gets(spec, "type"), "ExternalName"))
		return 0;
	if (!ip.len)
		err = set_ip(p, spec, st);
	else if (!str_is(ip, "None"))
		check_ip(p, ip, st);
	if (!err)
		err = allocate_ports(p, spec, st);
	return err ? err : allocate_health_port(p, spec, st);
}

static void claim(struct prepare *p, struct str text)
{
	for (size_t i = 0; i < p->nclaims; i++)
		if (str_eq(p->claims[i], text))
			return;
	if (text.ptr && p->nclaims < CLAIMS_MAX)
		p->claims[p->nclaims++] = text;
}

static void claim_port(struct prepare *p, const struct tree *value)
{
	int64_t n;

	if (tree_i64(value, &n) && n)
		claim(p, arena_printf(p->arena, "port/%jd", (intmax_t)n));
}

void service_claims(struct prepare *p)
{
	const struct tree *spec = tree_getz(p->next, "spec"), *ports = tree_getz(spec, "ports");
	struct str ip = tree_gets(spec, "clusterIP");

	if (!is_service(p->storage))
		return;
	if (ip.len && !str_is(ip, "None"))
		claim(p, arena_printf(p->arena, "ip/%.*s", STR_ARG(ip)));
	for (uint32_t i = 0; tree_is(ports, TREE_ARRAY) && i < ports->len; i++)
		claim_port(p, tree_getz(ports->items[i], "nodePort"));
	claim_port(p, tree_getz(spec, "healthCheckNodePort"));
}
