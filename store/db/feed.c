/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the feed, and compacting it. */
#include "store/db/feed.h"

#include <errno.h>
#include <time.h>

#include "store/db/db.h"

bool feed_view(const struct store *s, uint64_t revision, struct str value, struct event *ret)
{
	struct feed_header h;
	struct str ns, name;
	uint32_t rid;

	if (value.len < sizeof(h))
		return false;
	memcpy(&h, value.ptr, sizeof(h));
	const char *p = value.ptr + sizeof(h);
	uint64_t total = (uint64_t)h.key_len + h.old_labels_len + h.old_fields_len + h.record_len;
	if (total != value.len - sizeof(h) || h.type > EVENT_DELETED)
		return false;
	struct str key = str_n(p, h.key_len);
	p += h.key_len;
	*ret = (struct event){.type = h.type, .revision = revision, .previous = h.previous};
	ret->old_labels = str_n(p, h.old_labels_len);
	p += h.old_labels_len;
	ret->old_fields = str_n(p, h.old_fields_len);
	p += h.old_fields_len;
	if (!key_split(key, &rid, &ns, &name) || !record_view(str_n(p, h.record_len), ns, name, &ret->object))
		return false;
	ret->kind = db_kind(s, rid);
	return true;
}

static int damaged(struct status *st)
{
	return status_set(st, REASON_INTERNAL, "Internal error occurred: the feed is damaged");
}

static int too_old(struct read *r, uint64_t after, struct status *st)
{
	return status_set(st, REASON_EXPIRED, "too old resource version: %ju (%ju)", (uintmax_t)after,
			  (uintmax_t)r->compacted);
}

static bool wanted(const struct event *e, const struct kind *k, struct str ns)
{
	if (!e->kind || (k && e->kind != k->storage))
		return false;
	return !ns.ptr || str_eq(e->object.ns, ns);
}

int feed_next_of(struct read *r, uint64_t after, const struct kind *k, struct str ns, unsigned budget,
		 uint64_t *ret_seen, struct event *ret, struct status *st)
{
	struct key start;
	MDB_cursor *cursor;
	MDB_val mk, v;

	*ret_seen = after;
	if (after >= r->revision)
		return 0;
	if (after < r->compacted)
		return too_old(r, after, st);
	int rc = mdb_cursor_open(r->txn, r->store->feed, &cursor);
	if (rc)
		return db_error(rc, st);
	key_revision(&start, after + 1);
	mk = val_of(key_str(&start));
	rc = mdb_cursor_get(cursor, &mk, &v, MDB_SET_RANGE);
	int result = 0;
	for (; !rc && budget; budget--, rc = mdb_cursor_get(cursor, &mk, &v, MDB_NEXT)) {
		uint64_t revision = key_revision_of(val_str(&mk));
		if (!feed_view(r->store, revision, val_str(&v), ret)) {
			result = damaged(st);
			break;
		}
		*ret_seen = revision;
		if (wanted(ret, k, ns)) {
			result = 1;
			break;
		}
	}
	mdb_cursor_close(cursor);
	if (rc == MDB_NOTFOUND)
		*ret_seen = r->revision;
	else if (rc)
		return db_error(rc, st);
	return result;
}

int feed_next(struct read *r, uint64_t after, struct event *ret, struct status *st)
{
	uint64_t seen;

	return feed_next_of(r, after, NULL, (struct str){0}, UINT32_MAX, &seen, ret, st);
}

int feed_before(struct read *r, const struct event *e, struct object *ret)
{
	struct key key;
	MDB_val k, v;
	struct event before;

	if (!e->previous)
		return -ENOENT;
	if (e->previous > r->compacted) {
		key_revision(&key, e->previous);
		k = val_of(key_str(&key));
		if (mdb_get(r->txn, r->store->feed, &k, &v) || !feed_view(r->store, e->previous, val_str(&v), &before))
			return -ENOENT;
		*ret = before.object;
		return 0;
	}
	key_revision(&key, e->revision);
	k = val_of(key_str(&key));
	if (mdb_get(r->txn, r->store->undo, &k, &v))
		return -ENOENT;
	return record_view(val_str(&v), e->object.ns, e->object.name, ret) ? 0 : -ENOENT;
}

/* A compaction to revision C, in three steps of one transaction:
 * 1. Events after C that replaced a state at or before C, which the feed still holds, get it as `undo`.
 * 2. feed and undo entries up to C go.
 * 3. The compaction point is C. */
struct compaction {
	struct store *s;
	MDB_txn *txn;
	uint64_t from, to;
	uint64_t bytes, events; /* dropped */
};

static int save_undo(struct compaction *c, uint64_t revision, uint64_t previous)
{
	struct key key;
	MDB_val k, v;
	struct event before;

	key_revision(&key, previous);
	k = val_of(key_str(&key));
	int rc = mdb_get(c->txn, c->s->feed, &k, &v);
	if (rc)
		return rc == MDB_NOTFOUND ? 0 : rc;
	if (!feed_view(c->s, previous, val_str(&v), &before))
		return MDB_CORRUPTED;
	struct buf copy = {0};
	buf_add_str(&copy, before.object.raw);
	key_revision(&key, revision);
	k = val_of(key_str(&key));
	v = val_of(buf_str(&copy));
	rc = copy.failed ? ENOMEM : mdb_put(c->txn, c->s->undo, &k, &v, 0);
	buf_done(&copy);
	return rc;
}

static int save_undos(struct compaction *c)
{
	struct key start;
	MDB_cursor *cursor;
	MDB_val k, v;
	int rc = mdb_cursor_open(c->txn, c->s->feed, &cursor);

	if (rc)
		return rc;
	key_revision(&start, c->to + 1);
	k = val_of(key_str(&start));
	for (rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE); !rc; rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		struct feed_header h;
		if (v.mv_size < sizeof(h))
			continue;
		memcpy(&h, v.mv_data, sizeof(h));
		if (h.previous <= c->from || h.previous > c->to)
			continue;
		rc = save_undo(c, key_revision_of(val_str(&k)), h.previous);
		if (rc)
			break;
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int drop(struct compaction *c, MDB_dbi dbi, bool count)
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int rc = mdb_cursor_open(c->txn, dbi, &cursor);

	if (rc)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &k, &v, MDB_FIRST)) == 0 && key_revision_of(val_str(&k)) <= c->to) {
		if (count) {
			c->bytes += v.mv_size;
			c->events++;
		}
		rc = mdb_cursor_del(cursor, 0);
		if (rc)
			break;
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int less(struct compaction *c, struct str name, uint64_t by)
{
	uint64_t v = meta_get(c->s, c->txn, name);

	return meta_put(c->s, c->txn, name, v > by ? v - by : 0);
}

static int compact(struct compaction *c)
{
	int rc = save_undos(c);

	if (!rc)
		rc = drop(c, c->s->feed, true);
	if (!rc)
		rc = drop(c, c->s->undo, false);
	if (!rc)
		rc = less(c, STR(META_FEED_BYTES), c->bytes);
	if (!rc)
		rc = less(c, STR(META_FEED_EVENTS), c->events);
	if (!rc)
		rc = meta_put(c->s, c->txn, STR(META_COMPACTED), c->to);
	return rc;
}

int db_compact_to(struct store *s, uint64_t revision, struct status *st)
{
	struct compaction c = {.s = s};

	if (s->options.read_only)
		return 0;
	int rc = mdb_txn_begin(s->env, NULL, 0, &c.txn);
	if (rc)
		return db_error(rc, st);
	uint64_t newest = meta_get(s, c.txn, STR(META_REVISION));
	c.from = meta_get(s, c.txn, STR(META_COMPACTED));
	c.to = revision < newest ? revision : newest;
	if (c.to > c.from)
		rc = compact(&c);
	if (rc || c.to <= c.from) {
		mdb_txn_abort(c.txn);
		return rc ? db_error(rc, st) : 0;
	}
	rc = mdb_txn_commit(c.txn);
	return rc ? db_error(rc, st) : 0;
}

/* The newest revision that has to go: walking from the oldest event while the rest is too large or the event too old. */
static uint64_t compaction_point(struct read *r, int64_t now)
{
	const struct store_options *o = &r->store->options;
	uint64_t bytes = meta_get(r->store, r->txn, STR(META_FEED_BYTES));
	uint64_t point = r->compacted;
	MDB_cursor *cursor;
	MDB_val k, v;

	if (mdb_cursor_open(r->txn, r->store->feed, &cursor))
		return point;
	while (mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0) {
		struct feed_header h;
		if (v.mv_size < sizeof(h))
			break;
		memcpy(&h, v.mv_data, sizeof(h));
		if (bytes <= o->feed_bytes && h.time + (int64_t)o->feed_seconds > now)
			break;
		bytes -= v.mv_size < bytes ? v.mv_size : bytes;
		point = key_revision_of(val_str(&k));
	}
	mdb_cursor_close(cursor);
	return point;
}

int db_compact(struct store *s, struct status *st)
{
	struct read *r;
	int err = read_begin(s, &r, st);

	if (err)
		return err;
	uint64_t point = compaction_point(r, time(NULL));
	bool due = point > r->compacted;
	read_end(r);
	return due ? db_compact_to(s, point, st) : 0;
}
