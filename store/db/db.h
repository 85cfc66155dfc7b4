/* SPDX-License-Identifier: Apache-2.0 */
/* Private to store/db: the open store and its named databases.
 *
 * Lock order: none of the locks below is held while another is taken. */
#ifndef HOLDFS_DB_H
#define HOLDFS_DB_H

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/db/key.h"
#include "store/store.h"

enum { DB_FORMAT = 1, DB_READERS = 510 };

struct change;

struct writer {
	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t more;  /* head is not NULL, or stop */
	struct change *head, **tail;
	bool stop;
	/* the writer's own, no lock */
	struct buf old;       /* copy of the record a change replaces */
	bool broken;          /* a commit failed: what is on disk is not known, no more writes */
	uint64_t free_pages;  /* as of free_seen */
	uint64_t free_seen;   /* commit number */
};

struct store {
	struct store_options options;
	char *dir;
	int lock_fd;
	MDB_env *env;
	size_t page_size;
	MDB_dbi objects, feed, undo, owners, resources, meta;
	const struct kinds *kinds;
	size_t nkinds;
	uint32_t *rid_of_kind;            /* by kind->id of a storage row; 0: none */
	const struct kind **kind_of_rid;  /* nrids entries; NULL: not known to this version */
	size_t nrids;

	atomic_uint_least64_t revision;
	atomic_uint_least64_t commits, groups, commit_ns;

	pthread_mutex_t readers_lock; /* guards free_reads */
	struct read *free_reads;

	pthread_mutex_t subscribers_lock; /* guards subscribers; held while they are woken */
	struct subscriber *subscribers;

	struct writer writer;
};

struct read {
	struct read *next; /* in free_reads */
	struct store *store;
	MDB_txn *txn;
	uint64_t revision, compacted;
};

/* Event values of `feed`: header, object key, labels and fields blocks of the state before, record. */
struct feed_header {
	uint32_t key_len, old_labels_len, old_fields_len, record_len;
	uint64_t previous;
	int64_t time; /* seconds, for compaction by age */
	uint32_t type;
	uint32_t zero;
};

/* meta names of 64-bit little-endian numbers. */
#define META_FORMAT "format"
#define META_REVISION "revision"
#define META_COMPACTED "compacted"
#define META_FEED_BYTES "feed-bytes" /* sum of the feed's values */
#define META_FEED_EVENTS "feed-events"

static inline MDB_val val_of(struct str s)
{
	return (MDB_val){.mv_size = s.len, .mv_data = (void *)(uintptr_t)s.ptr};
}

static inline struct str val_str(const MDB_val *v)
{
	return str_n(v->mv_data, v->mv_size);
}

/* Translates an LMDB return code that is not MDB_SUCCESS. */
int db_error(int rc, struct status *st);

/* 64-bit numbers of meta. get: 0 when absent. */
uint64_t meta_get(struct store *s, MDB_txn *txn, struct str name);
int meta_put(struct store *s, MDB_txn *txn, struct str name, uint64_t value); /* an LMDB code */

/* 0 when the row has no storage. */
uint32_t db_rid(const struct store *s, const struct kind *k);
const struct kind *db_kind(const struct store *s, uint32_t rid);

/* Takes an event value apart; false when its lengths do not add up. The kind is NULL for a resource that this version
 * does not know. */
bool feed_view(const struct store *s, uint64_t revision, struct str value, struct event *ret);

int writer_start(struct store *s, struct status *st);
/* Commits what is queued, then ends. */
void writer_stop(struct store *s);

/* Pages of the file in use (allocated and not free); walks the free list, so not for every write. */
uint64_t db_used_pages(struct store *s, MDB_txn *txn);

#endif
