/* SPDX-License-Identifier: Apache-2.0 */
/* Label and field selectors: what they match, and what a bad one is told. */
#include "store/kind/selector.h"

#include <errno.h>
#include <stdlib.h>

#include "store/base/cleanup.h"
#include "tests/unit/tap.h"

static struct status st;

static const struct kind *kind_of(const char *api_version, const char *kind)
{
	return kinds_by_gvk(kinds_builtin(), str_of(api_version), str_of(kind));
}

static struct tree *object_of(struct arena *a, const char *json)
{
	struct tree *t = NULL;

	if (tree_parse(a, str_of(json), &t, NULL, &st) < 0)
		printf("# bad JSON in a test: %s\n", json);
	return t;
}

static bool labels_match(const char *selector, const char *labels)
{
	_cleanup_(arena_done) struct arena a;
	_cleanup_(buf_done) struct buf block = {0};
	struct selector *s = NULL;
	char json[512];

	arena_init(&a, 0);
	status_clear(&st);
	snprintf(json, sizeof(json), "{\"metadata\":{\"labels\":%s}}", labels);
	if (selector_parse_labels(&a, str_of(selector), &s, &st) < 0) {
		printf("# %s: %s\n", selector, st.message);
		return false;
	}
	selector_labels_block(object_of(&a, json), &block);
	return selector_match_labels(s, buf_str(&block));
}

static void label_semantics(void)
{
	static const struct {
		const char *selector, *labels;
		bool want;
	} rows[] = {
		{"", "{}", true},
		{"  ", "{}", true},
		{"a=b", "{\"a\":\"b\"}", true},
		{"a==b", "{\"a\":\"b\"}", true},
		{" a = b ", "{\"a\":\"b\"}", true},
		{"a=b", "{\"a\":\"c\"}", false},
		{"a=b", "{}", false},
		{"a=", "{\"a\":\"\"}", true},
		{"a=", "{\"a\":\"b\"}", false},
		{"a=,b=c", "{\"a\":\"\",\"b\":\"c\"}", true},
		{"a!=b", "{}", true},
		{"a!=b", "{\"a\":\"c\"}", true},
		{"a!=b", "{\"a\":\"b\"}", false},
		{"a", "{\"a\":\"\"}", true},
		{"a", "{\"b\":\"\"}", false},
		{"!a", "{\"b\":\"\"}", true},
		{"! a", "{\"a\":\"\"}", false},
		{"!a,b", "{\"b\":\"\"}", true},
		{"a in (x,y)", "{\"a\":\"y\"}", true},
		{"a in (x,y)", "{\"a\":\"z\"}", false},
		{"a in (x,y)", "{}", false},
		{"a in(x)", "{\"a\":\"x\"}", true},
		{"a in ()", "{\"a\":\"\"}", true},
		{"a in ()", "{}", false},
		{"a in (,x)", "{\"a\":\"\"}", true},
		{"a in (x,)", "{\"a\":\"\"}", true},
		{"a in (x,,y)", "{\"a\":\"\"}", true},
		{"a in (x,y)", "{\"a\":\"\"}", false},
		{"a notin (x,y)", "{}", true},
		{"a notin (x,y)", "{\"a\":\"x\"}", false},
		{"a notin (x,y)", "{\"a\":\"z\"}", true},
		{"in in (in,notin)", "{\"in\":\"notin\"}", true},
		{"a>5", "{\"a\":\"6\"}", true},
		{"a>5", "{\"a\":\"5\"}", false},
		{"a>5", "{\"a\":\"x\"}", false},
		{"a>5", "{}", false},
		{"a<5", "{\"a\":\"4\"}", true},
		{"a<5", "{\"a\":\"99999999999999999999\"}", false},
		{"b=2,a=1,c=3", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}", true},
		{"b=2,a=1,c=4", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}", false},
		{"b,b!=1,b in (2)", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}", true},
		{"z,!a", "{\"b\":\"\",\"z\":\"\"}", true},
		{"example.com/k=v", "{\"example.com/k\":\"v\"}", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(labels_match(rows[i].selector, rows[i].labels) == rows[i].want, "'%s' %s %s", rows[i].selector,
		   rows[i].want ? "matches" : "does not match", rows[i].labels);
	ok(labels_match("\r\na\t=\nb", "{\"a\":\"b\"}"), "all kinds of blanks");
}

static void told(bool fields, const char *selector, const char *want)
{
	_cleanup_(arena_done) struct arena a;
	struct selector *s = NULL;
	int r;

	arena_init(&a, 0);
	status_clear(&st);
	if (fields)
		r = selector_parse_fields(&a, kind_of("v1", "Pod"), str_of(selector), &s, &st);
	else
		r = selector_parse_labels(&a, str_of(selector), &s, &st);
	ok(r == -EINVAL && st.reason == REASON_BAD_REQUEST && !s && strncmp(st.message, want, strlen(want)) == 0,
	   "'%.40s': %.60s", selector, want);
	if (strncmp(st.message, want, strlen(want)) != 0)
		printf("# got %s\n", st.message);
}

static void label_errors(void)
{
	char huge[SELECTOR_BYTES_MAX + 2], many[3 * (SELECTOR_TERMS_MAX + 1)];

	told(false, ",a", "found ',', expected: !, identifier, or 'end of string'");
	told(false, "a,", "found '', expected: identifier after ','");
	told(false, "a,,b", "found ',', expected: identifier after ','");
	told(false, "!a=b", "found '=', expected: ',' or 'end of string'");
	told(false, "a=b c", "found 'c', expected: ',' or 'end of string'");
	told(false, "!", "unable to parse requirement: found '', expected: identifier");
	told(false, "a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
	told(false, "a===b", "unable to parse requirement: found '=', expected: identifier");
	told(false, "a in x", "unable to parse requirement: found 'x' expected: '('");
	told(false, "a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier");
	told(false, "a in (x", "unable to parse requirement: found '', expected: ',' or ')'");
	told(false, "a in (,=", "unable to parse requirement: found '=', expected: ',', or identifier");
	told(false, "-a", "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of");
	told(false, "/", "unable to parse requirement: <nil>: Invalid value: \"/\": prefix part must be non-empty; name "
			 "part must be non-empty; name part must consist of");
	told(false, "a=-", "unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label must be");
	told(false, "a in (-,_)", "unable to parse requirement: [values[0][a]: Invalid value: \"-\": a valid label must be");
	told(false, "a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
			   "value must be an integer");
	told(false, "a\xff", "selector is not valid UTF-8");
	memset(huge, 'a', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = 0;
	told(false, huge, "selector is too long: 4097 bytes");
	for (int i = 0; i <= SELECTOR_TERMS_MAX; i++)
		memcpy(many + 2 * i, "a,", 2);
	many[2 * SELECTOR_TERMS_MAX + 1] = 0;
	told(false, many, "selector has more than 100 terms");
}

static bool fields_match(const char *api_version, const char *kind, const char *selector, const char *json)
{
	_cleanup_(arena_done) struct arena a;
	_cleanup_(buf_done) struct buf block = {0};
	const struct kind *k = kind_of(api_version, kind);
	struct selector *s = NULL;
	struct tree *object;

	arena_init(&a, 0);
	status_clear(&st);
	if (selector_parse_fields(&a, k, str_of(selector), &s, &st) < 0) {
		printf("# %s: %s\n", selector, st.message);
		return false;
	}
	object = object_of(&a, json);
	selector_fields_block(k->storage, object, &block);
	return selector_match_fields(s, buf_str(&block), tree_text(tree_path(object, "metadata.namespace")),
				     tree_text(tree_path(object, "metadata.name")));
}

static void field_semantics(void)
{
	const char *pod = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"nodeName\":\"a,b=c\\\\d\"},"
			  "\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"::1\"}]}}";
	const char *event = "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\"},"
			    "\"reason\":\"Started\",\"reportingComponent\":\"kubelet\"}";

	ok(fields_match("v1", "Pod", "", pod), "an empty selector matches");
	ok(fields_match("v1", "Pod", "metadata.name=p,metadata.namespace==n,status.phase!=Failed", pod), "three terms");
	ok(!fields_match("v1", "Pod", "metadata.name=q", pod), "another name");
	ok(fields_match("v1", "Pod", "spec.nodeName=a\\,b\\=c\\\\d", pod), "an escaped value");
	ok(fields_match("v1", "Pod", "spec.host=a\\,b\\=c\\\\d", pod), "an alias");
	ok(fields_match("v1", "Pod", "status.podIP=10.0.0.1", pod), "the first pod IP");
	ok(fields_match("v1", "Pod", "status.podIPs=", pod) && !fields_match("v1", "Pod", "status.podIPs=10.0.0.1", pod),
	   "a field without values is empty");
	ok(fields_match("v1", "Pod", "spec.hostNetwork=false", pod), "an absent boolean is false");
	ok(fields_match("v1", "Pod", "spec.serviceAccountName=", pod), "an absent text is empty");
	ok(fields_match("v1", "Pod", ",,status.phase=Running,", pod), "empty terms are skipped");
	ok(fields_match("v1", "Event", "involvedObject.name=p,involvedObject.kind=Pod,source=kubelet", event),
	   "core names of events, source falls back");
	ok(fields_match("events.k8s.io/v1", "Event", "regarding.name=p,regarding.kind=Pod,reportingController=kubelet", event),
	   "names of events.k8s.io");
	ok(fields_match("batch/v1", "Job", "status.successful=0", "{}"), "an absent integer is 0");
	ok(fields_match("batch/v1", "Job", "status.successful=12", "{\"status\":{\"succeeded\":12}}"), "an integer");
	ok(fields_match("v1", "Node", "spec.unschedulable=true", "{\"spec\":{\"unschedulable\":true}}"), "a boolean");
	ok(fields_match("apps/v1", "Deployment", "metadata.name!=x", "{\"metadata\":{\"name\":\"d\"}}"), "any kind");
	ok(fields_match("v1", "PersistentVolume", "metadata.namespace=", "{\"metadata\":{\"name\":\"d\"}}"),
	   "a namespace on a plain cluster-scoped kind");
}

static bool refused(const char *api_version, const char *kind, const char *selector, const char *want)
{
	_cleanup_(arena_done) struct arena a;
	struct selector *s = NULL;
	int r;

	arena_init(&a, 0);
	status_clear(&st);
	r = selector_parse_fields(&a, kind_of(api_version, kind), str_of(selector), &s, &st);
	return r == -EINVAL && strcmp(st.message, want) == 0;
}

static void field_errors(void)
{
	told(true, "a", "invalid selector: 'a'; can't understand 'a'");
	told(true, "metadata.name=a,b\\,c", "invalid selector: 'metadata.name=a,b\\,c'; can't understand 'b\\,c'");
	told(true, "metadata.name=a=b", "invalid field selector: unescaped character in value: 61");
	told(true, "metadata.name=a\\b", "invalid field selector: invalid escape sequence: \\b");
	told(true, "metadata.name=a\\", "invalid field selector: invalid escape sequence: \\");
	ok(refused("v1", "Pod", "spec.foo=a", "field label not supported: spec.foo"), "an unknown field of a pod");
	ok(refused("apps/v1", "Deployment", "status.replicas=1",
		   "\"status.replicas\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
	   "an unknown field of a deployment");
	ok(refused("v1", "Node", "metadata.namespace=", "field label not supported: metadata.namespace"),
	   "nodes have no namespace");
	ok(refused("events.k8s.io/v1", "Event", "involvedObject.name=p", "field label not supported: involvedObject.name"),
	   "events.k8s.io does not know the core names");
}

static void name_terms(void)
{
	_cleanup_(arena_done) struct arena a;
	struct selector *s = NULL;
	const struct kind *k = kind_of("v1", "Pod");

	arena_init(&a, 0);
	ok(selector_parse_fields(&a, k, STR("status.phase=Running,metadata.name=web"), &s, &st) == 0 &&
		   str_is(selector_name(s), "web"),
	   "the name of a point read");
	ok(selector_parse_fields(&a, k, STR("metadata.name!=web"), &s, &st) == 0 && selector_name(s).len == 0,
	   "an inequality names nothing");
	ok(selector_name(NULL).len == 0 && selector_match_labels(NULL, (struct str){0}) &&
		   selector_match_fields(NULL, (struct str){0}, (struct str){0}, (struct str){0}),
	   "no selector is everything");
}

/* Every prefix of a block, and the block with every byte changed, is read within its bounds. */
static void damaged_blocks(void)
{
	_cleanup_(arena_done) struct arena a;
	_cleanup_(buf_done) struct buf labels = {0}, fields = {0};
	const struct kind *k = kind_of("v1", "Event");
	struct selector *by_label = NULL, *by_field = NULL;
	struct tree *object;

	arena_init(&a, 0);
	object = object_of(&a, "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}},\"type\":\"Normal\"}");
	selector_labels_block(object, &labels);
	selector_fields_block(k, object, &fields);
	selector_parse_labels(&a, STR("a,c=3"), &by_label, &st);
	selector_parse_fields(&a, k, STR("type=Normal"), &by_field, &st);
	ok(selector_match_labels(by_label, buf_str(&labels)), "labels match");
	ok(selector_match_fields(by_field, buf_str(&fields), (struct str){0}, (struct str){0}), "fields match");
	for (size_t n = 0; n < labels.len + fields.len; n++) {
		const struct buf *from = n < labels.len ? &labels : &fields;
		size_t len = n < labels.len ? n : n - labels.len;
		char *copy = malloc(from->len);

		if (!copy)
			abort();
		memcpy(copy, from->ptr, from->len);
		copy[len] = (char)0xff;
		selector_match_labels(by_label, str_n(copy, from->len));
		selector_match_fields(by_field, str_n(copy, from->len), (struct str){0}, (struct str){0});
		copy = realloc(copy, len ? len : 1);
		if (!copy)
			abort();
		selector_match_labels(by_label, str_n(copy, len));
		selector_match_fields(by_field, str_n(copy, len), (struct str){0}, (struct str){0});
		free(copy);
	}
	ok(true, "damaged blocks are read within their bounds");
}

int main(void)
{
	label_semantics();
	label_errors();
	field_semantics();
	field_errors();
	name_terms();
	damaged_blocks();
	return tap_done();
}
