/* SPDX-License-Identifier: Apache-2.0 */
/* rules_validate: the causes that clients match on, and silence about manifests that servers take. */
#include <dirent.h>

#include "store/codec/yaml.h"
#include "tests/unit/rules_case.h"

#define NAMED(version, kind, rest) OBJECT(version, kind, "\"metadata\":{\"name\":\"x\",\"namespace\":\"n\"}," rest)
#define OBJECT(version, kind, rest) "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\"," rest "}"
#define META(meta) OBJECT("v1", "ConfigMap", "\"metadata\":{\"namespace\":\"n\"," meta "}")
#define POD(spec) NAMED("v1", "Pod", "\"spec\":" spec)
#define ONE(container) POD("{\"containers\":[{\"image\":\"i\",\"name\":\"c\"," container "}]}")
#define SERVICE(spec) NAMED("v1", "Service", "\"spec\":" spec)
#define TEMPLATE "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"image\":\"i\",\"name\":\"c\"}]}}"
#define DEPLOY(rest) NAMED("apps/v1", "Deployment", "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," rest "}")
#define BAD_LABEL                                                                                                      \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " \
	"with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "                 \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/* Runs the rules; the causes are in c->st afterwards. False when decoding failed. */
static bool run(struct rules_case *c, const char *json, struct rules_case *old)
{
	if (!case_begin(c, json) || !case_default(c, old))
		return false;
	rules_validate(&c->arena, c->kind, c->object, old ? old->object : NULL, &c->st);
	return true;
}

static bool has_cause(const struct status *st, const char *field, const char *message)
{
	for (unsigned i = 0; i < st->causes && i < STATUS_CAUSES_MAX; i++)
		if (strcmp(st->cause[i].field, field) == 0 && strcmp(st->cause[i].message, message) == 0)
			return true;
	return false;
}

static void print_causes(const struct status *st)
{
	for (unsigned i = 0; i < st->causes && i < STATUS_CAUSES_MAX; i++)
		printf("# %s: %s\n", st->cause[i].field, st->cause[i].message);
}

static void refuses(const char *json, const char *field, const char *message)
{
	struct rules_case c;
	bool ran = run(&c, json, NULL);

	if (!ok(ran && has_cause(&c.st, field, message), "%s: %.100s", field, message)) {
		printf("# %s\n", json);
		print_causes(&c.st);
	}
	case_end(&c);
}

static void takes(const char *json)
{
	struct rules_case c;
	bool ran = run(&c, json, NULL);

	if (!ok(ran && !c.st.causes, "takes %.100s", json))
		print_causes(&c.st);
	case_end(&c);
}

/* An update from one object to another; field NULL: nothing to object to. */
static void updates(const char *before, const char *json, const char *field, const char *message)
{
	struct rules_case old, c;

	case_begin(&old, before);
	bool ran = case_default(&old, NULL) && run(&c, json, &old);
	bool good = ran && (field ? has_cause(&c.st, field, message) : !c.st.causes);
	if (!ok(good, "update %s: %.100s", field ? field : "passes", field ? message : json))
		print_causes(&c.st);
	case_end(&c);
	case_end(&old);
}

static void test_metadata(void)
{
	refuses(META("\"labels\":{}"), "metadata.name", "Required value: name or generateName is required");
	takes(META("\"generateName\":\"x-\""));
	refuses(OBJECT("v1", "ConfigMap", "\"metadata\":{\"name\":\"x\"}"), "metadata.namespace", "Required value");
	refuses(OBJECT("v1", "Node", "\"metadata\":{\"name\":\"x\",\"namespace\":\"n\"}"), "metadata.namespace",
		"Forbidden: not allowed on this type");
	refuses(NAMED("v1", "ConfigMap", "\"data\":{\"a b\":\"\"}"), "data[a b]",
		"Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
		"'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
	refuses(META("\"name\":\"x\",\"finalizers\":[\"plain\"]"), "metadata.finalizers[0]",
		"Invalid value: \"plain\": name is neither a standard finalizer name nor is it fully qualified");
	takes(META("\"name\":\"x\",\"finalizers\":[\"a.b/c\",\"foregroundDeletion\"]"));
	refuses(META("\"name\":\"x\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"uid\":\"u\"}]"),
		"metadata.ownerReferences.name", "Invalid value: \"\": must not be empty");
	refuses(META("\"name\":\"x\",\"ownerReferences\":["
		     "{\"apiVersion\":\"v1\",\"controller\":true,\"kind\":\"Pod\",\"name\":\"a\",\"uid\":\"1\"},"
		     "{\"apiVersion\":\"v1\",\"controller\":true,\"kind\":\"Pod\",\"name\":\"b\",\"uid\":\"2\"}]"),
		"metadata.ownerReferences",
		"Invalid value: [{\"apiVersion\":\"v1\",\"controller\":true,\"kind\":\"Pod\",\"name\":\"a\",\"uid\":\"1\"},"
		"{\"apiVersion\":\"v1\",\"controller\":true,\"kind\":\"Pod\",\"name\":\"b\",\"uid\":\"2\"}]: Only one reference "
		"can have Controller set to true. Found \"true\" in references for a and b");
	updates(META("\"name\":\"x\",\"uid\":\"1\""), META("\"name\":\"x\",\"uid\":\"2\""), "metadata.uid",
		"Invalid value: \"2\": field is immutable");
	updates(META("\"deletionTimestamp\":\"2020-01-01T00:00:00Z\",\"name\":\"x\""),
		META("\"deletionTimestamp\":\"2020-01-01T00:00:00Z\",\"finalizers\":[\"a/b\"],\"name\":\"x\""),
		"metadata.finalizers",
		"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
		"[]string{\"a/b\"}");
}

static void test_annotations(void)
{
	struct buf json = {0};

	buf_adds(&json, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"x\",\"annotations\":{\"a\":\"");
	for (int i = 0; i < 262144; i++)
		buf_addc(&json, 'x');
	buf_adds(&json, "\"}}}");
	buf_addc(&json, '\0');
	refuses(json.ptr, "metadata.annotations", "Too long: may not be more than 262144 bytes");
	buf_done(&json);
}

static void test_pod(void)
{
	refuses(POD("{}"), "spec.containers", "Required value");
	refuses(POD("{\"containers\":[{}]}"), "spec.containers[0].name", "Required value");
	refuses(POD("{\"containers\":[{\"name\":\"A\"}]}"), "spec.containers[0].name", "Invalid value: \"A\": " BAD_LABEL);
	refuses(POD("{\"containers\":[{\"name\":\"a\"}]}"), "spec.containers[0].image", "Required value");
	refuses(POD("{\"containers\":[{\"name\":\"a\"}],\"initContainers\":[{\"name\":\"a\"}]}"),
		"spec.initContainers[0].name", "Duplicate value: \"a\"");
	refuses(ONE("\"imagePullPolicy\":\"Sometimes\""), "spec.containers[0].imagePullPolicy",
		"Unsupported value: \"Sometimes\": supported values: \"Always\", \"IfNotPresent\", \"Never\"");
	refuses(ONE("\"ports\":[{\"containerPort\":0}]"), "spec.containers[0].ports[0].containerPort", "Required value");
	refuses(ONE("\"ports\":[{\"containerPort\":65536}]"), "spec.containers[0].ports[0].containerPort",
		"Invalid value: 65536: must be between 1 and 65535, inclusive");
	refuses(ONE("\"ports\":[{\"containerPort\":1,\"hostPort\":9},{\"containerPort\":2,\"hostPort\":9}]"),
		"spec.containers[0].ports[1].hostPort", "Duplicate value: \"TCP//9\"");
	refuses(ONE("\"ports\":[{\"containerPort\":1,\"name\":\"a\"},{\"containerPort\":2,\"name\":\"a\"}]"),
		"spec.containers[0].ports[1].name", "Duplicate value: \"a\"");
	refuses(ONE("\"env\":[{\"value\":\"x\"}]"), "spec.containers[0].env[0].name", "Required value");
	refuses(ONE("\"env\":[{\"name\":\"a\",\"value\":\"x\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"x\"}}}]"),
		"spec.containers[0].env[0].valueFrom",
		"Invalid value: \"\": may not be specified when `value` is not empty");
	refuses(ONE("\"resources\":{\"limits\":{\"cpu\":1},\"requests\":{\"cpu\":\"1100m\"}}"),
		"spec.containers[0].resources.requests",
		"Invalid value: \"1100m\": must be less than or equal to cpu limit of 1");
	refuses(ONE("\"resources\":{\"limits\":{\"a/b\":2},\"requests\":{\"a/b\":1}}"),
		"spec.containers[0].resources.requests", "Invalid value: \"1\": must be equal to a/b limit of 2");
	refuses(ONE("\"resources\":{\"limits\":{\"cpu\":-1}}"), "spec.containers[0].resources.limits[cpu]",
		"Invalid value: \"-1\": must be greater than or equal to 0");
	refuses(ONE("\"volumeMounts\":[{\"mountPath\":\"/a\",\"name\":\"v\"}]"),
		"spec.containers[0].volumeMounts[0].name", "Not found: \"v\"");
	refuses(ONE("\"volumeMounts\":[{\"mountPath\":\"/a\",\"name\":\"v\"},{\"mountPath\":\"/a\",\"name\":\"v\"}]"),
		"spec.containers[0].volumeMounts[1].mountPath", "Invalid value: \"/a\": must be unique");
	refuses(ONE("\"livenessProbe\":{\"periodSeconds\":1}"), "spec.containers[0].livenessProbe",
		"Required value: must specify a handler type");
	refuses(POD("{\"volumes\":[{\"emptyDir\":{},\"hostPath\":{\"path\":\"/\"},\"name\":\"v\"}]}"),
		"spec.volumes[0].hostPath", "Forbidden: may not specify more than 1 volume type");
	refuses(POD("{\"restartPolicy\":\"Maybe\"}"), "spec.restartPolicy",
		"Unsupported value: \"Maybe\": supported values: \"Always\", \"OnFailure\", \"Never\"");
	refuses(POD("{\"activeDeadlineSeconds\":0}"), "spec.activeDeadlineSeconds",
		"Invalid value: 0: must be between 1 and 2147483647, inclusive");
	refuses(POD("{\"tolerations\":[{\"operator\":\"Is\"}]}"), "spec.tolerations[0].operator",
		"Unsupported value: \"Is\": supported values: \"Equal\", \"Exists\"");
	refuses(POD("{\"initContainers\":[{\"name\":\"a\",\"readinessProbe\":{\"exec\":{\"command\":[\"x\"]}}}]}"),
		"spec.initContainers[0].readinessProbe",
		"Forbidden: may not be set for init containers without restartPolicy=Always");
}

#define SPEC(image, rest) "{\"containers\":[{\"image\":\"" image "\",\"name\":\"c\"}]" rest "}"

static void test_pod_update(void)
{
	const char *pod = POD(SPEC("a:1", ",\"tolerations\":[{\"key\":\"k\"}]"));
	const char *text =
		"Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
		"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
		"tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

	updates(pod, pod, NULL, NULL);
	updates(pod, POD(SPEC("a:2", ",\"tolerations\":[{\"key\":\"k\"}]")), NULL, NULL);
	updates(pod, POD(SPEC("a:1", ",\"tolerations\":[{\"key\":\"n\"},{\"key\":\"k\"}]")), NULL, NULL);
	updates(pod, POD(SPEC("a:1", "")), "spec", text);
	updates(pod, POD(SPEC("a:1", ",\"hostname\":\"h\",\"tolerations\":[{\"key\":\"k\"}]")), "spec", text);
	updates(pod, POD("{\"containers\":[{\"image\":\"a:1\",\"name\":\"c\"},{\"image\":\"b:1\",\"name\":\"d\"}],"
			 "\"tolerations\":[{\"key\":\"k\"}]}"),
		"spec.containers", "Forbidden: pod updates may not add or remove containers");
	updates(POD(SPEC("a:1", ",\"activeDeadlineSeconds\":5")), POD(SPEC("a:1", ",\"activeDeadlineSeconds\":6")),
		"spec.activeDeadlineSeconds", "Invalid value: 6: must be less than or equal to previous value");
}

static void test_workloads(void)
{
	takes(DEPLOY(TEMPLATE));
	refuses(NAMED("apps/v1", "Deployment", "\"spec\":{" TEMPLATE "}"), "spec.selector", "Required value");
	refuses(NAMED("apps/v1", "Deployment", "\"spec\":{\"selector\":{}," TEMPLATE "}"), "spec.selector",
		"Invalid value: {}: empty selector is invalid for deployment");
	refuses(NAMED("apps/v1", "Deployment", "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"c\"}}," TEMPLATE "}"),
		"spec.template.metadata.labels",
		"Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`");
	refuses(DEPLOY("\"replicas\":-1," TEMPLATE), "spec.replicas",
		"Invalid value: -1: must be greater than or equal to 0");
	refuses(DEPLOY("\"strategy\":{\"type\":\"X\"}," TEMPLATE), "spec.strategy",
		"Unsupported value: {\"type\":\"X\"}: supported values: \"Recreate\", \"RollingUpdate\"");
	refuses(DEPLOY("\"strategy\":{\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":\"0%\"}}," TEMPLATE),
		"spec.strategy.rollingUpdate.maxUnavailable", "Invalid value: \"0%\": may not be 0 when `maxSurge` is 0");
	refuses(DEPLOY("\"minReadySeconds\":600," TEMPLATE), "spec.progressDeadlineSeconds",
		"Invalid value: 600: must be greater than minReadySeconds");
	refuses(DEPLOY("\"template\":{\"spec\":{\"restartPolicy\":\"Never\"}}"), "spec.template.spec.restartPolicy",
		"Unsupported value: \"Never\": supported values: \"Always\"");
	updates(DEPLOY(TEMPLATE),
		NAMED("apps/v1", "Deployment", "\"spec\":{\"selector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}," TEMPLATE "}"),
		"spec.selector",
		"Invalid value: {\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}: field is immutable");
	refuses(NAMED("apps/v1", "Deployment", "\"spec\":{\"selector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}}"),
		"spec.selector.matchExpressions[0].values",
		"Required value: must be specified when `operator` is 'In' or 'NotIn'");
	updates(NAMED("apps/v1", "StatefulSet", "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," TEMPLATE "}"),
		NAMED("apps/v1", "StatefulSet", "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"serviceName\":\"s\"," TEMPLATE "}"),
		"spec",
		"Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
		"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
		"forbidden");
	updates(NAMED("apps/v1", "StatefulSet", "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," TEMPLATE "}"),
		NAMED("apps/v1", "StatefulSet", "\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," TEMPLATE "}"),
		NULL, NULL);
}

#define JOB(rest) NAMED("batch/v1", "Job", "\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"image\":\"i\",\"name\":\"c\"}]," rest)
#define CRON(schedule) NAMED("batch/v1", "CronJob", "\"spec\":{\"schedule\":\"" schedule "\",\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"image\":\"i\",\"name\":\"c\"}],\"restartPolicy\":\"Never\"}}}}}")

static void test_jobs(void)
{
	takes(JOB("\"restartPolicy\":\"Never\"}}}"));
	refuses(JOB("\"dnsPolicy\":\"Default\"}}}"), "spec.template.spec.restartPolicy",
		"Required value: valid values: \"OnFailure\", \"Never\"");
	refuses(JOB("\"restartPolicy\":\"Never\"}},\"completionMode\":\"Indexed\",\"parallelism\":1}"), "spec.completions",
		"Required value: when completion mode is Indexed");
	updates(JOB("\"restartPolicy\":\"Never\"}}}"), JOB("\"restartPolicy\":\"Never\"}},\"completions\":2}"),
		"spec.completions", "Invalid value: 2: field is immutable");
	updates(JOB("\"restartPolicy\":\"Never\"}},\"suspend\":true}"),
		JOB("\"restartPolicy\":\"Never\",\"nodeSelector\":{\"a\":\"b\"}}},\"suspend\":true}"), NULL, NULL);
	updates(JOB("\"restartPolicy\":\"Never\"}}}"), JOB("\"restartPolicy\":\"Never\"}},\"completions\":1,\"parallelism\":0}"), NULL, NULL);
	takes(CRON("0 0 * * *"));
	takes(CRON("@every 1h30m"));
	takes(CRON("@hourly"));
	takes(CRON("0/5 1-3/2 ? * sun,Mon"));
	refuses(CRON(""), "spec.schedule", "Required value");
	refuses(CRON("* * * *"), "spec.schedule",
		"Invalid value: \"* * * *\": expected exactly 5 fields, found 4: [* * * *]");
	refuses(CRON("60 * * * *"), "spec.schedule", "Invalid value: \"60 * * * *\": failed to parse field: 60");
	refuses(CRON("TZ=UTC 0 * * * *"), "spec.schedule",
		"Invalid value: \"TZ=UTC 0 * * * *\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
}

static void test_services(void)
{
	refuses(SERVICE("{}"), "spec.ports", "Required value");
	refuses(SERVICE("{\"ports\":[{\"port\":1},{\"name\":\"b\",\"port\":2}]}"), "spec.ports[0].name", "Required value");
	refuses(SERVICE("{\"ports\":[{\"name\":\"a\",\"port\":1},{\"name\":\"b\",\"port\":1}]}"), "spec.ports[1]",
		"Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":1,\"TargetPort\":0,\"NodePort\":0}");
	refuses(SERVICE("{\"ports\":[{\"port\":70000}]}"), "spec.ports[0].port",
		"Invalid value: 70000: must be between 1 and 65535, inclusive");
	refuses(SERVICE("{\"ports\":[{\"nodePort\":30000,\"port\":1}]}"), "spec.ports[0].nodePort",
		"Forbidden: may not be used when `type` is 'ClusterIP'");
	refuses(SERVICE("{\"ports\":[{\"port\":1}],\"type\":\"X\"}"), "spec.type",
		"Unsupported value: \"X\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\"");
	refuses(SERVICE("{\"type\":\"ExternalName\"}"), "spec.externalName", "Required value");
	refuses(SERVICE("{\"clusterIP\":\"None\",\"ports\":[{\"port\":1}],\"type\":\"NodePort\"}"), "spec.clusterIPs[0]",
		"Invalid value: \"None\": may not be set to 'None' for NodePort services");
	updates(SERVICE("{\"clusterIP\":\"10.0.0.1\",\"ports\":[{\"port\":1}]}"),
		SERVICE("{\"clusterIP\":\"10.0.0.2\",\"ports\":[{\"port\":1}]}"), "spec.clusterIPs[0]",
		"Invalid value: \"10.0.0.2\": may not change once set");
	updates(SERVICE("{\"clusterIP\":\"10.0.0.1\",\"ports\":[{\"port\":1}]}"),
		SERVICE("{\"externalName\":\"a.b\",\"type\":\"ExternalName\"}"), NULL, NULL);
}

static void test_config(void)
{
	const char *frozen = "Forbidden: field is immutable when `immutable` is set";
	const char *map = NAMED("v1", "ConfigMap", "\"data\":{\"a\":\"b\"},\"immutable\":true");

	updates(map, map, NULL, NULL);
	updates(map, NAMED("v1", "ConfigMap", "\"data\":{\"a\":\"c\"},\"immutable\":true"), "data", frozen);
	updates(map, NAMED("v1", "ConfigMap", "\"data\":{\"a\":\"b\"}"), "immutable", frozen);
	updates(NAMED("v1", "Secret", "\"type\":\"a/b\""), NAMED("v1", "Secret", "\"type\":\"a/c\""), "type",
		"Invalid value: \"a/c\": field is immutable");
	refuses(NAMED("v1", "Secret", "\"type\":\"kubernetes.io/tls\",\"data\":{\"tls.crt\":\"\"}"), "data[tls.key]",
		"Required value");
	takes(NAMED("v1", "Secret", "\"type\":\"kubernetes.io/basic-auth\",\"stringData\":{\"username\":\"u\"}"));
	refuses(NAMED("v1", "Secret", "\"type\":\"kubernetes.io/basic-auth\""), "data[password]", "Required value");
	refuses(NAMED("v1", "Secret", "\"type\":\"kubernetes.io/dockercfg\",\"stringData\":{\".dockercfg\":\"{\"}"),
		"data[.dockercfg]", "Invalid value: \"<secret contents redacted>\": invalid character in JSON");
	refuses(NAMED("v1", "ConfigMap", "\"binaryData\":{\"a\":\"\"},\"data\":{\"a\":\"\"}"), "data[a]",
		"Invalid value: \"a\": duplicate of key present in binaryData");
}

static void test_others(void)
{
#define CLUSTER(version, kind, rest) OBJECT(version, kind, "\"metadata\":{\"name\":\"x\"}," rest)
#define RBAC "rbac.authorization.k8s.io/v1"
	refuses(CLUSTER(RBAC, "ClusterRoleBinding", "\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"}"), "roleRef.kind",
		"Unsupported value: \"Role\": supported values: \"ClusterRole\"");
	refuses(CLUSTER(RBAC, "ClusterRoleBinding", "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"a\"}]"),
		"subjects[0].namespace", "Required value");
	updates(CLUSTER(RBAC, "ClusterRoleBinding", "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"}"),
		CLUSTER(RBAC, "ClusterRoleBinding", "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"q\"}"), "roleRef",
		"Invalid value: {\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"q\"}: cannot "
		"change roleRef");
	refuses(NAMED(RBAC, "Role", "\"rules\":[{\"nonResourceURLs\":[\"/\"],\"verbs\":[\"get\"]}]"),
		"rules[0].nonResourceURLs",
		"Invalid value: [\"/\"]: namespaced rules cannot apply to non-resource URLs");
	refuses(NAMED("networking.k8s.io/v1", "Ingress", "\"spec\":{\"rules\":[{\"http\":{\"paths\":[{\"backend\":{\"service\":{\"name\":\"s\",\"port\":{\"number\":1}}},\"path\":\"/a/../b\",\"pathType\":\"Exact\"}]}}]}"),
		"spec.rules[0].http.paths[0].path", "Invalid value: \"/a/../b\": must not contain '/../'");
	refuses(NAMED("networking.k8s.io/v1", "Ingress", "\"spec\":{}"), "spec",
		"Invalid value: {}: either `defaultBackend` or `rules` must be specified");
	refuses(NAMED("policy/v1", "PodDisruptionBudget", "\"spec\":{\"maxUnavailable\":1,\"minAvailable\":\"1x\"}"),
		"spec", "Invalid value: {\"maxUnavailable\":1,\"minAvailable\":\"1x\"}: minAvailable and maxUnavailable cannot "
			"be both set");
	refuses(NAMED("autoscaling/v2", "HorizontalPodAutoscaler", "\"spec\":{\"scaleTargetRef\":{\"kind\":\"K\"}}"),
		"spec.maxReplicas", "Required value");
	refuses(NAMED("v1", "PersistentVolumeClaim", "\"spec\":{\"accessModes\":[\"ReadWriteOnce\"]}"),
		"spec.resources[storage]", "Required value");
	updates(CLUSTER("storage.k8s.io/v1", "StorageClass", "\"provisioner\":\"p\""),
		CLUSTER("storage.k8s.io/v1", "StorageClass", "\"provisioner\":\"q\""), "provisioner",
		"Invalid value: \"q\": field is immutable");
	refuses(CLUSTER("scheduling.k8s.io/v1", "PriorityClass", "\"value\":1000000001"), "value",
		"Forbidden: maximum allowed value of a user defined priority is 1000000000");
	refuses(NAMED("coordination.k8s.io/v1", "Lease", "\"spec\":{\"leaseDurationSeconds\":0}"),
		"spec.leaseDurationSeconds", "Invalid value: 0: must be greater than 0");
	refuses(CLUSTER("apiextensions.k8s.io/v1", "CustomResourceDefinition", "\"spec\":{\"group\":\"a.b\",\"names\":{\"plural\":\"ps\"}}"),
		"metadata.name", "Invalid value: \"x\": must be spec.names.plural+\".\"+spec.group");
	refuses(NAMED("v1", "Event", "\"involvedObject\":{\"namespace\":\"m\"}"), "involvedObject.namespace",
		"Invalid value: \"m\": does not match event.namespace");
}

static void test_quoting(void)
{
	refuses(POD("{\"restartPolicy\":\"a\\\"\\n\\u0001\xc3\xa9\"}"), "spec.restartPolicy",
		"Unsupported value: \"a\\\"\\n\\x01\xc3\xa9\": supported values: \"Always\", \"OnFailure\", \"Never\"");
}

/* ---- whole manifests ---- */

static const char *file; /* being read, for messages */

static unsigned check_json(struct str json);

static unsigned check_list(const struct tree *items)
{
	unsigned bad = 0;

	for (uint32_t i = 0; i < items->len; i++) {
		struct buf json = {0};
		tree_write(items->items[i], &json);
		bad += check_json(buf_str(&json));
		buf_done(&json);
	}
	return bad;
}

static unsigned check_json(struct str json)
{
	struct rules_case c = {0};
	struct tree *metadata;
	unsigned bad = 0;

	arena_init(&c.arena, 0);
	if (tree_parse(&c.arena, json, &c.object, NULL, &c.st) < 0)
		bad = 1;
	else if (str_is(tree_gets(c.object, "kind"), "List"))
		bad = check_list(tree_getz(c.object, "items"));
	else
		c.kind = kinds_by_gvk(kinds_builtin(), tree_gets(c.object, "apiVersion"), tree_gets(c.object, "kind"));
	if (c.kind) {
		metadata = tree_ensure(&c.arena, c.object, STR("metadata"));
		if (kind_is(c.kind, KIND_NAMESPACED) && !tree_getz(metadata, "namespace"))
			tree_sets(&c.arena, metadata, "namespace", STR("default"));
		bad += !case_default(&c, NULL) || c.problems;
		rules_validate(&c.arena, c.kind, c.object, NULL, &c.st);
		bad += c.st.causes > 0;
	}
	if (bad && c.kind) {
		printf("# %s: %.*s %s %s\n", file, STR_ARG(c.kind->kind), case_at(c.object, "metadata.name"), c.st.message);
		if (c.problems)
			printf("# %.*s\n", STR_ARG(c.problems->text));
		print_causes(&c.st);
	}
	case_end(&c);
	return bad;
}

static bool read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char block[65536];
	size_t n;

	if (!f)
		return false;
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(out, block, n);
	fclose(f);
	return true;
}

static void check_file(const char *path, unsigned *documents, unsigned *bad)
{
	struct buf text = {0}, json = {0};
	struct status st;
	int r = 0;

	file = path;
	if (read_file(path, &text)) {
		struct yaml_stream *y = yaml_open(buf_str(&text));
		while (y && (r = yaml_next(y, &json, NULL, &st)) > 0) {
			++*documents;
			*bad += check_json(buf_str(&json));
		}
		yaml_close(y);
	}
	*bad += r < 0;
	buf_done(&text);
	buf_done(&json);
}

static void check_directory(const char *path, unsigned *documents, unsigned *bad)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[4096];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			check_directory(below, documents, bad);
		else if (str_ends(str_of(entry->d_name), STR(".yaml")))
			check_file(below, documents, bad);
	}
	if (dir)
		closedir(dir);
}

/* Paths are taken from where this file stands: the build runs tests elsewhere. */
static void test_manifests(void)
{
	char path[2048], dir[1024];
	unsigned documents = 0, bad = 0;

	snprintf(dir, sizeof(dir), "%s", __FILE__);
	char *slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	snprintf(path, sizeof(path), "%s/data/valid.yaml", slash ? dir : ".");
	check_file(path, &documents, &bad);
	ok(documents == 16 && !bad, "%u own manifests pass", documents);
	documents = bad = 0;
	snprintf(path, sizeof(path), "%s/../../../shared/manifests", slash ? dir : ".");
	check_directory(path, &documents, &bad);
	ok(!bad, "%u manifests of others pass", documents);
}

int main(void)
{
	test_metadata();
	test_annotations();
	test_pod();
	test_pod_update();
	test_workloads();
	test_jobs();
	test_services();
	test_config();
	test_others();
	test_quoting();
	test_manifests();
	return tap_done();
}
