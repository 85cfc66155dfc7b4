/* SPDX-License-Identifier: Apache-2.0 */
/* rules_default: what a server fills in, and what an update keeps. */
#include "store/kind/rules_tables.h"
#include "tests/unit/rules_case.h"

#define OBJECT(version, kind, rest) "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\"," rest "}"
#define POD(spec) OBJECT("v1", "Pod", "\"metadata\":{\"name\":\"p\"},\"spec\":" spec)
#define SERVICE(spec) OBJECT("v1", "Service", "\"metadata\":{\"name\":\"s\"},\"spec\":" spec)
#define APPS(kind, spec) OBJECT("apps/v1", kind, "\"metadata\":{\"name\":\"d\"},\"spec\":" spec)
#define JOB(meta, spec) OBJECT("batch/v1", "Job", "\"metadata\":" meta ",\"spec\":" spec)

static void gives(const char *json, const char *path, const char *want)
{
	struct rules_case c;

	case_begin(&c, json);
	bool done = case_default(&c, NULL);
	ok(done && is_text(case_at(c.object, path), want), "%.*s: %s is %s", STR_ARG(c.kind->kind), path, want);
	case_end(&c);
}

static void keeps(const char *before, const char *json, const char *path, const char *want)
{
	struct rules_case old, c;

	case_begin(&old, before);
	case_begin(&c, json);
	bool done = case_decode(&old) == 0 && case_default(&c, &old);
	ok(done && is_text(case_at(c.object, path), want), "update of %.*s: %s is %s", STR_ARG(c.kind->kind), path, want);
	case_end(&c);
	case_end(&old);
}

static void test_pod(void)
{
	const char *pod = POD("{\"containers\":[{\"name\":\"a\",\"image\":\"nginx\"}]}");

	gives(pod, "spec",
	      "{\"containers\":[{\"image\":\"nginx\",\"imagePullPolicy\":\"Always\",\"name\":\"a\",\"resources\":{},"
	      "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\"}],"
	      "\"dnsPolicy\":\"ClusterFirst\",\"enableServiceLinks\":true,\"restartPolicy\":\"Always\","
	      "\"schedulerName\":\"default-scheduler\",\"securityContext\":{},\"terminationGracePeriodSeconds\":30}");
	gives(POD("{\"terminationGracePeriodSeconds\":0}"), "spec.terminationGracePeriodSeconds", "0");
	gives(POD("{\"serviceAccount\":\"old\"}"), "spec.serviceAccountName", "\"old\"");
	gives(POD("{\"serviceAccount\":\"old\",\"serviceAccountName\":\"new\"}"), "spec.serviceAccount", "\"new\"");
	gives(POD("{\"containers\":[{\"ports\":[{\"containerPort\":80}]}],\"hostNetwork\":true}"),
	      "spec.containers.0.ports.0", "{\"containerPort\":80,\"hostPort\":80,\"protocol\":\"TCP\"}");
	gives(POD("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"500m\"}}}]}"),
	      "spec.containers.0.resources.requests", "{\"cpu\":\"500m\",\"memory\":\"1Gi\"}");
	gives(POD("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\"}}},{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],"
		  "\"resources\":{\"limits\":{\"cpu\":\"4\"}}}"),
	      "spec.resources.requests.cpu", "\"1500m\"");
	gives(POD("{\"volumes\":[{\"name\":\"v\"},{\"name\":\"s\",\"secret\":{\"secretName\":\"x\"}}]}"), "spec.volumes",
	      "[{\"emptyDir\":{},\"name\":\"v\"},{\"name\":\"s\",\"secret\":{\"defaultMode\":420,\"secretName\":\"x\"}}]");
	gives(POD("{\"containers\":[{\"livenessProbe\":{\"httpGet\":{\"port\":1},\"periodSeconds\":0,\"timeoutSeconds\":7}}]}"),
	      "spec.containers.0.livenessProbe",
	      "{\"failureThreshold\":3,\"httpGet\":{\"path\":\"/\",\"port\":1,\"scheme\":\"HTTP\"},\"periodSeconds\":10,"
	      "\"successThreshold\":1,\"timeoutSeconds\":7}");
	gives(POD("{\"containers\":[{\"env\":[{\"name\":\"E\",\"value\":\"\"},{\"name\":\"F\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"x\"}}}]}]}"),
	      "spec.containers.0.env",
	      "[{\"name\":\"E\",\"value\":\"\"},{\"name\":\"F\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"x\"}}}]");
}

static void test_pull_policy(void)
{
	static const struct {
		const char *image, *want;
	} rows[] = {
		{"a", "\"Always\""},
		{"a:latest", "\"Always\""},
		{"a:1", "\"IfNotPresent\""},
		{"host:5000/a", "\"Always\""},
		{"host:5000/a:1", "\"IfNotPresent\""},
		{"a@sha256:0000", "\"IfNotPresent\""},
		{"a:latest@sha256:0000", "\"Always\""},
		{"", "\"Always\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char json[512];
		snprintf(json, sizeof(json), POD("{\"containers\":[{\"image\":\"%s\"}]}"), rows[i].image);
		gives(json, "spec.containers.0.imagePullPolicy", rows[i].want);
	}
}

static void test_templates(void)
{
	const char *json = APPS("Deployment", "{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"a:1\","
					      "\"resources\":{\"limits\":{\"cpu\":1}}}]}}}");

	gives(json, "spec.template.spec.enableServiceLinks", "absent");
	gives(json, "spec.template.spec.containers.0.resources", "{\"limits\":{\"cpu\":\"1\"}}");
	gives(json, "spec.template.spec.dnsPolicy", "\"ClusterFirst\"");
	gives(json, "spec.template.metadata", "{}");
	gives(json, "spec.strategy",
	      "{\"rollingUpdate\":{\"maxSurge\":\"25%\",\"maxUnavailable\":\"25%\"},\"type\":\"RollingUpdate\"}");
	gives(json, "status", "{}");
	gives(APPS("Deployment", "{\"replicas\":0,\"strategy\":{\"type\":\"Recreate\"}}"), "spec.strategy",
	      "{\"type\":\"Recreate\"}");
	gives(APPS("Deployment", "{\"replicas\":0}"), "spec.replicas", "0");
	gives(APPS("Deployment", "{\"minReadySeconds\":0,\"paused\":false}"), "spec.paused", "false");
	gives(APPS("StatefulSet", "{}"), "spec.updateStrategy", "{\"rollingUpdate\":{\"partition\":0},\"type\":\"RollingUpdate\"}");
	gives(APPS("StatefulSet", "{\"updateStrategy\":{\"type\":\"RollingUpdate\"}}"), "spec.updateStrategy",
	      "{\"type\":\"RollingUpdate\"}");
	gives(APPS("StatefulSet", "{\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"d\"}}]}"),
	      "spec.volumeClaimTemplates.0",
	      "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"d\"},"
	      "\"spec\":{\"resources\":{},\"volumeMode\":\"Filesystem\"},\"status\":{\"phase\":\"Pending\"}}");
	gives(APPS("DaemonSet", "{}"), "spec.updateStrategy",
	      "{\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":1},\"type\":\"RollingUpdate\"}");
	gives(APPS("DaemonSet", "{}"), "status",
	      "{\"currentNumberScheduled\":0,\"desiredNumberScheduled\":0,\"numberMisscheduled\":0,\"numberReady\":0}");
}

static void test_template_generation(void)
{
#define SET(note, image)                                                                                               \
	OBJECT("apps/v1", "DaemonSet", "\"metadata\":{\"annotations\":{" note "}},\"spec\":{\"template\":{\"spec\":"    \
				       "{\"containers\":[{\"image\":\"" image "\"}]}}}")
	const char *path = "metadata.annotations", *key = "\"deprecated.daemonset.template.generation\"";
	struct rules_case first, second, third;
	char want[96];

	case_begin(&first, SET("", "a:1"));
	case_begin(&second, SET("", "a:1"));
	case_begin(&third, SET("\"x\":\"y\"", "a:2"));
	case_default(&first, NULL);
	snprintf(want, sizeof(want), "{%s:\"1\"}", key);
	ok(is_text(case_at(first.object, path), want), "a template starts at generation 1");
	case_default(&second, &first);
	ok(is_text(case_at(second.object, path), want), "and stays there while it does not change");
	case_default(&third, &second);
	snprintf(want, sizeof(want), "{%s:\"2\",\"x\":\"y\"}", key);
	ok(is_text(case_at(third.object, path), want), "and grows when it does");
	case_end(&first);
	case_end(&second);
	case_end(&third);
}

static void test_job(void)
{
	gives(JOB("{\"name\":\"j\"}", "{}"), "spec",
	      "{\"backoffLimit\":6,\"completionMode\":\"NonIndexed\",\"completions\":1,\"manualSelector\":false,"
	      "\"parallelism\":1,\"podReplacementPolicy\":\"TerminatingOrFailed\",\"suspend\":false,"
	      "\"template\":{\"metadata\":{},\"spec\":{\"dnsPolicy\":\"ClusterFirst\",\"restartPolicy\":\"Always\","
	      "\"schedulerName\":\"default-scheduler\",\"securityContext\":{},\"terminationGracePeriodSeconds\":30}}}");
	gives(JOB("{\"name\":\"j\"}", "{\"parallelism\":3}"), "spec.completions", "absent");
	gives(JOB("{\"name\":\"j\"}", "{\"backoffLimitPerIndex\":0}"), "spec.backoffLimit", "2147483647");
	gives(JOB("{\"name\":\"j\",\"uid\":\"u\"}", "{}"), "spec.selector",
	      "{\"matchLabels\":{\"batch.kubernetes.io/controller-uid\":\"u\"}}");
	gives(JOB("{\"name\":\"j\",\"uid\":\"u\"}", "{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}"),
	      "spec.template.metadata.labels",
	      "{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"u\",\"batch.kubernetes.io/job-name\":\"j\","
	      "\"controller-uid\":\"u\",\"job-name\":\"j\"}");
	gives(JOB("{\"name\":\"j\",\"uid\":\"u\"}", "{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}"),
	      "metadata.labels", "{\"a\":\"b\"}");
	gives(JOB("{\"name\":\"j\",\"uid\":\"u\"}", "{\"manualSelector\":true}"), "spec.selector", "absent");
	gives(OBJECT("batch/v1", "CronJob", "\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{}}}}}"),
	      "spec.jobTemplate.spec.backoffLimit", "absent");
	gives(OBJECT("batch/v1", "CronJob", "\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{}}}}}"),
	      "spec.jobTemplate.spec.template.spec.dnsPolicy", "\"ClusterFirst\"");
}

static void test_service(void)
{
	gives(SERVICE("{\"ports\":[{\"port\":80}]}"), "spec",
	      "{\"internalTrafficPolicy\":\"Cluster\",\"ipFamilies\":[\"IPv4\"],\"ipFamilyPolicy\":\"SingleStack\","
	      "\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":80}],\"sessionAffinity\":\"None\","
	      "\"type\":\"ClusterIP\"}");
	gives(SERVICE("{\"ports\":[{\"port\":80,\"targetPort\":\"web\"}]}"), "spec.ports.0.targetPort", "\"web\"");
	gives(SERVICE("{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\"}}"), "spec.clusterIPs", "[\"None\"]");
	gives(SERVICE("{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\"}}"), "spec.ipFamilyPolicy", "\"SingleStack\"");
	gives(SERVICE("{\"clusterIP\":\"None\"}"), "spec.ipFamilyPolicy", "\"RequireDualStack\"");
	gives(SERVICE("{\"clusterIP\":\"None\"}"), "spec.ipFamilies", "[\"IPv4\",\"IPv6\"]");
	gives(SERVICE("{\"clusterIP\":\"fd00::1\"}"), "spec.ipFamilies", "[\"IPv6\"]");
	gives(SERVICE("{\"type\":\"LoadBalancer\"}"), "spec.allocateLoadBalancerNodePorts", "true");
	gives(SERVICE("{\"type\":\"NodePort\"}"), "spec.externalTrafficPolicy", "\"Cluster\"");
	gives(SERVICE("{\"externalName\":\"x.org\",\"type\":\"ExternalName\"}"), "spec",
	      "{\"externalName\":\"x.org\",\"sessionAffinity\":\"None\",\"type\":\"ExternalName\"}");
	gives(SERVICE("{\"sessionAffinity\":\"ClientIP\"}"), "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "10800");
	gives(SERVICE("{}"), "status", "{\"loadBalancer\":{}}");
}

static void test_service_update(void)
{
	const char *old = SERVICE("{\"clusterIP\":\"10.0.0.7\",\"clusterIPs\":[\"10.0.0.7\"],\"ipFamilies\":[\"IPv4\"],"
				  "\"ipFamilyPolicy\":\"SingleStack\",\"ports\":[{\"name\":\"a\",\"nodePort\":30001,\"port\":1},"
				  "{\"name\":\"b\",\"nodePort\":30002,\"port\":2}],\"type\":\"NodePort\"}");

	keeps(old, SERVICE("{\"ports\":[{\"port\":2,\"name\":\"b\"},{\"port\":3,\"name\":\"c\"}],\"type\":\"NodePort\"}"),
	      "spec.ports.0.nodePort", "30002");
	keeps(old, SERVICE("{\"ports\":[{\"port\":2,\"name\":\"b\"},{\"port\":3,\"name\":\"c\"}],\"type\":\"NodePort\"}"),
	      "spec.ports.1.nodePort", "absent");
	keeps(old, SERVICE("{\"ports\":[{\"port\":1,\"name\":\"a\"}]}"), "spec.clusterIPs", "[\"10.0.0.7\"]");
	keeps(old, SERVICE("{\"ports\":[{\"port\":1,\"name\":\"a\"}]}"), "spec.clusterIP", "\"10.0.0.7\"");
	keeps(old, SERVICE("{\"clusterIP\":\"10.0.0.7\",\"clusterIPs\":[\"10.0.0.7\"],\"externalName\":\"x\",\"type\":\"ExternalName\"}"),
	      "spec.clusterIP", "absent");
	keeps(old,
	      SERVICE("{\"ports\":[{\"name\":\"a\",\"nodePort\":30001,\"port\":1},{\"name\":\"b\",\"nodePort\":30002,\"port\":2}],"
		      "\"type\":\"ClusterIP\"}"),
	      "spec.ports.0.nodePort", "absent");
}

static void test_others(void)
{
	gives(OBJECT("v1", "Secret", "\"data\":{\"b\":\"eA==\"},\"stringData\":{\"a\":\"hi\",\"b\":\"y\"}"), "data",
	      "{\"a\":\"aGk=\",\"b\":\"eQ==\"}");
	gives(OBJECT("v1", "Secret", "\"stringData\":{\"a\":\"hi\"}"), "stringData", "absent");
	gives(OBJECT("v1", "Secret", "\"metadata\":{}"), "type", "\"Opaque\"");
	keeps(OBJECT("v1", "Secret", "\"type\":\"x/y\""), OBJECT("v1", "Secret", "\"metadata\":{}"), "type", "\"x/y\"");
	gives(OBJECT("v1", "Namespace", "\"metadata\":{\"name\":\"n\"}"), "metadata.labels",
	      "{\"kubernetes.io/metadata.name\":\"n\"}");
	gives(OBJECT("v1", "Namespace", "\"metadata\":{\"name\":\"n\"}"), "spec.finalizers", "[\"kubernetes\"]");
	keeps(OBJECT("v1", "Namespace", "\"metadata\":{\"name\":\"n\"}"),
	      OBJECT("v1", "Namespace", "\"metadata\":{\"name\":\"n\"},\"spec\":{}"), "spec", "{}");
	gives(OBJECT("v1", "ServiceAccount", "\"secrets\":[{\"name\":\"a\",\"kind\":\"Secret\"}]"), "secrets", "[{\"name\":\"a\"}]");
	gives(OBJECT("v1", "Node", "\"status\":{\"capacity\":{\"cpu\":2}}"), "status.allocatable", "{\"cpu\":\"2\"}");
	gives(OBJECT("v1", "LimitRange", "\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":2},\"min\":{\"memory\":1}}]}"),
	      "spec.limits.0.defaultRequest", "{\"cpu\":\"2\",\"memory\":\"1\"}");
	gives(OBJECT("v1", "ReplicationController", "\"metadata\":{},\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}"),
	      "spec.selector", "{\"a\":\"b\"}");
	gives(OBJECT("v1", "PersistentVolumeClaim", "\"spec\":{\"dataSource\":{\"kind\":\"K\",\"name\":\"n\"}}"),
	      "spec.dataSourceRef", "{\"kind\":\"K\",\"name\":\"n\"}");
	gives(OBJECT("v1", "PersistentVolume", "\"metadata\":{}"), "status.phase", "\"Pending\"");
	gives(OBJECT("networking.k8s.io/v1", "NetworkPolicy", "\"spec\":{\"egress\":[{}]}"), "spec",
	      "{\"egress\":[{}],\"podSelector\":{},\"policyTypes\":[\"Ingress\",\"Egress\"]}");
	gives(OBJECT("rbac.authorization.k8s.io/v1", "RoleBinding",
		     "\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"u\"},"
		     "{\"apiGroup\":\"\",\"kind\":\"ServiceAccount\",\"name\":\"s\"}]"),
	      "subjects", "[{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"User\",\"name\":\"u\"},"
			  "{\"apiGroup\":\"\",\"kind\":\"ServiceAccount\",\"name\":\"s\"}]");
	gives(OBJECT("autoscaling/v2", "HorizontalPodAutoscaler", "\"spec\":{\"behavior\":{\"scaleDown\":{\"selectPolicy\":\"Min\"}}}"),
	      "spec.behavior.scaleDown",
	      "{\"policies\":[{\"periodSeconds\":15,\"type\":\"Percent\",\"value\":100}],\"selectPolicy\":\"Min\"}");
	gives(OBJECT("apiextensions.k8s.io/v1", "CustomResourceDefinition",
		     "\"spec\":{\"names\":{\"kind\":\"FooBar\"},\"versions\":[{\"name\":\"v1\"},{\"name\":\"v2\",\"storage\":true}]}"),
	      "spec.names", "{\"kind\":\"FooBar\",\"listKind\":\"FooBarList\",\"singular\":\"foobar\"}");
	gives(OBJECT("apiextensions.k8s.io/v1", "CustomResourceDefinition",
		     "\"spec\":{\"names\":{\"kind\":\"FooBar\"},\"versions\":[{\"name\":\"v1\"},{\"name\":\"v2\",\"storage\":true}]}"),
	      "status.storedVersions", "[\"v2\"]");
	gives(OBJECT("discovery.k8s.io/v1", "EndpointSlice", "\"ports\":[{\"port\":1}]"), "ports",
	      "[{\"name\":\"\",\"port\":1,\"protocol\":\"TCP\"}]");
}

/* Applying defaults again changes nothing: what is stored has been through them and comes back on updates. */
static void test_twice(const char *json)
{
	struct rules_case c;
	struct buf once = {0}, twice = {0};

	case_begin(&c, json);
	case_default(&c, NULL);
	tree_write(c.object, &once);
	bool good = rules_default(&c.arena, c.kind, c.object, c.object);
	tree_write(c.object, &twice);
	ok(good && str_eq(buf_str(&once), buf_str(&twice)), "%.*s: defaults once are defaults for good",
	   STR_ARG(c.kind->kind));
	buf_done(&once);
	buf_done(&twice);
	case_end(&c);
}

static void test_tables(void)
{
	size_t n;

	schema_all(&n);
	ok(n == rules_defs_count, "rules and schema know the same definitions");
}

int main(void)
{
	test_tables();
	test_pod();
	test_pull_policy();
	test_templates();
	test_template_generation();
	test_job();
	test_service();
	test_service_update();
	test_others();
	test_twice(POD("{\"containers\":[{\"name\":\"a\",\"image\":\"a\"}],\"volumes\":[{\"name\":\"v\"}]}"));
	test_twice(APPS("Deployment", "{}"));
	test_twice(APPS("DaemonSet", "{}"));
	test_twice(SERVICE("{\"ports\":[{\"port\":80}]}"));
	test_twice(JOB("{\"name\":\"j\",\"uid\":\"u\"}", "{}"));
	return tap_done();
}
