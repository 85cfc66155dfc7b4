/* SPDX-License-Identifier: Apache-2.0 */
/* holdfs' object store: all that api/, fs/ and main.c may see of store/.
 *
 * Threads: every function may be called from any thread unless it says otherwise; a struct read, a
 * struct list and a struct write belong to one thread at a time. */
#ifndef HOLDFS_STORE_H
#define HOLDFS_STORE_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/cleanup.h"
#include "store/base/log.h"
#include "store/base/status.h"
#include "store/change/write.h"
#include "store/db/read.h"
#include "store/kind/cells.h"
#include "store/kind/kind.h"
#include "store/kind/selector.h"

struct store_options {
	const char *dir;        /* made (0700) when absent */
	uint64_t max_size;      /* bytes of the database file; writes beyond get REASON_NO_SPACE. 0: 64 GiB */
	uint64_t feed_bytes;    /* the feed is compacted beyond this; 0: 256 MiB */
	unsigned feed_seconds;  /* and beyond this age; 0: 3600 */
	bool read_only;         /* no writer: every write answers REASON_READ_ONLY; another process may own the store */
	bool commit_each;       /* one transaction a write instead of groups: the reference of bench/api_load */
};

/* Opens; starts the writer. Refuses (REASON_UNAVAILABLE, -EBUSY) when another process has it open for writing,
 * a newer format, network file systems. A new store is empty: see store_bootstrap. */
int store_open(const struct store_options *options, struct store **ret, struct status *st);
/* Waits for writes in flight, then closes. All reads, lists and writes must have ended. Takes NULL. */
void store_close(struct store *s);

const struct kinds *store_kinds(const struct store *s);
/* Last committed revision. */
uint64_t store_revision(const struct store *s);
const char *store_dir(const struct store *s);
bool store_is_read_only(const struct store *s);

/* What /metrics and statfs show. */
struct store_info {
	uint64_t revision, compacted;
	uint64_t objects;
	uint64_t bytes_used, bytes_max; /* of the database */
	uint64_t feed_events;
	uint64_t commits, commit_groups; /* writes and transactions since start */
	double commit_seconds;           /* spent in commits since start */
};
void store_info(struct store *s, struct store_info *ret);

/* Creates what a new cluster has (namespaces default, kube-system, kube-public, kube-node-lease, Service
 * default/kubernetes, the system PriorityClasses) where it is missing. port: of the API. Blocks. */
int store_bootstrap(struct store *s, unsigned port, struct status *st);

/* The internal controllers: namespace content and deletion, garbage collection, feed compaction. One thread, follows the feed. */
struct control;
int control_start(struct store *s, struct str ca_pem, struct control **ret, struct status *st);
void control_stop(struct control *c); /* takes NULL */

/* Verifies the whole store in one snapshot: records, indexes, feed, counters. Calls report for each
 * fault with one line of text; returns their number, or -errno when it could not be read. */
int store_check(struct store *s, void (*report)(void *arg, const char *line), void *arg, struct status *st);

/* Bodies in any media type to strict JSON (negotiation's write half). media: "application/json",
 * "application/yaml", "application/vnd.kubernetes.protobuf" without parameters; anything else
 * REASON_UNSUPPORTED_MEDIA_TYPE. *ret points to body itself or into out. */
int body_to_json(struct str media, struct str body, struct buf *out, struct str *ret, struct status *st);

#endif
