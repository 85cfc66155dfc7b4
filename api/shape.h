/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which an object leaves: itself, a list's item, a Table row, its metadata. All are spans of
 * its record, copied; nothing is parsed. */
#ifndef HOLDFS_API_SHAPE_H
#define HOLDFS_API_SHAPE_H

#include "api/negotiate.h"
#include "store/store.h"

enum include { INCLUDE_METADATA, INCLUDE_NONE, INCLUDE_OBJECT };

struct shape {
	const struct kind *kind; /* row of the version asked for */
	enum form form;
	bool beta;               /* meta.k8s.io/v1beta1 */
	enum include include;    /* of a Table's rows */
	int64_t now;             /* seconds since 1970: for ages */
};

/* What ?includeObject= says. */
int include_parse(struct str text, enum include *ret, struct status *st);

/* Adds o as a reply of its own: object, Table of one row, PartialObjectMetadata. columns: a Table names its
 * columns. Memory failures mark out. */
void shape_object(const struct shape *s, const struct object *o, bool columns, struct buf *out);
/* Adds o as an element of a list: of `items`, or of `rows`. */
void shape_item(const struct shape *s, const struct object *o, struct buf *out);
/* Adds the head of a list, up to and including the `[` of its elements. next: the continue token; remaining:
 * negative when not known. */
void shape_list_head(const struct shape *s, uint64_t revision, struct str next, int64_t remaining, struct buf *out);
/* Bytes that shape_list_head adds at most for a token of next_max bytes. */
size_t shape_list_head_max(const struct shape *s, size_t next_max);
void shape_list_tail(struct buf *out);
/* Adds an otherwise empty object that carries a revision. initial_end: with the annotation that ends a watch's
 * initial events. */
void shape_bookmark(const struct shape *s, uint64_t revision, bool initial_end, bool columns, struct buf *out);

/* `meta.k8s.io/v1` or `/v1beta1` */
const char *shape_meta_version(const struct shape *s);

#endif
