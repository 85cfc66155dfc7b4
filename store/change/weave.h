/* SPDX-License-Identifier: Apache-2.0 */
/* Joining an object with a patch of it, member by member, in one pass. */
#ifndef HOLDFS_WEAVE_H
#define HOLDFS_WEAVE_H

#include "store/base/arena.h"
#include "store/codec/tree.h"

/* Called for each member of the patch: old is the object's value or NULL. *ret is what stands there
 * afterwards, NULL for nothing. 0 or -errno, which ends the weave. */
typedef int weave_fn(void *arg, struct str key, struct tree *old, const struct tree *patch, struct tree **ret);

/* A new object in a with the members of old (NULL: none), patched by fn. Linear: both are sorted, so
 * a patch of n members never costs n searches that move the rest. -ENOMEM or what fn returned. */
int weave(struct arena *a, const struct tree *old, const struct tree *patch, weave_fn *fn, void *arg,
	  struct tree **ret);

#endif
