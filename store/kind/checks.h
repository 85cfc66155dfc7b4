/* SPDX-License-Identifier: Apache-2.0 */
/* What the validation functions share: saying what is wrong, sets of names seen, labels. Private to store/kind.
 *
 * `at` is the place of the object a function looks at (NULL for the root); `field` is a dotted name below it, or
 * NULL for the place itself. The texts behind are those of kube-apiserver (validation.json). */
#ifndef HOLDFS_CHECKS_H
#define HOLDFS_CHECKS_H

#include "store/kind/rules_tables.h"

void check_missing(const struct checking *c, const struct place *at, const char *field, const char *detail);
void check_forbidden(const struct checking *c, const struct place *at, const char *field, const char *detail);
void check_invalid(const struct checking *c, const struct place *at, const char *field, const struct tree *value,
		   const char *detail);
void check_invalid_text(const struct checking *c, const struct place *at, const char *field, struct str value,
			const char *detail);
void check_unsupported(const struct checking *c, const struct place *at, const char *field,
		       const struct tree *value, const struct str *values, size_t nvalues);
void check_duplicate(const struct checking *c, const struct place *at, const char *field, struct str value);
void check_not_found(const struct checking *c, const struct place *at, const char *field, struct str value);
void check_too_long(const struct checking *c, const struct place *at, const char *field, size_t max);
void check_too_many(const struct checking *c, const struct place *at, const char *field, size_t found, size_t max);

/* A text with its grammar: nothing when it is good or empty. */
void check_format(const struct checking *c, const struct place *at, const char *field, struct str value,
		  format_fn format);
/* A map of labels; causes name the map, not the key. */
void check_label_map(const struct checking *c, const struct place *at, const char *field, const struct tree *labels);
void check_annotation_map(const struct checking *c, const struct place *at, const char *field,
			  const struct tree *annotations);
/* int >= 0 or N%; *ret_percent tells which, *ret is the number. False (a cause was added) otherwise. */
bool check_count_or_percent(const struct checking *c, const struct place *at, const char *field,
			    const struct tree *value, int64_t *ret, bool *ret_percent);
/* A port number or name, as in probes and services. */
void check_port(const struct checking *c, const struct place *at, const char *field, const struct tree *port);
/* On update: the field (dotted, from the root) is what it was. False (a cause was added) otherwise. */
bool check_immutable(const struct checking *c, const char *field);
/* Metadata of any kind. */
void check_metadata(const struct checking *c);
/* A label selector object against labels. A selector that is itself wrong matches. */
bool check_selects(const struct tree *selector, const struct tree *labels);

/* Texts seen so far; {0} is empty. Lives in the arena. */
struct check_seen {
	struct str *slots;
	uint32_t used, size; /* size is 0 or a power of two */
};
/* True when text was there before. Empty texts are never remembered. */
bool check_seen_add(struct check_seen *seen, struct arena *a, struct str text);
bool check_seen_has(const struct check_seen *seen, struct str text);

/* Items of an array member, 0 when it is absent or none. */
static inline uint32_t check_items(const struct tree *array)
{
	return tree_is(array, TREE_ARRAY) ? array->len : 0;
}

/* Members of an object, 0 when it is absent or none. */
static inline uint32_t check_members(const struct tree *object)
{
	return tree_is(object, TREE_OBJECT) ? object->len : 0;
}

/* Equal, or both absent or empty. */
static inline bool check_same(const struct tree *a, const struct tree *b)
{
	return (tree_is_empty(a) && tree_is_empty(b)) || tree_equal(a, b);
}

static inline bool check_one_of(struct str text, const struct str *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(text, values[i]))
			return true;
	return false;
}

static inline int64_t check_int(const struct tree *number, int64_t absent)
{
	int64_t v;

	return tree_i64(number, &v) ? v : absent;
}

#define CHECK_FN(name) void check_##name(const struct checking *c, const struct place *at, const struct tree *object)

/* Pods */
CHECK_FN(container);
CHECK_FN(env_source);
CHECK_FN(hook);
CHECK_FN(label_requirement);
CHECK_FN(pod);
CHECK_FN(pod_spec);
CHECK_FN(pod_template);
CHECK_FN(probe);
CHECK_FN(resources);
CHECK_FN(target);
CHECK_FN(toleration);
CHECK_FN(volume);
/* Workloads */
CHECK_FN(cron_job);
CHECK_FN(daemon_set);
CHECK_FN(daemon_set_strategy);
CHECK_FN(deployment);
CHECK_FN(deployment_strategy);
CHECK_FN(job);
CHECK_FN(replica_set);
CHECK_FN(replication_controller);
CHECK_FN(stateful_set);
/* Configuration */
CHECK_FN(config_map);
CHECK_FN(secret);
/* Networking */
CHECK_FN(endpoint_slice);
CHECK_FN(ingress);
CHECK_FN(ingress_backend);
CHECK_FN(ingress_path);
CHECK_FN(ingress_rule);
CHECK_FN(network_peer);
CHECK_FN(service);
CHECK_FN(service_cidr);
/* Storage */
CHECK_FN(attributes_class);
CHECK_FN(claim);
CHECK_FN(claim_spec);
CHECK_FN(persistent_volume);
/* Policies and the rest */
CHECK_FN(api_service);
CHECK_FN(autoscaler);
CHECK_FN(core_event);
CHECK_FN(disruption_budget);
CHECK_FN(event);
CHECK_FN(node);
CHECK_FN(policy_rule);
CHECK_FN(priority_class);
CHECK_FN(role_binding);
CHECK_FN(signing_request);
CHECK_FN(subject);
/* Custom resource definitions */
CHECK_FN(crd);
CHECK_FN(crd_names);
CHECK_FN(crd_version);

#endif
