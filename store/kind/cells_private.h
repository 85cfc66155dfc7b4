/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of cells_*.c share: the row being made, reading by path, lists of texts. */
#ifndef HOLDFS_CELLS_PRIVATE_H
#define HOLDFS_CELLS_PRIVATE_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/codec/tree.h"
#include "store/kind/cells.h"
#include "store/kind/cells_rules.h"

/* Room for what age_text writes. */
#define AGE_MAX 24

struct pod;

/* A row in the making. */
struct cells {
	struct arena *arena;
	const struct tree *object;
	struct str path;        /* of the column being filled */
	struct buf text;        /* the JSON array so far */
	struct buf holes;       /* as in the block */
	const char *conditions; /* JSON of the row's conditions, or NULL */
	const struct pod *pod;  /* private to cells_pod.c */
	bool failed;            /* the arena is full; text is not to be used */
};

/* A rule adds exactly one JSON value (see CELL_PARENT_REF for the exception) for the column c->path. It reads any
 * object without failing: what is absent or of another type is absent. */
typedef void cell_rule_fn(struct cells *c);

/* Writing a string cell in pieces: begin, any number of adds, end. */
void cell_begin(struct cells *c);
void cell_add(struct cells *c, struct str s);
void cell_addz(struct cells *c, const char *z);
void cell_add_int(struct cells *c, int64_t v);
/* HumanDuration since t, filled in when the row is sent. */
void cell_add_age(struct cells *c, int64_t t);
/* HumanDuration of a time span that no longer grows. */
void cell_add_duration(struct cells *c, int64_t seconds);
/* " + N more..." */
void cell_add_more(struct cells *c, uint64_t n);
/* A quantity in canonical text; `other` when t is none. */
void cell_add_quantity(struct cells *c, const struct tree *t, const char *other);
void cell_end(struct cells *c);
/* Whole cells. */
void cell_text(struct cells *c, struct str s);
void cell_textz(struct cells *c, const char *z);
void cell_int(struct cells *c, int64_t v);
void cell_bool(struct cells *c, bool v);

/* Reading. All take NULL and values of other types for absent. */

/* The value at a path without alternatives. */
const struct tree *cell_at(const struct tree *t, struct str path);
/* The value at the first alternative of the column's path; keys behind it are left out. */
const struct tree *cell_place(const struct cells *c);
/* The keys behind the place (empty when there are fewer) and the stand-in text (empty when there is none). */
struct cell_keys {
	struct str key[2];
	struct str other;
};
struct cell_keys cell_keys(const struct cells *c);
/* The first place of the column's path whose value fits; NULL and the stand-in text otherwise (.ptr NULL
 * when there is none). */
const struct tree *cell_find(const struct cells *c, bool (*fits)(const struct tree *), struct str *ret_other);

/* Number of items; 0 for what is no array. */
static inline uint32_t cell_items(const struct tree *array)
{
	return tree_is(array, TREE_ARRAY) ? array->len : 0;
}
/* Number of items or members. */
uint32_t cell_count(const struct tree *t);
/* An integer; 0 when it is none. */
int64_t cell_i64(const struct tree *t);
/* A time; false when there is none or it is Go's zero time. */
bool cell_time(const struct tree *t, int64_t *ret);
/* The first item whose member `type` is type; NULL when there is none. */
const struct tree *cell_by_type(const struct tree *array, struct str type);
/* Does the first condition of this type have status "True"? */
bool cell_is_true(const struct tree *conditions, const char *type);
bool cell_is_deleted(const struct cells *c);

/* Texts in the arena. A failure to grow sets c->failed and loses the text. */
struct cell_list {
	struct str *items;
	uint32_t len, cap;
};
void list_add(struct cells *c, struct cell_list *l, struct str s);
/* The texts at every value of a path with [*]; a value that is no string counts as "". */
void list_collect(struct cells *c, struct cell_list *l, const struct tree *t, struct str path);
void list_sort(struct cell_list *l);
/* Drops repetitions of a sorted list. */
void list_unique(struct cell_list *l);
/* Is s in the sorted list? */
bool list_has(const struct cell_list *l, struct str s);
/* Adds the first max texts to the open cell, and how many more there are. */
void list_write(struct cells *c, const struct cell_list *l, const char *separator, uint32_t max);
/* A whole cell of them; `other` when the list is empty. */
void list_cell(struct cells *c, const struct cell_list *l, const char *separator, struct str other);
/* a, b and d in one text. */
struct str cell_concat(struct cells *c, struct str a, struct str b, struct str d);
/* s with ASCII letters in lower case. */
struct str cell_lower(struct cells *c, struct str s);

/* The rules; cells_rules.h says what each does. */
cell_rule_fn rule_text, rule_text_trimmed, rule_int, rule_int_text, rule_bool, rule_bool_text, rule_quantity, rule_duration,
	rule_age, rule_created_at, rule_count, rule_join, rule_join_more, rule_by_type, rule_pair; /* cells_generic.c */
cell_rule_fn rule_labels, rule_selector, rule_selector_deployment, rule_param_ref; /* cells_selector.c */
cell_rule_fn rule_pod_ready, rule_pod_status, rule_pod_restarts, rule_pod_gates; /* cells_pod.c */
cell_rule_fn rule_replicas_ready, rule_job_status, rule_job_completions, rule_job_duration, rule_hpa_targets,
	rule_owner; /* cells_workload.c */
cell_rule_fn rule_load_balancer, rule_service_external_ip, rule_service_ports, rule_ingress_hosts, rule_ingress_ports,
	rule_class_parameters, rule_endpoints, rule_slice_ports, rule_parent_ref; /* cells_network.c */
cell_rule_fn rule_phase, rule_class_name, rule_access_modes, rule_storage_class, rule_claim_capacity,
	rule_claim_access_modes, rule_claim_state; /* cells_storage.c */
cell_rule_fn rule_node_status, rule_node_roles, rule_node_kernel, rule_component_status, rule_event_last_seen,
	rule_event_object, rule_event_source, rule_event_count; /* cells_core.c */
cell_rule_fn rule_subjects, rule_quota_requests, rule_quota_limits, rule_csr_condition, rule_api_available; /* cells_policy.c */

#endif
