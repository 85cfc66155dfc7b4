/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a raw request target apart: path segments and query parameters, strictly. */
#include "api/request.h"

#include <ctype.h>
#include <strings.h>

#include "store/codec/scan.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Percent-decodes s into the arena, '+' to a blank when query is set. ret->ptr is NULL for a broken
 * escape, invalid UTF-8 or no memory. */
static struct str decode(struct arena *a, struct str s, bool query)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;

	if (!out)
		return (struct str){0};
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '%') {
			if (s.len - i < 3 || hex_digit(s.ptr[i + 1]) < 0 || hex_digit(s.ptr[i + 2]) < 0)
				return (struct str){0};
			c = (char)(hex_digit(s.ptr[i + 1]) << 4 | hex_digit(s.ptr[i + 2]));
			i += 2;
		} else if (c == '+' && query) {
			c = ' ';
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return utf8_valid(str_n(out, n)) ? str_n(out, n) : (struct str){0};
}

/* A path segment that means the same to everybody: no separators, no NUL, no dot segments, whether raw or
 * encoded (CVE-2015-5305, CVE-2022-3162). */
static bool segment_plain(struct str s)
{
	if (s.len == 0 || str_is(s, ".") || str_is(s, ".."))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if (c < 0x20 || c == 0x7f || c == '/' || c == '\\')
			return false;
	}
	return true;
}

static int bad_path(struct status *st)
{
	return status_set(st, REASON_BAD_REQUEST, "the request path is malformed");
}

static int parse_path(struct request *r, struct status *st)
{
	struct str rest = r->path;

	if (rest.len == 0 || rest.ptr[0] != '/')
		return bad_path(st);
	rest = str_skip(rest, 1);
	while (rest.len) {
		struct str raw = str_cut(&rest, '/');
		struct str s = decode(&r->arena, raw, false);
		if (!s.ptr || !segment_plain(s) || r->nsegments == SEGMENTS_MAX)
			return bad_path(st);
		r->segment[r->nsegments++] = s;
	}
	return 0;
}

static int parse_query(struct request *r, struct str query, struct status *st)
{
	while (query.len) {
		struct str value = str_cut(&query, '&');
		if (value.len == 0)
			continue;
		struct str name = str_cut(&value, '=');
		if (r->nparams == PARAMS_MAX)
			return status_set(st, REASON_BAD_REQUEST, "too many query parameters");
		struct pair *p = &r->param[r->nparams];
		p->name = decode(&r->arena, name, true);
		p->value = decode(&r->arena, value, true);
		if (!p->name.ptr || !p->value.ptr)
			return status_set(st, REASON_BAD_REQUEST, "the query string is malformed");
		r->nparams++;
	}
	return 0;
}

int request_parse_uri(struct request *r, struct status *st)
{
	struct str rest = r->uri;

	r->path = str_cut(&rest, '?');
	r->nsegments = r->nparams = 0;
	int rc = parse_path(r, st);
	return rc < 0 ? rc : parse_query(r, rest, st);
}

void request_done(struct request *r)
{
	if (r->state_free)
		r->state_free(r->state);
	r->state = NULL;
	r->state_free = NULL;
	buf_done(&r->body);
	arena_done(&r->arena);
}

struct str request_param(const struct request *r, const char *name)
{
	for (unsigned i = 0; i < r->nparams; i++)
		if (str_is(r->param[i].name, name))
			return r->param[i].value;
	return (struct str){0};
}

bool request_flag(const struct request *r, const char *name)
{
	struct str v = request_param(r, name);

	if (!v.ptr || str_is(v, "0"))
		return false;
	return !(v.len == 5 && strncasecmp(v.ptr, "false", 5) == 0);
}

struct str request_header(const struct request *r, const char *name)
{
	size_t len = strlen(name);

	for (unsigned i = 0; i < r->nheaders; i++) {
		struct str h = r->header[i].name;
		if (h.len == len && strncasecmp(h.ptr, name, len) == 0)
			return r->header[i].value;
	}
	return (struct str){0};
}

static struct str trim(struct str s)
{
	while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
		s = str_skip(s, 1);
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

struct str request_media(struct request *r)
{
	struct str rest = request_header(r, "content-type");
	struct str media = trim(str_cut(&rest, ';'));
	char *out;

	if (media.len == 0 || !(out = arena_alloc(&r->arena, media.len)))
		return STR("application/json");
	for (size_t i = 0; i < media.len; i++)
		out[i] = (char)tolower((unsigned char)media.ptr[i]);
	return str_n(out, media.len);
}
