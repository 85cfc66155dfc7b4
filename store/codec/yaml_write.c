/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to YAML as kubectl prints it: one libyaml event for each token of the scanner.
 *
 * Styles follow go-yaml v2: literal for text of several lines, plain where the text reads as the same
 * string, double quotes where it would read as another type; libyaml, from which go-yaml's emitter
 * was made, falls back to single or double quotes where a style cannot hold the text. */
#include "store/codec/yaml.h"

#include <yaml.h>

#include "store/base/cleanup.h"
#include "store/codec/plain.h"
#include "store/codec/scan.h"

struct emitter {
	yaml_emitter_t yaml;
	struct buf *out;
	size_t limit; /* of out->len */
	bool too_large;
	struct buf text; /* the string being decoded */
};

static void emitter_done(struct emitter *e)
{
	yaml_emitter_delete(&e->yaml);
	buf_done(&e->text);
}

/* libyaml's output callback: 1 for success. */
static int add_output(void *data, unsigned char *bytes, size_t n)
{
	struct emitter *e = data;

	e->too_large = e->too_large || n > e->limit - e->out->len;
	if (e->too_large)
		return 0;
	buf_add(e->out, bytes, n);
	return !e->out->failed;
}

static bool emitter_init(struct emitter *e, struct buf *out)
{
	*e = (struct emitter){.out = out, .limit = out->len + YAML_TEXT_MAX};
	if (!yaml_emitter_initialize(&e->yaml))
		return false;
	yaml_emitter_set_output(&e->yaml, add_output, e);
	yaml_emitter_set_unicode(&e->yaml, 1);
	yaml_emitter_set_width(&e->yaml, -1);
	yaml_emitter_set_indent(&e->yaml, 2);
	return true;
}

/* `made` is what the event's initialize function returned; libyaml owns the event afterwards. */
static bool emit(struct emitter *e, yaml_event_t *event, int made)
{
	return made && yaml_emitter_emit(&e->yaml, event);
}

static bool emit_scalar(struct emitter *e, struct str text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	if (text.len > INT32_MAX) {
		e->too_large = true;
		return false;
	}
	return emit(e, &event,
		    yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text.ptr, (int)text.len, 1, 1, style));
}

/* Numbers beyond float64 would read as strings: they carry a tag. */
static bool emit_number(struct emitter *e, struct str text)
{
	static const yaml_char_t tag[] = YAML_FLOAT_TAG;
	char room[PLAIN_NUMBER_MAX];
	struct str number;
	yaml_event_t event;

	if (plain_resolve(text, room, &number) == PLAIN_NUMBER)
		return emit_scalar(e, text, YAML_PLAIN_SCALAR_STYLE);
	return emit(e, &event,
		    yaml_scalar_event_initialize(&event, NULL, tag, (const yaml_char_t *)text.ptr, (int)text.len, 0, 0,
						 YAML_PLAIN_SCALAR_STYLE));
}

/* U+2028 and U+2029 end a line for libyaml and nobody else: only an escape reads the same everywhere. */
static bool has_foreign_break(struct str text)
{
	for (size_t i = 0; i + 2 < text.len; i++) {
		const char *at = memchr(text.ptr + i, '\xe2', text.len - i - 2);
		if (!at)
			return false;
		i = (size_t)(at - text.ptr);
		if (at[1] == '\x80' && (at[2] == '\xa8' || at[2] == '\xa9'))
			return true;
	}
	return false;
}

static yaml_scalar_style_t style_of(struct str text)
{
	char room[PLAIN_NUMBER_MAX];
	struct str number;

	if (has_foreign_break(text))
		return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	if (str_chr(text, '\n') >= 0)
		return YAML_LITERAL_SCALAR_STYLE;
	if (plain_resolve(text, room, &number) != PLAIN_STRING || plain_is_ambiguous(text))
		return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	return YAML_PLAIN_SCALAR_STYLE;
}

static bool emit_string(struct emitter *e, const struct scan *s)
{
	struct str text = str_n(s->span.ptr + 1, s->span.len - 2);

	if (s->escaped) {
		buf_clear(&e->text);
		if (!buf_reserve(&e->text, s->span.len))
			return false;
		e->text.len = scan_unescape(s->span, e->text.ptr);
		text = buf_str(&e->text);
	}
	return emit_scalar(e, text, style_of(text));
}

static bool emit_start(struct emitter *e)
{
	yaml_event_t event;

	return emit(e, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING)) &&
	       emit(e, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
}

/* A last value that ends in blank lines makes libyaml print `...`; kubectl does not. */
static bool emit_end(struct emitter *e)
{
	yaml_event_t event;

	e->yaml.open_ended = 0;
	if (!emit(e, &event, yaml_document_end_event_initialize(&event, 1)))
		return false;
	e->yaml.open_ended = 0;
	return emit(e, &event, yaml_stream_end_event_initialize(&event));
}

static bool emit_token(struct emitter *e, enum scan_token token, const struct scan *s)
{
	yaml_event_t event;

	switch (token) {
	case SCAN_OBJECT:
		return emit(e, &event,
			    yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
	case SCAN_OBJECT_END:
		return emit(e, &event, yaml_mapping_end_event_initialize(&event));
	case SCAN_ARRAY:
		return emit(e, &event,
			    yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
	case SCAN_ARRAY_END:
		return emit(e, &event, yaml_sequence_end_event_initialize(&event));
	case SCAN_KEY:
	case SCAN_STRING:
		return emit_string(e, s);
	case SCAN_NUMBER:
		return emit_number(e, s->span);
	default:
		return emit_scalar(e, s->span, YAML_PLAIN_SCALAR_STYLE);
	}
}

static int emitter_fail(const struct emitter *e, struct status *st)
{
	if (e->too_large)
		return status_set(st, REASON_TOO_LARGE, "the object is larger than %d bytes as YAML", YAML_TEXT_MAX);
	return status_no_memory(st);
}

int yaml_from_json(struct str json, struct buf *out, struct status *st)
{
	_cleanup_(emitter_done) struct emitter e;
	struct scan s;
	enum scan_token token;

	if (!emitter_init(&e, out) || !emit_start(&e))
		return status_no_memory(st);
	scan_init(&s, json);
	while ((token = scan_next(&s)) != SCAN_END) {
		if (token == SCAN_ERROR)
			return scan_fail(&s, st);
		if (!emit_token(&e, token, &s))
			return emitter_fail(&e, st);
	}
	return emit_end(&e) ? 0 : emitter_fail(&e, st);
}
