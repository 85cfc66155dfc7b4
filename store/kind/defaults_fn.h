/* SPDX-License-Identifier: Apache-2.0 */
/* What the defaulting functions share: small moves on trees, and the declarations the tables refer to. */
#ifndef HOLDFS_DEFAULTS_FN_H
#define HOLDFS_DEFAULTS_FN_H

#include "store/kind/rules_tables.h"

/* The items of an array member; 0 when absent. */
static inline uint32_t items_of(const struct tree *array)
{
	return tree_is(array, TREE_ARRAY) ? array->len : 0;
}

/* The members of an object member; 0 when absent. */
static inline uint32_t members_of(const struct tree *object)
{
	return tree_is(object, TREE_OBJECT) ? object->len : 0;
}

/* Sets a member where it is absent or empty. */
static inline bool fill(struct arena *a, struct tree *object, const char *key, struct tree *value)
{
	return !tree_is_empty(tree_getz(object, key)) || tree_setz(a, object, key, value);
}

/* Sets a member where it is absent. */
static inline bool fill_absent(struct arena *a, struct tree *object, const char *key, struct tree *value)
{
	return tree_getz(object, key) || tree_setz(a, object, key, value);
}

/* Copies a member from one object to another, where there is one. */
static inline bool take(struct arena *a, struct tree *to, const struct tree *from, const char *key)
{
	const struct tree *value = tree_getz(from, key);

	return !value || tree_setz(a, to, key, tree_copy(a, value));
}

#define DEFAULT_FN(name) bool default_##name(const struct defaulting *d, struct tree *object)

DEFAULT_FN(account_secrets);
DEFAULT_FN(claim_source);
DEFAULT_FN(crd);
DEFAULT_FN(daemon_set_generation);
DEFAULT_FN(daemon_set_strategy);
DEFAULT_FN(deployment_strategy);
DEFAULT_FN(device_count);
DEFAULT_FN(image_volume);
DEFAULT_FN(job);
DEFAULT_FN(limit_range_item);
DEFAULT_FN(namespace);
DEFAULT_FN(node);
DEFAULT_FN(pod);
DEFAULT_FN(pod_account);
DEFAULT_FN(policy_types);
DEFAULT_FN(pull_policy);
DEFAULT_FN(replication_controller);
DEFAULT_FN(secret);
DEFAULT_FN(service);
DEFAULT_FN(stateful_set);
DEFAULT_FN(stateful_set_strategy);
DEFAULT_FN(subject_group);
DEFAULT_FN(target_port);
DEFAULT_FN(volume);
DEFAULT_FN(volume_phase_time);

#endif
