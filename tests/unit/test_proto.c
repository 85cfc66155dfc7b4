/* SPDX-License-Identifier: Apache-2.0 */
/* proto: what kubectl sends, forms of values, zero values, malformed and hostile bodies. */
#include "store/codec/proto.h"

#include <errno.h>
#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/scan.h"
#include "store/codec/tree.h"
#include "tests/unit/tap.h"

static struct status st;

/* The body of `kubectl create deployment web --image=nginx --replicas=0 --port=80`, kubectl 1.35. */
static const unsigned char deployment[] = {
	0x6b, 0x38, 0x73, 0x00, 0x0a, 0x15, 0x0a, 0x07, 0x61, 0x70, 0x70, 0x73, 0x2f, 0x76, 0x31, 0x12, 0x0a, 0x44, 0x65, 0x70, 0x6c, 0x6f,
	0x79, 0x6d, 0x65, 0x6e, 0x74, 0x12, 0xb8, 0x01, 0x0a, 0x1f, 0x0a, 0x03, 0x77, 0x65, 0x62, 0x12, 0x00, 0x1a, 0x00, 0x22, 0x00, 0x2a,
	0x00, 0x32, 0x00, 0x38, 0x00, 0x42, 0x00, 0x5a, 0x0a, 0x0a, 0x03, 0x61, 0x70, 0x70, 0x12, 0x03, 0x77, 0x65, 0x62, 0x12, 0x86, 0x01,
	0x08, 0x00, 0x12, 0x0c, 0x0a, 0x0a, 0x0a, 0x03, 0x61, 0x70, 0x70, 0x12, 0x03, 0x77, 0x65, 0x62, 0x1a, 0x6c, 0x0a, 0x1c, 0x0a, 0x00,
	0x12, 0x00, 0x1a, 0x00, 0x22, 0x00, 0x2a, 0x00, 0x32, 0x00, 0x38, 0x00, 0x42, 0x00, 0x5a, 0x0a, 0x0a, 0x03, 0x61, 0x70, 0x70, 0x12,
	0x03, 0x77, 0x65, 0x62, 0x12, 0x4c, 0x12, 0x2e, 0x0a, 0x05, 0x6e, 0x67, 0x69, 0x6e, 0x78, 0x12, 0x05, 0x6e, 0x67, 0x69, 0x6e, 0x78,
	0x2a, 0x00, 0x32, 0x0a, 0x0a, 0x00, 0x10, 0x00, 0x18, 0x50, 0x22, 0x00, 0x2a, 0x00, 0x42, 0x00, 0x6a, 0x00, 0x72, 0x00, 0x80, 0x01,
	0x00, 0x88, 0x01, 0x00, 0x90, 0x01, 0x00, 0xa2, 0x01, 0x00, 0x1a, 0x00, 0x32, 0x00, 0x42, 0x00, 0x4a, 0x00, 0x52, 0x00, 0x58, 0x00,
	0x60, 0x00, 0x68, 0x00, 0x82, 0x01, 0x00, 0x8a, 0x01, 0x00, 0x9a, 0x01, 0x00, 0xc2, 0x01, 0x00, 0x22, 0x02, 0x0a, 0x00, 0x28, 0x00,
	0x38, 0x00, 0x1a, 0x0c, 0x08, 0x00, 0x10, 0x00, 0x18, 0x00, 0x20, 0x00, 0x28, 0x00, 0x38, 0x00, 0x1a, 0x00, 0x22, 0x00,
};

/* --- a small encoder --- */

static void varint(struct buf *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		buf_addc(b, (char)(v | 0x80));
	buf_addc(b, (char)v);
}

static void number(struct buf *b, unsigned field, int64_t v)
{
	varint(b, field << 3);
	varint(b, (uint64_t)v);
}

static void bytes(struct buf *b, unsigned field, struct str s)
{
	varint(b, field << 3 | 2);
	varint(b, s.len);
	buf_add_str(b, s);
}

static void text(struct buf *b, unsigned field, const char *z)
{
	bytes(b, field, str_of(z));
}

/* Adds inner as a message and empties it. */
static void message(struct buf *b, unsigned field, struct buf *inner)
{
	bytes(b, field, buf_str(inner));
	buf_clear(inner);
}

static void map_entry(struct buf *b, unsigned field, const char *key, const char *value)
{
	_cleanup_(buf_done) struct buf entry = {0};

	text(&entry, 1, key);
	text(&entry, 2, value);
	message(b, field, &entry);
}

static void double_number(struct buf *b, unsigned field, double v)
{
	varint(b, field << 3 | 1);
	buf_add(b, &v, sizeof(v)); /* little-endian, as the hosts of this test are */
}

/* Wraps raw (and empties it) in an envelope. */
static void envelope(struct buf *out, const char *api_version, const char *kind, struct buf *raw)
{
	_cleanup_(buf_done) struct buf meta = {0};

	text(&meta, 1, api_version);
	text(&meta, 2, kind);
	buf_add(out, "k8s\0", 4);
	message(out, 1, &meta);
	message(out, 2, raw);
	text(out, 3, "");
	text(out, 4, "");
}

/* --- checks --- */

/* From memory of exactly its size, so that a read beyond it is found by ASan. */
static int decode(struct str body, struct buf *out)
{
	char *exact = malloc(body.len ? body.len : 1);

	if (body.len)
		memcpy(exact, body.ptr, body.len);
	int r = proto_to_json(str_n(exact, body.len), out, &st);
	free(exact);
	return r;
}

static bool decodes_to(struct str body, const char *want)
{
	_cleanup_(buf_done) struct buf out = {0}, canonical = {0};
	_cleanup_(arena_done) struct arena a;
	struct tree *t;

	arena_init(&a, 0);
	if (decode(body, &out) < 0 || tree_parse(&a, buf_str(&out), &t, NULL, &st) < 0) {
		printf("# %s\n", st.message);
		return false;
	}
	tree_write(t, &canonical);
	bool good = str_is(buf_str(&canonical), want);
	if (!good)
		printf("# got  %.*s\n# want %s\n", STR_ARG(buf_str(&canonical)), want);
	return good;
}

static bool object_is(const char *api_version, const char *kind, struct buf *raw, const char *want)
{
	_cleanup_(buf_done) struct buf body = {0};

	envelope(&body, api_version, kind, raw);
	return decodes_to(buf_str(&body), want);
}

static bool object_refused(const char *api_version, const char *kind, struct buf *raw)
{
	_cleanup_(buf_done) struct buf body = {0}, out = {0};

	envelope(&body, api_version, kind, raw);
	return decode(buf_str(&body), &out) < 0 && st.reason == REASON_BAD_REQUEST;
}

static void test_kubectl(void)
{
	struct str body = str_n((const char *)deployment, sizeof(deployment));
	_cleanup_(buf_done) struct buf out = {0};
	unsigned cut = 0, flipped = 0;

	ok(decodes_to(body, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"labels\":{\"app\":\"web\"},\"name\":\"web\"},"
			    "\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"strategy\":{},\"template\":{\"metadata\":"
			    "{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"image\":\"nginx\",\"name\":\"nginx\",\"ports\":[{"
			    "\"containerPort\":80}],\"resources\":{}}]}}},\"status\":{}}"),
	   "a deployment reads as the JSON that kubectl prints");
	/* A cut between the outer fields leaves a shorter valid body; there are three such places. */
	for (size_t n = 0; n < body.len; n++)
		cut += decode(str_n(body.ptr, n), &out) < 0;
	ok(cut >= body.len - 3, "a body cut short is refused");
	for (size_t i = 0; i < body.len * 8; i++) {
		char copy[sizeof(deployment)];
		memcpy(copy, body.ptr, body.len);
		copy[i / 8] = (char)(copy[i / 8] ^ 1 << i % 8);
		int r = decode(str_n(copy, body.len), &out);
		flipped += r < 0 || scan_check(buf_str(&out), &st) == 0;
	}
	ok(flipped == body.len * 8, "a body with any bit flipped is refused or gives valid JSON");
}

static void test_forms(void)
{
	_cleanup_(buf_done) struct buf raw = {0}, a = {0}, b = {0}, c = {0};

	number(&b, 1, 1700000000), number(&b, 2, 999999999), message(&a, 8, &b);
	text(&a, 1, "x"), bytes(&a, 9, (struct str){0}), number(&a, 7, 0), number(&a, 10, 0);
	message(&raw, 1, &a);
	ok(object_is("v1", "Namespace", &raw,
		     "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"creationTimestamp\":\"2023-11-14T22:13:20Z\",\"deletionGracePeriodSeconds\":0,\"name\":\"x\"}}"),
	   "times are whole seconds; an empty time is left out, a zero generation too, a zero behind a pointer not");

	number(&b, 1, 0), number(&b, 2, 123456789), message(&a, 3, &b);
	number(&b, 1, -1), number(&b, 2, 0), message(&a, 4, &b);
	text(&a, 1, ""), number(&a, 2, -5), message(&raw, 2, &a);
	ok(object_is("coordination.k8s.io/v1", "Lease", &raw,
		     "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"spec\":{\"acquireTime\":\"1970-01-01T00:00:00.123456Z\",\"holderIdentity\":\"\",\"leaseDurationSeconds\":-5,\"renewTime\":\"1969-12-31T23:59:59.000000Z\"}}"),
	   "micro times have six digits; negative numbers");
	number(&b, 1, INT64_MAX), message(&a, 3, &b), message(&raw, 2, &a);
	ok(object_refused("coordination.k8s.io/v1", "Lease", &raw), "a time beyond the year 9999 is refused");

	text(&b, 1, "a"), number(&b, 3, 80), number(&c, 1, 1), number(&c, 2, 0), text(&c, 3, "http"), message(&b, 4, &c), number(&b, 5, 0);
	message(&a, 1, &b);
	number(&b, 3, 81), number(&c, 1, 0), number(&c, 2, 8080), message(&b, 4, &c), message(&a, 1, &b);
	map_entry(&a, 2, "k", "v"), message(&raw, 2, &a);
	ok(object_is("v1", "Service", &raw,
		     "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"spec\":{\"ports\":[{\"name\":\"a\",\"port\":80,\"targetPort\":\"http\"},{\"port\":81,\"targetPort\":8080}],\"selector\":{\"k\":\"v\"}}}"),
	   "int or string");

	text(&c, 1, "1500m"), text(&b, 1, "cpu"), message(&b, 2, &c), message(&a, 1, &b);
	text(&b, 1, "memory"), message(&a, 1, &b), message(&raw, 2, &a);
	ok(object_is("v1", "ResourceQuota", &raw, "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"spec\":{\"hard\":{\"cpu\":\"1500m\",\"memory\":\"0\"}}}"),
	   "quantities");

	map_entry(&raw, 2, "a", "1"), map_entry(&raw, 3, "b", "\x01\x02\xff"), map_entry(&raw, 2, "", ""), number(&raw, 4, 0);
	ok(object_is("v1", "ConfigMap", &raw, "{\"apiVersion\":\"v1\",\"binaryData\":{\"b\":\"AQL/\"},\"data\":{\"\":\"\",\"a\":\"1\"},\"immutable\":false,\"kind\":\"ConfigMap\"}"),
	   "maps, base64, values of one map apart on the wire, false behind a pointer");
}

static void test_pod(void)
{
	_cleanup_(buf_done) struct buf raw = {0}, spec = {0}, a = {0}, b = {0};

	bytes(&b, 2, (struct str){0}), text(&a, 1, "tmp"), message(&a, 2, &b), message(&spec, 1, &a);
	number(&b, 3, 0), text(&b, 1, "s"), text(&a, 1, "sec"), varint(&a, 2 << 3 | 2), varint(&a, b.len + 2), message(&a, 6, &b), message(&spec, 1, &a);
	varint(&b, 5), varint(&b, 300), number(&a, 4, 1), message(&a, 4, &b), number(&a, 4, -1), number(&a, 2, 0), message(&spec, 14, &a);
	number(&spec, 11, 0), number(&spec, 21, 0), text(&spec, 29, ""), text(&spec, 3, ""), text(&spec, 999, "unknown");
	message(&raw, 2, &spec);
	ok(object_is("v1", "Pod", &raw,
		     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"automountServiceAccountToken\":false,\"runtimeClassName\":\"\",\"securityContext\":{\"runAsUser\":0,\"supplementalGroups\":[1,5,300,-1]},"
		     "\"volumes\":[{\"emptyDir\":{},\"name\":\"tmp\"},{\"name\":\"sec\",\"secret\":{\"defaultMode\":0,\"secretName\":\"s\"}}]}}"),
	   "inline messages, packed numbers, empty messages, unknown fields, zero values");
}

static void test_schema(void)
{
	_cleanup_(buf_done) struct buf raw = {0}, v = {0}, s = {0}, p = {0}, q = {0};

	/* schema: default, additionalProperties: false and as a schema, items of both forms, numbers, $ref */
	text(&q, 1, "{\"a\":[1]}"), message(&s, 8, &q);
	number(&q, 1, 0), message(&s, 30, &q);
	text(&p, 5, "string"), message(&q, 1, &p), message(&s, 24, &q);
	double_number(&s, 9, 1.1), double_number(&s, 11, 0), double_number(&s, 19, 1e30), number(&s, 37, 0), number(&s, 38, 1), text(&s, 2, "u"), text(&s, 23, "r");
	text(&p, 5, "integer"), number(&q, 1, 1), message(&q, 2, &p), message(&s, 33, &q);
	message(&q, 1, &s), message(&v, 4, &q);
	text(&v, 1, "v1"), number(&v, 2, 1), number(&v, 3, 0);
	message(&p, 7, &v), text(&p, 1, ""), message(&raw, 2, &p);
	ok(object_is("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw,
		     "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"spec\":{\"group\":\"\",\"versions\":[{\"name\":\"v1\",\"schema\":{\"openAPIV3Schema\":"
		     "{\"$schema\":\"u\",\"additionalItems\":{\"type\":\"integer\"},\"additionalProperties\":false,\"default\":{\"a\":[1]},\"items\":{\"type\":\"string\"},\"maximum\":1.1,\"minimum\":0,\"multipleOf\":1e+30,"
		     "\"required\":[\"r\"],\"x-kubernetes-preserve-unknown-fields\":true}},\"served\":true,\"storage\":false}]}}"),
	   "JSON schemas");

	/* items as a list; dependencies as a list of names */
	text(&p, 5, "a"), message(&q, 2, &p), text(&p, 5, "b"), message(&q, 2, &p), message(&s, 24, &q);
	text(&q, 2, "x"), text(&q, 2, "y"), text(&p, 1, "k"), message(&p, 2, &q), message(&s, 32, &p);
	message(&q, 1, &s), message(&v, 4, &q), message(&p, 7, &v), message(&raw, 2, &p);
	ok(object_is("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw,
		     "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":"
		     "{\"dependencies\":{\"k\":[\"x\",\"y\"]},\"items\":[{\"type\":\"a\"},{\"type\":\"b\"}]}}}]}}"),
	   "alternatives that are lists");
}

static void test_kinds(void)
{
	_cleanup_(buf_done) struct buf raw = {0}, inner = {0}, item = {0};

	number(&raw, 1, 0), text(&raw, 4, "Foreground"), text(&raw, 5, "All");
	ok(object_is("apps/v1", "DeleteOptions", &raw, "{\"apiVersion\":\"apps/v1\",\"dryRun\":[\"All\"],\"gracePeriodSeconds\":0,\"kind\":\"DeleteOptions\",\"propagationPolicy\":\"Foreground\"}"),
	   "options of any group");
	text(&item, 1, "{\"kind\": \"Foo\"}"), message(&raw, 2, &item);
	map_entry(&inner, 2, "a", "b");
	_cleanup_(buf_done) struct buf nested = {0};
	envelope(&nested, "v1", "ConfigMap", &inner), message(&item, 1, &nested), message(&raw, 2, &item);
	bytes(&raw, 2, (struct str){0});
	ok(object_is("v1", "List", &raw, "{\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"Foo\"},{\"apiVersion\":\"v1\",\"data\":{\"a\":\"b\"},\"kind\":\"ConfigMap\"},null],\"kind\":\"List\"}"),
	   "a list of JSON and of envelopes");
	ok(object_is("authentication.k8s.io/v1", "SelfSubjectReview", &raw, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}"), "an empty review");
	ok(object_refused("v1", "Foo", &raw) && strstr(st.message, "no kind \"Foo\" is registered for version \"v1\""), "an unknown kind");
	ok(object_refused("apps/v2", "Deployment", &raw), "an unknown version");
	ok(object_refused("", "", &raw), "no kind at all");
	ok(!proto_is_envelope(STR("k8s")) && !proto_is_envelope(STR("{}")) && proto_is_envelope(str_n("k8s\0", 4)), "proto_is_envelope");
	struct buf out = {0};
	ok(proto_to_json(STR("{}"), &out, &st) == -EINVAL && st.reason == REASON_BAD_REQUEST, "JSON is not protobuf");
	buf_done(&out);
}

/* `bad` as the raw part of a ConfigMap. */
static bool refused(const char *bad, size_t len)
{
	_cleanup_(buf_done) struct buf raw = {0};

	buf_add(&raw, bad, len);
	return object_refused("v1", "ConfigMap", &raw);
}

static void test_malformed(void)
{
	_cleanup_(buf_done) struct buf raw = {0}, a = {0};

	ok(refused("\x20", 1) && refused("\x20\x80", 2), "a varint cut short");
	ok(refused("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11), "a varint of 65 bits");
	ok(refused("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12), "a varint of eleven bytes");
	ok(refused("\x0a\x05" "ab", 4) && refused("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), "a length beyond the end");
	ok(refused("\x02\x00", 2), "field number 0");
	ok(refused("\x23", 1) && refused("\x24", 1) && refused("\xa3\x06\xa4\x06", 4), "groups");
	ok(refused("\x26\x00", 2) && refused("\x27\x00", 2), "wire types that do not exist");
	ok(refused("\x22\x00", 2) && refused("\x10\x00", 2), "the wrong wire type");
	ok(refused("\x20\x00\x20\x01", 4), "a single field that stands twice");
	ok(refused("\x12\x06\x0a\x01k\x12\x01\xff", 8) && refused("\x12\x06\x0a\x01\xff\x12\x01v", 8), "strings that are not UTF-8");
	ok(refused("\x12\x04\x0a\x01k\x12", 6) && refused("\x12\x02\x08\x01", 4), "a malformed map entry");
	ok(!refused("", 0) && !refused("\xa5\x06" "abcd\xa1\x06" "abcdefgh", 16), "unknown fields of fixed size are passed over");

	text(&a, 1, "{\"a\":1} x"), message(&raw, 2, &a);
	ok(object_refused("v1", "List", &raw), "embedded JSON is checked");

	buf_add(&raw, "k8s\0", 4), text(&a, 1, "v1"), text(&a, 2, "ConfigMap"), message(&raw, 1, &a), text(&raw, 3, "gzip");
	_cleanup_(buf_done) struct buf out = {0};
	ok(decode(buf_str(&raw), &out) < 0, "a content encoding is refused");
}

static void test_depth(void)
{
	_cleanup_(buf_done) struct buf raw = {0}, outer = {0}, list = {0};

	for (int i = 0; i < 2000; i++) {
		message(&outer, 28, &raw);
		buf_add_str(&raw, buf_str(&outer));
		buf_clear(&outer);
	}
	message(&outer, 1, &raw), message(&raw, 4, &outer), message(&outer, 7, &raw), message(&raw, 2, &outer);
	ok(object_refused("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw), "schemas nested too deeply: %s", st.message);

	for (int i = 0; i < 2000; i++) {
		envelope(&outer, "v1", "List", &raw);
		message(&list, 1, &outer);
		message(&raw, 2, &list);
	}
	ok(object_refused("v1", "List", &raw), "envelopes nested too deeply: %s", st.message);
}

int main(void)
{
	test_kubectl();
	test_forms();
	test_pod();
	test_schema();
	test_kinds();
	test_malformed();
	test_depth();
	return tap_done();
}
