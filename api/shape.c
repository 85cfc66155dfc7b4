/* SPDX-License-Identifier: Apache-2.0 */
/* Copies an object's ready-made parts into the form that was asked for. */
#include "api/shape.h"

int include_parse(struct str text, enum include *ret, struct status *st)
{
	if (text.len == 0 || str_is(text, "Metadata"))
		*ret = INCLUDE_METADATA;
	else if (str_is(text, "None"))
		*ret = INCLUDE_NONE;
	else if (str_is(text, "Object"))
		*ret = INCLUDE_OBJECT;
	else
		return status_set(st, REASON_BAD_REQUEST, "unrecognized includeObject value: \"%.*s\"", STR_ARG(text));
	return 0;
}

const char *shape_meta_version(const struct shape *s)
{
	return s->beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
}

static void add_full(const struct shape *s, const struct object *o, struct buf *out)
{
	if (s->kind != s->kind->storage) {
		if (!object_json(s->kind, o, out))
			out->failed = true;
		return;
	}
	if (!buf_reserve(out, 1 + s->kind->type_meta.len + o->json.len))
		return;
	buf_addc(out, '{');
	buf_add_str(out, s->kind->type_meta);
	buf_add_str(out, o->json);
}

static void add_partial(const struct shape *s, const struct object *o, struct buf *out)
{
	buf_adds(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
	buf_adds(out, shape_meta_version(s));
	buf_adds(out, "\",\"metadata\":");
	buf_add_str(out, o->metadata);
	buf_addc(out, '}');
}

static void add_row(const struct shape *s, const struct object *o, struct buf *out)
{
	buf_adds(out, "{\"cells\":");
	cells_write(o->cells, s->now, out);
	buf_adds(out, ",\"object\":");
	if (s->include == INCLUDE_METADATA)
		add_partial(s, o, out);
	else if (s->include == INCLUDE_OBJECT)
		add_full(s, o, out);
	else
		buf_adds(out, "null");
	buf_addc(out, '}');
}

static void add_column(const struct kind_column *c, struct buf *out)
{
	buf_adds(out, "{\"name\":");
	buf_add_json(out, c->name);
	buf_adds(out, ",\"type\":");
	buf_add_json(out, c->type);
	buf_adds(out, ",\"format\":");
	buf_add_json(out, c->format);
	buf_adds(out, ",\"description\":");
	buf_add_json(out, c->description);
	buf_addf(out, ",\"priority\":%d}", c->priority);
}

/* The cells of a record are those of its storage row. */
static const struct kind *column_row(const struct shape *s)
{
	return s->kind->storage ? s->kind->storage : s->kind;
}

static void add_columns(const struct shape *s, struct buf *out)
{
	const struct kind *k = column_row(s);

	buf_addc(out, '[');
	for (unsigned i = 0; i < k->ncolumns; i++) {
		if (i)
			buf_addc(out, ',');
		add_column(&k->columns[i], out);
	}
	buf_addc(out, ']');
}

static void table_head(const struct shape *s, bool columns, struct buf *out)
{
	buf_addf(out, ",\"columnDefinitions\":");
	if (columns)
		add_columns(s, out);
	else
		buf_adds(out, "null");
	buf_adds(out, ",\"rows\":[");
}

static void add_table_start(const struct shape *s, uint64_t revision, struct buf *out)
{
	buf_addf(out, "{\"kind\":\"Table\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%llu\"",
		 shape_meta_version(s), (unsigned long long)revision);
}

void shape_object(const struct shape *s, const struct object *o, bool columns, struct buf *out)
{
	if (s->form == FORM_PARTIAL) {
		add_partial(s, o, out);
	} else if (s->form == FORM_TABLE) {
		add_table_start(s, o->revision, out);
		buf_addc(out, '}');
		table_head(s, columns, out);
		add_row(s, o, out);
		buf_adds(out, "]}");
	} else {
		add_full(s, o, out);
	}
}

/* Items of built-in kinds go without apiVersion and kind. A converted object has them: they are cut out. */
static void add_item(const struct shape *s, const struct object *o, struct buf *out)
{
	if (s->kind == s->kind->storage && !kind_is(s->kind, KIND_CUSTOM)) {
		buf_addc(out, '{');
		buf_add_str(out, o->json);
		return;
	}
	size_t start = out->len + 1, n = s->kind->type_meta.len;
	add_full(s, o, out);
	if (kind_is(s->kind, KIND_CUSTOM) || out->failed || !str_starts(str_skip(buf_str(out), start), s->kind->type_meta))
		return;
	memmove(out->ptr + start, out->ptr + start + n, out->len - start - n);
	out->len -= n;
}

void shape_item(const struct shape *s, const struct object *o, struct buf *out)
{
	if (s->form == FORM_TABLE)
		add_row(s, o, out);
	else if (s->form == FORM_PARTIAL)
		add_partial(s, o, out);
	else
		add_item(s, o, out);
}

static void list_start(const struct shape *s, uint64_t revision, struct buf *out)
{
	const struct kind *k = s->kind;

	if (s->form == FORM_TABLE)
		add_table_start(s, revision, out);
	else if (s->form == FORM_PARTIAL)
		buf_addf(out, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"%s\",\"metadata\":"
			 "{\"resourceVersion\":\"%llu\"", shape_meta_version(s), (unsigned long long)revision);
	else
		buf_addf(out, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{\"resourceVersion\":\"%llu\"",
			 STR_ARG(k->list_kind), STR_ARG(k->api_version), (unsigned long long)revision);
}

void shape_list_head(const struct shape *s, uint64_t revision, struct str next, int64_t remaining, struct buf *out)
{
	list_start(s, revision, out);
	if (next.len) {
		buf_adds(out, ",\"continue\":");
		buf_add_json(out, next);
	}
	if (next.len && remaining > 0)
		buf_addf(out, ",\"remainingItemCount\":%lld", (long long)remaining);
	buf_addc(out, '}');
	if (s->form == FORM_TABLE)
		table_head(s, true, out);
	else
		buf_adds(out, ",\"items\":[");
}

/* Strings of a column in JSON are at most six times as long. */
size_t shape_list_head_max(const struct shape *s, size_t next_max)
{
	const struct kind *k = column_row(s);
	size_t n = 512 + k->list_kind.len + k->api_version.len + next_max;

	for (unsigned i = 0; s->form == FORM_TABLE && i < k->ncolumns; i++) {
		const struct kind_column *c = &k->columns[i];
		n += 128 + 6 * (c->name.len + c->type.len + c->format.len + c->description.len);
	}
	return n;
}

void shape_list_tail(struct buf *out)
{
	buf_adds(out, "]}\n");
}

static void add_bookmark_object(const struct shape *s, uint64_t revision, bool initial_end, struct buf *out)
{
	bool full = s->form == FORM_OBJECT || (s->form == FORM_TABLE && s->include == INCLUDE_OBJECT);

	buf_addc(out, '{');
	if (full)
		buf_add_str(out, s->kind->type_meta);
	else
		buf_addf(out, "\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"%s\",", shape_meta_version(s));
	buf_addf(out, "\"metadata\":{\"resourceVersion\":\"%llu\"", (unsigned long long)revision);
	if (initial_end)
		buf_adds(out, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
	buf_adds(out, "}}");
}

void shape_bookmark(const struct shape *s, uint64_t revision, bool initial_end, bool columns, struct buf *out)
{
	if (s->form != FORM_TABLE) {
		add_bookmark_object(s, revision, initial_end, out);
		return;
	}
	add_table_start(s, revision, out);
	buf_addc(out, '}');
	table_head(s, columns, out);
	buf_adds(out, "{\"cells\":[");
	for (unsigned i = 0; i < column_row(s)->ncolumns; i++)
		buf_adds(out, i ? ",null" : "null");
	buf_adds(out, "],\"object\":");
	add_bookmark_object(s, revision, initial_end, out);
	buf_adds(out, "}]}");
}
