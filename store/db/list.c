/* SPDX-License-Identifier: Apache-2.0 */
/* Lists at a revision.
 *
 * A snapshot shows the newest state. To list an older revision R, what changed after R is taken back: a walk over
 * the feed from R+1 on finds, for each key of the collection, its first event; the state before that event (from the feed or from
 * `undo`) is the state at R. These states form the overlay, sorted by key; the list is the merge of
 * `objects` and the overlay, where the overlay wins and an absent state hides the key. */
#include <errno.h>

#include "store/db/db.h"

struct overlay_entry {
	struct str key;
	uint64_t revision; /* of the event behind it */
	struct str raw;    /* record at R; empty: not there at R */
};

struct list {
	struct read *read;
	struct list_query q;
	uint32_t rid;
	struct key prefix;
	MDB_cursor *cursor;
	MDB_val k, v;
	bool more;            /* k, v are an object of the collection that was not given yet */
	struct str name;      /* of a metadata.name term: a point read */
	struct overlay_entry *overlay;
	size_t noverlay, overlay_at;
	int64_t overlay_count; /* objects at R minus objects now */
};

static int add_entry(struct list *l, struct arena *a, size_t *cap, const struct overlay_entry *e)
{
	if (l->noverlay == *cap) {
		size_t want = *cap ? *cap * 2 : 64;
		struct overlay_entry *grown = arena_alloc(a, want * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		if (l->noverlay)
			memcpy(grown, l->overlay, l->noverlay * sizeof(*grown));
		l->overlay = grown;
		*cap = want;
	}
	l->overlay[l->noverlay++] = *e;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct overlay_entry *x = a, *y = b;
	int order = str_cmp(x->key, y->key);

	return order ? order : (x->revision > y->revision) - (x->revision < y->revision);
}

/* An object deleted and made again after R has two entries: the first event of a key counts. */
static void keep_first(struct list *l)
{
	size_t kept = 0;

	qsort(l->overlay, l->noverlay, sizeof(*l->overlay), by_key);
	for (size_t i = 0; i < l->noverlay; i++)
		if (!kept || !str_eq(l->overlay[kept - 1].key, l->overlay[i].key))
			l->overlay[kept++] = l->overlay[i];
	l->noverlay = kept;
}

/* Adds the state before e, when e can be the first event of its key after R. */
static int take_back(struct list *l, struct arena *a, const struct event *e, size_t *cap, struct status *st)
{
	struct overlay_entry entry = {.revision = e->revision};
	struct object before;
	struct key key;

	if (e->type == EVENT_ADDED)
		l->overlay_count--;
	else if (e->type == EVENT_DELETED)
		l->overlay_count++;
	if (e->previous > l->q.at || !key_object(&key, l->rid, e->object.ns, e->object.name))
		return 0;
	if (e->previous) {
		if (feed_before(l->read, e, &before) < 0)
			return status_set(st, REASON_INTERNAL, "Internal error occurred: history is damaged");
		entry.raw = before.raw;
	}
	entry.key = arena_str(a, key_str(&key));
	if (!entry.key.ptr || add_entry(l, a, cap, &entry) < 0)
		return status_no_memory(st);
	return 0;
}

static int collect_overlay(struct list *l, struct arena *a, struct status *st)
{
	uint64_t after = l->q.at, seen;
	struct event e;
	size_t cap = 0;
	int rc;

	while ((rc = feed_next_of(l->read, after, l->q.kind, l->q.ns, UINT32_MAX, &seen, &e, st)) == 1) {
		after = e.revision;
		int err = take_back(l, a, &e, &cap, st);
		if (err)
			return err;
	}
	if (rc < 0)
		return rc;
	if (l->noverlay)
		keep_first(l);
	return 0;
}

/* Moves to the first key of the collection behind the start key. */
static int seek(struct list *l)
{
	struct key start = l->prefix;

	if (l->q.after_name.ptr)
		key_object(&start, l->rid, l->q.after_ns, l->q.after_name);
	l->k = val_of(key_str(&start));
	int rc = mdb_cursor_get(l->cursor, &l->k, &l->v, MDB_SET_RANGE);
	if (!rc && l->q.after_name.ptr && str_eq(val_str(&l->k), key_str(&start)))
		rc = mdb_cursor_get(l->cursor, &l->k, &l->v, MDB_NEXT);
	if (rc && rc != MDB_NOTFOUND)
		return rc;
	l->more = !rc && str_starts(val_str(&l->k), key_str(&l->prefix));
	while (l->overlay_at < l->noverlay && l->q.after_name.ptr &&
	       str_cmp(l->overlay[l->overlay_at].key, key_str(&start)) <= 0)
		l->overlay_at++;
	return 0;
}

int list_begin(struct read *r, struct arena *a, const struct list_query *q, struct list **ret, struct status *st)
{
	struct list *l = arena_calloc(a, 1, sizeof(*l));

	if (!l)
		return status_no_memory(st);
	l->read = r;
	l->q = *q;
	l->rid = db_rid(r->store, q->kind);
	l->name = selector_name(q->fields);
	key_prefix(&l->prefix, l->rid, q->ns);
	if (q->at && q->at < r->compacted)
		return status_set(st, REASON_EXPIRED, "The resourceVersion for the provided list is too old.");
	if (q->at && q->at < r->revision) {
		int err = collect_overlay(l, a, st);
		if (err)
			return err;
	}
	int rc = mdb_cursor_open(r->txn, r->store->objects, &l->cursor);
	if (!rc)
		rc = seek(l);
	if (rc) {
		list_end(l);
		return db_error(rc, st);
	}
	*ret = l;
	return 0;
}

static int advance(struct list *l)
{
	int rc = mdb_cursor_get(l->cursor, &l->k, &l->v, MDB_NEXT);

	l->more = !rc && str_starts(val_str(&l->k), key_str(&l->prefix));
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* The next key and record of the merge; raw empty for "not there at R". 1, 0, or an LMDB code below 0. */
static int merged(struct list *l, struct str *key, struct str *raw)
{
	bool from_overlay = l->overlay_at < l->noverlay;
	int order = -1;

	if (from_overlay && l->more)
		order = str_cmp(val_str(&l->k), l->overlay[l->overlay_at].key);
	else if (from_overlay)
		order = 1;
	else if (!l->more)
		return 0;
	if (order < 0) {
		*key = val_str(&l->k);
		*raw = val_str(&l->v);
	} else {
		*key = l->overlay[l->overlay_at].key;
		*raw = l->overlay[l->overlay_at].raw;
		l->overlay_at++;
	}
	return order <= 0 && advance(l) ? -1 : 1;
}

static bool matches(const struct list *l, const struct object *o)
{
	if (!l->q.labels && !l->q.fields)
		return true;
	if (l->name.len && !str_eq(o->name, l->name))
		return false;
	return selector_match_labels(l->q.labels, o->labels) &&
	       selector_match_fields(l->q.fields, o->fields, o->ns, o->name);
}

int list_next(struct list *l, struct object *ret, struct status *st)
{
	struct str key, raw, ns, name;
	uint32_t rid;
	int rc;

	while ((rc = merged(l, &key, &raw)) == 1) {
		if (!raw.len)
			continue;
		if (!key_split(key, &rid, &ns, &name) || !record_view(raw, ns, name, ret))
			return status_set(st, REASON_INTERNAL, "Internal error occurred: a record of %.*s is damaged",
					  STR_ARG(l->q.kind->plural));
		if (matches(l, ret))
			return 1;
	}
	return rc < 0 ? db_error(MDB_CORRUPTED, st) : 0;
}

uint64_t list_total(struct list *l)
{
	return read_count(l->read, l->q.kind, l->q.ns) + (uint64_t)l->overlay_count;
}

void list_end(struct list *l)
{
	if (!l || !l->cursor)
		return;
	mdb_cursor_close(l->cursor);
	l->cursor = NULL;
}
