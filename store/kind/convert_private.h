/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions behind convert_object. Private to store/kind. */
#ifndef HOLDFS_CONVERT_PRIVATE_H
#define HOLDFS_CONVERT_PRIVATE_H

#include "store/base/arena.h"
#include "store/codec/tree.h"

/* In place; apiVersion and kind are the caller's. False when out of memory. */
bool convert_hpa_to_v1(struct arena *a, struct tree *object);
bool convert_hpa_to_v2(struct arena *a, struct tree *object);

#endif
