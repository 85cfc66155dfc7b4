/* SPDX-License-Identifier: Apache-2.0 */
/* The writer: one thread that commits, in groups, what many callers prepared. */
#ifndef HOLDFS_WRITER_H
#define HOLDFS_WRITER_H

#include "store/base/status.h"
#include "store/db/record.h"

struct store;

enum change_result {
	CHANGE_DONE,
	CHANGE_STALE,       /* the object is not at `expect`: prepare again or answer Conflict */
	CHANGE_NO_NAMESPACE,/* the namespace does not exist or is being deleted */
	CHANGE_CLAIMED,     /* a claim of the record is held by another object */
	CHANGE_NO_SPACE,
	CHANGE_FAILED,      /* the database said no: see error */
};

/* One prepared change of one object; owned by the caller, who keeps it and all it points to until
 * `done` has been called. */
struct change {
	struct change *next;
	const struct kind *kind;   /* storage row */
	struct str ns, name;
	uint64_t expect;           /* revision the object must have; 0: it must not exist */
	bool remove;               /* the object goes; draft, if any, is its last state */
	struct str draft;          /* drafted record (record_draft); empty for a removal as it stands */
	bool needs_namespace;      /* ns must exist and not be terminating (creates of namespaced objects) */
	/* Called on the writer's thread once the result is on disk (or refused). */
	void (*done)(struct change *c);
	/* Result. */
	enum change_result result;
	int error;                 /* LMDB code of CHANGE_FAILED */
	uint64_t revision;         /* given to this change */
};

/* Hands a change to the writer. Never blocks on the disk. */
void writer_submit(struct store *s, struct change *c);

#endif
