/* SPDX-License-Identifier: Apache-2.0 */
/* One YAML document between reading (yaml_read.c) and writing as JSON (yaml_json.c).
 *
 * An alias is a node that points to its target. A target that was still open is refused, so the
 * nodes form a graph without cycles. */
#ifndef HOLDFS_YAML_NODE_H
#define HOLDFS_YAML_NODE_H

#include "store/base/arena.h"
#include "store/base/status.h"

enum node_type { NODE_NULL, NODE_TRUE, NODE_FALSE, NODE_NUMBER, NODE_STRING, NODE_LIST, NODE_MAP, NODE_ALIAS };

struct node {
	uint8_t type; /* enum node_type */
	bool open;    /* while reading: its end has not come yet */
	bool merge;   /* a plain << */
	uint32_t line; /* from 1 */
	struct node *next; /* sibling; children of a MAP are key, value, key, value */
	union {
		struct str text; /* NUMBER as JSON, STRING */
		struct {
			struct node *first, *last;
		};
		struct node *target; /* ALIAS; never an ALIAS itself */
	};
};

static inline const struct node *node_target(const struct node *n)
{
	return n->type == NODE_ALIAS ? n->target : n;
}

/* `error converting YAML to JSON: yaml: line N: ...`, -EINVAL with REASON_BAD_REQUEST. */
int yaml_fail(size_t line, struct status *st, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds root as JSON to out, within limit bytes and YAML_NODES_MAX nodes; a is for scratch. */
int yaml_write_nodes(struct arena *a, const struct node *root, size_t limit, struct buf *out, struct status *st);

#endif
