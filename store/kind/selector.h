/* SPDX-License-Identifier: Apache-2.0 */
/* Label and field selectors: parsed once a request, matched against the stored label and field
 * blocks without parsing anything (blocks: see db/record.h). */
#ifndef HOLDFS_SELECTOR_H
#define HOLDFS_SELECTOR_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/codec/tree.h"
#include "store/kind/kind.h"

enum { SELECTOR_BYTES_MAX = 4096, SELECTOR_TERMS_MAX = 100 };

struct selector; /* in the arena it was parsed into; immutable afterwards, any thread */

/* NULL results mean "everything" (an empty selector). Errors: -EINVAL, REASON_BAD_REQUEST, with the
 * texts of reference A5. */
int selector_parse_labels(struct arena *a, struct str text, struct selector **ret, struct status *st);
/* Knows the fields of k; metadata.name and metadata.namespace always. */
int selector_parse_fields(struct arena *a, const struct kind *k, struct str text, struct selector **ret, struct status *st);

/* Text of a `metadata.name=X` term (equality), empty when there is none: a point read instead of a scan. */
struct str selector_name(const struct selector *s);

/* Blocks are written at write time and read in place:
 * labels block: u16 count, then count times (u16 key length, u16 value length, key, value), sorted by key.
 * fields block: u16 count, then count times (u16 length, value) in the order of kind->selectable
 * (of the storage row). Little-endian, unaligned. */
bool selector_match_labels(const struct selector *s, struct str labels_block);
bool selector_match_fields(const struct selector *s, struct str fields_block, struct str ns, struct str name);

/* Writes the blocks of an object in stored form. */
void selector_labels_block(const struct tree *object, struct buf *out);
void selector_fields_block(const struct kind *storage, const struct tree *object, struct buf *out);

#endif
