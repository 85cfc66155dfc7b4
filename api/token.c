/* SPDX-License-Identifier: Apache-2.0 */
/* Continue tokens are base64url of
 *     {"v":"meta.k8s.io/v1","rv":N,"start":"NAMESPACE/NAME\u0000","n":REMAINING}
 * which is kube-apiserver's form plus our count. A client may send anything: what is read must be
 * exactly what we write. */
#include "api/token.h"

#include "store/base/buf.h"
#include "store/base/cleanup.h"
#include "store/codec/base64.h"

static void write_json(const struct token *t, struct buf *out)
{
	_cleanup_(buf_done) struct buf start = {0};

	buf_addf(out, "{\"v\":\"meta.k8s.io/v1\",\"rv\":");
	if (t->newest)
		buf_adds(out, "-1");
	else
		buf_add_u64(out, t->revision);
	buf_add_str(&start, t->ns);
	buf_adds(&start, t->ns.len ? "/" : "");
	buf_add_str(&start, t->name);
	buf_addc(&start, '\0');
	buf_adds(out, ",\"start\":");
	buf_add_json(out, buf_str(&start));
	if (t->remaining >= 0)
		buf_addf(out, ",\"n\":%lld", (long long)t->remaining);
	buf_addc(out, '}');
	out->failed = out->failed || start.failed;
}

/* base64url without padding, from and to the plain alphabet. */
static void encode_url(struct str bytes, struct buf *out)
{
	base64_encode(bytes, out);
	while (out->len && out->ptr[out->len - 1] == '=')
		out->len--;
	for (size_t i = 0; i < out->len; i++) {
		if (out->ptr[i] == '+')
			out->ptr[i] = '-';
		else if (out->ptr[i] == '/')
			out->ptr[i] = '_';
	}
}

static bool decode_url(struct str text, struct buf *out)
{
	_cleanup_(buf_done) struct buf plain = {0};

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '+' || c == '/' || c == '=' || c == '\n' || c == '\r')
			return false;
		buf_addc(&plain, c == '-' ? '+' : c == '_' ? '/' : c);
	}
	while (plain.len % 4)
		buf_addc(&plain, '=');
	return !plain.failed && base64_decode(buf_str(&plain), out) && !out->failed;
}

bool token_format(const struct token *t, char out[TOKEN_MAX])
{
	_cleanup_(buf_done) struct buf json = {0};
	_cleanup_(buf_done) struct buf text = {0};

	write_json(t, &json);
	encode_url(buf_str(&json), &text);
	buf_addc(&text, '\0');
	if (json.failed || text.failed || text.len > TOKEN_MAX)
		return false;
	memcpy(out, text.ptr, text.len);
	return true;
}

static bool eat(struct str *s, struct str word)
{
	if (!str_starts(*s, word))
		return false;
	*s = str_skip(*s, word.len);
	return true;
}

static bool eat_number(struct str *s, uint64_t *ret)
{
	size_t n = 0;

	while (n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9')
		n++;
	struct str digits = str_n(s->ptr, n);
	*s = str_skip(*s, n);
	return n > 0 && str_u64(digits, ret);
}

/* The text up to the NUL that ends it. Object names hold nothing that JSON escapes. */
static bool eat_start(struct str *s, struct token *t)
{
	ptrdiff_t end = str_chr(*s, '\\');

	if (end <= 0)
		return false;
	struct str key = str_n(s->ptr, (size_t)end);
	*s = str_skip(*s, key.len);
	ptrdiff_t slash = str_chr(key, '/');
	t->ns = slash < 0 ? STR("") : str_n(key.ptr, (size_t)slash);
	t->name = slash < 0 ? key : str_skip(key, (size_t)slash + 1);
	return t->name.len > 0 && slash != 0 && str_chr(t->name, '/') < 0 && str_chr(key, '"') < 0 &&
	       eat(s, STR("\\u0000\""));
}

static bool read_json(struct str s, struct token *t)
{
	uint64_t n;

	if (!eat(&s, STR("{\"v\":\"meta.k8s.io/v1\",\"rv\":")))
		return false;
	if (eat(&s, STR("-1")))
		t->newest = true;
	else if (!eat_number(&s, &t->revision) || t->revision == 0)
		return false;
	if (!eat(&s, STR(",\"start\":\"")) || !eat_start(&s, t))
		return false;
	if (eat(&s, STR(",\"n\":"))) {
		if (!eat_number(&s, &n) || n > INT64_MAX)
			return false;
		t->remaining = (int64_t)n;
	}
	return str_is(s, "}");
}

int token_parse(struct arena *a, struct str text, struct token *ret, struct status *st)
{
	_cleanup_(buf_done) struct buf json = {0};
	struct token t = {.remaining = -1};

	if (text.len >= TOKEN_MAX || !decode_url(text, &json))
		return status_set(st, REASON_BAD_REQUEST, "invalid continue token: not one of this server");
	struct str copy = arena_str(a, buf_str(&json));
	if (!copy.ptr)
		return status_no_memory(st);
	if (!read_json(copy, &t))
		return status_set(st, REASON_BAD_REQUEST, "invalid continue token: not one of this server");
	*ret = t;
	return 0;
}
