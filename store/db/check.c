/* SPDX-License-Identifier: Apache-2.0 */
/* `holdfs check`: verifies in one snapshot that records, indexes, counters, feed and revision agree. */
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>

#include "store/codec/scan.h"
#include "store/db/db.h"

struct check {
	struct store *s;
	struct read *read;
	void (*report)(void *arg, const char *line);
	void *arg;
	int faults;
	struct buf text; /* scratch: one object's JSON */
};

__attribute__((format(printf, 2, 3)))
static void fault(struct check *c, const char *format, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	c->faults++;
	c->report(c->arg, line);
}

/* Calls each for every pair of dbi in key order. */
static int walk(struct check *c, MDB_dbi dbi, void (*each)(struct check *c, struct str key, struct str value))
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int rc = mdb_cursor_open(c->read->txn, dbi, &cursor);

	if (rc)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0)
		each(c, val_str(&k), val_str(&v));
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static bool present(struct check *c, MDB_dbi dbi, struct str key, struct str *ret)
{
	MDB_val k = val_of(key), v;

	if (mdb_get(c->read->txn, dbi, &k, &v))
		return false;
	*ret = val_str(&v);
	return true;
}

/* The JSON is well-formed, says what the header says, and renders to the YAML length that `ls` shows. */
static void check_content(struct check *c, const struct kind *k, const struct object *o, const char *what)
{
	struct buf yaml = {0};
	struct status st;
	char want[64];

	buf_clear(&c->text);
	if (!object_json(k, o, &c->text) || scan_check(buf_str(&c->text), &st) < 0) {
		fault(c, "%s: the object is not well-formed JSON", what);
		return;
	}
	int n = snprintf(want, sizeof(want), "\"resourceVersion\":\"%ju\"", (uintmax_t)o->revision);
	if (!memmem(o->metadata.ptr, o->metadata.len, want, (size_t)n))
		fault(c, "%s: metadata does not carry revision %ju", what, (uintmax_t)o->revision);
	if (!object_yaml(k, o, &yaml) || yaml.len != o->yaml_len)
		fault(c, "%s: YAML has %zu bytes, the record says %u", what, yaml.len, o->yaml_len);
	buf_done(&yaml);
}

static void check_indexes(struct check *c, struct str key, const struct object *o, const char *what)
{
	struct str text, value;
	struct key name;

	for (size_t at = 0; record_list_next(o->owners, &at, &text);)
		if (!key_owner(&name, text, key) || !present(c, c->s->owners, key_str(&name), &value))
			fault(c, "%s: owner %.*s is not indexed", what, STR_ARG(text));
	for (size_t at = 0; record_list_next(o->claims, &at, &text);)
		if (!key_claim(&name, text) || !present(c, c->s->meta, key_str(&name), &value) || !str_eq(value, key))
			fault(c, "%s: does not hold its claim %.*s", what, STR_ARG(text));
}

/* The newest event of the object, when the feed reaches back to it, is this version. */
static void check_event(struct check *c, struct str key, const struct object *o, const char *what)
{
	struct key name;
	struct str value;
	struct event e;

	(void)key;
	if (o->revision > c->read->revision)
		fault(c, "%s: revision %ju is beyond the store's %ju", what, (uintmax_t)o->revision,
		      (uintmax_t)c->read->revision);
	if (o->revision <= c->read->compacted)
		return;
	key_revision(&name, o->revision);
	if (!present(c, c->s->feed, key_str(&name), &value) || !feed_view(c->s, o->revision, value, &e))
		fault(c, "%s: no event for revision %ju", what, (uintmax_t)o->revision);
	else if (!str_eq(e.object.raw, o->raw) || e.type == EVENT_DELETED)
		fault(c, "%s: event %ju is not this version", what, (uintmax_t)o->revision);
}

static void describe(struct check *c, struct str key, char *out, size_t room)
{
	struct str ns, name;
	uint32_t rid;
	const struct kind *k;

	if (!key_split(key, &rid, &ns, &name)) {
		snprintf(out, room, "object with a key of %zu bytes", key.len);
		return;
	}
	k = db_kind(c->s, rid);
	snprintf(out, room, "%.*s %.*s%s%.*s", k ? (int)k->dir.len : 1, k ? k->dir.ptr : "?", STR_ARG(ns),
		 ns.len ? "/" : "", STR_ARG(name));
}

static void check_object(struct check *c, struct str key, struct str value)
{
	struct str ns, name;
	struct object o;
	char what[640];
	uint32_t rid;

	describe(c, key, what, sizeof(what));
	if (!key_split(key, &rid, &ns, &name) || !record_view(value, ns, name, &o)) {
		fault(c, "%s: not a record", what);
		return;
	}
	if (!record_sound(value)) {
		fault(c, "%s: checksum does not match", what);
		return;
	}
	if (db_kind(c->s, rid))
		check_content(c, db_kind(c->s, rid), &o, what);
	check_indexes(c, key, &o, what);
	check_event(c, key, &o, what);
}

static void check_feed(struct check *c, struct str key, struct str value)
{
	uint64_t revision = key_revision_of(key);
	struct event e;
	struct object before;

	if (revision <= c->read->compacted || revision > c->read->revision)
		fault(c, "event %ju is outside (%ju, %ju]", (uintmax_t)revision, (uintmax_t)c->read->compacted,
		      (uintmax_t)c->read->revision);
	if (!feed_view(c->s, revision, value, &e) || !record_sound(e.object.raw)) {
		fault(c, "event %ju is damaged", (uintmax_t)revision);
		return;
	}
	if (e.object.revision != revision || e.previous >= revision)
		fault(c, "event %ju carries revision %ju after %ju", (uintmax_t)revision,
		      (uintmax_t)e.object.revision, (uintmax_t)e.previous);
	if ((e.type == EVENT_ADDED) != (e.previous == 0))
		fault(c, "event %ju: type and previous revision disagree", (uintmax_t)revision);
	if (e.previous && feed_before(c->read, &e, &before) < 0)
		fault(c, "event %ju: the state before it (%ju) is not kept", (uintmax_t)revision,
		      (uintmax_t)e.previous);
}

static void check_owner(struct check *c, struct str key, struct str value)
{
	ptrdiff_t at = str_chr(key, '\0');
	struct str raw, ns, name, uid, text = {0};
	struct object o;
	uint32_t rid;

	(void)value;
	uid = str_n(key.ptr, at < 0 ? 0 : (size_t)at);
	struct str object = str_skip(key, uid.len + 1);
	if (at < 0 || !key_split(object, &rid, &ns, &name) || !present(c, c->s->objects, object, &raw) ||
	    !record_view(raw, ns, name, &o)) {
		fault(c, "owner index: %.*s names an object that is not there", STR_ARG(uid));
		return;
	}
	for (size_t i = 0; record_list_next(o.owners, &i, &text);)
		if (str_eq(text, uid))
			return;
	fault(c, "owner index: %.*s is no owner of %.*s", STR_ARG(uid), STR_ARG(name));
}

/* Counts the keys below a prefix. */
static uint64_t count_keys(struct check *c, const struct key *prefix)
{
	MDB_cursor *cursor;
	MDB_val k = val_of(key_str(prefix)), v;
	uint64_t n = 0;

	if (mdb_cursor_open(c->read->txn, c->s->objects, &cursor))
		return 0;
	for (int rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	     rc == 0 && str_starts(val_str(&k), key_str(prefix)); rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT))
		n++;
	mdb_cursor_close(cursor);
	return n;
}

static void check_count(struct check *c, struct str key, struct str value)
{
	struct key prefix;
	uint64_t said = 0;
	uint32_t be;

	if (key.len < 1 + sizeof(be) || key.ptr[0] != 'n')
		return;
	memcpy(&be, key.ptr + 1, sizeof(be));
	struct str ns = str_skip(key, 1 + sizeof(be));
	ns = ns.len ? str_skip(ns, 1) : (struct str){0};
	key_prefix(&prefix, be32toh(be), ns);
	if (value.len == sizeof(said))
		memcpy(&said, value.ptr, sizeof(said));
	uint64_t is = count_keys(c, &prefix);
	if (is != said)
		fault(c, "count of resource %u in %.*s is %ju, there are %ju objects", be32toh(be), STR_ARG(ns),
		      (uintmax_t)said, (uintmax_t)is);
}

static void check_claim(struct check *c, struct str key, struct str value)
{
	struct str claim = str_skip(key, 6), raw, text;
	struct object o;

	if (!str_starts(key, STR("claim/")))
		return;
	if (!present(c, c->s->objects, value, &raw) || !record_view(raw, STR(""), STR(""), &o)) {
		fault(c, "claim %.*s is held by an object that is not there", STR_ARG(claim));
		return;
	}
	for (size_t at = 0; record_list_next(o.claims, &at, &text);)
		if (str_eq(text, claim))
			return;
	fault(c, "claim %.*s is held by an object that does not name it", STR_ARG(claim));
}

int store_check(struct store *s, void (*report)(void *arg, const char *line), void *arg, struct status *st)
{
	struct check c = {.s = s, .report = report, .arg = arg};
	int err = read_begin(s, &c.read, st);
	struct {
		MDB_dbi dbi;
		void (*each)(struct check *c, struct str key, struct str value);
	} passes[] = {
		{s->objects, check_object}, {s->feed, check_feed},  {s->owners, check_owner},
		{s->meta, check_count},     {s->meta, check_claim},
	};

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++) {
		int rc = walk(&c, passes[i].dbi, passes[i].each);
		if (rc)
			fault(&c, "reading the database: %s", mdb_strerror(rc));
	}
	read_end(c.read);
	buf_done(&c.text);
	return c.faults;
}
