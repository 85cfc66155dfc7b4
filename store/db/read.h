/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the store: snapshots, single objects, lists at a revision, the feed. */
#ifndef HOLDFS_READ_H
#define HOLDFS_READ_H

#include "store/base/status.h"
#include "store/db/record.h"
#include "store/kind/selector.h"

struct store;

/* A snapshot: one LMDB read transaction, taken from a pool. One thread at a time. What is read from it is borrowed until
 * read_end. Keep it short: never across a network or FUSE reply (a pinned snapshot makes the file grow). */
struct read;

int read_begin(struct store *s, struct read **ret, struct status *st);
void read_end(struct read *r); /* takes NULL */

/* Newest revision in the snapshot. */
uint64_t read_revision(const struct read *r);
/* Events up to and including this revision are gone: the feed can be resumed after any revision
 * >= this one, lists can be read at any revision >= this one. */
uint64_t read_compacted(const struct read *r);

/* 0; -ENOENT without touching st when there is no such object (the caller knows what to say); -EIO when the record is damaged. ns empty for cluster scope. k: any row. */
int read_get(struct read *r, const struct kind *k, struct str ns, struct str name, struct object *ret,
	     struct status *st);
/* Number of objects of k in ns, or (ns.ptr == NULL) in all namespaces. One or two key lookups. */
uint64_t read_count(struct read *r, const struct kind *k, struct str ns);

/* What a list asks for. */
struct list_query {
	const struct kind *kind;
	struct str ns;                  /* ns.ptr NULL: all namespaces */
	const struct selector *labels;  /* NULL: all */
	const struct selector *fields;
	uint64_t at;                    /* exact revision; 0: the snapshot's */
	struct str after_ns, after_name;/* start behind this key; after_name.ptr NULL: from the start */
};

struct list;

/* Starts; the list lives in arena a and ends with the snapshot (list_end frees its cursor; call it
 * before read_end). -ESTALE, REASON_EXPIRED when `at` is compacted; `at` beyond the snapshot is the caller's bug. */
int list_begin(struct read *r, struct arena *a, const struct list_query *q, struct list **ret, struct status *st);
/* The next matching object in key order (namespace, then name): 1; 0 at the end; -EIO. */
int list_next(struct list *l, struct object *ret, struct status *st);
/* Number of objects that ns/kind held at the list's revision, selectors not looked at. */
uint64_t list_total(struct list *l);
void list_end(struct list *l); /* takes NULL */

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED };

/* One committed change. DELETED carries the last state, stamped with the deletion's revision. */
struct event {
	enum event_type type;
	uint64_t revision;
	uint64_t previous;     /* revision of the state before; 0 for ADDED */
	const struct kind *kind; /* the storage row */
	struct object object;
	struct str old_labels, old_fields; /* blocks of the state before; empty for ADDED */
};

/* The first event after revision `after`: 1; 0 when there is none yet; -ESTALE when `after` is
 * compacted; -EIO. */
int feed_next(struct read *r, uint64_t after, struct event *ret, struct status *st);
/* The first such event that is about storage row k (NULL: any) and namespace ns (ptr NULL: any), looking at no more
 * than `budget` events; *ret_seen is the revision up to which everything was looked at. Same results; 0 with
 * *ret_seen below read_revision means the budget ended. */
int feed_next_of(struct read *r, uint64_t after, const struct kind *k, struct str ns, unsigned budget,
		 uint64_t *ret_seen, struct event *ret, struct status *st);
/* The state before a MODIFIED or DELETED event: 0; -ENOENT when it is not kept any more. */
int feed_before(struct read *r, const struct event *e, struct object *ret);

/* Told after each commit, from the writer's thread: must not block or call the store (write to an
 * eventfd, signal a condition). */
struct subscriber {
	struct subscriber *next;
	void (*wake)(struct subscriber *self, uint64_t revision);
};
void store_subscribe(struct store *s, struct subscriber *sub);
/* On return wake is not running and will not run again. */
void store_unsubscribe(struct store *s, struct subscriber *sub);

#endif
