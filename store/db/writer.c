/* SPDX-License-Identifier: Apache-2.0 */
/* The writer thread: takes all waiting changes, applies them in one transaction, commits, publishes
 * the new revision, answers. One fdatasync a group, and nobody is told "done" before it.
 *
 * Everything of a change is checked before its first put, so that a refused change leaves nothing
 * behind in the transaction that its neighbours share. Pointers that mdb_get gives die with the next
 * put; the record that a change replaces is copied first. */
#include "store/db/writer.h"

#include <errno.h>
#include <time.h>

#include "store/db/db.h"
#include "store/db/feed.h"

enum { GROUP_MAX = 512, FREE_LIST_EVERY = 64 };

/* One transaction being filled. */
struct group {
	struct store *s;
	MDB_txn *txn;
	uint64_t revision; /* last one given */
	uint64_t feed_bytes, feed_events;
	uint64_t compacted;
	int64_t now;
	bool full;         /* over max_size: only removals */
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The stored record of key into writer.old: 0, MDB_NOTFOUND, or an error. */
static int fetch_old(struct group *g, const struct key *key, struct str ns, struct str name, struct object *ret)
{
	MDB_val k = val_of(key_str(key)), v;
	struct buf *old = &g->s->writer.old;
	int rc = mdb_get(g->txn, g->s->objects, &k, &v);

	if (rc)
		return rc;
	buf_clear(old);
	buf_add(old, v.mv_data, v.mv_size);
	if (old->failed)
		return ENOMEM;
	return record_view(buf_str(old), ns, name, ret) ? 0 : MDB_CORRUPTED;
}

static bool namespace_open(struct group *g, struct str ns)
{
	const struct kind *k = kinds_find(g->s->kinds, STR(""), STR("v1"), STR("namespaces"));
	struct key key;
	struct object o;
	MDB_val v;

	if (!key_object(&key, db_rid(g->s, k), STR(""), ns))
		return false;
	MDB_val mk = val_of(key_str(&key));
	return mdb_get(g->txn, g->s->objects, &mk, &v) == 0 && record_view(val_str(&v), STR(""), ns, &o) &&
	       !(o.flags & RECORD_TERMINATING);
}

/* Is every claim of the new record free or already ours? */
static bool claims_free(struct group *g, struct str claims, const struct key *owner)
{
	struct str claim;
	struct key key;

	for (size_t at = 0; record_list_next(claims, &at, &claim);) {
		MDB_val k, v;
		if (!key_claim(&key, claim))
			return false;
		k = val_of(key_str(&key));
		if (mdb_get(g->txn, g->s->meta, &k, &v) == 0 && !str_eq(val_str(&v), key_str(owner)))
			return false;
	}
	return true;
}

static int update_claims(struct group *g, struct str claims, const struct key *owner, bool add)
{
	struct str claim;
	struct key key;
	int rc = 0;

	for (size_t at = 0; !rc && record_list_next(claims, &at, &claim);) {
		if (!key_claim(&key, claim))
			continue;
		MDB_val k = val_of(key_str(&key)), v = val_of(key_str(owner));
		rc = add ? mdb_put(g->txn, g->s->meta, &k, &v, 0) : mdb_del(g->txn, g->s->meta, &k, NULL);
		if (rc == MDB_NOTFOUND)
			rc = 0;
	}
	return rc;
}

static int update_owners(struct group *g, struct str owners, const struct key *object, bool add)
{
	struct str uid;
	struct key key;
	int rc = 0;

	for (size_t at = 0; !rc && record_list_next(owners, &at, &uid);) {
		if (!key_owner(&key, uid, key_str(object)))
			continue;
		MDB_val k = val_of(key_str(&key)), v = {0};
		rc = add ? mdb_put(g->txn, g->s->owners, &k, &v, 0) : mdb_del(g->txn, g->s->owners, &k, NULL);
		if (rc == MDB_NOTFOUND)
			rc = 0;
	}
	return rc;
}

/* Lists that did not change cost nothing. */
static int update_indexes(struct group *g, const struct key *key, const struct object *old, const struct object *next)
{
	struct str none = {0};
	struct str before = old ? old->owners : none, after = next ? next->owners : none;
	int rc = 0;

	if (!str_eq(before, after)) {
		rc = update_owners(g, before, key, false);
		if (!rc)
			rc = update_owners(g, after, key, true);
	}
	before = old ? old->claims : none;
	after = next ? next->claims : none;
	if (!rc && !str_eq(before, after)) {
		rc = update_claims(g, before, key, false);
		if (!rc)
			rc = update_claims(g, after, key, true);
	}
	return rc;
}

static int bump(struct group *g, const struct key *name, int64_t by)
{
	uint64_t n = meta_get(g->s, g->txn, key_str(name)) + (uint64_t)by;
	MDB_val k = val_of(key_str(name));

	if (n == 0) {
		int rc = mdb_del(g->txn, g->s->meta, &k, NULL);
		return rc == MDB_NOTFOUND ? 0 : rc;
	}
	return meta_put(g->s, g->txn, key_str(name), n);
}

static int update_counts(struct group *g, uint32_t rid, struct str ns, int64_t by)
{
	struct key name;

	key_count(&name, rid, (struct str){0});
	int rc = bump(g, &name, by);
	if (rc || !ns.len)
		return rc;
	key_count(&name, rid, ns);
	return bump(g, &name, by);
}

static int put_object(struct group *g, const struct key *key, struct str raw, uint64_t revision)
{
	MDB_val k = val_of(key_str(key)), v = {.mv_size = record_stamped_len(raw, revision)};
	int rc = mdb_put(g->txn, g->s->objects, &k, &v, MDB_RESERVE);

	if (!rc)
		record_stamp(raw, revision, v.mv_data);
	return rc;
}

/* When the state that this event replaces is older than the feed, it is kept in `undo`, so that lists at
 * revisions before the event, and selectors that stop matching, still have it. */
static int put_undo(struct group *g, uint64_t revision, const struct object *old)
{
	struct key key;

	if (!old || old->revision > g->compacted)
		return 0;
	key_revision(&key, revision);
	MDB_val k = val_of(key_str(&key)), v = val_of(old->raw);
	return mdb_put(g->txn, g->s->undo, &k, &v, 0);
}

static int put_event(struct group *g, enum event_type type, const struct key *key, const struct object *old,
		     struct str raw, uint64_t revision)
{
	struct str labels = old ? old->labels : STR(""), fields = old ? old->fields : STR("");
	struct feed_header h = {
		.key_len = (uint32_t)key->len,
		.old_labels_len = (uint32_t)labels.len,
		.old_fields_len = (uint32_t)fields.len,
		.record_len = (uint32_t)record_stamped_len(raw, revision),
		.previous = old ? old->revision : 0,
		.time = g->now,
		.type = type,
	};
	struct key name;
	MDB_val v = {.mv_size = sizeof(h) + key->len + labels.len + fields.len + h.record_len};

	key_revision(&name, revision);
	MDB_val k = val_of(key_str(&name));
	int rc = mdb_put(g->txn, g->s->feed, &k, &v, MDB_RESERVE | MDB_APPEND);
	if (rc)
		return rc;
	char *p = v.mv_data;
	p = (char *)mempcpy(p, &h, sizeof(h));
	p = (char *)mempcpy(p, key->bytes, key->len);
	p = (char *)mempcpy(p, labels.ptr, labels.len);
	p = (char *)mempcpy(p, fields.ptr, fields.len);
	record_stamp(raw, revision, p);
	g->feed_bytes += v.mv_size;
	g->feed_events++;
	return put_undo(g, revision, old);
}

/* All puts of one change that has passed its checks. */
static int apply_puts(struct group *g, struct change *c, const struct key *key, const struct object *old)
{
	struct object next;
	struct str raw = c->draft.len ? c->draft : old->raw;
	uint64_t revision = g->revision + 1;
	enum event_type type = c->remove ? EVENT_DELETED : old ? EVENT_MODIFIED : EVENT_ADDED;
	MDB_val k = val_of(key_str(key));

	if (!record_view(raw, c->ns, c->name, &next))
		return MDB_CORRUPTED;
	int rc = c->remove ? mdb_del(g->txn, g->s->objects, &k, NULL) : put_object(g, key, raw, revision);
	if (!rc)
		rc = put_event(g, type, key, old, raw, revision);
	if (!rc)
		rc = update_indexes(g, key, old, c->remove ? NULL : &next);
	if (!rc && type != EVENT_MODIFIED)
		rc = update_counts(g, db_rid(g->s, c->kind), c->ns, c->remove ? -1 : 1);
	if (!rc)
		c->revision = g->revision = revision;
	return rc;
}

/* 0 whether the change was taken or refused (c->result says); an LMDB code when the transaction is spoilt. */
static int apply(struct group *g, struct change *c)
{
	struct key key;
	struct object old, next;
	int rc;

	if (!key_object(&key, db_rid(g->s, c->kind), c->ns, c->name)) {
		c->result = CHANGE_FAILED;
		c->error = MDB_BAD_VALSIZE;
		return 0;
	}
	rc = fetch_old(g, &key, c->ns, c->name, &old);
	if (rc && rc != MDB_NOTFOUND)
		return rc;
	bool exists = rc == 0;
	if ((exists ? old.revision : 0) != c->expect || (c->remove && !exists)) {
		c->result = CHANGE_STALE;
		return 0;
	}
	if (c->needs_namespace && !namespace_open(g, c->ns)) {
		c->result = CHANGE_NO_NAMESPACE;
		return 0;
	}
	if (g->full && !c->remove) {
		c->result = CHANGE_NO_SPACE;
		return 0;
	}
	if (!c->remove && record_view(c->draft, c->ns, c->name, &next) && !claims_free(g, next.claims, &key)) {
		c->result = CHANGE_CLAIMED;
		return 0;
	}
	c->result = CHANGE_DONE;
	return apply_puts(g, c, &key, exists ? &old : NULL);
}

/* Over the limit? The file never shrinks, so beyond it the free pages are counted now and then. */
static bool over_limit(struct store *s, MDB_txn *txn)
{
	struct writer *w = &s->writer;
	uint64_t commits = atomic_load(&s->groups);
	MDB_envinfo info;

	mdb_env_info(s->env, &info);
	if ((info.me_last_pgno + 1) * s->page_size < s->options.max_size)
		return false;
	if (!w->free_seen || commits - w->free_seen >= FREE_LIST_EVERY) {
		w->free_pages = info.me_last_pgno + 1 - db_used_pages(s, txn);
		w->free_seen = commits ? commits : 1;
	}
	return (info.me_last_pgno + 1 - w->free_pages) * s->page_size >= s->options.max_size;
}

static int group_begin(struct group *g, struct store *s)
{
	*g = (struct group){.s = s, .now = now_ns(CLOCK_REALTIME) / 1000000000};
	int rc = mdb_txn_begin(s->env, NULL, 0, &g->txn);
	if (rc)
		return rc;
	g->revision = meta_get(s, g->txn, STR(META_REVISION));
	g->compacted = meta_get(s, g->txn, STR(META_COMPACTED));
	g->feed_bytes = meta_get(s, g->txn, STR(META_FEED_BYTES));
	g->feed_events = meta_get(s, g->txn, STR(META_FEED_EVENTS));
	g->full = over_limit(s, g->txn);
	return 0;
}

static int group_commit(struct group *g)
{
	struct store *s = g->s;
	int rc = meta_put(s, g->txn, STR(META_REVISION), g->revision);

	if (!rc)
		rc = meta_put(s, g->txn, STR(META_FEED_BYTES), g->feed_bytes);
	if (!rc)
		rc = meta_put(s, g->txn, STR(META_FEED_EVENTS), g->feed_events);
	if (rc) {
		mdb_txn_abort(g->txn);
		return rc;
	}
	int64_t start = now_ns(CLOCK_MONOTONIC);
	rc = mdb_txn_commit(g->txn);
	atomic_fetch_add(&s->commit_ns, (uint64_t)(now_ns(CLOCK_MONOTONIC) - start));
	/* After a failed sync nobody knows what is on disk: no more promises. A full disk fails before. */
	if (rc && rc != MDB_MAP_FULL && rc != ENOSPC && rc != ENOMEM)
		s->writer.broken = true;
	return rc;
}

static void publish(struct store *s, uint64_t revision)
{
	atomic_store(&s->revision, revision);
	pthread_mutex_lock(&s->subscribers_lock);
	for (struct subscriber *sub = s->subscribers; sub; sub = sub->next)
		sub->wake(sub, revision);
	pthread_mutex_unlock(&s->subscribers_lock);
}

static void answer(struct change *list)
{
	struct change *next;

	for (struct change *c = list; c; c = next) {
		next = c->next;
		c->done(c);
	}
}

static void refuse(struct change *list, int rc)
{
	for (struct change *c = list; c; c = c->next) {
		c->result = rc == MDB_MAP_FULL || rc == ENOSPC ? CHANGE_NO_SPACE : CHANGE_FAILED;
		c->error = rc;
	}
}

static void commit_group(struct store *s, struct change *list)
{
	struct group g;
	uint64_t n = 0;
	int rc = s->writer.broken ? EIO : group_begin(&g, s);

	if (!rc) {
		uint64_t before = g.revision;
		for (struct change *c = list; c && !rc; c = c->next)
			rc = apply(&g, c);
		n = g.revision - before;
		if (rc || n == 0)
			mdb_txn_abort(g.txn);
		else
			rc = group_commit(&g);
	}
	if (rc)
		refuse(list, rc);
	else if (n) {
		atomic_fetch_add(&s->commits, n);
		atomic_fetch_add(&s->groups, 1);
		publish(s, g.revision);
	}
	answer(list);
}

/* Cuts up to a group's worth off the queue. NULL when it is to stop and nothing is left. */
static struct change *next_group(struct store *s)
{
	struct writer *w = &s->writer;
	unsigned max = s->options.commit_each ? 1 : GROUP_MAX;

	pthread_mutex_lock(&w->lock);
	while (!w->head && !w->stop)
		pthread_cond_wait(&w->more, &w->lock);
	struct change *list = w->head, *last = list;
	for (unsigned n = 1; last && last->next && n < max; n++)
		last = last->next;
	if (last) {
		w->head = last->next;
		last->next = NULL;
		if (!w->head)
			w->tail = &w->head;
	}
	pthread_mutex_unlock(&w->lock);
	return list;
}

static void *writer_main(void *arg)
{
	struct store *s = arg;
	struct change *list;

	while ((list = next_group(s)) != NULL)
		commit_group(s, list);
	return NULL;
}

int writer_start(struct store *s, struct status *st)
{
	s->writer.tail = &s->writer.head;
	int rc = pthread_create(&s->writer.thread, NULL, writer_main, s);
	if (rc)
		return status_set(st, REASON_UNAVAILABLE, "cannot start a thread: %s", strerror(rc));
	pthread_setname_np(s->writer.thread, "writer");
	s->writer.running = true;
	return 0;
}

void writer_stop(struct store *s)
{
	struct writer *w = &s->writer;

	if (w->running) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_signal(&w->more);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		w->running = false;
	}
	buf_done(&w->old);
}

void writer_submit(struct store *s, struct change *c)
{
	struct writer *w = &s->writer;

	c->next = NULL;
	pthread_mutex_lock(&w->lock);
	*w->tail = c;
	w->tail = &c->next;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

void store_subscribe(struct store *s, struct subscriber *sub)
{
	pthread_mutex_lock(&s->subscribers_lock);
	sub->next = s->subscribers;
	s->subscribers = sub;
	pthread_mutex_unlock(&s->subscribers_lock);
}

void store_unsubscribe(struct store *s, struct subscriber *sub)
{
	pthread_mutex_lock(&s->subscribers_lock);
	for (struct subscriber **p = &s->subscribers; *p; p = &(*p)->next)
		if (*p == sub) {
			*p = sub->next;
			break;
		}
	pthread_mutex_unlock(&s->subscribers_lock);
}
