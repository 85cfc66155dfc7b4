/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON value as a tree in an arena: made by the write path where a value is changed, never by a
 * read.
 *
 * Scalars keep the bytes they came with (1.50, 1E400, big integers). Object members are kept sorted
 * by key (bytewise), which is the canonical order of stored objects: equal values have equal text,
 * lookups are binary searches, and a no-op write is one memcmp. Nodes are mutable and may be shared
 * between trees of one arena as long as nobody changes the shared part.
 *
 * Every function that allocates returns NULL (or false) when the arena's ceiling is reached. */
#ifndef HOLDFS_TREE_H
#define HOLDFS_TREE_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/status.h"

enum tree_type { TREE_NULL, TREE_FALSE, TREE_TRUE, TREE_NUMBER, TREE_STRING, TREE_ARRAY, TREE_OBJECT };

struct tree_member {
	struct str key; /* decoded */
	struct tree *value;
};

/* One value. Read the fields freely; change containers only by the functions below. */
struct tree {
	enum tree_type type;
	uint32_t len, cap; /* items or members */
	union {
		struct str text;             /* NUMBER: as written; STRING: decoded */
		struct tree **items;         /* ARRAY */
		struct tree_member *members; /* OBJECT, sorted by key, keys unique */
	};
};

/* A key that stood twice in one object; the last one won. path is that of kubectl's messages,
 * `spec.template.spec.containers[0].name`. */
struct tree_dup {
	struct tree_dup *next;
	struct str path;
};

/* Parses strict JSON (scan.h). *ret_dups (may be NULL) is the list of duplicate keys in document
 * order. Copies nothing: the tree borrows json, which must live as long as the arena.
 * -EINVAL with REASON_BAD_REQUEST, or no memory. */
int tree_parse(struct arena *a, struct str json, struct tree **ret, struct tree_dup **ret_dups, struct status *st);

/* Canonical text: no blanks, members sorted, strings escaped as buf_add_json does. A tree deeper than
 * SCAN_DEPTH_MAX (made by patches; no parser would read its text) marks out as failed. */
void tree_write(const struct tree *t, struct buf *out);

struct tree *tree_null(struct arena *a);
struct tree *tree_bool(struct arena *a, bool v);
struct tree *tree_int(struct arena *a, int64_t v);
struct tree *tree_number(struct arena *a, struct str text); /* borrows */
struct tree *tree_string(struct arena *a, struct str text); /* borrows */
struct tree *tree_array(struct arena *a);
struct tree *tree_object(struct arena *a);
/* A deep copy (strings are borrowed from the original's memory); NULL beyond SCAN_DEPTH_MAX too. */
struct tree *tree_copy(struct arena *a, const struct tree *t);

/* NULL-tolerant reading: any function below takes NULL or a value of another type and answers
 * "absent". */
struct tree *tree_get(const struct tree *object, struct str key);
static inline struct tree *tree_getz(const struct tree *object, const char *key)
{
	return tree_get(object, str_of(key));
}
/* Walks members by a dotted path of literal keys: tree_path(o, "spec.template.spec"). */
struct tree *tree_path(const struct tree *object, const char *path);
/* Text of a STRING; empty otherwise. */
struct str tree_text(const struct tree *t);
/* Text of a string member; empty when absent. */
struct str tree_gets(const struct tree *object, const char *key);
/* An integer NUMBER (no fraction, no exponent) that fits; false otherwise. */
bool tree_i64(const struct tree *t, int64_t *ret);
static inline bool tree_is(const struct tree *t, enum tree_type type)
{
	return t && t->type == type;
}
static inline bool tree_is_true(const struct tree *t)
{
	return t && t->type == TREE_TRUE;
}
/* Absent, null, "", 0, false, [] or {}: Go's omitempty. */
bool tree_is_empty(const struct tree *t);

/* Adds or replaces a member; key is borrowed. False when out of memory. */
bool tree_set(struct arena *a, struct tree *object, struct str key, struct tree *value);
static inline bool tree_setz(struct arena *a, struct tree *object, const char *key, struct tree *value)
{
	return tree_set(a, object, str_of(key), value);
}
bool tree_sets(struct arena *a, struct tree *object, const char *key, struct str text);
/* The member as an OBJECT: made when absent or null; NULL when out of memory or of another type. */
struct tree *tree_ensure(struct arena *a, struct tree *object, struct str key);
/* Removes a member; true when there was one. */
bool tree_remove(struct tree *object, struct str key);
static inline bool tree_removez(struct tree *object, const char *key)
{
	return tree_remove(object, str_of(key));
}
bool tree_append(struct arena *a, struct tree *array, struct tree *value);
bool tree_insert(struct arena *a, struct tree *array, uint32_t index, struct tree *value);
void tree_delete_at(struct tree *array, uint32_t index);

/* Deep equality of canonical text; numbers are equal when their texts are. False beyond SCAN_DEPTH_MAX. */
bool tree_equal(const struct tree *a, const struct tree *b);

#endif
