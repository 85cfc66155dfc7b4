/* SPDX-License-Identifier: Apache-2.0 */
/* rules_decode: types, unknown fields, nulls and canonical forms. */
#include "tests/unit/rules_case.h"

#define POD(spec) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":" spec "}"
#define DEPLOY(spec) "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},\"spec\":" spec "}"
#define SECRET(data) "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"data\":{\"k\":\"" data "\"}}"

static void refuses(const char *json, const char *tail)
{
	struct rules_case c;

	case_begin(&c, json);
	int r = case_decode(&c);
	struct str message = str_of(c.st.message);
	if (!ok(r < 0 && c.st.reason == REASON_BAD_REQUEST && str_ends(message, str_of(tail)), "refuses: %s", tail))
		printf("# %s\n", c.st.message);
	case_end(&c);
}

static void becomes(const char *json, const char *path, const char *want)
{
	struct rules_case c;

	case_begin(&c, json);
	int r = case_decode(&c);
	if (r < 0)
		printf("# %s\n", c.st.message);
	ok(r == 0 && is_text(case_at(c.object, path), want), "%s becomes %s", path, want);
	case_end(&c);
}

static void test_types(void)
{
	refuses(DEPLOY("{\"replicas\":\"3\"}"),
		"Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go "
		"struct field DeploymentSpec.spec.replicas of type int32");
	refuses(DEPLOY("{\"replicas\":1.0}"), "cannot unmarshal number 1.0 into Go struct field "
					      "DeploymentSpec.spec.replicas of type int32");
	refuses(DEPLOY("{\"replicas\":2147483648}"), "DeploymentSpec.spec.replicas of type int32");
	refuses(DEPLOY("{\"replicas\":1e2}"), "DeploymentSpec.spec.replicas of type int32");
	becomes(DEPLOY("{\"replicas\":-2147483648}"), "spec.replicas", "-2147483648");
	becomes(DEPLOY("{\"replicas\":-0}"), "spec.replicas", "0");
	becomes(POD("{\"activeDeadlineSeconds\":9223372036854775807}"), "spec.activeDeadlineSeconds",
		"9223372036854775807");
	refuses(POD("{\"activeDeadlineSeconds\":9223372036854775808}"), "PodSpec.spec.activeDeadlineSeconds of type int64");
	refuses(POD("{\"containers\":[{\"name\":\"a\"},{\"env\":[{\"name\":\"x\",\"value\":1}]}]}"),
		"cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string");
	refuses(POD("{\"containers\":{}}"), "PodSpec.spec.containers of type []v1.Container");
	refuses(POD("{\"hostNetwork\":\"true\"}"), "PodSpec.spec.hostNetwork of type bool");
	refuses(POD("[]"), "Pod.spec of type v1.PodSpec");
	refuses("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"a\":1}}}",
		"cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string");
	refuses("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":[]}}",
		"ObjectMeta.metadata.labels of type map[string]string");
}

static void test_unknown(void)
{
	struct rules_case c;

	case_begin(&c, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\",\"nmae\":1},"
		       "\"Spec\":{},\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"foo\":{\"x\":[1]},\"name\":\"a\"}]}}}}");
	ok(case_decode(&c) == 0, "unknown fields are no error");
	const struct field_problem *p = c.problems;
	ok(p && str_is(p->text, "unknown field \"Spec\""), "case matters");
	ok(p && p->next && str_is(p->next->text, "unknown field \"metadata.nmae\""), "metadata is looked at");
	p = p && p->next ? p->next->next : NULL;
	ok(p && str_is(p->text, "unknown field \"spec.template.spec.containers[0].foo\"") && !p->next,
	   "the path has list indexes");
	ok(is_text(case_at(c.object, "spec.template.spec.containers.0"), "{\"name\":\"a\"}"), "unknown fields are dropped");
	case_end(&c);
}

static void test_many_unknown(void)
{
	struct buf json = {0};
	struct rules_case c;
	unsigned n = 0;

	buf_adds(&json, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"");
	for (int i = 0; i < 200000; i++)
		buf_addf(&json, ",\"f%d\":1", i);
	buf_addc(&json, '}');
	buf_addc(&json, '\0');
	case_begin(&c, json.ptr);
	ok(case_decode(&c) == 0 && c.object->len == 2, "200000 unknown fields are dropped");
	for (const struct field_problem *p = c.problems; p; p = p->next)
		n++;
	ok(n == 100, "only the first 100 are reported");
	case_end(&c);
	buf_done(&json);
}

static void test_null(void)
{
	becomes(DEPLOY("{\"replicas\":null,\"paused\":true}"), "spec", "{\"paused\":true}");
	becomes(POD("{\"containers\":[null]}"), "spec.containers", "[{}]");
	becomes(POD("{\"containers\":[{\"args\":[\"a\",null]}]}"), "spec.containers.0.args", "[\"a\",\"\"]");
	becomes(POD("{\"nodeSelector\":{\"a\":null}}"), "spec.nodeSelector", "{\"a\":\"\"}");
	becomes(POD("{\"volumes\":[],\"nodeSelector\":{}}"), "spec", "{\"nodeSelector\":{},\"volumes\":[]}");
	becomes("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"creationTimestamp\":null}}", "metadata", "{}");
	becomes(POD("{\"volumes\":[{\"emptyDir\":{},\"name\":\"v\"}]}"), "spec.volumes.0.emptyDir", "{}");
	becomes("{\"apiVersion\":\"apps/v1\",\"kind\":\"ControllerRevision\",\"data\":{\"a\":null}}", "data",
		"{\"a\":null}");
}

#define LIMITS(v) POD("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":" v "}}}]}")

static void test_canonical(void)
{
	const char *cpu = "spec.containers.0.resources.limits.cpu";

	becomes(LIMITS("\"1000m\""), cpu, "\"1\"");
	becomes(LIMITS("0.5"), cpu, "\"500m\"");
	becomes(LIMITS("2"), cpu, "\"2\"");
	becomes(LIMITS("\"0.0001\""), cpu, "\"1m\"");
	becomes(LIMITS("\"1024Ki\""), cpu, "\"1Mi\"");
	refuses(LIMITS("\"1 Gi\""), "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular "
				    "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	refuses(LIMITS("true"), "[-+]?[0-9]*)$'");
	becomes("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"creationTimestamp\":\"2020-01-02T03:04:05.9+01:00\"}}",
		"metadata.creationTimestamp", "\"2020-01-02T02:04:05Z\"");
	refuses("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"creationTimestamp\":\"now\"}}",
		"parsing time \"now\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"now\" as \"2006\"");
	becomes("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"spec\":{\"renewTime\":\"2020-01-02T03:04:05.12Z\"}}",
		"spec.renewTime", "\"2020-01-02T03:04:05.120000Z\"");
	becomes("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"spec\":{\"renewTime\":\"2020-01-02T03:04:05.1234567Z\"}}",
		"spec.renewTime", "\"2020-01-02T03:04:05.123456Z\"");
	becomes("{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"spec\":{\"ports\":[{\"targetPort\":\"80\"}]}}",
		"spec.ports.0.targetPort", "\"80\"");
	becomes("{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"spec\":{\"ports\":[{\"targetPort\":80}]}}",
		"spec.ports.0.targetPort", "80");
	refuses("{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"spec\":{\"ports\":[{\"targetPort\":true}]}}",
		"json: cannot unmarshal bool into Go value of type int32");
}

static void test_base64(void)
{
	becomes(SECRET("aGk="), "data.k", "\"aGk=\"");
	becomes(SECRET(""), "data.k", "\"\"");
	becomes(SECRET("aG\\nk=\\n"), "data.k", "\"aGk=\"");
	becomes(SECRET("aGl="), "data.k", "\"aGk=\"");
	refuses(SECRET("aGk"), "illegal base64 data at input byte 0");
	refuses(SECRET("aGkA!A=="), "illegal base64 data at input byte 4");
	refuses(SECRET("aGk=x"), "illegal base64 data at input byte 4");
	refuses(SECRET("a==="), "illegal base64 data at input byte 1");
	refuses(SECRET("aG="), "illegal base64 data at input byte 3");
	refuses(SECRET("="), "illegal base64 data at input byte 0");
}

static void test_json_schema(void)
{
#define CRD(schema)                                                                                                    \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"spec\":{\"versions\":["    \
	"{\"schema\":{\"openAPIV3Schema\":" schema "}}]}}"
	const char *at = "spec.versions.0.schema.openAPIV3Schema";

	becomes(CRD("{\"additionalProperties\":false,\"default\":{\"a\":null}}"), at,
		"{\"additionalProperties\":false,\"default\":{\"a\":null}}");
	becomes(CRD("{\"items\":{\"type\":\"string\",\"bogus\":1}}"), at, "{\"items\":{\"type\":\"string\"}}");
	becomes(CRD("{\"items\":[{\"type\":\"string\"}],\"minimum\":1.50}"), at,
		"{\"items\":[{\"type\":\"string\"}],\"minimum\":1.50}");
	becomes(CRD("{\"dependencies\":{\"a\":[\"b\"]}}"), at, "{\"dependencies\":{\"a\":[\"b\"]}}");
	refuses(CRD("{\"additionalProperties\":1}"), "boolean or JSON schema expected");
}

int main(void)
{
	test_types();
	test_unknown();
	test_many_unknown();
	test_null();
	test_canonical();
	test_base64();
	test_json_schema();
	return tap_done();
}
