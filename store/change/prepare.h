/* SPDX-License-Identifier: Apache-2.0 */
/* Private to store/change: one preparation of a write against one snapshot. */
#ifndef HOLDFS_PREPARE_H
#define HOLDFS_PREPARE_H

#include "store/change/write.h"
#include "store/codec/tree.h"
#include "store/db/read.h"
#include "store/kind/rules.h"

enum { CLAIMS_MAX = 256 };

/* Everything a step of the preparation may look at or fill. Lives for one attempt. */
struct prepare {
	struct store *store;
	const struct write_request *req;
	const struct kind *kind;      /* row of the request */
	const struct kind *storage;
	struct read *read;            /* the snapshot */
	struct arena *arena;
	int64_t now;                  /* seconds */
	int64_t now_ns;
	unsigned attempt;             /* 0 first */

	struct str name;              /* of the object */
	bool exists;
	struct object current;        /* when it exists; borrowed from read */
	struct tree *old;             /* current in storage form; NULL when it does not exist */
	struct tree *next;            /* the object to be, in storage form */
	bool terminated;              /* next is the last state: the object goes */
	struct field_problem *problems;
	struct str claims[CLAIMS_MAX];
	size_t nclaims;
};

/* Sets up p->exists, current, old for p->name. 0 or -errno. */
int prepare_current(struct prepare *p, struct status *st);

/* `the object has been modified; ...` on this object. */
int prepare_conflict(struct prepare *p, struct status *st);
int prepare_not_found(struct prepare *p, struct status *st);
/* Compares the request's preconditions and a resourceVersion or uid found in metadata with the current object. */
int prepare_preconditions(struct prepare *p, struct str version, struct str uid, struct status *st);

/* Parses the request's body as an object of p->kind: shape, apiVersion and kind, duplicates noted. */
int body_object(struct prepare *p, struct tree **ret, struct status *st);
/* Decodes by the schema; turns problems into an error when validation is strict. patch: the object is the result of a patch. */
int body_decode(struct prepare *p, struct tree *object, bool patch, struct status *st);

/* Makes p->next from the decoded object (in the form of p->kind). */
int admit_create(struct prepare *p, struct tree *object, struct status *st);
int admit_update(struct prepare *p, struct tree *object, struct status *st);

/* System metadata of a new object: uid, creationTimestamp, generation, name from generateName. */
int metadata_new(struct prepare *p, struct tree *metadata, struct status *st);

/* What admission plugins do to objects of a few kinds (table by kind). */
int admission_mutate(struct prepare *p, struct status *st);

/* status of a new pod: phase, quality of service, scheduling gates. False when out of memory. */
bool pod_status_new(struct prepare *p);

/* Service addresses and ports: fills in free ones, checks given ones (causes in st). */
int service_allocate(struct prepare *p, struct status *st);
/* Notes in p->claims what p->next holds. */
void service_claims(struct prepare *p);

/* DELETE: p->next and p->terminated say what becomes of the object; *ret_unchanged when there is nothing to write. */
int delete_object(struct prepare *p, bool *ret_unchanged, struct status *st);
/* Finalizers gone and nothing else holds a terminating object back? */
bool delete_is_due(const struct kind *k, const struct tree *object);

/* POST to a subresource that orders something (binding, eviction): p->next and p->terminated say what becomes of
 * the pod; the client gets pod_action_reply. */
bool pod_action_is(struct str subresource);
int pod_action(struct prepare *p, struct status *st);
struct tree *pod_action_reply(struct arena *a);

/* /scale: the object as a Scale, and a Scale put back into it. */
struct tree *scale_of(struct arena *a, const struct kind *k, const struct tree *object);
int scale_apply(struct prepare *p, const struct tree *scale, struct tree *object, struct status *st);

#endif
