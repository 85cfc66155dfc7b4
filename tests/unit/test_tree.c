/* SPDX-License-Identifier: Apache-2.0 */
/* tree: canonical text, duplicates, lookups, changes, limits. */
#include "store/codec/tree.h"

#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/scan.h"
#include "tests/unit/tap.h"

static struct status st;

static struct tree *parse(struct arena *a, const char *json)
{
	struct tree *t = NULL;

	return tree_parse(a, str_of(json), &t, NULL, &st) == 0 ? t : NULL;
}

static bool writes(const struct tree *t, const char *want)
{
	_cleanup_(buf_done) struct buf b = {0};

	tree_write(t, &b);
	bool same = !b.failed && str_is(buf_str(&b), want);
	if (!same)
		printf("# got %.*s\n# want %s\n", STR_ARG(buf_str(&b)), want);
	return same;
}

static void canon(struct arena *a, const char *json, const char *want)
{
	struct tree *t = parse(a, json);

	ok(t && writes(t, want), "canonical form is %s", want);
}

static void test_canonical(struct arena *a)
{
	canon(a, " { } ", "{}");
	canon(a, "[]", "[]");
	canon(a, "1.50", "1.50");
	canon(a, "\"\\u0041\\/<>&\\u2028\"", "\"A/<>&\xe2\x80\xa8\"");
	canon(a, "{\"b\":1,\"a\":2,\"\":3,\"aa\":4,\"A\":5}", "{\"\":3,\"A\":5,\"a\":2,\"aa\":4,\"b\":1}");
	canon(a, "[1E400, -0, null,true , false,\"x\\ny\\u0001\"]", "[1E400,-0,null,true,false,\"x\\ny\\u0001\"]");
	canon(a, "{\"a\":1,\"\\u0061\":2}", "{\"a\":2}");
	canon(a, "{\"a\":{\"z\":[{\"y\":1,\"x\":2}]}}", "{\"a\":{\"z\":[{\"x\":2,\"y\":1}]}}");
	ok(!parse(a, "{\"a\":1") && st.reason == REASON_BAD_REQUEST, "malformed JSON is a bad request");
}

/* Long unsorted objects: order, and the last of equal keys. */
static void test_sort(struct arena *a)
{
	_cleanup_(buf_done) struct buf b = {0};
	struct tree *t = NULL;
	struct tree_dup *dups = NULL;
	const unsigned n = 1000;

	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%c\"k%03u\":%u", i ? ',' : '{', i * 7919 % 500, i);
	buf_addc(&b, '}');
	ok(tree_parse(a, buf_str(&b), &t, &dups, &st) == 0 && t->len == 500, "a long object parses");
	bool sorted = true, last = true;
	for (uint32_t i = 0; i < t->len; i++) {
		int64_t v = 0;
		sorted &= i == 0 || str_cmp(t->members[i - 1].key, t->members[i].key) < 0;
		last &= tree_i64(t->members[i].value, &v) && v >= 500;
	}
	ok(sorted, "its members are sorted");
	ok(last, "of equal keys the last one wins");
	unsigned count = 0;
	for (struct tree_dup *d = dups; d; d = d->next)
		count++;
	ok(count == 100, "at most 100 duplicates are reported");
}

static void test_dups(struct arena *a)
{
	static const char json[] = "{\"spec\":{\"c\":[{\"n\":1},{\"n\":1,\"m\":[[{\"q\":0,\"q\":1}]],\"n\":2,\"n\":3}],\"a\":1,\"a\":2},"
				   "\"x\":0,\"x\":1,\"z\":{\"k\":1,\"k\":2}}";
	static const char *const want[] = {"spec.c[1].m[0][0].q", "spec.c[1].n", "spec.a", "x", "z.k"};
	struct tree_dup *d = NULL;
	struct tree *t;
	size_t i = 0;

	ok(tree_parse(a, str_of(json), &t, &d, &st) == 0, "duplicates are no error");
	for (; d && i < 5 && str_is(d->path, want[i]); d = d->next)
		i++;
	ok(i == 5 && !d, "each one is reported once, in document order");
	ok(writes(t, "{\"spec\":{\"a\":2,\"c\":[{\"n\":1},{\"m\":[[{\"q\":1}]],\"n\":3}]},\"x\":1,\"z\":{\"k\":2}}"), "the last wins");
	ok(tree_parse(a, STR("{\"a\":1}"), &t, &d, &st) == 0 && !d, "none: an empty list");
}

static void test_lookup(struct arena *a)
{
	struct tree *t = parse(a, "{\"s\":\"x\",\"n\":-9223372036854775808,\"big\":9223372036854775808,\"f\":1.0,\"o\":{\"p\":{\"q\":true}},\"l\":[1]}");
	int64_t v = 7;

	ok(str_is(tree_gets(t, "s"), "x") && tree_gets(t, "n").len == 0 && tree_gets(t, "zz").len == 0, "gets");
	ok(tree_i64(tree_getz(t, "n"), &v) && v == INT64_MIN, "the smallest integer fits");
	ok(!tree_i64(tree_getz(t, "big"), &v) && !tree_i64(tree_getz(t, "f"), &v) && !tree_i64(tree_getz(t, "s"), &v) && v == INT64_MIN,
	   "others leave the result alone");
	ok(tree_is_true(tree_path(t, "o.p.q")) && !tree_path(t, "o.x.q") && !tree_path(t, "s.p") && !tree_path(NULL, "a"), "path");
	ok(!tree_get(NULL, STR("a")) && !tree_getz(tree_getz(t, "l"), "a"), "absent where there is no object");
}

static void test_empty(struct arena *a)
{
	static const char *const empty[] = {"null", "\"\"", "0", "-0.00", "0e9", "false", "[]", "{}"};
	static const char *const full[] = {"\"0\"", "0.01", "-1", "true", "[null]", "{\"\":0}"};
	bool good = tree_is_empty(NULL);

	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++)
		good &= tree_is_empty(parse(a, empty[i]));
	for (size_t i = 0; i < sizeof(full) / sizeof(*full); i++)
		good &= !tree_is_empty(parse(a, full[i]));
	ok(good, "empty is what Go's omitempty leaves out");
}

static void test_change(struct arena *a)
{
	struct tree *t = tree_object(a), *l = tree_array(a);

	for (int i = 9; i >= 0; i--) {
		struct str key = arena_printf(a, "k%d", i);
		tree_set(a, t, key, tree_int(a, i - 5));
		tree_insert(a, l, 0, tree_int(a, i));
	}
	tree_setz(a, t, "k3", tree_null(a));
	ok(writes(t, "{\"k0\":-5,\"k1\":-4,\"k2\":-3,\"k3\":null,\"k4\":-1,\"k5\":0,\"k6\":1,\"k7\":2,\"k8\":3,\"k9\":4}"), "set");
	ok(tree_removez(t, "k0") && tree_removez(t, "k9") && !tree_removez(t, "k9") && t->len == 8, "remove");
	tree_delete_at(l, 0);
	tree_delete_at(l, 8);
	tree_delete_at(l, 100);
	tree_append(a, l, tree_bool(a, false));
	ok(writes(l, "[1,2,3,4,5,6,7,8,false]"), "insert, delete, append");
	ok(!tree_insert(a, l, 100, tree_null(a)) && !tree_append(a, t, tree_null(a)) && !tree_setz(a, l, "x", tree_null(a)),
	   "wrong types and places are refused");
	struct tree *made = tree_ensure(a, t, STR("k3"));
	ok(tree_is(made, TREE_OBJECT) && tree_ensure(a, t, STR("k3")) == made && !tree_ensure(a, t, STR("k4")), "ensure");
	ok(tree_sets(a, made, "s", STR("v")) && str_is(tree_gets(made, "s"), "v"), "sets");
	struct tree *c = tree_copy(a, t);
	ok(tree_equal(c, t), "a copy is equal");
	tree_sets(a, tree_getz(c, "k3"), "s", STR("w"));
	ok(!tree_equal(c, t) && str_is(tree_gets(made, "s"), "v"), "and its own");
	ok(writes(tree_int(a, INT64_MIN), "-9223372036854775808"), "the smallest integer is written");
}

static void test_limits(struct arena *a)
{
	_cleanup_(buf_done) struct buf b = {0};
	struct tree *t = tree_null(a);

	for (int i = 0; i < SCAN_DEPTH_MAX; i++) {
		struct tree *outer = tree_array(a);
		tree_append(a, outer, t);
		t = outer;
	}
	tree_write(t, &b);
	ok(!b.failed && scan_check(buf_str(&b), &st) == 0 && tree_copy(a, t), "a tree of SCAN_DEPTH_MAX levels is written");
	for (int i = 0; i < 1000000; i++) {
		struct tree *outer = tree_array(a);
		tree_append(a, outer, t);
		t = outer;
	}
	buf_clear(&b);
	tree_write(t, &b);
	ok(b.failed && !tree_copy(a, t), "a deeper one is refused");

	_cleanup_(arena_done) struct arena small;
	arena_init(&small, 1000);
	ok(!parse(&small, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33]") &&
		   st.reason == REASON_NO_MEMORY, "the arena's ceiling is an error");
}

int main(void)
{
	_cleanup_(arena_done) struct arena a;

	arena_init(&a, 0);
	test_canonical(&a);
	test_sort(&a);
	test_dups(&a);
	test_lookup(&a);
	test_empty(&a);
	test_change(&a);
	test_limits(&a);
	return tap_done();
}
