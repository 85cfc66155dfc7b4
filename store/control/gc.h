/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection by ownerReferences. Private to store/control. */
#ifndef HOLDFS_GC_H
#define HOLDFS_GC_H

#include "store/control/control.h"

/* What becomes of an object because of its owners (bootstrap.json `garbageCollection`). */
enum verdict {
	VERDICT_KEEP,   /* an owner is there, or of a kind that we do not know, or there are none */
	VERDICT_DELETE, /* all its owners are gone */
	VERDICT_UNLINK, /* some are gone: their references go */
	VERDICT_ERROR,
};

/* Looks at o's owners as of r. For UNLINK *ret_patch is a merge patch that leaves the living ones. */
enum verdict gc_judge(struct control *c, struct read *r, struct arena *a, const struct kind *k, const struct object *o,
		      struct tree **ret_patch);
/* Adds what the verdict asks for to the batch, which is not full. False: an error. */
bool gc_carry_out(struct control *c, struct read *r, const struct kind *k, const struct object *o, struct batch *b);

/* An owner whose foreground deletion waits for dependents, found by its uid when one of them goes. */
struct waiting {
	struct str uid;
	const struct kind *kind;
	struct str ns, name;
	char text[];
};

void gc_wait_for(struct control *c, const struct kind *k, const struct object *o);
const struct waiting *gc_waiting(struct control *c, struct str uid);
void gc_forget(struct control *c, struct str uid);
void gc_forget_all(struct control *c);

#endif
