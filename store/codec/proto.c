/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes protobuf to JSON: the tables say what each number means.
 *
 * A message is walked once to check it and to note which fields it holds (`seen`), then each of those
 * is looked up and written; values of a list or map may lie apart on the wire. Nothing is allocated but
 * the output. */
#include "store/codec/proto.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/codec/base64.h"
#include "store/codec/proto_decode.h"
#include "store/codec/scan.h"

#define MAGIC STR("k8s\0")

int proto_fail(struct decoder *d, struct str name, const char *why)
{
	return status_set(d->st, REASON_BAD_REQUEST, "error decoding protobuf: %.*s: %s", STR_ARG(name), why);
}

static const struct proto_field *field_find(const struct proto_message *m, uint32_t number)
{
	unsigned low = 0, high = m->nfields;

	while (low < high) {
		unsigned mid = (low + high) / 2;
		if (m->fields[mid].number == number)
			return &m->fields[mid];
		if (m->fields[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static enum wire_type wire_type_of(uint8_t type)
{
	static const enum wire_type types[] = {
		[PROTO_STRING] = WIRE_BYTES, [PROTO_BYTES] = WIRE_BYTES,    [PROTO_INT32] = WIRE_VARINT,  [PROTO_INT64] = WIRE_VARINT,
		[PROTO_BOOL] = WIRE_VARINT,  [PROTO_DOUBLE] = WIRE_FIXED64, [PROTO_MESSAGE] = WIRE_BYTES,
	};

	return types[type];
}

/* Lists of numbers come one by one or packed. */
static bool wire_type_fits(const struct proto_field *f, enum wire_type type)
{
	if (type == WIRE_BYTES && f->shape != PROTO_ONE)
		return true;
	return f->shape != PROTO_MAP && type == wire_type_of(f->type);
}

int proto_survey(struct decoder *d, const struct proto_message *m, struct str bytes, uint64_t seen[4])
{
	struct wire_value v;
	int r;

	memset(seen, 0, 4 * sizeof(*seen));
	while ((r = wire_next(&bytes, &v)) == 1) {
		const struct proto_field *f = field_find(m, v.number);
		if (!f)
			continue;
		if (!wire_type_fits(f, v.type))
			return proto_fail(d, m->name, "wrong wire type");
		size_t i = (size_t)(f - m->fields);
		uint64_t bit = (uint64_t)1 << (i % 64);
		if (seen[i / 64] & bit && (f->shape == PROTO_ONE || f->shape == PROTO_INLINE))
			return proto_fail(d, m->name, "a single field stands twice");
		seen[i / 64] |= bit;
	}
	return r < 0 ? proto_fail(d, m->name, "malformed") : 0;
}

/* The next value with this number, off *rest, which has been surveyed. */
static bool next_of(struct str *rest, uint32_t number, struct wire_value *ret)
{
	while (wire_next(rest, ret) == 1)
		if (ret->number == number)
			return true;
	return false;
}

/* The shortest digits that read as the same number. */
static int write_double(struct decoder *d, const struct proto_field *f, uint64_t bits)
{
	char text[32];
	double v;
	int precision = 14;

	memcpy(&v, &bits, sizeof(v));
	if (!isfinite(v))
		return proto_fail(d, f->name, "number is not finite");
	do {
		snprintf(text, sizeof(text), "%.*g", ++precision, v);
	} while (precision < 17 && strtod(text, NULL) != v);
	buf_adds(d->out, text);
	return 0;
}

static int write_string(struct decoder *d, const struct proto_field *f, struct str s)
{
	if (!utf8_valid(s))
		return proto_fail(d, f->name, "string is not UTF-8");
	buf_add_json(d->out, s);
	return 0;
}

static int write_base64(struct decoder *d, struct str bytes)
{
	buf_addc(d->out, '"');
	base64_encode(bytes, d->out);
	buf_addc(d->out, '"');
	return 0;
}

static int write_int(struct decoder *d, int64_t v)
{
	buf_addf(d->out, "%lld", (long long)v);
	return 0;
}

static int write_value(struct decoder *d, const struct proto_field *f, const struct wire_value *v)
{
	if (d->out->failed)
		return status_no_memory(d->st);
	switch ((enum proto_type)f->type) {
	case PROTO_STRING: return write_string(d, f, v->bytes);
	case PROTO_BYTES: return write_base64(d, v->bytes);
	case PROTO_INT32: return write_int(d, (int32_t)v->v);
	case PROTO_INT64: return write_int(d, (int64_t)v->v);
	case PROTO_BOOL: buf_adds(d->out, v->v ? "true" : "false"); return 0;
	case PROTO_DOUBLE: return write_double(d, f, v->v);
	case PROTO_MESSAGE: break;
	}
	return proto_write_message(d, f->message, v->bytes);
}

static void add_comma(struct decoder *d, bool *first)
{
	if (!*first)
		buf_addc(d->out, ',');
	*first = false;
}

/* The number of one packed list item. */
static int next_packed(struct str *rest, uint8_t type, uint64_t *ret)
{
	if (type != PROTO_DOUBLE)
		return wire_varint(rest, ret);
	if (rest->len < sizeof(*ret))
		return rest->len ? -EINVAL : 0;
	memcpy(ret, rest->ptr, sizeof(*ret));
	*rest = str_skip(*rest, sizeof(*ret));
	return 1;
}

static int write_packed(struct decoder *d, const struct proto_field *f, struct str packed, bool *first)
{
	struct wire_value v = {.number = f->number, .type = wire_type_of(f->type)};
	int r;

	while ((r = next_packed(&packed, f->type, &v.v)) == 1) {
		add_comma(d, first);
		r = write_value(d, f, &v);
		if (r < 0)
			return r;
	}
	return r < 0 ? proto_fail(d, f->name, "malformed") : 0;
}

int proto_write_list(struct decoder *d, const struct proto_field *f, struct str bytes)
{
	struct wire_value v;
	bool first = true;
	int r = 0;

	buf_addc(d->out, '[');
	while (r == 0 && next_of(&bytes, f->number, &v)) {
		if (v.type != wire_type_of(f->type)) {
			r = write_packed(d, f, v.bytes, &first);
			continue;
		}
		add_comma(d, &first);
		r = write_value(d, f, &v);
	}
	buf_addc(d->out, ']');
	return r;
}

/* An entry is a message of the key (1) and the value (2); either may be left out. */
static int write_map(struct decoder *d, const struct proto_field *f, struct str bytes)
{
	struct wire_value entry;
	bool first = true;
	int r = 0;

	buf_addc(d->out, '{');
	while (r == 0 && next_of(&bytes, f->number, &entry)) {
		struct wire_value slots[2] = {{.type = WIRE_BYTES}, {.type = wire_type_of(f->type)}};
		if (wire_pick(entry.bytes, slots, 2) < 0)
			return proto_fail(d, f->name, "malformed map entry");
		add_comma(d, &first);
		r = write_string(d, f, slots[0].bytes);
		buf_addc(d->out, ':');
		if (r == 0)
			r = write_value(d, f, &slots[1]);
	}
	buf_addc(d->out, '}');
	return r;
}

/* Would JSON leave the single field out? */
static bool left_out(const struct proto_field *f, const struct wire_value *v)
{
	if (f->type == PROTO_MESSAGE)
		return proto_form_absent(f->message, v->bytes);
	return !f->keep && v->v == 0 && v->bytes.len == 0;
}

static int write_fields(struct decoder *d, const struct proto_message *m, struct str bytes, bool *first);

static int write_field(struct decoder *d, const struct proto_field *f, struct str bytes, bool *first)
{
	struct wire_value v;
	struct str rest = bytes;

	next_of(&rest, f->number, &v);
	if (f->shape == PROTO_INLINE)
		return write_fields(d, f->message, v.bytes, first);
	if (f->shape == PROTO_ONE && left_out(f, &v))
		return 0;
	add_comma(d, first);
	buf_add_json(d->out, f->name);
	buf_addc(d->out, ':');
	if (f->shape == PROTO_LIST)
		return proto_write_list(d, f, bytes);
	return f->shape == PROTO_MAP ? write_map(d, f, bytes) : write_value(d, f, &v);
}

static int write_fields(struct decoder *d, const struct proto_message *m, struct str bytes, bool *first)
{
	uint64_t seen[4];
	int r = proto_survey(d, m, bytes, seen);

	for (unsigned i = 0; r == 0 && i < m->nfields; i++)
		if (seen[i / 64] >> (i % 64) & 1)
			r = write_field(d, &m->fields[i], bytes, first);
	return r;
}

int proto_write_object(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	bool first = true;

	buf_addc(d->out, '{');
	int r = write_fields(d, m, bytes, &first);
	buf_addc(d->out, '}');
	return r;
}

int proto_write_message(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	if (d->depth == SCAN_DEPTH_MAX)
		return proto_fail(d, m->name, "nested too deeply");
	d->depth++;
	int r = proto_write_form(d, m, bytes);
	d->depth--;
	return r;
}

static int kind_cmp(const struct proto_kind *k, struct str api_version, struct str kind)
{
	int c = str_cmp(k->kind, kind);

	return c ? c : str_cmp(k->api_version, api_version);
}

static const struct proto_kind *kind_find(struct str api_version, struct str kind)
{
	size_t low = 0, high = proto_nkinds;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = kind_cmp(&proto_kinds[mid], api_version, kind);
		if (c == 0)
			return &proto_kinds[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* What an envelope says. */
struct envelope {
	struct str api_version, kind, raw, encoding;
};

/* runtime.Unknown: typeMeta (apiVersion, kind), raw, contentEncoding. */
static int envelope_read(struct str body, struct envelope *ret)
{
	struct wire_value outer[3] = {{.type = WIRE_BYTES}, {.type = WIRE_BYTES}, {.type = WIRE_BYTES}};
	struct wire_value meta[2] = {{.type = WIRE_BYTES}, {.type = WIRE_BYTES}};

	if (wire_pick(str_skip(body, MAGIC.len), outer, 3) < 0 || wire_pick(outer[0].bytes, meta, 2) < 0)
		return -EINVAL;
	*ret = (struct envelope){meta[0].bytes, meta[1].bytes, outer[1].bytes, outer[2].bytes};
	return 0;
}

static int write_body(struct decoder *d, const struct envelope *e, const struct proto_message *m)
{
	bool first = false;

	buf_adds(d->out, "{\"apiVersion\":");
	buf_add_json(d->out, e->api_version);
	buf_adds(d->out, ",\"kind\":");
	buf_add_json(d->out, e->kind);
	int r = write_fields(d, m, e->raw, &first);
	buf_addc(d->out, '}');
	return r;
}

int proto_write_envelope(struct decoder *d, struct str body)
{
	struct str name = STR("runtime.Unknown");
	struct envelope e;

	if (envelope_read(body, &e) < 0)
		return proto_fail(d, name, "malformed");
	if (e.encoding.len)
		return proto_fail(d, name, "content encodings are not supported");
	if (!utf8_valid(e.api_version) || !utf8_valid(e.kind))
		return proto_fail(d, name, "string is not UTF-8");
	const struct proto_kind *k = kind_find(e.api_version, e.kind);
	if (!k)
		k = kind_find(STR("*"), e.kind);
	if (!k)
		return status_set(d->st, REASON_BAD_REQUEST, "no kind \"%.*s\" is registered for version \"%.*s\"", STR_ARG(e.kind),
				  STR_ARG(e.api_version));
	if (d->depth == SCAN_DEPTH_MAX)
		return proto_fail(d, name, "nested too deeply");
	d->depth++;
	int r = write_body(d, &e, k->message);
	d->depth--;
	return r;
}

bool proto_is_envelope(struct str body)
{
	return str_starts(body, MAGIC);
}

int proto_to_json(struct str body, struct buf *out, struct status *st)
{
	struct decoder d = {.out = out, .st = st};

	buf_clear(out);
	if (!proto_is_envelope(body))
		return status_set(st, REASON_BAD_REQUEST, "provided data does not appear to be a protobuf message");
	int r = proto_write_envelope(&d, body);
	if (r < 0)
		return r;
	return out->failed ? status_no_memory(st) : 0;
}
