/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patch and JSON merge patch: what they make of objects, and what they refuse. */
#include "store/change/patch.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

typedef int patch_fn(struct arena *a, struct tree *object, const struct tree *patch, struct tree **ret,
		     struct status *st);

static char *text_of(struct buf *b)
{
	size_t len;

	buf_addc(b, '\0');
	return buf_steal(b, &len);
}

/* Applies a patch to a text; the result's text, "" with *st when it was refused. */
static char *apply(patch_fn *fn, const char *object, const char *patch, struct status *st)
{
	struct arena a;
	struct buf out = {0};
	struct tree *o, *p, *result;

	arena_init(&a, 0);
	status_clear(st);
	if (tree_parse(&a, str_of(object), &o, NULL, st) == 0 && tree_parse(&a, str_of(patch), &p, NULL, st) == 0 &&
	    fn(&a, o, p, &result, st) == 0)
		tree_write(result, &out);
	arena_done(&a);
	return text_of(&out);
}

struct vector {
	const char *object, *patch, *result;
};

static void gives(patch_fn *fn, const struct vector *v)
{
	struct status st;
	char *text = apply(fn, v->object, v->patch, &st);

	ok(strcmp(text, v->result) == 0, "%s with %s gives %s%s%s", v->object, v->patch, v->result,
	   strcmp(text, v->result) ? ", got " : "", strcmp(text, v->result) ? text : "");
	free(text);
}

static const struct vector json_vectors[] = {
	/* add */
	{"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]", "{\"baz\":\"qux\",\"foo\":\"bar\"}"},
	{"{\"a\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]", "{\"a\":[1,2,3]}"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":[2]}]", "{\"a\":[1,[2]]}"},
	{"{\"a\":[]}", "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":1}]", "{\"a\":[1]}"},
	{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/\",\"value\":1}]", "{\"\":1}"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":1}]", "{\"0\":1}"},
	{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}"},
	{"{\"a\":{}}", "[{\"op\":\"add\",\"path\":\"/a/x~1y~0z\",\"value\":1}]", "{\"a\":{\"x/y~z\":1}}"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/~01\",\"value\":1}]", "{\"~1\":1}"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1,\"unknown\":true}]", "{\"a\":1}"},
	{"{}", "[]", "{}"},
	/* remove */
	{"{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}"},
	{"{\"a\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "{\"a\":[1,3]}"},
	{"{\"a\":null}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{}"},
	/* replace */
	{"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"b\":[]}}]", "{\"a\":{\"b\":[]}}"},
	{"{\"a\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":0}]", "{\"a\":[1,0]}"},
	{"{\"a\":null}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", "{\"a\":1}"},
	{"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{}}]", "{}"},
	/* move */
	{"{\"a\":{\"b\":1},\"c\":{}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c/d\"}]", "{\"a\":{},\"c\":{\"d\":1}}"},
	{"{\"a\":[1,2,3]}", "[{\"op\":\"move\",\"from\":\"/a/0\",\"path\":\"/a/2\"}]", "{\"a\":[2,3,1]}"},
	{"{\"a\":[1,2,3]}", "[{\"op\":\"move\",\"from\":\"/a/0\",\"path\":\"/a/-\"}]", "{\"a\":[2,3,1]}"},
	{"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":1}"},
	{"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/ab\"}]", "{\"ab\":1}"},
	/* copy */
	{"{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"},{\"op\":\"replace\",\"path\":\"/c/b\",\"value\":2}]",
	 "{\"a\":{\"b\":1},\"c\":{\"b\":2}}"},
	{"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/b\"}]", "{\"a\":1,\"b\":{\"a\":1}}"},
	/* test */
	{"{\"a\":{\"x\":1,\"y\":[2]}}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"y\":[2],\"x\":1}}]", "{\"a\":{\"x\":1,\"y\":[2]}}"},
	{"{\"a\":1.50}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":15e-1}]", "{\"a\":1.50}"},
	{"{\"a\":[100]}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":[1E+2]}]", "{\"a\":[100]}"},
	{"{\"a\":0.0012}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1.2e-3}]", "{\"a\":0.0012}"},
	{"{\"a\":0}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":-0.0e9}]", "{\"a\":0}"},
	{"{\"a\":12345678901234567890123}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":12345678901234567890123.0}]",
	 "{\"a\":12345678901234567890123}"},
	{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":1}}]", "{\"a\":1}"},
	{"{\"a\":null}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}"},
	{"{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null},{\"op\":\"add\",\"path\":\"/a\",\"value\":{}}]", "{\"a\":{}}"},
};

static const struct vector json_refused[] = {
	{"{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", "a missing parent"},
	{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", "a scalar parent"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":1}]", "an index behind the end"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/01\",\"value\":1}]", "a leading zero"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-1\",\"value\":1}]", "a negative index"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/1e0\",\"value\":1}]", "an exponent in an index"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/99999999999999999999\",\"value\":1}]", "an index beyond 64 bits"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/4294967296\",\"value\":1}]", "an index beyond 32 bits"},
	{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/\",\"value\":1}]", "an empty index"},
	{"{\"a\":[1]}", "[{\"op\":\"replace\",\"path\":\"/a/-\",\"value\":1}]", "replacing behind the end"},
	{"{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "removing behind the end"},
	{"{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "removing what is not there"},
	{"{}", "[{\"op\":\"remove\",\"path\":\"\"}]", "removing the document"},
	{"{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", "replacing what is not there"},
	{"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]", "a result that is no object"},
	{"{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", "moving into itself"},
	{"{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a\"}]", "moving the document into itself"},
	{"{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]", "moving what is not there"},
	{"{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "moving nothing to its place"},
	{"{}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", "copying what is not there"},
	{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", "a failed test"},
	{"{\"a\":\"1\"}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]", "a test of another type"},
	{"{\"a\":10}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]", "a test of another power of ten"},
	{"{\"a\":1.05}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1.5}]", "a test of other digits"},
	{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":-1}]", "a test of another sign"},
	{"{\"a\":[1,2]}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":[2,1]}]", "a test of another order"},
	{"{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]", "a test of what is not there"},
	{"{}", "[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":null}]", "a test without a parent"},
	{"{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", "a path without a slash"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/~2\",\"value\":1}]", "an unknown escape"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/~\",\"value\":1}]", "half an escape"},
	{"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", "no value"},
	{"{}", "[{\"op\":\"add\",\"value\":1}]", "no path"},
	{"{}", "[{\"op\":\"add\",\"path\":1,\"value\":1}]", "a path that is no string"},
	{"{\"a\":1}", "[{\"op\":\"copy\",\"path\":\"/b\"}]", "no from"},
	{"{}", "[{\"path\":\"/a\",\"value\":1}]", "no op"},
	{"{}", "[{\"op\":\"spam\",\"path\":\"/a\",\"value\":1}]", "an unknown op"},
	{"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]", "a second op that fails"},
};

static void test_json(void)
{
	struct status st;

	for (size_t i = 0; i < sizeof(json_vectors) / sizeof(json_vectors[0]); i++)
		gives(patch_json, &json_vectors[i]);
	for (size_t i = 0; i < sizeof(json_refused) / sizeof(json_refused[0]); i++) {
		const struct vector *v = &json_refused[i];
		free(apply(patch_json, v->object, v->patch, &st));
		ok(st.reason == REASON_INVALID &&
			   strcmp(st.message, "the server rejected our request due to an error in our request") == 0,
		   "json patch: %s is 422", v->result);
	}
	static const char *const malformed[] = {"{}", "\"x\"", "[1]", "[[]]", "[null]",
						"[{\"op\":\"add\",\"path\":\"/a\",\"value\":1},\"x\"]"};
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		free(apply(patch_json, "{}", malformed[i], &st));
		ok(st.reason == REASON_BAD_REQUEST, "json patch: %s is 400", malformed[i]);
	}
}

/* n times one operation. */
static char *repeat(const char *op, unsigned n)
{
	struct buf b = {0};

	buf_addc(&b, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_addc(&b, ',');
		buf_adds(&b, op);
	}
	buf_addc(&b, ']');
	return text_of(&b);
}

static void test_json_limits(void)
{
	struct status st;
	char *patch = repeat("{\"op\":\"add\",\"path\":\"/a\",\"value\":1}", PATCH_OPERATIONS_MAX);
	char *text = apply(patch_json, "{}", patch, &st);

	ok(strcmp(text, "{\"a\":1}") == 0, "json patch: 10000 operations are applied");
	free(text);
	free(patch);

	patch = repeat("{\"op\":\"add\",\"path\":\"/a\",\"value\":1}", PATCH_OPERATIONS_MAX + 1);
	free(apply(patch_json, "{}", patch, &st));
	ok(st.reason == REASON_TOO_LARGE, "json patch: 10001 operations are 413");
	free(patch);

	patch = repeat("{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 100);
	free(apply(patch_json, "{\"a\":[\"0123456789\"]}", patch, &st));
	ok(st.reason == REASON_INVALID, "json patch: copies that double are stopped");
	free(patch);

	patch = repeat("{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}", 511);
	text = apply(patch_json, "{}", patch, &st);
	ok(text[0] == '{', "json patch: a result of 512 levels is good");
	free(text);
	free(patch);

	patch = repeat("{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"},{\"op\":\"add\",\"path\":\"/a\",\"value\":{}},"
		       "{\"op\":\"move\",\"from\":\"/b\",\"path\":\"/a/b\"}", 600);
	free(apply(patch_json, "{\"a\":{}}", patch, &st));
	ok(st.reason == REASON_INVALID, "json patch: a result of more levels is 422");
	free(patch);
}

/* A patch is applied again when the object changed meanwhile. */
static void test_json_again(void)
{
	const char *text = "[{\"op\":\"add\",\"path\":\"/a\",\"value\":{}},{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]";
	struct status st;
	struct arena a;
	struct tree *patch, *before, *object, *result;

	arena_init(&a, 0);
	status_clear(&st);
	tree_parse(&a, str_of(text), &patch, NULL, &st);
	before = tree_copy(&a, patch);
	tree_parse(&a, STR("{}"), &object, NULL, &st);
	ok(patch_json(&a, object, patch, &result, &st) == 0 && tree_equal(patch, before),
	   "json patch: the patch stays as it was");
	arena_done(&a);
}

static const struct vector merge_vectors[] = {
	{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
	{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
	{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
	{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
	{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
	{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
	{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
	{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
	{"{\"e\":null}", "{\"a\":1}", "{\"a\":1,\"e\":null}"},
	{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	{"{\"a\":1}", "{\"a\":{\"b\":null,\"c\":{\"d\":null,\"e\":1}}}", "{\"a\":{\"c\":{\"e\":1}}}"},
	{"{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}"},
	{"{\"b\":1,\"d\":2}", "{\"a\":1,\"c\":1,\"e\":1}", "{\"a\":1,\"b\":1,\"c\":1,\"d\":2,\"e\":1}"},
	{"{\"x\":null}", "{\"x\":null,\"y\":null}", "{}"},
	{"{\"a\":1}", "{}", "{\"a\":1}"},
};

static void test_merge(void)
{
	struct status st;
	static const char *const bad[] = {"[]", "null", "\"x\"", "1", "true"};

	for (size_t i = 0; i < sizeof(merge_vectors) / sizeof(merge_vectors[0]); i++)
		gives(patch_merge, &merge_vectors[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		free(apply(patch_merge, "{}", bad[i], &st));
		ok(st.reason == REASON_BAD_REQUEST, "merge patch: %s is 400", bad[i]);
	}
}

int main(void)
{
	test_json();
	test_json_limits();
	test_json_again();
	test_merge();
	return tap_done();
}
