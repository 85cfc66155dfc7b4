/* SPDX-License-Identifier: Apache-2.0 */
/* The one write path: HTTP verbs, file saves, imports and the internal controllers all come here.
 *
 * A write is prepared on the caller's thread against a snapshot (decode, patch, admission, rendering), handed to the
 * writer, and is done when its group is on disk. When the object changed in between, the write is
 * prepared again (patches, deletes) or answered with a conflict (updates that named a
 * resourceVersion). Callers that must not block (HTTP) use write_begin and write_step; others write_run. */
#ifndef HOLDFS_WRITE_H
#define HOLDFS_WRITE_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/kind/kind.h"

struct store;

enum write_verb { WRITE_CREATE, WRITE_UPDATE, WRITE_PATCH, WRITE_DELETE };

enum patch_type { PATCH_TYPE_JSON, PATCH_TYPE_MERGE, PATCH_TYPE_STRATEGIC, PATCH_TYPE_APPLY };

enum field_validation { VALIDATION_WARN, VALIDATION_STRICT, VALIDATION_IGNORE };

enum propagation { PROPAGATION_DEFAULT, PROPAGATION_BACKGROUND, PROPAGATION_FOREGROUND, PROPAGATION_ORPHAN };

/* Who asks, for fields that only the server's own parts may write. */
enum write_origin {
	ORIGIN_API,
	ORIGIN_MOUNT,   /* the path wins: name and namespace come from ns/name below, a uid or resourceVersion
			   in the text that belongs to another object is dropped; update creates, create updates
			   (see WRITE_UPDATE below) */
	ORIGIN_IMPORT,  /* like MOUNT without preconditions */
	ORIGIN_CONTROL, /* internal controllers */
};

/* A request. All strings are borrowed until the write is freed. */
struct write_request {
	const struct kind *kind;      /* row of the version asked for; has storage */
	enum write_verb verb;
	enum write_origin origin;
	struct str ns;                /* empty for cluster scope */
	struct str name;              /* from the path; empty on an API create */
	struct str subresource;       /* "" or status, scale, finalize, approval, binding, ephemeralcontainers, resize, eviction (a name the row has) */
	enum patch_type patch;
	bool force;                   /* apply only */
	struct str body;              /* strict JSON text; empty for DELETE (options are below) */
	bool dry_run;
	enum field_validation validation;
	struct str manager;           /* fieldManager, "" unknown */
	/* Preconditions. DELETE options, or the mount's "as I opened it". */
	uint64_t expect_revision;     /* 0: none */
	struct str expect_uid;        /* empty: none */
	/* DELETE only. */
	int64_t grace;                /* seconds; negative: not given */
	enum propagation propagation;
};

struct write_warning {
	struct write_warning *next;
	struct str text;
};

/* What came of it; owned by the write. */
struct write_result {
	bool created;     /* 201 */
	bool deleted;     /* the object is gone (also when an update removed its last finalizer) */
	bool unchanged;   /* nothing was written */
	uint64_t revision;/* the object's */
	struct str name;  /* final name (generateName) */
	struct str uid;
	struct str object;/* JSON in the form of request.kind (for /scale the Scale); for a DELETE: the last state */
	struct write_warning *warnings;
};

struct write;

/* A new write; borrows the strings of req until write_free. wake(arg) is called from the writer's thread each
 * time write_step should be called again; it must not block or call the store. NULL when out of memory. */
struct write *write_new(struct store *s, const struct write_request *req, void (*wake)(void *arg), void *arg);
/* Goes on: 1 when it waits for the writer (return to your loop until wake), 0 when it is done (write_result), -errno
 * with st. Call from one thread at a time. */
int write_step(struct write *w, struct status *st);
const struct write_result *write_result(const struct write *w);
/* Takes NULL. Not while write_step said 1 and wake has not come. */
void write_free(struct write *w);

/* Blocks until it is done. *ret is to be freed also on failure (may be NULL then). */
int write_run(struct store *s, const struct write_request *req, struct write **ret, struct status *st);

#endif
