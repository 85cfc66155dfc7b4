/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds served in several forms: what one form says the other says too, and nothing is lost on the way back. */
#include "store/kind/convert.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

static const struct kind *row(const char *group, const char *version, const char *plural)
{
	return kinds_find(kinds_builtin(), str_of(group), str_of(version), str_of(plural));
}

/* Single quotes stand for double ones. */
static struct tree *read_json(struct arena *a, const char *text)
{
	struct str copy = arena_str(a, str_of(text));
	struct tree *t = NULL;
	struct status st;

	for (size_t i = 0; i < copy.len; i++)
		if (copy.ptr[i] == '\'')
			((char *)copy.ptr)[i] = '"';
	tree_parse(a, copy, &t, NULL, &st);
	return t;
}

static bool same(const struct tree *t, const struct tree *want)
{
	struct buf has = {0}, wanted = {0};

	tree_write(t, &has);
	tree_write(want, &wanted);
	bool equal = str_eq(buf_str(&has), buf_str(&wanted));
	if (!equal)
		printf("# want %.*s\n# got  %.*s\n", STR_ARG(buf_str(&wanted)), STR_ARG(buf_str(&has)));
	buf_done(&has);
	buf_done(&wanted);
	return equal;
}

static const char *const core_event =
	"{'action':'a','apiVersion':'v1','count':3,'eventTime':null,'firstTimestamp':'2026-01-01T00:00:00Z',"
	"'involvedObject':{'kind':'Pod','name':'p'},'kind':'Event','lastTimestamp':'2026-01-02T00:00:00Z','message':'m',"
	"'metadata':{'name':'e'},'reason':'r','reportingComponent':'c','reportingInstance':'i',"
	"'source':{'component':'kubelet'},'type':'Normal'}";

static const char *const new_event =
	"{'action':'a','apiVersion':'events.k8s.io/v1','deprecatedCount':3,'deprecatedFirstTimestamp':'2026-01-01T00:00:00Z',"
	"'deprecatedLastTimestamp':'2026-01-02T00:00:00Z','deprecatedSource':{'component':'kubelet'},'eventTime':null,"
	"'kind':'Event','metadata':{'name':'e'},'note':'m','reason':'r','regarding':{'kind':'Pod','name':'p'},"
	"'reportingController':'c','reportingInstance':'i','type':'Normal'}";

static void test_event(void)
{
	const struct kind *core = row("", "v1", "events"), *events = row("events.k8s.io", "v1", "events");
	struct arena a;

	arena_init(&a, 0);
	struct tree *t = read_json(&a, core_event);
	ok(convert_object(&a, core, events, t) && same(t, read_json(&a, new_event)), "a v1 Event as events.k8s.io/v1");
	ok(convert_object(&a, events, core, t) && same(t, read_json(&a, core_event)), "and back");

	t = read_json(&a, "{'metadata':{'name':'e'},'reportingComponent':'','reportingInstance':''}");
	ok(convert_object(&a, core, events, t) && !tree_getz(t, "reportingController") && !tree_getz(t, "reportingInstance") &&
		   tree_is(tree_getz(t, "regarding"), TREE_OBJECT),
	   "what one form prints for unset fields the other leaves out");

	t = read_json(&a, core_event);
	ok(convert_object(&a, core, core, t) && same(t, read_json(&a, core_event)), "the same form is left alone");
	arena_done(&a);
}

static const char *const full_hpa =
	"{'apiVersion':'autoscaling/v2','kind':'HorizontalPodAutoscaler','metadata':{'annotations':{'x':'y'},'name':'h'},"
	"'spec':{'behavior':{'scaleDown':{'policies':[{'periodSeconds':15,'type':'Percent','value':100}],'selectPolicy':'Max'}},"
	"'maxReplicas':5,'metrics':["
	"{'pods':{'metric':{'name':'qps','selector':{'matchLabels':{'a':'b'}}},'target':{'averageValue':'10','type':'AverageValue'}},'type':'Pods'},"
	"{'object':{'describedObject':{'kind':'Service','name':'s'},'metric':{'name':'hits'},'target':{'type':'Value','value':'2k'}},'type':'Object'},"
	"{'object':{'describedObject':{'kind':'Service','name':'s'},'metric':{'name':'avg'},'target':{'averageValue':'3','type':'AverageValue'}},'type':'Object'},"
	"{'external':{'metric':{'name':'queue'},'target':{'averageValue':'1','type':'AverageValue'}},'type':'External'},"
	"{'resource':{'name':'memory','target':{'averageValue':'1Gi','type':'AverageValue'}},'type':'Resource'},"
	"{'containerResource':{'container':'c','name':'cpu','target':{'averageUtilization':70,'type':'Utilization'}},'type':'ContainerResource'},"
	"{'resource':{'name':'cpu','target':{'averageUtilization':60,'type':'Utilization'}},'type':'Resource'}],"
	"'minReplicas':2,'scaleTargetRef':{'kind':'Deployment','name':'d'}},"
	"'status':{'conditions':[{'lastTransitionTime':'2026-01-01T00:00:00Z','status':'True','type':'AbleToScale'}],"
	"'currentMetrics':[{'resource':{'current':{'averageUtilization':31,'averageValue':'62m'},'name':'cpu'},'type':'Resource'},"
	"{'pods':{'current':{'averageValue':'9'},'metric':{'name':'qps'}},'type':'Pods'}],"
	"'currentReplicas':2,'desiredReplicas':3}}";

static void test_hpa(void)
{
	const struct kind *v1 = row("autoscaling", "v1", "horizontalpodautoscalers");
	const struct kind *v2 = row("autoscaling", "v2", "horizontalpodautoscalers");
	struct arena a;
	int64_t n = 0;

	arena_init(&a, 0);
	struct tree *t = read_json(&a, full_hpa);
	ok(convert_object(&a, v2, v1, t) && str_is(tree_gets(t, "apiVersion"), "autoscaling/v1"), "a full v2 HPA as v1");
	ok(tree_i64(tree_path(t, "spec.targetCPUUtilizationPercentage"), &n) && n == 60, "the CPU target is a field");
	ok(tree_i64(tree_path(t, "status.currentCPUUtilizationPercentage"), &n) && n == 31, "its current value too");
	ok(!tree_path(t, "spec.metrics") && !tree_path(t, "spec.behavior") && !tree_path(t, "status.conditions"),
	   "v2's own fields are gone");
	const struct tree *annotations = tree_path(t, "metadata.annotations");
	ok(annotations->len == 5, "four annotations keep them, beside the user's own");
	struct str metrics = tree_gets(annotations, "autoscaling.alpha.kubernetes.io/metrics");
	ok(memmem(metrics.ptr, metrics.len, "{\"pods\":{\"metricName\":\"qps\"", 27) &&
		   !memmem(metrics.ptr, metrics.len, "60", 2),
	   "metrics are flat, without the CPU");
	struct str behavior = tree_gets(annotations, "autoscaling.alpha.kubernetes.io/behavior");
	ok(memmem(behavior.ptr, behavior.len, "\"ScaleDown\":{\"Policies\":", 24), "behavior has Go's names");
	ok(convert_object(&a, v1, v2, t) && same(t, read_json(&a, full_hpa)), "nothing is lost on the way back");

	t = read_json(&a, "{'metadata':{'name':'h'},'spec':{'maxReplicas':3,'scaleTargetRef':{'kind':'D','name':'d'},"
			  "'targetCPUUtilizationPercentage':80}}");
	ok(convert_object(&a, v1, v2, t) &&
		   same(tree_path(t, "spec.metrics"),
			read_json(&a, "[{'resource':{'name':'cpu','target':{'averageUtilization':80,'type':'Utilization'}},"
				      "'type':'Resource'}]")),
	   "v1's CPU target is a metric in v2");

	t = read_json(&a, "{'metadata':{'annotations':{'autoscaling.alpha.kubernetes.io/metrics':'[[[',"
			  "'autoscaling.alpha.kubernetes.io/conditions':'[]','autoscaling.alpha.kubernetes.io/behavior':'1'},"
			  "'name':'h'},'spec':{'maxReplicas':1}}");
	ok(convert_object(&a, v1, v2, t) && !tree_path(t, "spec.metrics") && !tree_path(t, "metadata.annotations"),
	   "annotations that make no sense say nothing and go");

	t = read_json(&a, "{'metadata':{'annotations':{'autoscaling.alpha.kubernetes.io/metrics':"
			  "'[1,null,{},{\\'type\\':5,\\'pods\\':7}]'},'name':'h'},'spec':[],'status':'x'}");
	t = t ? t : read_json(&a, "{'metadata':{'name':'h'},'spec':[],'status':'x'}");
	ok(convert_object(&a, v1, v2, t) && convert_object(&a, v2, v1, t), "wrong types do no harm");
	arena_done(&a);
}

int main(void)
{
	test_event();
	test_hpa();
	return tap_done();
}
