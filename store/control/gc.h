/* SPDX-License-Identifier: Apache-2.0 */
/* Owner garbage collection: what its parts share. Private to store/control.
 *
 * A dependent names its owners in metadata.ownerReferences; an owner does not know its dependents, the `owners` index
 * of the store does (by uid). A reference is
 *     solid     its owner is there
 *     waiting   its owner is there, in foreground deletion: it waits for its dependents to go
 *     dangling  there is no such owner
 * and a dependent with references but no solid one is deleted (bootstrap.json garbageCollection). */
#ifndef HOLDFS_GC_H
#define HOLDFS_GC_H

#include "store/control/control.h"

/* What the references of an object come to. */
struct verdict {
	unsigned solid, waiting, dangling;
	bool spared;           /* in no case to be collected: a reference that makes no sense */
	struct tree *metadata; /* parsed, in the arena given; may be changed */
	struct tree *solids;   /* the ownerReferences that are solid */
};

/* Judges o, of kind k, in snapshot r. Fails for lack of memory or a damaged record only. */
int gc_judge(struct control *c, struct read *r, struct arena *a, const struct kind *k, const struct object *o,
	     struct verdict *ret, struct status *st);
bool gc_has_finalizer(const struct tree *metadata, const char *name);
/* Is o, which is terminating, in foreground deletion? */
bool gc_is_foreground(const struct object *o);

/* Does what o's verdict asks for: adds no more than one write to b. A gc_dependent_fn; arg is not used. */
int gc_examine(struct control *c, struct read *r, const struct kind *k, const struct object *o, struct batch *b,
	       void *arg, struct status *st);

/* `{"metadata":{KEY:VALUE}}`; an empty list becomes null. NULL when out of memory. */
struct tree *gc_metadata_patch(struct arena *a, const char *key, struct tree *list);

/* An owner in foreground deletion: each change of a dependent of it may be the one it waits for. */
struct waiting {
	struct str uid;
	const struct kind *kind;
	struct str ns, name;
	bool examined; /* all its dependents have been looked at once */
};

/* NULL when it is not known. */
struct waiting *gc_waiting_find(struct control *c, struct str uid);
struct waiting *gc_waiting_add(struct control *c, const struct kind *k, const struct object *o);
void gc_waiting_remove(struct control *c, struct str uid);
void gc_forget_all(struct control *c);

/* Runs fn for all dependents of owner_uid, a batch at a time, each batch in a snapshot of its own; fn adds
 * no more than one write, which are run after each batch. It ends early when fn returns 1, and returns that. */
typedef int gc_dependent_fn(struct control *c, struct read *r, const struct kind *k, const struct object *o,
			    struct batch *b, void *arg, struct status *st);
int gc_each_dependent(struct control *c, struct str owner_uid, gc_dependent_fn *fn, void *arg, struct status *st);

#endif
