/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are no objects in JSON: times, quantities, raw JSON, alternatives. */
#include "store/codec/proto_decode.h"

#include <stdio.h>
#include <time.h>

#include "store/codec/proto.h"
#include "store/codec/scan.h"

/* The years 1 to 9999, which RFC 3339 can write and Go's zero time starts. */
#define SECONDS_MIN (-62135596800)
#define SECONDS_MAX 253402300799

static int write_any_time(struct decoder *d, const struct proto_message *m, struct str bytes, bool micro)
{
	struct wire_value slots[2] = {{.type = WIRE_VARINT}, {.type = WIRE_VARINT}};

	if (bytes.len == 0) {
		buf_adds(d->out, "null");
		return 0;
	}
	if (wire_pick(bytes, slots, 2) < 0)
		return proto_fail(d, m->name, "malformed");
	int64_t seconds = (int64_t)slots[0].v;
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX || slots[1].v > 999999999)
		return proto_fail(d, m->name, "time out of range");
	time_t t = (time_t)seconds;
	struct tm tm;
	if (!gmtime_r(&t, &tm))
		return proto_fail(d, m->name, "time out of range");
	buf_addf(d->out, "\"%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		 tm.tm_sec);
	if (micro)
		buf_addf(d->out, ".%06u", (unsigned)(slots[1].v / 1000));
	buf_adds(d->out, "Z\"");
	return 0;
}

static int write_time(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	return write_any_time(d, m, bytes, false);
}

static int write_micro_time(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	return write_any_time(d, m, bytes, true);
}

static int write_string(struct decoder *d, const struct proto_message *m, struct str s)
{
	if (!utf8_valid(s))
		return proto_fail(d, m->name, "string is not UTF-8");
	buf_add_json(d->out, s);
	return 0;
}

/* Go writes the zero quantity as an empty string or as 0; JSON shows 0. */
static int write_quantity(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	struct wire_value slot = {.type = WIRE_BYTES};

	if (wire_pick(bytes, &slot, 1) < 0)
		return proto_fail(d, m->name, "malformed");
	return write_string(d, m, slot.bytes.len ? slot.bytes : STR("0"));
}

static int write_int_or_string(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	struct wire_value slots[3] = {{.type = WIRE_VARINT}, {.type = WIRE_VARINT}, {.type = WIRE_BYTES}};

	if (wire_pick(bytes, slots, 3) < 0 || slots[0].v > 1)
		return proto_fail(d, m->name, "malformed");
	if (slots[0].v == 1)
		return write_string(d, m, slots[2].bytes);
	buf_addf(d->out, "%d", (int)(int32_t)slots[1].v);
	return 0;
}

static int write_raw(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	struct wire_value slot = {.type = WIRE_BYTES};

	if (wire_pick(bytes, &slot, 1) < 0)
		return proto_fail(d, m->name, "malformed");
	struct str raw = slot.bytes.len ? slot.bytes : STR("null");
	if (proto_is_envelope(raw))
		return proto_write_envelope(d, raw);
	struct scan s;
	enum scan_token token;
	scan_init(&s, raw);
	while ((token = scan_next(&s)) != SCAN_END)
		if (token == SCAN_ERROR)
			return proto_fail(d, m->name, s.error);
	buf_add_str(d->out, raw);
	return 0;
}

static int write_items(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	uint64_t seen[4];
	int r = proto_survey(d, m, bytes, seen);

	return r < 0 ? r : proto_write_list(d, &m->fields[0], bytes);
}

static int write_or_array(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	struct wire_value slots[2] = {{.type = WIRE_BYTES}, {.type = WIRE_BYTES}};
	uint64_t seen[4];
	int r = proto_survey(d, m, bytes, seen);

	if (r < 0)
		return r;
	if (wire_pick(bytes, slots, 2) < 0)
		return proto_fail(d, m->name, "malformed");
	if (slots[1].number)
		return proto_write_list(d, &m->fields[1], bytes);
	if (slots[0].number)
		return proto_write_message(d, m->fields[0].message, slots[0].bytes);
	buf_adds(d->out, "null");
	return 0;
}

static int write_or_bool(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	struct wire_value slots[2] = {{.type = WIRE_VARINT}, {.type = WIRE_BYTES}};

	if (wire_pick(bytes, slots, 2) < 0)
		return proto_fail(d, m->name, "malformed");
	if (slots[1].number)
		return proto_write_message(d, m->fields[1].message, slots[1].bytes);
	buf_adds(d->out, slots[0].v ? "true" : "false");
	return 0;
}

typedef int form_fn(struct decoder *d, const struct proto_message *m, struct str bytes);

static form_fn *const forms[PROTO_FORMS] = {
	[PROTO_OBJECT] = proto_write_object,   [PROTO_TIME] = write_time,
	[PROTO_MICRO_TIME] = write_micro_time, [PROTO_QUANTITY] = write_quantity,
	[PROTO_INT_OR_STRING] = write_int_or_string, [PROTO_RAW] = write_raw,
	[PROTO_ITEMS] = write_items,           [PROTO_OR_ARRAY] = write_or_array,
	[PROTO_OR_BOOL] = write_or_bool,
};

int proto_write_form(struct decoder *d, const struct proto_message *m, struct str bytes)
{
	return forms[m->form](d, m, bytes);
}

bool proto_form_absent(const struct proto_message *m, struct str bytes)
{
	struct wire_value raw = {.type = WIRE_BYTES};

	if (m->form == PROTO_TIME || m->form == PROTO_MICRO_TIME)
		return bytes.len == 0;
	return m->form == PROTO_RAW && wire_pick(bytes, &raw, 1) == 0 && raw.bytes.len == 0;
}
