/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the strategic merge: maps (strategic.c), lists (strategic_list.c), the texts of
 * errors (strategic_error.c). Private to store/change. */
#ifndef HOLDFS_STRATEGIC_H
#define HOLDFS_STRATEGIC_H

#include "store/base/arena.h"
#include "store/base/status.h"
#include "store/codec/tree.h"
#include "store/kind/schema.h"

/* One patch being applied. */
struct strategic {
	struct arena *arena;
	struct status *st;
};

/* All: 0 or -errno with st. node says what the value is, NULL when no schema knows it. */

/* old patched: old (NULL: nothing there) and patch are objects. */
int strategic_map(struct strategic *s, const struct schema_node *node, struct tree *old, const struct tree *patch,
		  struct tree **ret);
/* old and patch are arrays. */
int strategic_list(struct strategic *s, const struct schema_node *node, const struct tree *old,
		   const struct tree *patch, struct tree **ret);
/* $setElementOrder: list in the order of `order`; what order does not name keeps its place relative to
 * the others as far as it can, judged by old (may be NULL). */
int strategic_order(struct strategic *s, const struct schema_node *node, const struct tree *list,
		    const struct tree *order, const struct tree *old, struct tree **ret);
/* Is patch (an array, directives aside) in the order of `order`, and no more than it? */
int strategic_order_check(struct strategic *s, const struct schema_node *node, const struct tree *patch,
			  const struct tree *order);
/* $deleteFromPrimitiveList: list without the scalars of `gone`. */
int strategic_delete(struct strategic *s, const struct tree *list, const struct tree *gone, struct tree **ret);

/* A copy of a value that the patch brings in whole: without directives and null members. *ret is NULL when the value is
 * nothing but a directive. */
int strategic_copy(struct strategic *s, const struct tree *patch, struct tree **ret);
/* The same for an object whose own $patch has been obeyed. */
int strategic_copy_members(struct strategic *s, const struct tree *patch, struct tree **ret);

/* Values of a list, found by key: scalars by themselves, objects by a merge key, compared as text. */
enum { INDEX_NONE = UINT32_MAX };

struct index_entry {
	struct str text;
	enum tree_type type; /* tells "1" from 1; STRING for merge keys */
	uint32_t at;
};

struct index {
	struct index_entry *entries; /* sorted by text, type, at */
	uint32_t len;
	struct str merge_key; /* empty: scalars */
};

/* Fails for an element that has no key. list NULL: empty. */
int index_build(struct strategic *s, const struct tree *list, struct str merge_key, struct index *ret);
/* Position of the first element with value's key; INDEX_NONE. value has a key. */
uint32_t index_find(const struct index *x, const struct tree *value);

/* What apimachinery says; each returns its errno. */
int strategic_no_key(struct strategic *s, const struct tree *map, struct str merge_key);
int strategic_bad_type(struct strategic *s, const char *expected, const struct tree *received);
int strategic_bad_directive(struct strategic *s, const struct tree *map);
int strategic_bad_order(struct strategic *s, const struct tree *patch, const struct tree *order);
int strategic_mixed(struct strategic *s, const struct tree *old, const struct tree *patch);

#endif
