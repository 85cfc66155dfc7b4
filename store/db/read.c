/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots and point reads. */
#include "store/db/read.h"

#include <errno.h>

#include "store/db/db.h"
#include "store/db/owners.h"

static struct read *pooled(struct store *s)
{
	pthread_mutex_lock(&s->readers_lock);
	struct read *r = s->free_reads;
	if (r)
		s->free_reads = r->next;
	pthread_mutex_unlock(&s->readers_lock);
	return r;
}

static int read_new(struct store *s, struct read **ret, struct status *st)
{
	struct read *r = calloc(1, sizeof(*r));

	if (!r)
		return status_no_memory(st);
	r->store = s;
	int rc = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &r->txn);
	if (rc) {
		free(r);
		return rc == MDB_READERS_FULL ? status_set(st, REASON_UNAVAILABLE, "too many readers of the store")
					      : db_error(rc, st);
	}
	*ret = r;
	return 0;
}

int read_begin(struct store *s, struct read **ret, struct status *st)
{
	struct read *r = pooled(s);
	int err = 0;

	if (!r) {
		err = read_new(s, &r, st);
	} else {
		int rc = mdb_txn_renew(r->txn);
		if (rc) {
			mdb_txn_abort(r->txn);
			free(r);
			return db_error(rc, st);
		}
	}
	if (err)
		return err;
	r->revision = meta_get(s, r->txn, STR(META_REVISION));
	r->compacted = meta_get(s, r->txn, STR(META_COMPACTED));
	*ret = r;
	return 0;
}

void read_end(struct read *r)
{
	if (!r)
		return;
	struct store *s = r->store;
	mdb_txn_reset(r->txn);
	pthread_mutex_lock(&s->readers_lock);
	r->next = s->free_reads;
	s->free_reads = r;
	pthread_mutex_unlock(&s->readers_lock);
}

uint64_t read_revision(const struct read *r)
{
	return r->revision;
}

uint64_t read_compacted(const struct read *r)
{
	return r->compacted;
}

int read_get(struct read *r, const struct kind *k, struct str ns, struct str name, struct object *ret,
	     struct status *st)
{
	struct key key;

	if (!db_rid(r->store, k) || !key_object(&key, db_rid(r->store, k), ns, name))
		return -ENOENT;
	MDB_val mk = val_of(key_str(&key)), v;
	int rc = mdb_get(r->txn, r->store->objects, &mk, &v);
	if (rc == MDB_NOTFOUND)
		return -ENOENT;
	if (rc)
		return db_error(rc, st);
	if (!record_view(val_str(&v), ns, name, ret))
		return status_set(st, REASON_INTERNAL, "Internal error occurred: the record of %.*s %.*s is damaged",
				  STR_ARG(k->plural), STR_ARG(name));
	return 0;
}

uint64_t read_count(struct read *r, const struct kind *k, struct str ns)
{
	struct key name;

	key_count(&name, db_rid(r->store, k), ns);
	return meta_get(r->store, r->txn, key_str(&name));
}

int owners_next(struct read *r, struct str owner_uid, struct owner_cursor *c, const struct kind **ret_kind,
		struct str *ret_ns, struct str *ret_name)
{
	struct key prefix;
	MDB_cursor *cursor;
	MDB_val k, v;
	uint32_t rid;
	int found = 0;

	if (!key_owner(&prefix, owner_uid, STR("")) || mdb_cursor_open(r->txn, r->store->owners, &cursor))
		return 0;
	k = val_of(key_str(c->started ? &c->at : &prefix));
	int rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (!rc && c->started && str_eq(val_str(&k), key_str(&c->at)))
		rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
	for (; !rc && str_starts(val_str(&k), key_str(&prefix)); rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		c->started = true;
		c->at.len = k.mv_size;
		memcpy(c->at.bytes, k.mv_data, k.mv_size);
		if (!key_split(str_skip(val_str(&k), prefix.len), &rid, ret_ns, ret_name))
			continue;
		*ret_kind = db_kind(r->store, rid);
		if (*ret_kind) {
			found = 1;
			break;
		}
	}
	mdb_cursor_close(cursor);
	return found;
}
