/* SPDX-License-Identifier: Apache-2.0 */
/* JSON into YAML, indented JSON or a Table row, for replies that no record holds ready-made. */
#include "store/change/render.h"

#include "store/base/cleanup.h"
#include "store/change/prepare.h"
#include "store/codec/scan.h"
#include "store/codec/tree.h"
#include "store/codec/yaml.h"
#include "store/kind/cells.h"

int render_yaml(struct str json, struct buf *out, struct status *st)
{
	return yaml_from_json(json, out, st);
}

static void newline(struct buf *out, unsigned depth)
{
	buf_addc(out, '\n');
	for (unsigned i = 0; i < depth; i++)
		buf_adds(out, "  ");
}

/* End of the string that starts at json[at]. */
static size_t string_end(struct str json, size_t at)
{
	for (size_t i = at + 1; i < json.len; i++) {
		if (json.ptr[i] == '\\')
			i++;
		else if (json.ptr[i] == '"')
			return i + 1;
	}
	return json.len;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks(struct str json, size_t at)
{
	while (at < json.len && is_blank(json.ptr[at]))
		at++;
	return at;
}

/* The text is strict JSON, so brackets outside strings are structure. */
void render_pretty(struct str json, struct buf *out)
{
	unsigned depth = 0;

	for (size_t i = 0; i < json.len; i++) {
		char c = json.ptr[i];
		size_t next = skip_blanks(json, i + 1);
		if (c == '"') {
			size_t end = string_end(json, i);
			buf_add(out, json.ptr + i, end - i);
			i = end - 1;
		} else if ((c == '{' || c == '[') && next < json.len && (json.ptr[next] == '}' || json.ptr[next] == ']')) {
			buf_addc(out, c);
			buf_addc(out, json.ptr[next]);
			i = next;
		} else if (c == '{' || c == '[') {
			buf_addc(out, c);
			newline(out, ++depth);
		} else if (c == '}' || c == ']') {
			newline(out, depth ? --depth : 0);
			buf_addc(out, c);
		} else if (c == ',') {
			buf_addc(out, c);
			newline(out, depth);
		} else if (c == ':') {
			buf_adds(out, ": ");
		} else if (!is_blank(c)) {
			buf_addc(out, c);
		}
	}
}

static bool key_is(struct str span, struct str key)
{
	return span.len == key.len + 2 && memcmp(span.ptr + 1, key.ptr, key.len) == 0;
}

struct str render_member(struct str json, struct str key)
{
	struct scan s;

	scan_init(&s, json);
	if (scan_next(&s) != SCAN_OBJECT)
		return (struct str){0};
	while (scan_next(&s) == SCAN_KEY) {
		bool found = key_is(s.span, key);
		enum scan_token t = scan_next(&s);
		if (t == SCAN_OBJECT || t == SCAN_ARRAY)
			t = scan_skip(&s);
		if (t == SCAN_ERROR || t == SCAN_END)
			break;
		if (found)
			return s.span;
	}
	return (struct str){0};
}

bool render_cells(const struct kind *k, struct str json, int64_t now, struct buf *out)
{
	_cleanup_(arena_done) struct arena a;
	_cleanup_(buf_done) struct buf block = {0};
	struct status st;
	struct tree *object;

	arena_init(&a, 0);
	status_clear(&st);
	if (tree_parse(&a, json, &object, NULL, &st) < 0 || !cells_render(&a, k, object, &block) || block.failed)
		return false;
	cells_write(buf_str(&block), now, out);
	return !out->failed;
}

bool render_scale(const struct kind *k, const struct object *o, struct buf *out)
{
	_cleanup_(arena_done) struct arena a;

	arena_init(&a, 0);
	struct tree *object = object_tree(&a, k, o);
	struct tree *scale = object ? scale_of(&a, k, object) : NULL;
	if (scale)
		tree_write(scale, out);
	return scale && !out->failed;
}
