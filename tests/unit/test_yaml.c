/* SPDX-License-Identifier: Apache-2.0 */
/* yaml: what scalars mean, merges and aliases, limits, kubectl's output, round trips. */
#include "store/codec/yaml.h"

#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/tree.h"
#include "tests/unit/tap.h"

static struct status st;

struct pair {
	const char *in, *out;
};

static bool same(struct str got, const char *want, const char *in)
{
	bool good = str_is(got, want);

	if (!good)
		printf("# in   %s\n# got  %.*s\n# want %s\n", in, STR_ARG(got), want);
	return good;
}

/* want NULL: an error. */
static void reads(const char *yaml, const char *want)
{
	_cleanup_(buf_done) struct buf out = {0};
	size_t len = strlen(yaml);
	char *exact = malloc(len ? len : 1);

	memcpy(exact, yaml, len);
	int r = yaml_to_json(str_n(exact, len), &out, &st);
	free(exact);
	if (!want) {
		ok(r < 0 && st.reason == REASON_BAD_REQUEST, "refused: %s", r < 0 ? st.message : "no error");
		return;
	}
	if (r < 0)
		printf("# %s\n", st.message);
	ok(r == 0 && same(buf_str(&out), want, yaml), "reads %s", want);
}

static void test_scalars(void)
{
	static const struct pair rows[] = {
		{"", "null"}, {"~", "null"}, {"null", "null"}, {"Null", "null"}, {"nULL", "\"nULL\""}, {"''", "\"\""},
		{"y", "true"}, {"Yes", "true"}, {"on", "true"}, {"TRUE", "true"}, {"n", "false"}, {"off", "false"}, {"No", "false"},
		{"yEs", "\"yEs\""}, {"'yes'", "\"yes\""}, {"\"on\"", "\"on\""}, {"truex", "\"truex\""},
		{"1", "1"}, {"-1", "-1"}, {"+1", "1"}, {"1_000", "1000"}, {"0x1F", "31"}, {"0o17", "15"}, {"017", "15"}, {"-017", "-15"},
		{"0b101", "5"}, {"-0b11", "-3"}, {"089", "89"}, {"0", "0"}, {"-0", "-0"}, {"00", "0"}, {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
		{"0x1FFFFFFFFFFFFFFFF", "\"0x1FFFFFFFFFFFFFFFF\""}, {"0xg", "\"0xg\""}, {"0x", "\"0x\""},
		{"12345678901234567890123", "12345678901234567890123"}, {"1.50", "1.50"}, {"1.", "1"}, {".5", "0.5"}, {"-.5e3", "-0.5e3"},
		{"+1.5", "1.5"}, {"1e3", "1e3"}, {"1E+3", "1E+3"}, {"1_0.5_0", "10.50"}, {"1234e567", "\"1234e567\""}, {"1e", "\"1e\""},
		{"1.2.3", "\"1.2.3\""}, {".", "\".\""}, {"-", "[null]"}, {"--", "\"--\""}, {"-x", "\"-x\""}, {"1:30", "\"1:30\""}, {"10m", "\"10m\""},
		{"2024-01-01", "\"2024-01-01\""}, {"2024-01-01T00:00:00Z", "\"2024-01-01T00:00:00Z\""}, {".nan", NULL}, {".inf", NULL},
		{"-.Inf", NULL}, {"'.inf'", "\".inf\""}, {"!!str 1", "\"1\""}, {"!!int '3'", "3"}, {"!!int x", NULL}, {"!!bool 'yes'", "true"},
		{"!!bool 1", NULL}, {"!!float 1", "1"}, {"!!float 1E400", "1E400"}, {"!!null ''", "null"}, {"! 1", "\"1\""}, {"!foo 1", "\"1\""},
		{"!!binary aGVsbG8=", "\"hello\""}, {"!!binary 'aGVs\n\n bG8='", "\"hello\""}, {"!!binary x", NULL}, {"!!binary /w==", NULL},
		{"\"\\x41\\u00e9\\U0001F600\\0\"", "\"A\xc3\xa9\xf0\x9f\x98\x80\\u0000\""}, {"|\n a\n b\n", "\"a\\nb\\n\""}, {">-\n a\n b\n", "\"a b\""},
		{"\"\\ud800\"", NULL}, {"\xef\xbb\xbf" "a: 1", "{\"a\":1}"}, {"\xff", NULL}, {"a: \x01", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		reads(rows[i].in, rows[i].out);
}

static void test_structure(void)
{
	static const struct pair rows[] = {
		{"{}", "{}"}, {"[]", "[]"}, {"a:\n- 1\n- b: c\n  d:\n", "{\"a\":[1,{\"b\":\"c\",\"d\":null}]}"},
		{"{\"a\": [1, \"x\", true, null], \"b\": {}}", "{\"a\":[1,\"x\",true,null],\"b\":{}}"},
		{"1: a\ntrue: b\n0x10: c\n1.50: d\n1e3: e\n-2: f\n'1': g\n1e7: h\n", "{\"1\":\"a\",\"true\":\"b\",\"16\":\"c\",\"1.5\":\"d\",\"1000\":\"e\",\"-2\":\"f\",\"1\":\"g\",\"1e+07\":\"h\"}"},
		{"a: 1\na: 2\n", "{\"a\":1,\"a\":2}"},
		{"~: x", NULL}, {"[a]: x", NULL}, {"{a: b}: x", NULL}, {"a: [", NULL}, {"a: b: c", NULL}, {"a:\n\tb: 1", NULL}, {"- a\nb: c", NULL},
		{"a: &x 1\nb: *x\n*x : c\n", "{\"a\":1,\"b\":1,\"1\":\"c\"}"},
		{"a: &x {k: [1]}\nb: *x\nc: &x 2\nd: *x\n", "{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]},\"c\":2,\"d\":2}"},
		{"a: *x", NULL}, {"&x [*x]", NULL}, {"&x {<<: *x}", NULL},
		{"a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3\n", "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"l\":3,\"k\":1}}"},
		{"a: &x {k: 1, l: 2}\nb:\n  l: 3\n  <<: *x\n  m: 1\n", "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"l\":3,\"m\":1,\"k\":1}}"},
		{"- &x {k: 1}\n- &y {k: 2, l: 3}\n- {<<: [*x, *y, {z: 0}], q: 1}\n", "[{\"k\":1},{\"k\":2,\"l\":3},{\"q\":1,\"k\":1,\"l\":3,\"z\":0}]"},
		{"- &x {k: 1}\n- &y {<<: *x, l: 3}\n- {<<: *y}\n", "[{\"k\":1},{\"l\":3,\"k\":1},{\"l\":3,\"k\":1}]"},
		{"a: 1\na: 2\n<<: {b: 1, b: 2}\n", "{\"a\":1,\"a\":2,\"b\":1}"},
		{"<<: 1", NULL}, {"<<: [1]", NULL}, {"'<<': 1", "{\"<<\":1}"}, {"- <<", "[\"<<\"]"},
		{"--- \na: 1\n...\n", "{\"a\":1}"}, {"# c\n---\n# d\n---\na: 1\n---\n", "{\"a\":1}"}, {"a: 1\n---\nb: 2\n", NULL},
		{"%YAML 1.1\n---\na: 1", "{\"a\":1}"}, {"%FOO\na", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		reads(rows[i].in, rows[i].out);
	reads("a: 1\nb: [\n", NULL);
	ok(strstr(st.message, "error converting YAML to JSON: yaml: line 3: ") == st.message, "the line is named: %s", st.message);
	reads("a: 1\nb: 2\nc: \xff\n", NULL);
	ok(strstr(st.message, "line 3: "), "also for bytes that are no UTF-8");
}

static void test_stream(void)
{
	_cleanup_(buf_done) struct buf out = {0};
	struct yaml_stream *y = yaml_open(STR("# one\n\na: 1\n---\n---\nnull\n---\n- 2\n--- x\n"));
	unsigned line = 0;

	ok(yaml_next(y, &out, &line, &st) == 1 && str_is(buf_str(&out), "{\"a\":1}") && line == 3, "the first document");
	ok(yaml_next(y, &out, &line, &st) == 1 && str_is(buf_str(&out), "[2]") && line == 8, "empty ones are skipped");
	ok(yaml_next(y, &out, &line, &st) == 1 && str_is(buf_str(&out), "\"x\"") && line == 9, "the last");
	ok(yaml_next(y, &out, &line, &st) == 0 && yaml_next(y, &out, NULL, &st) == 0, "the end stays");
	yaml_close(y);
	y = yaml_open(STR("a: &x 1\n---\nb: *x\n"));
	ok(yaml_next(y, &out, &line, &st) == 1, "an anchor");
	ok(yaml_next(y, &out, &line, &st) < 0, "is not known in the next document");
	ok(yaml_next(y, &out, &line, &st) < 0, "a failure stays");
	yaml_close(y);
	y = yaml_open((struct str){0});
	ok(yaml_next(y, &out, &line, &st) == 0, "nothing at all");
	yaml_close(y);
	yaml_close(NULL);
}

static bool refused(const struct buf *yaml)
{
	_cleanup_(buf_done) struct buf out = {0};

	return yaml_to_json(buf_str(yaml), &out, &st) < 0 && st.reason == REASON_BAD_REQUEST;
}

static void test_hostile(void)
{
	_cleanup_(buf_done) struct buf b = {0};

	buf_adds(&b, "a: &a [x,x,x,x,x,x,x,x,x]\n");
	for (char c = 'b'; c <= 'j'; c++)
		buf_addf(&b, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
	ok(refused(&b), "a billion laughs: %s", st.message);

	buf_clear(&b);
	buf_adds(&b, "- &a0 {}\n");
	for (int i = 1; i < 40; i++)
		buf_addf(&b, "- &a%d {<<: [*a%d,*a%d,*a%d]}\n", i, i - 1, i - 1, i - 1);
	ok(refused(&b), "merges of nothing, three times each: %s", st.message);

	buf_clear(&b);
	buf_adds(&b, "- &a0 []\n");
	for (int i = 1; i < 900; i++)
		buf_addf(&b, "- &a%d [*a%d]\n", i, i - 1);
	ok(refused(&b), "depth by aliases: %s", st.message);

	buf_clear(&b);
	for (int i = 0; i < 5000; i++)
		buf_addf(&b, "- &a%d x\n", i);
	ok(refused(&b), "thousands of anchors: %s", st.message);

	buf_clear(&b);
	for (int i = 0; i < 100000; i++)
		buf_addc(&b, '[');
	ok(refused(&b), "deep flow sequences: %s", st.message);

	buf_clear(&b);
	for (int i = 0; i < 1100000; i++)
		buf_adds(&b, "-\n");
	ok(refused(&b), "more values than the limit: %s", st.message);
}

/* want NULL: only the round trip is tested. */
static bool round_trip(struct str json, const char *want)
{
	_cleanup_(buf_done) struct buf yaml = {0}, back = {0};
	_cleanup_(arena_done) struct arena a;
	struct tree *before, *after;
	bool good = false;

	arena_init(&a, 0);
	if (yaml_from_json(json, &yaml, &st) == 0 && yaml_to_json(buf_str(&yaml), &back, &st) == 0 &&
	    tree_parse(&a, json, &before, NULL, &st) == 0 && tree_parse(&a, buf_str(&back), &after, NULL, &st) == 0)
		good = tree_equal(before, after);
	if (!good)
		printf("# %s\n# json %.*s\n# yaml %.*s\n# back %.*s\n", st.message, STR_ARG(json), STR_ARG(buf_str(&yaml)), STR_ARG(buf_str(&back)));
	return good && (!want || same(buf_str(&yaml), want, json.ptr));
}

static void test_print(void)
{
	static const struct pair rows[] = {
		{"{}", "{}\n"}, {"[]", "[]\n"}, {"null", "null\n"}, {"\"x\"", "x\n"}, {"1.50", "1.50\n"}, {"1E400", "!!float 1E400\n"},
		{"{\"a\":{\"b\":[1,{\"c\":\"d\",\"e\":[]},[2,[3]]],\"f\":{}}}", "a:\n  b:\n  - 1\n  - c: d\n    e: []\n  - - 2\n    - - 3\n  f: {}\n"},
		{"[\"1\",\"true\",\"null\",\"\",\"2024-01-01T00:00:00Z\",\"2024-01-01\",\"y\",\"0x10\",\"1e3\",\"~\",\"1:30\",\".inf\",\"1_000\",\"<<\"]",
		 "- \"1\"\n- \"true\"\n- \"null\"\n- \"\"\n- \"2024-01-01T00:00:00Z\"\n- \"2024-01-01\"\n- \"y\"\n- \"0x10\"\n- \"1e3\"\n- \"~\"\n- \"1:30\"\n- \".inf\"\n- \"1_000\"\n- \"<<\"\n"},
		{"[\"*x\",\"- x\",\"{a\",\"a: b\",\"a #b\",\" a\",\"a \",\"it's\",\"---\",\"@x\",\"a:\",\"#a\",\"'a'\"]",
		 "- '*x'\n- '- x'\n- '{a'\n- 'a: b'\n- 'a #b'\n- ' a'\n- 'a '\n- it's\n- '---'\n- '@x'\n- 'a:'\n- '#a'\n- '''a'''\n"},
		{"{\"a\":\"x\\ny\",\"b\":\"x\\n\",\"c\":\"x\\n\\n\",\"d\":\" x\\ny\"}", "a: |-\n  x\n  y\nb: |\n  x\nc: |+\n  x\n\nd: |2-\n   x\n  y\n"},
		{"{\"a\":\"x\\n\\n\"}", "a: |+\n  x\n\n"},
		{"[\"a\\tb\",\"a \\nb\",\"\\u0001\",\"h\xc3\xa9\",\"\xf0\x9f\x98\x80\"]", "- \"a\\tb\"\n- \"a \\nb\"\n- \"\\x01\"\n- h\xc3\xa9\n- \"\\U0001F600\"\n"},
		{"[\"a\\u2028b\",\"a\\nb\\u2029c\"]", "- \"a\\Lb\"\n- \"a\\nb\\Pc\"\n"},
		{"{\"1\":1,\"true\":2,\"\":3,\"~\":4,\"<<\":5,\"a b\":6}", "\"1\": 1\n\"true\": 2\n\"\": 3\n\"~\": 4\n\"<<\": 5\na b: 6\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ok(round_trip(str_of(rows[i].in), rows[i].out), "prints %s", rows[i].in ? rows[i].in : "");
	_cleanup_(buf_done) struct buf out = {0};
	buf_adds(&out, "kept\n");
	ok(yaml_from_json(STR("{\"a\":1}"), &out, &st) == 0 && str_is(buf_str(&out), "kept\na: 1\n"), "the text is added");
	ok(yaml_from_json(STR("{\"a\":"), &out, &st) < 0 && st.reason == REASON_BAD_REQUEST, "malformed JSON is an error");
}

/* Strings of awkward pieces, as a value, as a key, in a list, at the root. */
static void test_nasty(void)
{
	static const char *const pieces[] = {
		" ", "\\n", "\\t", "#", ": ", "-", "---", "...", "y", "0x10", "1e3", "~", "=", "<<", "a", "'", "\\\"", "\\\\", "?", "!", "&", "*", "|", ">", "%", "@", "`",
		"{", "}", "[", "]", ",", ":", "\\r", "\\u0000", "\\u0085", "\\u2028", "\\u2029", "\\u00a0", "\\ufeff", "\\ufffe", "\\uffff", "\xc3\xa9", "\xf0\x9f\x98\x80", "\\u007f", "\\u001b", "1", ".", "+", "_",
	};
	const size_t n = sizeof(pieces) / sizeof(*pieces);
	size_t bad = 0, total = 0;

	for (size_t i = 0; i < n * n * n && bad < 10; i++) {
		/* All pairs, and one in seven of the triples. */
		if (i >= n * n && i % 7)
			continue;
		char json[256];
		char s[64];
		snprintf(s, sizeof(s), "%s%s%s", pieces[i % n], i >= n ? pieces[i / n % n] : "", i >= n * n ? pieces[i / n / n] : "");
		int len = snprintf(json, sizeof(json), "{\"%s\":{\"k\":[\"%s\",[\"%s\"]],\"z\":\"%s\"}}", s, s, s, s);
		bad += !round_trip(str_n(json, (size_t)len), NULL);
		len = snprintf(json, sizeof(json), "\"%s\"", s);
		bad += !round_trip(str_n(json, (size_t)len), NULL);
		total += 2;
	}
	ok(bad == 0, "%zu nasty texts come back the same", total);
}

static void test_long(void)
{
	_cleanup_(buf_done) struct buf b = {0}, out = {0};

	buf_adds(&b, "{\"");
	for (int i = 0; i < 60; i++)
		buf_adds(&b, "long key ");
	buf_adds(&b, "x\":\"");
	for (int i = 0; i < 20000; i++)
		buf_addf(&b, "word%d ", i);
	buf_adds(&b, "x\",\"two\\nlines\":\"x\"}");
	ok(round_trip(buf_str(&b), NULL), "long lines and long keys come back the same");

	buf_clear(&b);
	for (int i = 0; i < 511; i++)
		buf_addc(&b, '[');
	for (int i = 0; i < 100000; i++)
		buf_adds(&b, "1,");
	buf_adds(&b, "1");
	for (int i = 0; i < 511; i++)
		buf_addc(&b, ']');
	ok(yaml_from_json(buf_str(&b), &out, &st) < 0 && st.reason == REASON_TOO_LARGE && out.len <= YAML_TEXT_MAX,
	   "indentation cannot grow without bound: %s", st.message);
}

int main(void)
{
	test_scalars();
	test_structure();
	test_stream();
	test_hostile();
	test_print();
	test_nasty();
	test_long();
	return tap_done();
}
