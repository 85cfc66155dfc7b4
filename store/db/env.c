/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing the store: directory, lock, LMDB environment, resource ids. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "store/db/db.h"

#define DEFAULT_MAX_SIZE (UINT64_C(64) << 30)
#define DEFAULT_FEED_BYTES (UINT64_C(256) << 20)
enum { DEFAULT_FEED_SECONDS = 3600 };

int db_error(int rc, struct status *st)
{
	if (rc == ENOMEM)
		return status_no_memory(st);
	if (rc == MDB_MAP_FULL || rc == ENOSPC)
		return status_set(st, REASON_NO_SPACE, "the store is full");
	return status_set(st, REASON_INTERNAL, "Internal error occurred: store: %s", mdb_strerror(rc));
}

uint64_t meta_get(struct store *s, MDB_txn *txn, struct str name)
{
	MDB_val key = val_of(name), value;
	uint64_t v = 0;

	if (mdb_get(txn, s->meta, &key, &value) == 0 && value.mv_size == sizeof(v))
		memcpy(&v, value.mv_data, sizeof(v));
	return v;
}

int meta_put(struct store *s, MDB_txn *txn, struct str name, uint64_t value)
{
	MDB_val key = val_of(name), data = {.mv_size = sizeof(value), .mv_data = &value};

	return mdb_put(txn, s->meta, &key, &data, 0);
}

uint32_t db_rid(const struct store *s, const struct kind *k)
{
	return k && k->storage ? s->rid_of_kind[k->storage->id] : 0;
}

const struct kind *db_kind(const struct store *s, uint32_t rid)
{
	return rid < s->nrids ? s->kind_of_rid[rid] : NULL;
}

/* Network file systems do not keep LMDB's locking and mapping promises (lmdb.h, Caveats). */
static int check_file_system(const char *dir, struct status *st)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} refused[] = {
		{0x6969, "NFS"}, {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB"}, {0x65735546, "FUSE"}, {0x01021997, "9P"},
	};
	struct statfs fs;

	if (statfs(dir, &fs) < 0)
		return status_set(st, REASON_UNAVAILABLE, "%s: %s", dir, strerror(errno)), -errno;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if ((unsigned long)(fs.f_type & 0xFFFFFFFF) == refused[i].magic)
			return status_set(st, REASON_UNAVAILABLE,
					  "%s is on %s; the store needs a local file system", dir, refused[i].name);
	return 0;
}

static int open_dir(struct store *s, struct status *st)
{
	struct stat info;

	if (!s->options.read_only && mkdir(s->dir, 0700) < 0 && errno != EEXIST)
		return status_set(st, REASON_UNAVAILABLE, "cannot make %s: %s", s->dir, strerror(errno)), -errno;
	if (stat(s->dir, &info) < 0)
		return status_set(st, REASON_UNAVAILABLE, "%s: %s", s->dir, strerror(errno)), -errno;
	if (info.st_uid != geteuid() && geteuid() != 0)
		return status_set(st, REASON_UNAVAILABLE, "%s belongs to another user", s->dir), -EACCES;
	return check_file_system(s->dir, st);
}

/* One writing process per store. */
static int take_lock(struct store *s, struct status *st)
{
	char path[4096];

	if (s->options.read_only)
		return 0;
	snprintf(path, sizeof(path), "%s/lock", s->dir);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		return status_set(st, REASON_UNAVAILABLE, "%s: %s", path, strerror(errno)), -errno;
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return status_set(st, REASON_UNAVAILABLE, "%s is in use by another holdfs", s->dir), -EBUSY;
	return 0;
}

/* The address space is reserved once, with room beyond max_size so that deletes and compaction find pages when
 * ordinary writes are refused; an address-space limit makes us take less. */
static int open_env(struct store *s, struct status *st)
{
	size_t map = (size_t)(s->options.max_size + s->options.max_size / 16 + ((uint64_t)64 << 20));
	unsigned flags = MDB_NOTLS | (s->options.read_only ? MDB_RDONLY : 0);
	int rc = mdb_env_create(&s->env);

	if (rc)
		return db_error(rc, st);
	mdb_env_set_maxdbs(s->env, 8);
	mdb_env_set_maxreaders(s->env, DB_READERS);
	mdb_env_set_mapsize(s->env, map & ~(size_t)0xFFFF);
	rc = mdb_env_open(s->env, s->dir, flags, 0600);
	if (rc == ENOENT)
		return status_set(st, REASON_NOT_FOUND, "there is no store in %s", s->dir);
	if (rc)
		return status_set(st, REASON_UNAVAILABLE, "cannot open the store in %s: %s", s->dir, mdb_strerror(rc)),
		       -EIO;
	int dead;
	mdb_reader_check(s->env, &dead);
	return 0;
}

static int open_databases(struct store *s, MDB_txn *txn)
{
	struct {
		const char *name;
		MDB_dbi *dbi;
	} all[] = {
		{"objects", &s->objects}, {"feed", &s->feed},           {"undo", &s->undo},
		{"owners", &s->owners},   {"resources", &s->resources}, {"meta", &s->meta},
	};
	unsigned flags = s->options.read_only ? 0 : MDB_CREATE;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		int rc = mdb_dbi_open(txn, all[i].name, flags, all[i].dbi);
		if (rc)
			return rc;
	}
	return 0;
}

/* A new store starts at revision 1: 0 means "any" to clients. */
static int check_format(struct store *s, MDB_txn *txn, struct status *st)
{
	uint64_t format = meta_get(s, txn, STR(META_FORMAT));
	int rc;

	if (format == DB_FORMAT)
		return 0;
	if (format)
		return status_set(st, REASON_UNAVAILABLE, "%s has format %ju; this holdfs reads format %d", s->dir,
				  (uintmax_t)format, DB_FORMAT);
	if (s->options.read_only)
		return status_set(st, REASON_NOT_FOUND, "there is no store in %s", s->dir);
	rc = meta_put(s, txn, STR(META_FORMAT), DB_FORMAT);
	if (!rc)
		rc = meta_put(s, txn, STR(META_REVISION), 1);
	if (!rc)
		rc = meta_put(s, txn, STR(META_COMPACTED), 1);
	return rc ? db_error(rc, st) : 0;
}

/* `group/plural` -> resource id, given once and kept for ever, so that keys stay valid when kinds
 * come and go. */
static int resource_id(struct store *s, MDB_txn *txn, const struct kind *k, uint32_t *next, uint32_t *ret)
{
	char name[600];
	int n = snprintf(name, sizeof(name), "%.*s/%.*s", STR_ARG(k->group), STR_ARG(k->plural));
	MDB_val key = {.mv_size = (size_t)n, .mv_data = name}, value;
	int rc = mdb_get(txn, s->resources, &key, &value);

	if (rc == 0 && value.mv_size == sizeof(*ret)) {
		memcpy(ret, value.mv_data, sizeof(*ret));
		return 0;
	}
	if (rc != MDB_NOTFOUND)
		return rc ? rc : MDB_CORRUPTED;
	if (s->options.read_only) {
		*ret = 0;
		return 0;
	}
	*ret = (*next)++;
	value = (MDB_val){.mv_size = sizeof(*ret), .mv_data = ret};
	return mdb_put(txn, s->resources, &key, &value, 0);
}

static int map_resources(struct store *s, MDB_txn *txn)
{
	const struct kind *const *all = kinds_all(s->kinds, &s->nkinds);
	MDB_stat stat;
	int rc = mdb_stat(txn, s->resources, &stat);

	if (rc)
		return rc;
	uint32_t next = (uint32_t)stat.ms_entries + 1;
	s->nrids = stat.ms_entries + s->nkinds + 1;
	s->rid_of_kind = calloc(s->nkinds, sizeof(*s->rid_of_kind));
	s->kind_of_rid = calloc(s->nrids, sizeof(*s->kind_of_rid));
	if (!s->rid_of_kind || !s->kind_of_rid)
		return ENOMEM;
	for (size_t i = 0; i < s->nkinds; i++) {
		const struct kind *k = all[i];
		uint32_t rid;
		if (!kind_is(k, KIND_STORED) || k->storage != k)
			continue;
		rc = resource_id(s, txn, k, &next, &rid);
		if (rc)
			return rc;
		s->rid_of_kind[k->id] = rid;
		if (rid && rid < s->nrids)
			s->kind_of_rid[rid] = k;
	}
	return 0;
}

static int open_tables(struct store *s, struct status *st)
{
	MDB_txn *txn;
	int rc = mdb_txn_begin(s->env, NULL, s->options.read_only ? MDB_RDONLY : 0, &txn);

	if (rc)
		return db_error(rc, st);
	rc = open_databases(s, txn);
	int err = rc == MDB_NOTFOUND ? status_set(st, REASON_NOT_FOUND, "there is no store in %s", s->dir)
		  : rc               ? db_error(rc, st)
				     : check_format(s, txn, st);
	if (!err && (rc = map_resources(s, txn)) != 0)
		err = db_error(rc, st);
	if (err) {
		mdb_txn_abort(txn);
		return err;
	}
	MDB_stat stat;
	mdb_stat(txn, s->meta, &stat);
	s->page_size = stat.ms_psize;
	atomic_store(&s->revision, meta_get(s, txn, STR(META_REVISION)));
	rc = mdb_txn_commit(txn);
	return rc ? db_error(rc, st) : 0;
}

static void set_defaults(struct store_options *o)
{
	if (!o->max_size)
		o->max_size = DEFAULT_MAX_SIZE;
	if (!o->feed_bytes)
		o->feed_bytes = DEFAULT_FEED_BYTES;
	if (!o->feed_seconds)
		o->feed_seconds = DEFAULT_FEED_SECONDS;
}

int store_open(const struct store_options *options, struct store **ret, struct status *st)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return status_no_memory(st);
	s->options = *options;
	set_defaults(&s->options);
	s->lock_fd = -1;
	s->kinds = kinds_builtin();
	pthread_mutex_init(&s->readers_lock, NULL);
	pthread_mutex_init(&s->subscribers_lock, NULL);
	pthread_mutex_init(&s->writer.lock, NULL);
	pthread_cond_init(&s->writer.more, NULL);
	s->dir = strdup(options->dir);
	s->options.dir = s->dir;
	err = s->dir ? open_dir(s, st) : status_no_memory(st);
	if (!err)
		err = take_lock(s, st);
	if (!err)
		err = open_env(s, st);
	if (!err)
		err = open_tables(s, st);
	if (!err && !s->options.read_only)
		err = writer_start(s, st);
	if (err) {
		store_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

static void free_reads(struct store *s)
{
	struct read *next;

	for (struct read *r = s->free_reads; r; r = next) {
		next = r->next;
		mdb_txn_abort(r->txn);
		free(r);
	}
}

void store_close(struct store *s)
{
	if (!s)
		return;
	writer_stop(s);
	free_reads(s);
	if (s->env)
		mdb_env_close(s->env);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	pthread_mutex_destroy(&s->readers_lock);
	pthread_mutex_destroy(&s->subscribers_lock);
	pthread_mutex_destroy(&s->writer.lock);
	pthread_cond_destroy(&s->writer.more);
	free(s->rid_of_kind);
	free(s->kind_of_rid);
	free(s->dir);
	free(s);
}

const struct kinds *store_kinds(const struct store *s)
{
	return s->kinds;
}

uint64_t store_revision(const struct store *s)
{
	return atomic_load(&((struct store *)(uintptr_t)s)->revision);
}

const char *store_dir(const struct store *s)
{
	return s->dir;
}

bool store_is_read_only(const struct store *s)
{
	return s->options.read_only;
}

/* LMDB keeps the numbers of free pages in database 0: each value is a count followed by that many
 * page numbers. */
uint64_t db_used_pages(struct store *s, MDB_txn *txn)
{
	MDB_envinfo info;
	MDB_cursor *cursor;
	MDB_val key, value;
	uint64_t unused = 0;

	mdb_env_info(s->env, &info);
	if (mdb_cursor_open(txn, 0, &cursor) == 0) {
		while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
			size_t n = 0;
			memcpy(&n, value.mv_data, sizeof(n));
			unused += n;
		}
		mdb_cursor_close(cursor);
	}
	return info.me_last_pgno + 1 - (unused < info.me_last_pgno ? unused : info.me_last_pgno);
}

void store_info(struct store *s, struct store_info *ret)
{
	struct status st;
	struct read *r;
	MDB_stat stat;

	*ret = (struct store_info){
		.revision = store_revision(s),
		.bytes_max = s->options.max_size,
		.commits = atomic_load(&s->commits),
		.commit_groups = atomic_load(&s->groups),
		.commit_seconds = (double)atomic_load(&s->commit_ns) / 1e9,
	};
	if (read_begin(s, &r, &st) < 0)
		return;
	ret->compacted = r->compacted;
	ret->bytes_used = db_used_pages(s, r->txn) * s->page_size;
	ret->feed_events = meta_get(s, r->txn, STR(META_FEED_EVENTS));
	if (mdb_stat(r->txn, s->objects, &stat) == 0)
		ret->objects = stat.ms_entries;
	read_end(r);
}
