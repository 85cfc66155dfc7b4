/* SPDX-License-Identifier: Apache-2.0 */
/* Replies: who owns the bytes, which form they take on the way out. */
#include "api/reply.h"

#include <stdio.h>
#include <strings.h>
#include <zlib.h>

#include "store/change/render.h"

enum { GZIP_MIN = 128 << 10, WARNINGS_BYTES_MAX = 4096, WARNING_CUT = 256 };

void reply_borrow(struct reply *p, unsigned code, struct str body, void *owner, void (*release)(void *owner))
{
	reply_done(p);
	p->code = code;
	p->body = body;
	p->owner = owner;
	p->release = release;
}

int reply_json(struct reply *p, unsigned code, struct pool_buf *b, size_t from, struct status *st)
{
	if (!b || b->buf.failed) {
		pool_unref(b);
		return status_no_memory(st);
	}
	reply_borrow(p, code, str_skip(buf_str(&b->buf), from), b, pool_unref);
	return 0;
}

void reply_text(struct reply *p, unsigned code, const char *text)
{
	reply_borrow(p, code, str_of(text), NULL, NULL);
	p->content_type = "text/plain; charset=utf-8";
	p->text = true;
}

void reply_no_page(struct reply *p)
{
	reply_text(p, 404, "404 page not found\n");
}

void reply_done(struct reply *p)
{
	if (p->release)
		p->release(p->owner);
	p->release = NULL;
	p->owner = NULL;
	p->body = (struct str){0};
}

/* Header values must stay on one line: anything else would be another header. */
static struct str header_value(struct arena *a, struct str s)
{
	struct str copy = arena_str(a, s);

	for (size_t i = 0; copy.ptr && i < copy.len; i++)
		if ((unsigned char)copy.ptr[i] < 0x20 || copy.ptr[i] == 0x7f)
			((char *)copy.ptr)[i] = ' ';
	return copy;
}

void reply_header(struct request *r, struct reply *p, const char *name, struct str value)
{
	struct str copy = header_value(&r->arena, value);

	if (copy.ptr && p->nheaders < REPLY_HEADERS_MAX)
		p->header[p->nheaders++] = (struct pair){str_of(name), copy};
}

void reply_warning(struct request *r, struct reply *p, struct str text)
{
	char *out = arena_alloc(&r->arena, text.len * 2 + 16);
	size_t n = 0;

	if (!out)
		return;
	struct str head = STR("299 - \"");
	memcpy(out, head.ptr, head.len);
	n += head.len;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '"' || text.ptr[i] == '\\')
			out[n++] = '\\';
		out[n++] = text.ptr[i];
	}
	out[n++] = '"';
	reply_header(r, p, "Warning", str_n(out, n));
}

static bool warned_before(const struct write_warning *first, const struct write_warning *w)
{
	for (; first != w; first = first->next)
		if (str_eq(first->text, w->text))
			return true;
	return false;
}

/* Each once; when they are long in sum, each is cut (reference A7). */
void reply_warnings(struct request *r, struct reply *p, const struct write_warning *first)
{
	size_t sum = 0;

	for (const struct write_warning *w = first; w; w = w->next)
		sum += w->text.len;
	for (const struct write_warning *w = first; w; w = w->next) {
		struct str text = w->text;
		if (warned_before(first, w))
			continue;
		if (sum > WARNINGS_BYTES_MAX && text.len > WARNING_CUT) {
			text.len = WARNING_CUT;
			while (text.len && ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80)
				text.len--;
		}
		reply_warning(r, p, text);
	}
}

void reply_status(struct request *r, struct reply *p, const struct status *st)
{
	struct pool_buf *b = pool_get(r->api->pool);
	unsigned code = reason_http(st->reason);
	struct status ignored;

	reply_done(p);
	p->text = false;
	p->content_type = NULL;
	if (b)
		status_json(st, &b->buf);
	status_clear(&ignored);
	if (reply_json(p, code, b, 0, &ignored) < 0)
		reply_text(p, code, "out of memory\n");
	if (st->retry_after) {
		char digits[12];
		snprintf(digits, sizeof(digits), "%u", st->retry_after);
		reply_header(r, p, "Retry-After", str_of(digits));
	}
	if (code == 401)
		reply_header(r, p, "WWW-Authenticate", STR("Bearer realm=\"holdfs\""));
}

static bool wants_pretty(const struct request *r)
{
	static const char *const agents[] = {"curl", "Wget", "Mozilla/5.0"};
	struct str agent = request_header(r, "user-agent");

	if (request_param(r, "pretty").ptr)
		return request_flag(r, "pretty");
	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++)
		if (str_starts(agent, str_of(agents[i])))
			return true;
	return false;
}

/* Replaces the body by what is in b. Keeps the old one when b failed. */
static bool replace(struct reply *p, struct pool_buf *b)
{
	if (b->buf.failed) {
		pool_unref(b);
		return false;
	}
	reply_borrow(p, p->code, buf_str(&b->buf), b, pool_unref);
	return true;
}

static void convert(struct request *r, struct reply *p)
{
	bool yaml = r->accept.yaml;
	struct status st;

	p->content_type = p->content_type ? p->content_type : "application/json";
	if (p->text || p->body.len == 0 || !(yaml || wants_pretty(r)))
		return;
	struct pool_buf *b = pool_get(r->api->pool);
	if (!b)
		return;
	status_clear(&st);
	if (!yaml) {
		render_pretty(p->body, &b->buf);
		buf_addc(&b->buf, '\n');
	} else if (render_yaml(p->body, &b->buf, &st) < 0) {
		pool_unref(b);
		return;
	}
	if (replace(p, b) && yaml)
		p->content_type = "application/yaml";
}

static bool wants_gzip(const struct request *r, const struct reply *p)
{
	struct str rest = request_header(r, "accept-encoding");

	if (p->body.len < GZIP_MIN || (r->local && !r->api->gzip_loopback))
		return false;
	while (rest.len) {
		struct str one = str_cut(&rest, ',');
		while (one.len && one.ptr[0] == ' ')
			one = str_skip(one, 1);
		struct str word = str_cut(&one, ';');
		if (word.len == 4 && strncasecmp(word.ptr, "gzip", 4) == 0)
			return !str_is(one, "q=0");
	}
	return false;
}

/* One call of deflate over the whole body, gzip framing (window bits + 16), fastest level. */
static bool gzip(struct str in, struct buf *out)
{
	z_stream z = {0};

	if (in.len > UINT32_MAX / 2 || deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	size_t bound = deflateBound(&z, in.len);
	bool good = buf_reserve(out, bound);
	if (good) {
		z.next_in = (Bytef *)in.ptr;
		z.avail_in = (uInt)in.len;
		z.next_out = (Bytef *)out->ptr;
		z.avail_out = (uInt)bound;
		good = deflate(&z, Z_FINISH) == Z_STREAM_END;
		out->len = z.total_out;
	}
	deflateEnd(&z);
	return good;
}

static void compress_body(struct request *r, struct reply *p)
{
	struct pool_buf *b = pool_get(r->api->pool);

	if (!b)
		return;
	if (!gzip(p->body, &b->buf)) {
		pool_unref(b);
		return;
	}
	if (replace(p, b)) {
		reply_header(r, p, "Content-Encoding", STR("gzip"));
		reply_header(r, p, "Vary", STR("Accept-Encoding"));
	}
}

void reply_finish(struct request *r, struct reply *p)
{
	if (p->stream) {
		p->content_type = p->content_type ? p->content_type : "application/json";
		return;
	}
	convert(r, p);
	if (wants_gzip(r, p))
		compress_body(r, p);
}
