/* SPDX-License-Identifier: Apache-2.0 */
/* The patch types: each makes the next object from the current one and a patch document. */
#ifndef HOLDFS_PATCH_H
#define HOLDFS_PATCH_H

#include "store/base/arena.h"
#include "store/base/status.h"
#include "store/codec/tree.h"
#include "store/kind/kind.h"

enum { PATCH_OPERATIONS_MAX = 10000, PATCH_COPY_BYTES_MAX = 3 << 20 };

/* All: `object` is the current object, already a private copy, and may be changed in place; *ret is the result (in a).
 * Errors and codes are those of reference A8. */

/* RFC 6902. */
int patch_json(struct arena *a, struct tree *object, const struct tree *patch, struct tree **ret, struct status *st);
/* RFC 7386. */
int patch_merge(struct arena *a, struct tree *object, const struct tree *patch, struct tree **ret, struct status *st);
/* Kubernetes' strategic merge by the schema def of the object: $patch, $retainKeys, $setElementOrder/x,
 * $deleteFromPrimitiveList/x, merge keys. */
int patch_strategic(struct arena *a, const struct schema_def *def, struct tree *object, const struct tree *patch,
		    struct tree **ret, struct status *st);

#endif
