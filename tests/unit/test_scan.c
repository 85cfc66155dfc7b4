/* SPDX-License-Identifier: Apache-2.0 */
/* scan: what is strict JSON and what is not, spans, skipping, escapes. */
#include "store/codec/scan.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

/* The text in memory of exactly its size, so that a read beyond it is found by ASan. */
static bool accepts_n(const char *text, size_t len)
{
	static struct status st;
	char *exact = malloc(len ? len : 1);

	memcpy(exact, text, len);
	int r = scan_check(str_n(exact, len), &st);
	free(exact);
	return r == 0;
}

static bool accepts(const char *text)
{
	return accepts_n(text, strlen(text));
}

static void test_grammar(void)
{
	static const char *const good[] = {
		"{}", "[]", " [ ] ", "null", "true", "false", "0", "-0", "1.50", "1E400", "-1.5e-3", "12345678901234567890123",
		"\"\"", "\"a\"", "{\"a\":1,\"a\":2}", "[1,2,[3,{\"x\":[]}]]", "\t{\n\"k\" : [ 1 , 2 ] }\r\n",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"", "\"h\xc3\xa9llo \xf0\x9f\x98\x80\"", "\"\x7f\"", "\"\\u0000\"",
		"\"01234567890123456789\xe2\x82\xac" "0123456789\"",
	};
	static const char *const bad[] = {
		"", " ", "{", "[", "}", "]", "{]", "[}", "[1,]", "{\"a\":1,}", "[,1]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}",
		"{a:1}", "{'a':1}", "{1:2}", "1 2", "{} {}", "nul", "nulll", "True", "NaN", "Infinity", "-", "01", "-01", "1.", ".5", "1.e1",
		"1e", "1e+", "+1", "0x10", "1_0", "\"", "\"abc", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\uD83D\"",
		"\"\\uDE00\"", "\"\\uD83D\\u0041\"", "\"\\uD83Dabc\"", "\"a\nb\"", "\"a\tb\"", "\"\x01\"", "\"0123456\x1f\"",
		"\"\x80\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"",
		"\"\xff\"", "\xef\xbb\xbf{}", "// c\n1", "[1 2]", "[1:2]", "{\"a\":1 \"b\":2}", "\"\\", "\"\\u", "\"\\uD83D\\", "\"\\uD83D\\u", "t", "-a",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(accepts(good[i]), "accepts %zu", i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!accepts(bad[i]), "refuses %zu", i);
	ok(!accepts_n("\"a\0b\"", 5), "refuses a raw NUL in a string");
	ok(!accepts_n("1\0", 2), "refuses a NUL after the value");
	ok(!accepts_n("\"\\\0\"", 4), "refuses an escaped NUL byte");
}

static bool nested(unsigned depth)
{
	char text[2 * SCAN_DEPTH_MAX + 8];

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return accepts_n(text, 2 * depth);
}

/* Every place of a special byte relative to the eight-byte steps. */
static void test_steps(void)
{
	unsigned good = 0, bad = 0;

	for (size_t len = 0; len < 40; len++) {
		for (size_t at = 0; at < len; at++) {
			char text[64];
			memset(text, 'x', sizeof(text));
			text[0] = text[len + 1] = '"';
			text[at + 1] = '\x1f';
			bad += accepts_n(text, len + 2);
			text[at + 1] = '~';
			good += accepts_n(text, len + 2);
			bad += accepts_n(text, len + 1);
		}
	}
	ok(good == 40 * 39 / 2, "plain strings of all lengths are accepted");
	ok(bad == 0, "control characters and missing quotes are found at every offset");
}

static void test_tokens(void)
{
	static const enum scan_token want[] = {
		SCAN_OBJECT, SCAN_KEY, SCAN_ARRAY, SCAN_NUMBER, SCAN_STRING, SCAN_ARRAY_END, SCAN_KEY, SCAN_OBJECT, SCAN_OBJECT_END,
		SCAN_KEY, SCAN_TRUE, SCAN_KEY, SCAN_NULL, SCAN_OBJECT_END, SCAN_END, SCAN_END,
	};
	struct scan s;
	bool same = true;

	scan_init(&s, STR("{\"a\":[1,\"\\n\"], \"b\" : {},\"c\":true,\"d\":null} "));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		same &= scan_next(&s) == want[i];
	ok(same, "tokens come in order");

	scan_init(&s, STR(" { \"key\" : [ {\"x\":[1]} , 2 ] , \"z\\u0041\":-1.50 }"));
	scan_next(&s);
	ok(scan_next(&s) == SCAN_KEY && str_is(s.span, "\"key\"") && !s.escaped, "a key's span has its quotes");
	scan_next(&s);
	ok(scan_skip(&s) == SCAN_ARRAY_END && str_is(s.span, "[ {\"x\":[1]} , 2 ]"), "skip gives the whole span");
	ok(scan_next(&s) == SCAN_KEY && s.escaped, "an escaped key says so");
	ok(scan_next(&s) == SCAN_NUMBER && str_is(s.span, "-1.50"), "numbers keep their text");
	ok(scan_next(&s) == SCAN_OBJECT_END && s.depth == 0, "back at depth 0");

	scan_init(&s, STR("[[1,2"));
	scan_next(&s);
	ok(scan_skip(&s) == SCAN_ERROR && scan_next(&s) == SCAN_ERROR && s.error, "an error stays");
}

static void test_unescape(void)
{
	char out[64];
	size_t n = scan_unescape(STR("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\uD83D\\uDE00z\""), out);

	ok(str_is(str_n(out, n), "a\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"), "all escapes decode");
	ok(scan_unescape(STR("\"\""), out) == 0, "the empty string decodes");
	n = scan_unescape(STR("\"\\u0000x\""), out);
	ok(n == 2 && out[0] == '\0' && out[1] == 'x', "\\u0000 decodes to a NUL byte");
}

int main(void)
{
	static struct status st;

	test_grammar();
	test_steps();
	ok(nested(SCAN_DEPTH_MAX), "SCAN_DEPTH_MAX levels are read");
	ok(!nested(SCAN_DEPTH_MAX + 1), "one more is refused");
	test_tokens();
	test_unescape();
	ok(scan_check(STR("{\"a\":x}"), &st) < 0 && st.reason == REASON_BAD_REQUEST && strstr(st.message, "byte 5"),
	   "the message says where");
	ok(utf8_valid(str_n("a\0\xc3\xa9", 4)) && !utf8_valid(STR("a\xc3")) && utf8_valid((struct str){0}), "utf8_valid");
	return tap_done();
}
