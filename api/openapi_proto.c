/* SPDX-License-Identifier: Apache-2.0 */
/* From JSON to protobuf, guided by tables, in one pass over the text.
 *
 * The length of a message stands before it but is known behind it: proto_begin remembers the place, proto_end moves
 * the content up by the one to four bytes that its length takes. */
#include "api/openapi_proto.h"

#include "store/codec/scan.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, VARINT_MAX = 10 };

static size_t varint(uint64_t v, unsigned char out[VARINT_MAX])
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (unsigned char)(v | 0x80);
	out[n++] = (unsigned char)v;
	return n;
}

static void add_varint(struct buf *out, uint64_t v)
{
	unsigned char bytes[VARINT_MAX];

	buf_add(out, bytes, varint(v, bytes));
}

/* Opens a message or a string; returns the place of its content. */
static size_t proto_begin(struct buf *out, unsigned number)
{
	add_varint(out, number << 3 | WIRE_BYTES);
	return out->len;
}

static void proto_end(struct buf *out, size_t start)
{
	unsigned char bytes[VARINT_MAX];
	size_t len = out->len - start, n = varint(len, bytes);

	if (!buf_reserve(out, n))
		return;
	memmove(out->ptr + start + n, out->ptr + start, len);
	memcpy(out->ptr + start, bytes, n);
	out->len += n;
}

static void add_bytes(struct buf *out, unsigned number, struct str s)
{
	size_t start = proto_begin(out, number);

	buf_add_str(out, s);
	proto_end(out, start);
}

/* A JSON string with its quotes, decoded. */
static void add_string(struct buf *out, unsigned number, struct str span)
{
	size_t start = proto_begin(out, number);

	if (buf_reserve(out, span.len))
		out->len += scan_unescape(span, out->ptr + out->len);
	proto_end(out, start);
}

static void add_true(struct buf *out, unsigned number)
{
	add_varint(out, number << 3 | WIRE_VARINT);
	add_varint(out, 1);
}

static bool is_container(enum scan_token t)
{
	return t == SCAN_OBJECT || t == SCAN_ARRAY;
}

static bool is_string(struct str span, const char *text)
{
	return span.len == strlen(text) + 2 && memcmp(span.ptr + 1, text, span.len - 2) == 0;
}

/* Looks into the object that s has just entered: has it the key, and, where value is not NULL, with this value? */
static bool object_has(const struct scan *s, const char *key, const char *value)
{
	struct scan ahead = *s;

	while (scan_next(&ahead) == SCAN_KEY) {
		bool found = is_string(ahead.span, key);
		enum scan_token t = scan_next(&ahead);
		if (t == SCAN_ERROR)
			return false;
		if (found)
			return !value || (t == SCAN_STRING && is_string(ahead.span, value));
		if (is_container(t) && scan_skip(&ahead) == SCAN_ERROR)
			return false;
	}
	return false;
}

static bool field_fits(const struct proto_field *f, const struct scan *s, enum scan_token t)
{
	if (!f->when)
		return true;
	if (strcmp(f->when, "bool") == 0)
		return t == SCAN_TRUE || t == SCAN_FALSE;
	if (t != SCAN_OBJECT)
		return false;
	return strcmp(f->when, "$ref") == 0 ? object_has(s, "$ref", NULL) : object_has(s, "in", f->when);
}

/* key: with its quotes. NULL when nothing is known of it or no row fits the value. */
static const struct proto_field *field_find(const struct proto_message *m, struct str key, const struct scan *s,
					    enum scan_token t)
{
	for (unsigned i = 0; i < m->nfields; i++)
		if (is_string(key, m->fields[i].key) && field_fits(&m->fields[i], s, t))
			return &m->fields[i];
	return NULL;
}

/* The text of the value whose token t was just read; goes past it. */
static struct str whole_span(struct scan *s, enum scan_token t)
{
	if (is_container(t))
		scan_skip(s);
	return s->span;
}

static void add_any(struct buf *out, unsigned number, struct str text)
{
	size_t start = proto_begin(out, number);

	add_bytes(out, 2, text);
	proto_end(out, start);
}

static void add_default(struct buf *out, unsigned number, struct scan *s, enum scan_token t)
{
	size_t start = proto_begin(out, number);

	if (t == SCAN_STRING)
		add_string(out, 3, s->span);
	else if (t == SCAN_TRUE)
		add_true(out, 2);
	else
		whole_span(s, t);
	proto_end(out, start);
}

static void add_value(struct buf *out, const struct proto_message *m, struct str key, struct scan *s,
		      enum scan_token t);

static void add_members(struct buf *out, const struct proto_message *m, struct scan *s)
{
	while (scan_next(s) == SCAN_KEY) {
		struct str key = s->span;
		add_value(out, m, key, s, scan_next(s));
	}
}

/* The entries of a map are the innermost messages of path. */
static void add_entries(struct buf *out, unsigned number, const struct proto_message *m, struct scan *s)
{
	while (scan_next(s) == SCAN_KEY) {
		size_t start = proto_begin(out, number);
		add_string(out, 1, s->span);
		add_value(out, m, STR("\"*\""), s, scan_next(s));
		proto_end(out, start);
	}
}

/* The innermost field of a row; goes past the value. A value of another type than the row's is left out. */
static void add_leaf(struct buf *out, const struct proto_field *f, unsigned number, struct scan *s, enum scan_token t)
{
	if (f->type == PROTO_ANY) {
		add_any(out, number, whole_span(s, t));
	} else if (f->type == PROTO_DEFAULT) {
		add_default(out, number, s, t);
	} else if (f->type == PROTO_MAP && t == SCAN_OBJECT) {
		add_entries(out, number, f->message, s);
	} else if (f->type == PROTO_MESSAGE && t == SCAN_OBJECT) {
		size_t start = proto_begin(out, number);
		add_members(out, f->message, s);
		proto_end(out, start);
	} else if (f->type == PROTO_STRING && t == SCAN_STRING) {
		add_string(out, number, s->span);
	} else if (f->type == PROTO_BOOL && t == SCAN_TRUE) {
		add_true(out, number);
	} else {
		whole_span(s, t);
	}
}

/* A value with the messages around it. */
static void add_field(struct buf *out, const struct proto_field *f, struct scan *s, enum scan_token t)
{
	size_t start[PROTO_PATH_MAX];
	unsigned n = 0;

	while (n + 1 < PROTO_PATH_MAX && f->path[n + 1]) {
		start[n] = proto_begin(out, f->path[n]);
		n++;
	}
	add_leaf(out, f, f->path[n], s, t);
	while (n > 0)
		proto_end(out, start[--n]);
}

static void add_extension(struct buf *out, unsigned number, struct str key, struct str value)
{
	size_t start = proto_begin(out, number);

	add_string(out, 1, key);
	add_any(out, 2, value);
	proto_end(out, start);
}

/* A list is gone through here, because each of its items may fit another row. */
static void add_list(struct buf *out, const struct proto_message *m, struct str key, struct scan *s)
{
	for (;;) {
		enum scan_token t = scan_next(s);
		if (t == SCAN_ARRAY_END || t == SCAN_ERROR)
			return;
		if (t == SCAN_ARRAY)
			whole_span(s, t);
		else
			add_value(out, m, key, s, t);
	}
}

/* Goes past the value whose token t was just read. */
static void add_value(struct buf *out, const struct proto_message *m, struct str key, struct scan *s,
		      enum scan_token t)
{
	if (t == SCAN_ERROR)
		return;
	if (m->extensions && str_starts(str_skip(key, 1), STR("x-"))) {
		add_extension(out, m->extensions, key, whole_span(s, t));
		return;
	}
	if (t == SCAN_ARRAY) {
		add_list(out, m, key, s);
		return;
	}
	const struct proto_field *f = field_find(m, key, s, t);
	if (f)
		add_field(out, f, s, t);
	else
		whole_span(s, t);
}

int proto_from_json(const struct proto_message *m, struct str json, struct buf *out, struct status *st)
{
	struct scan s;

	scan_init(&s, json);
	if (scan_next(&s) != SCAN_OBJECT)
		return status_set(st, REASON_BAD_REQUEST, "not a JSON object");
	add_members(out, m, &s);
	if (s.error || scan_next(&s) != SCAN_END)
		return scan_fail(&s, st);
	return out->failed ? status_no_memory(st) : 0;
}
