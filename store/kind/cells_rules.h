/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a column of tables/columns.json may name, and the little language of its `path`. */
#ifndef HOLDFS_CELLS_RULES_H
#define HOLDFS_CELLS_RULES_H

/* A path is a list of alternatives separated by '|'. One that starts with '.' is a place in the object,
 * `.spec.hosts`, `[0]` for an item, `[*]` for all items; the first place that has a value wins. Any other
 * alternative is a text that stands in when nothing was found: `.spec.nodeName|<none>`.
 *
 * Some rules take keys behind the place, `/` before each: `.roleRef/kind/name`. */
enum cell_rule {
	/* A value of the object. "Absent" includes values of the wrong type and, for texts, "". */
	CELL_TEXT,         /* string; "" when absent and there is no stand-in */
	CELL_TEXT_TRIMMED, /* the same without white space around it */
	CELL_INT,          /* JSON integer; 0 when absent */
	CELL_INT_TEXT,     /* an integer or a string, as text */
	CELL_BOOL,         /* JSON boolean; false when absent, or true when the stand-in is `true` */
	CELL_BOOL_TEXT,    /* "True", "False" */
	CELL_QUANTITY,     /* canonical quantity; "0" when absent */
	CELL_DURATION,     /* HumanDuration of a number of seconds */
	CELL_AGE,          /* HumanDuration since a time; "<unknown>" when absent and there is no stand-in */
	CELL_CREATED_AT,   /* the time itself */

	/* Many values. */
	CELL_COUNT,        /* JSON integer: members or items of all places together */
	CELL_JOIN,         /* texts joined with "," */
	CELL_JOIN_MORE,    /* the first 3 of them, then " + N more..." */
	CELL_LABELS,       /* k=v,... of a map; "<none>" when empty */
	CELL_SELECTOR,     /* a LabelSelector as kubectl's -l; "<none>" when empty */
	CELL_SELECTOR_DEPLOYMENT, /* the same; "" when empty */
	CELL_BY_TYPE,      /* place/TYPE/key: key of the first item whose `type` is TYPE */
	CELL_PAIR,         /* place/key/key: both texts with "/" between */
	CELL_SUBJECTS,     /* place/KIND: names of the RBAC subjects of this kind */

	/* What several kinds share but no path can say. */
	CELL_PHASE,        /* "Terminating" while being deleted, else as TEXT */
	CELL_CLASS_NAME,   /* the name, " (default)" behind it when an annotation (path: their keys) is "true" */
	CELL_REPLICAS_READY, /* ready/desired */
	CELL_ACCESS_MODES, /* RWO,ROX,... */
	CELL_STORAGE_CLASS, /* the beta annotation, else as TEXT */
	CELL_LOAD_BALANCER, /* addresses of ingress entries */
	CELL_PARAM_REF,    /* what an admission policy binding points to */

	/* One kind each. */
	CELL_POD_READY,
	CELL_POD_STATUS,
	CELL_POD_RESTARTS,
	CELL_POD_GATES,
	CELL_JOB_STATUS,
	CELL_JOB_COMPLETIONS,
	CELL_JOB_DURATION,
	CELL_HPA_TARGETS,
	CELL_OWNER,
	CELL_SERVICE_EXTERNAL_IP,
	CELL_SERVICE_PORTS,
	CELL_INGRESS_HOSTS,
	CELL_INGRESS_PORTS,
	CELL_CLASS_PARAMETERS,
	CELL_ENDPOINTS,
	CELL_SLICE_PORTS,
	CELL_PARENT_REF,
	CELL_NODE_STATUS,
	CELL_NODE_ROLES,
	CELL_NODE_KERNEL,
	CELL_COMPONENT_STATUS,
	CELL_EVENT_LAST_SEEN,
	CELL_EVENT_OBJECT,
	CELL_EVENT_SOURCE,
	CELL_EVENT_COUNT,
	CELL_CLAIM_CAPACITY,
	CELL_CLAIM_ACCESS_MODES,
	CELL_QUOTA_REQUESTS,
	CELL_QUOTA_LIMITS,
	CELL_CSR_CONDITION,
	CELL_CLAIM_STATE,
	CELL_API_AVAILABLE,

	CELL_RULES /* how many there are */
};

#endif
