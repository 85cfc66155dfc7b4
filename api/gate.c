/* SPDX-License-Identifier: Apache-2.0 */
/* The gate before libmicrohttpd's lenient parser becomes our problem (reference 2.4, HTTP framing). */
#include "api/gate.h"

#include <strings.h>

static bool same(struct str s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.ptr, word, s.len) == 0;
}

static bool token_char(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!token_char((unsigned char)s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

/* Headers that may stand only once. */
static const char *const single[] = {"content-length", "transfer-encoding", "host", "authorization", "content-type"};

static bool repeated(const struct request *r, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->nheaders; i++)
		n += same(r->header[i].name, name);
	return n > 1;
}

static int refuse(struct status *st, const char *why)
{
	return status_set(st, REASON_BAD_REQUEST, "malformed request: %s", why);
}

static int check_headers(const struct request *r, struct status *st)
{
	for (unsigned i = 0; i < r->nheaders; i++)
		if (!is_token(r->header[i].name) || has_control(r->header[i].value))
			return refuse(st, "illegal byte in a header");
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		if (repeated(r, single[i]))
			return refuse(st, "a header is repeated that may stand only once");
	return 0;
}

/* A client that waits for "100 Continue" is told at once; another one would be cut off while it sends, and never
 * see the answer, so its body is read and dropped unless it is huge. */
static int check_length(const struct request *r, struct str length, struct status *st)
{
	bool waits = request_header(r, "expect").ptr != NULL;
	uint64_t n;

	if (!str_u64(length, &n))
		return refuse(st, "Content-Length is not a number");
	if (n > (waits ? BODY_MAX : DISCARD_MAX))
		return status_set(st, REASON_TOO_LARGE, "Request entity too large: limit is %d", BODY_MAX);
	return 0;
}

int gate_check(const struct request *r, bool *ret_body, struct status *st)
{
	struct str length = request_header(r, "content-length");
	struct str encoding = request_header(r, "transfer-encoding");
	uint64_t n = 0;

	*ret_body = encoding.ptr || (length.ptr && !(str_u64(length, &n) && n == 0));
	if (r->nheaders >= HEADERS_MAX)
		return refuse(st, "too many headers");
	if (r->uri.len == 0 || r->uri.ptr[0] != '/')
		return refuse(st, "the request target must be a path");
	int rc = check_headers(r, st);
	if (rc < 0)
		return rc;
	if (length.ptr && encoding.ptr)
		return refuse(st, "both Content-Length and Transfer-Encoding");
	if (encoding.ptr && !same(encoding, "chunked"))
		return refuse(st, "Transfer-Encoding must be chunked");
	if (r->http10 && *ret_body)
		return refuse(st, "HTTP/1.0 with a body");
	return length.ptr ? check_length(r, length, st) : 0;
}
