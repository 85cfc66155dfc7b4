/* SPDX-License-Identifier: Apache-2.0 */
/* The strict JSON scanner: one state, one bit for each open container, spans out. */
#include "store/codec/scan.h"

/* What may come next. */
enum state {
	WANT_VALUE,
	WANT_FIRST_ITEM, /* right after [ */
	WANT_FIRST_KEY,  /* right after { */
	WANT_NEXT,       /* after a value: a comma, an end, or nothing more */
	FAILED,
};

void scan_init(struct scan *s, struct str json)
{
	*s = (struct scan){.json = json, .state = WANT_VALUE};
}

static enum scan_token fail(struct scan *s, const char *error)
{
	if (s->state != FAILED)
		s->error = error;
	s->state = FAILED;
	return SCAN_ERROR;
}

static void skip_blanks(struct scan *s)
{
	while (s->at < s->json.len) {
		char c = s->json.ptr[s->at];
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return;
		s->at++;
	}
}

/* The byte at s->at, or -1 at the end of the text. */
static int peek(const struct scan *s)
{
	return s->at < s->json.len ? (unsigned char)s->json.ptr[s->at] : -1;
}

static bool in_object(const struct scan *s)
{
	unsigned level = s->depth - 1;

	return s->is_object[level / 64] >> (level % 64) & 1;
}

static enum scan_token open_container(struct scan *s, bool object)
{
	if (s->depth == SCAN_DEPTH_MAX)
		return fail(s, "nested too deeply");
	uint64_t bit = (uint64_t)1 << (s->depth % 64);
	uint64_t *word = &s->is_object[s->depth / 64];
	*word = object ? *word | bit : *word & ~bit;
	s->depth++;
	s->span = str_n(s->json.ptr + s->at++, 1);
	s->state = object ? WANT_FIRST_KEY : WANT_FIRST_ITEM;
	return object ? SCAN_OBJECT : SCAN_ARRAY;
}

static enum scan_token close_container(struct scan *s)
{
	bool object = in_object(s);

	s->depth--;
	s->span = str_n(s->json.ptr + s->at++, 1);
	s->state = WANT_NEXT;
	return object ? SCAN_OBJECT_END : SCAN_ARRAY_END;
}

/* Eight bytes at once: does one of them end the plain run of a string (a quote, a backslash, a
 * control character) or start a multi-byte character? */
static bool any_special(const char *p)
{
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	uint64_t quote = x ^ ones * '"';
	uint64_t backslash = x ^ ones * '\\';
	uint64_t found = ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | x;
	return found & tops;
}

/* Length of the multi-byte character at p, of which n bytes may be read; 0 when malformed. */
static unsigned utf8_length(const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	unsigned len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
		return 0;
	for (unsigned i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The code unit of the four hex digits at p; -1 when they are not. */
static int32_t code_unit(const char *p, size_t n)
{
	int32_t unit = 0;

	if (n < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int v = hex_value(p[i]);
		if (v < 0)
			return -1;
		unit = unit << 4 | v;
	}
	return unit;
}

static bool is_high(int32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low(int32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* Length of the escape at p (a backslash); 0 when it is malformed or half of a surrogate pair. */
static size_t escape_length(const char *p, size_t n)
{
	if (n < 2)
		return 0;
	if (p[1] != 'u')
		return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
	int32_t unit = code_unit(p + 2, n - 2);
	if (unit < 0 || is_low(unit))
		return 0;
	if (!is_high(unit))
		return 6;
	bool paired = n >= 12 && p[6] == '\\' && p[7] == 'u' && is_low(code_unit(p + 8, n - 8));
	return paired ? 12 : 0;
}

/* Goes past the string at s->at (its opening quote) and sets span; false, with the error set. */
static bool read_string(struct scan *s)
{
	const char *p = s->json.ptr + s->at, *end = s->json.ptr + s->json.len, *start = p++;
	const char *error = "unterminated string";

	s->escaped = false;
	for (;;) {
		while (end - p >= 8 && !any_special(p))
			p += 8;
		if (p == end)
			break;
		size_t step = 1;
		unsigned char c = (unsigned char)*p;
		if (c == '"') {
			s->span = str_n(start, (size_t)(p + 1 - start));
			s->at += s->span.len;
			return true;
		}
		error = "control character in string";
		if (c < 0x20)
			break;
		if (c == '\\') {
			error = "invalid escape in string";
			step = escape_length(p, (size_t)(end - p));
			s->escaped = true;
		} else if (c >= 0x80) {
			error = "invalid UTF-8 in string";
			step = utf8_length(p, (size_t)(end - p));
		}
		if (step == 0)
			break;
		p += step;
		error = "unterminated string";
	}
	s->at = (size_t)(p - s->json.ptr);
	fail(s, error);
	return false;
}

static bool read_digits(struct scan *s)
{
	size_t start = s->at;

	while (s->at < s->json.len && s->json.ptr[s->at] >= '0' && s->json.ptr[s->at] <= '9')
		s->at++;
	return s->at > start;
}

static bool read_number(struct scan *s)
{
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0')
		s->at++;
	else if (!read_digits(s))
		return false;
	if (peek(s) == '.') {
		s->at++;
		if (!read_digits(s))
			return false;
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (!read_digits(s))
			return false;
	}
	return true;
}

static enum scan_token scan_number(struct scan *s)
{
	size_t start = s->at;

	if (!read_number(s))
		return fail(s, "invalid number");
	s->span = str_n(s->json.ptr + start, s->at - start);
	s->state = WANT_NEXT;
	return SCAN_NUMBER;
}

static enum scan_token scan_word(struct scan *s, struct str word, enum scan_token token)
{
	struct str rest = str_n(s->json.ptr + s->at, s->json.len - s->at);

	if (!str_starts(rest, word))
		return fail(s, "invalid literal");
	s->span = str_n(rest.ptr, word.len);
	s->at += word.len;
	s->state = WANT_NEXT;
	return token;
}

static enum scan_token scan_value(struct scan *s)
{
	switch (peek(s)) {
	case '{': return open_container(s, true);
	case '[': return open_container(s, false);
	case 't': return scan_word(s, STR("true"), SCAN_TRUE);
	case 'f': return scan_word(s, STR("false"), SCAN_FALSE);
	case 'n': return scan_word(s, STR("null"), SCAN_NULL);
	case '"':
		s->state = WANT_NEXT;
		return read_string(s) ? SCAN_STRING : SCAN_ERROR;
	case '-':
	case '0' ... '9': return scan_number(s);
	case -1: return fail(s, "unexpected end of JSON input");
	default: return fail(s, "invalid character looking for beginning of value");
	}
}

/* A key and its colon. */
static enum scan_token scan_key(struct scan *s)
{
	if (peek(s) != '"')
		return fail(s, "invalid character looking for beginning of object key string");
	if (!read_string(s))
		return SCAN_ERROR;
	skip_blanks(s);
	if (peek(s) != ':')
		return fail(s, "invalid character after object key");
	s->at++;
	s->state = WANT_VALUE;
	return SCAN_KEY;
}

static enum scan_token scan_after_value(struct scan *s)
{
	int c = peek(s);

	if (s->depth == 0)
		return c < 0 ? SCAN_END : fail(s, "invalid character after top-level value");
	bool object = in_object(s);
	if (c == (object ? '}' : ']'))
		return close_container(s);
	if (c != ',')
		return fail(s, object ? "invalid character after object key:value pair"
				      : "invalid character after array element");
	s->at++;
	skip_blanks(s);
	return object ? scan_key(s) : scan_value(s);
}

enum scan_token scan_next(struct scan *s)
{
	skip_blanks(s);
	switch ((enum state)s->state) {
	case WANT_VALUE: return scan_value(s);
	case WANT_FIRST_ITEM: return peek(s) == ']' ? close_container(s) : scan_value(s);
	case WANT_FIRST_KEY: return peek(s) == '}' ? close_container(s) : scan_key(s);
	case WANT_NEXT: return scan_after_value(s);
	case FAILED: break;
	}
	return SCAN_ERROR;
}

enum scan_token scan_skip(struct scan *s)
{
	const char *start = s->span.ptr;
	unsigned outer = s->depth - 1;
	enum scan_token token;

	do {
		token = scan_next(s);
		if (token == SCAN_ERROR)
			return token;
	} while (s->depth > outer);
	s->span = str_n(start, (size_t)(s->json.ptr + s->at - start));
	return token;
}

int scan_fail(const struct scan *s, struct status *st)
{
	return status_set(st, REASON_BAD_REQUEST, "invalid JSON: %s (at byte %zu)", s->error, s->at);
}

int scan_check(struct str json, struct status *st)
{
	struct scan s;
	enum scan_token token;

	scan_init(&s, json);
	do {
		token = scan_next(&s);
	} while (token != SCAN_END && token != SCAN_ERROR);
	return token == SCAN_END ? 0 : scan_fail(&s, st);
}

static size_t utf8_put(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Decodes the checked escape at *p and moves *p past it. */
static size_t unescape_one(const char **p, char *out)
{
	static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *at = *p;

	if (at[1] != 'u') {
		*p += 2;
		*out = values[strchr(letters, at[1]) - letters];
		return 1;
	}
	uint32_t c = (uint32_t)code_unit(at + 2, 4);
	*p += 6;
	if (is_high((int32_t)c)) {
		c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)code_unit(at + 8, 4) - 0xdc00);
		*p += 6;
	}
	return utf8_put(c, out);
}

size_t scan_unescape(struct str span, char *out)
{
	const char *p = span.ptr + 1, *end = span.ptr + span.len - 1;
	char *start = out;

	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((stop ? stop : end) - p);
		memcpy(out, p, plain);
		out += plain;
		p += plain;
		if (stop)
			out += unescape_one(&p, out);
	}
	return (size_t)(out - start);
}

bool utf8_valid(struct str s)
{
	for (size_t i = 0; i < s.len;) {
		if ((unsigned char)s.ptr[i] < 0x80) {
			i++;
			continue;
		}
		unsigned n = utf8_length(s.ptr + i, s.len - i);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}
