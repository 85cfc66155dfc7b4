/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patches by the schemas of built-in kinds, as kubectl sends them and as nobody should. */
#include "store/change/patch.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

/* Single quotes stand for double ones: the texts below would be unreadable otherwise. */
static struct tree *read_json(struct arena *a, const char *text, struct status *st)
{
	struct str copy = arena_str(a, str_of(text));
	struct tree *t = NULL;

	for (size_t i = 0; i < copy.len; i++)
		if (copy.ptr[i] == '\'')
			((char *)copy.ptr)[i] = '"';
	tree_parse(a, copy, &t, NULL, st);
	return t;
}

/* The result with single quotes, "" with *st when it was refused. */
static char *apply(const char *def, const char *object, const char *patch, struct status *st)
{
	struct buf out = {0};
	struct arena a;
	struct tree *result;
	size_t len;

	arena_init(&a, 0);
	status_clear(st);
	struct tree *o = read_json(&a, object, st), *p = read_json(&a, patch, st);
	if (o && p && patch_strategic(&a, schema_find(str_of(def)), o, p, &result, st) == 0)
		tree_write(result, &out);
	buf_addc(&out, '\0');
	arena_done(&a);
	char *text = buf_steal(&out, &len);
	for (char *c = text; *c; c++)
		if (*c == '"')
			*c = '\'';
	return text;
}

struct vector {
	const char *title, *def, *object, *patch, *result;
};

#define POD "core.v1.PodSpec"
#define META "meta.v1.ObjectMeta"

static const struct vector vectors[] = {
	{"members merge", "apps.v1.Deployment", "{'spec':{'paused':true,'replicas':1}}", "{'spec':{'replicas':2}}",
	 "{'spec':{'paused':true,'replicas':2}}"},
	{"null removes", "apps.v1.Deployment", "{'spec':{'paused':true,'replicas':1}}", "{'spec':{'paused':null,'x':null}}",
	 "{'spec':{'replicas':1}}"},
	{"labels merge", META, "{'labels':{'a':'1','b':'2'}}", "{'labels':{'a':null,'c':'3'}}", "{'labels':{'b':'2','c':'3'}}"},
	{"new members lose their nulls", META, "{}", "{'labels':{'a':null,'c':'3'}}", "{'labels':{'c':'3'}}"},
	{"another type replaces", POD, "{'nodeName':'n'}", "{'nodeName':{'a':null}}", "{'nodeName':{}}"},
	{"unknown fields merge as maps and replace lists", POD, "{'x':{'a':1,'l':[1,2]}}", "{'x':{'b':2,'l':[3]}}",
	 "{'x':{'a':1,'b':2,'l':[3]}}"},

	{"an element merges by key", POD, "{'containers':[{'image':'i','name':'a'},{'image':'j','name':'b'}]}",
	 "{'containers':[{'name':'b','image':'k'}]}", "{'containers':[{'image':'i','name':'a'},{'image':'k','name':'b'}]}"},
	{"a new element goes to the end when the patch names only it", POD, "{'containers':[{'name':'a'}]}",
	 "{'containers':[{'name':'b'}]}", "{'containers':[{'name':'b'},{'name':'a'}]}"},
	{"elements come in the patch's order", POD, "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
	 "{'containers':[{'name':'c'},{'name':'a'}]}", "{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}"},
	{"an element that stands twice in the patch merges twice", POD, "{'containers':[]}",
	 "{'containers':[{'name':'a','image':'i'},{'name':'a','tty':true}]}", "{'containers':[{'image':'i','name':'a','tty':true}]}"},
	{"number keys", "core.v1.Container", "{'ports':[{'containerPort':80,'name':'x'}]}",
	 "{'ports':[{'containerPort':80,'protocol':'UDP'}]}", "{'ports':[{'containerPort':80,'name':'x','protocol':'UDP'}]}"},
	{"the first of two elements with a key is patched", "core.v1.ServiceSpec",
	 "{'ports':[{'name':'t','port':53},{'name':'u','port':53}]}", "{'ports':[{'port':53,'nodePort':1}]}",
	 "{'ports':[{'name':'t','nodePort':1,'port':53},{'name':'u','port':53}]}"},
	{"lists in elements merge as well", POD, "{'containers':[{'env':[{'name':'A','value':'1'}],'name':'c'}]}",
	 "{'containers':[{'name':'c','env':[{'name':'B','value':'2'}]}]}",
	 "{'containers':[{'env':[{'name':'B','value':'2'},{'name':'A','value':'1'}],'name':'c'}]}"},
	{"atomic lists are replaced", POD, "{'tolerations':[{'key':'a'}]}", "{'tolerations':[{'key':'b'}]}",
	 "{'tolerations':[{'key':'b'}]}"},
	{"an empty patch of a merged list changes nothing", POD, "{'containers':[{'name':'a'}]}", "{'containers':[]}",
	 "{'containers':[{'name':'a'}]}"},

	{"delete an element", POD, "{'containers':[{'name':'a'},{'name':'b'}]}",
	 "{'containers':[{'$patch':'delete','name':'a'}]}", "{'containers':[{'name':'b'}]}"},
	{"delete all elements with a key", "core.v1.ServiceSpec", "{'ports':[{'port':1},{'port':2},{'port':1}]}",
	 "{'ports':[{'$patch':'delete','port':1}]}", "{'ports':[{'port':2}]}"},
	{"delete an element that is not there", POD, "{'containers':[{'name':'a'}]}",
	 "{'containers':[{'$patch':'delete','name':'x'}]}", "{'containers':[{'name':'a'}]}"},
	{"replace a list", POD, "{'containers':[{'name':'a'},{'name':'b'}]}",
	 "{'containers':[{'$patch':'replace'},{'name':'c','image':null}]}", "{'containers':[{'name':'c'}]}"},
	{"replace a list with nothing", POD, "{'containers':[{'name':'a'}]}", "{'containers':[{'$patch':'replace'}]}",
	 "{'containers':[]}"},
	{"replace a map", META, "{'labels':{'a':'1'}}", "{'labels':{'$patch':'replace','b':'2'}}", "{'labels':{'b':'2'}}"},
	{"delete a map", META, "{'labels':{'a':'1'},'name':'n'}", "{'labels':{'$patch':'delete'}}", "{'labels':{},'name':'n'}"},
	{"merge is the default", META, "{'labels':{'a':'1'}}", "{'labels':{'$patch':'merge','b':'2'}}",
	 "{'labels':{'a':'1','b':'2'}}"},
	{"merge an element", POD, "{'containers':[{'name':'a'}]}",
	 "{'containers':[{'$patch':'merge','name':'a','image':'i'},{'$patch':'merge','name':'b'}]}",
	 "{'containers':[{'image':'i','name':'a'},{'name':'b'}]}"},
	{"replace an element's map", POD, "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1'}}}]}",
	 "{'containers':[{'name':'a','resources':{'$patch':'replace','requests':{'cpu':'2'}}}]}",
	 "{'containers':[{'name':'a','resources':{'requests':{'cpu':'2'}}}]}"},
	{"a new list loses its directives", POD, "{}",
	 "{'containers':[{'name':'a','env':[{'$patch':'delete','name':'x'},{'name':'y'}]},{'$patch':'replace'},{'$patch':'delete','name':'b'}]}",
	 "{'containers':[{'env':[{'name':'y'}],'name':'a'}]}"},
	{"a new map loses its directives", "apps.v1.DeploymentSpec", "{}",
	 "{'strategy':{'$retainKeys':['type'],'type':'Recreate'},'template':{'$patch':'delete'}}", "{'strategy':{'type':'Recreate'}}"},
	{"a map where the patch strategy is replace", "policy.v1.PodDisruptionBudgetSpec",
	 "{'selector':{'matchLabels':{'a':'1'}}}", "{'selector':{'matchLabels':{'b':'2'}}}", "{'selector':{'matchLabels':{'b':'2'}}}"},

	{"retainKeys drops the rest", "apps.v1.DeploymentSpec",
	 "{'strategy':{'rollingUpdate':{'maxSurge':1},'type':'RollingUpdate'}}",
	 "{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}", "{'strategy':{'type':'Recreate'}}"},
	{"retainKeys keeps what it names", "apps.v1.DeploymentSpec", "{'strategy':{'rollingUpdate':{'maxSurge':1},'type':'a'}}",
	 "{'strategy':{'$retainKeys':['type','rollingUpdate'],'type':'b'}}", "{'strategy':{'rollingUpdate':{'maxSurge':1},'type':'b'}}"},
	{"retainKeys in an element", POD, "{'volumes':[{'emptyDir':{},'name':'v'}]}",
	 "{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v','hostPath':{'path':'/'}}]}",
	 "{'volumes':[{'hostPath':{'path':'/'},'name':'v'}]}"},
	{"retainKeys does not count what the patch removes", "apps.v1.DeploymentSpec", "{'strategy':{'rollingUpdate':{},'type':'a'}}",
	 "{'strategy':{'$retainKeys':['type'],'rollingUpdate':null,'type':'b'}}", "{'strategy':{'type':'b'}}"},

	{"setElementOrder orders the merged list", POD, "{'containers':[{'name':'a'},{'name':'b'}]}",
	 "{'$setElementOrder/containers':[{'name':'b'},{'name':'c'},{'name':'a'}],'containers':[{'name':'c'}]}",
	 "{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}"},
	{"setElementOrder alone", POD, "{'containers':[{'name':'a'},{'name':'b'}]}",
	 "{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}", "{'containers':[{'name':'b'},{'name':'a'}]}"},
	{"setElementOrder keeps the server's own elements in place", POD,
	 "{'containers':[{'name':'s1'},{'name':'a'},{'name':'s2'},{'name':'b'},{'name':'s3'}]}",
	 "{'$setElementOrder/containers':[{'name':'a'},{'name':'n'},{'name':'b'}],'containers':[{'name':'n'}]}",
	 "{'containers':[{'name':'s1'},{'name':'a'},{'name':'n'},{'name':'s2'},{'name':'b'},{'name':'s3'}]}"},
	{"setElementOrder with a deletion", POD, "{'containers':[{'name':'a'},{'name':'b'}]}",
	 "{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'$patch':'delete','name':'a'}]}", "{'containers':[{'name':'b'}]}"},
	{"setElementOrder of an absent list", POD, "{}",
	 "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],'containers':[{'name':'a'},{'name':'b'}]}",
	 "{'containers':[{'name':'a'},{'name':'b'}]}"},
	{"setElementOrder of scalars", META, "{'finalizers':['a','b']}",
	 "{'$setElementOrder/finalizers':['c','b'],'finalizers':['c']}", "{'finalizers':['c','a','b']}"},
	{"setElementOrder of nothing", POD, "{}", "{'$setElementOrder/containers':[{'name':'a'}]}", "{}"},

	{"scalars are a set", META, "{'finalizers':['a','b']}", "{'finalizers':['b','c']}", "{'finalizers':['a','b','c']}"},
	{"scalars come once", META, "{'finalizers':['a','a']}", "{'finalizers':['c','c']}", "{'finalizers':['c','a']}"},
	{"deleteFromPrimitiveList", META, "{'finalizers':['a','b','c']}", "{'$deleteFromPrimitiveList/finalizers':['b','x']}",
	 "{'finalizers':['a','c']}"},
	{"deleteFromPrimitiveList as kubectl sends it", META, "{'finalizers':['a','b']}",
	 "{'$deleteFromPrimitiveList/finalizers':['a'],'$setElementOrder/finalizers':['b','c'],'finalizers':['c']}",
	 "{'finalizers':['b','c']}"},
	{"deleteFromPrimitiveList of an absent list", META, "{}", "{'$deleteFromPrimitiveList/finalizers':['b']}", "{}"},
	{"owner references by uid", META, "{'ownerReferences':[{'name':'a','uid':'1'},{'name':'b','uid':'2'}]}",
	 "{'ownerReferences':[{'$patch':'delete','uid':'1'}],'uid':'u'}", "{'ownerReferences':[{'name':'b','uid':'2'}],'uid':'u'}"},
};

struct refusal {
	const char *title, *def, *object, *patch;
	enum reason reason;
	const char *message;
};

static const struct refusal refusals[] = {
	{"an element without its key", POD, "{'containers':[{'name':'a'}]}", "{'containers':[{'image':'i','args':['x','y']}]}",
	 REASON_UNKNOWN, "map: map[args:[x y] image:i] does not contain declared merge key: name"},
	{"a deletion without a key", POD, "{'containers':[{'name':'a'}]}", "{'containers':[{'$patch':'delete'}]}", REASON_UNKNOWN,
	 "map: map[$patch:delete] does not contain declared merge key: name"},
	{"an unknown directive of a map", META, "{'labels':{}}", "{'labels':{'$patch':'spam'}}", REASON_UNKNOWN,
	 "unknown patch type: spam in map: map[$patch:spam]"},
	{"an unknown directive of an element", POD, "{'containers':[]}", "{'containers':[{'$patch':'spam','name':'a'}]}",
	 REASON_UNKNOWN, "unknown patch type: spam in map: map[$patch:spam name:a]"},
	{"scalars in a list of objects", POD, "{'containers':[]}", "{'containers':['a']}", REASON_UNKNOWN,
	 "expected a map[string]interface {}, but received a string"},
	{"mixed elements", POD, "{'containers':[{'name':'a'}]}", "{'containers':['a']}", REASON_UNKNOWN,
	 "list element types are not identical: [[map[name:a]] [a]]"},
	{"objects in a list of scalars", META, "{'finalizers':[]}", "{'finalizers':[{'a':1}]}", REASON_UNKNOWN, NULL},
	{"lists of lists", META, "{'finalizers':[]}", "{'finalizers':[['a']]}", REASON_INVALID, NULL},
	{"retainKeys that is no list", "apps.v1.DeploymentSpec", "{'strategy':{}}", "{'strategy':{'$retainKeys':'type'}}",
	 REASON_BAD_REQUEST, "invalid patch format of retainKeys"},
	{"a member that retainKeys does not name", "apps.v1.DeploymentSpec", "{'strategy':{}}",
	 "{'strategy':{'$retainKeys':['a'],'type':'b'}}", REASON_BAD_REQUEST, NULL},
	{"setElementOrder that is no list", POD, "{}", "{'$setElementOrder/containers':{}}", REASON_BAD_REQUEST,
	 "invalid patch format of setElementOrder list"},
	{"setElementOrder of no field", POD, "{}", "{'$setElementOrder':[]}", REASON_BAD_REQUEST, NULL},
	{"setElementOrder that contradicts the patch", POD, "{'containers':[]}",
	 "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],'containers':[{'name':'b'},{'name':'a'}]}", REASON_UNKNOWN, NULL},
	{"setElementOrder of a scalar", POD, "{'nodeName':'a'}", "{'$setElementOrder/nodeName':['a']}", REASON_UNKNOWN,
	 "expected a []interface {}, but received a string"},
	{"deleteFromPrimitiveList that is no list", META, "{'finalizers':[]}", "{'$deleteFromPrimitiveList/finalizers':'a'}",
	 REASON_BAD_REQUEST, "invalid patch format of primitive list"},
	{"deleteFromPrimitiveList of objects", META, "{'finalizers':['a']}", "{'$deleteFromPrimitiveList/finalizers':[{}]}",
	 REASON_UNKNOWN, NULL},
	{"a patch that is a list", META, "{}", "[]", REASON_BAD_REQUEST, NULL},
};

static void test_big_lists(void)
{
	enum { N = 20000 };
	struct buf object = {0}, patch = {0};
	struct status st;
	size_t len;

	buf_adds(&object, "{'containers':[");
	buf_adds(&patch, "{'containers':[");
	for (int i = 0; i < N; i++) {
		buf_addf(&object, "%s{'name':'n%d'}", i ? "," : "", i);
		buf_addf(&patch, "%s{'name':'n%d','tty':true}", i ? "," : "", 2 * N - 1 - i * 2);
	}
	buf_add(&object, "]}", 3);
	buf_add(&patch, "]}", 3);
	char *o = buf_steal(&object, &len), *p = buf_steal(&patch, &len);
	char *text = apply(POD, o, p, &st);
	ok(strstr(text, "'name':'n0'") && strstr(text, "{'name':'n1','tty':true}") && strstr(text, "n39999"),
	   "two lists of 20000 merge in a moment");
	free(o);
	free(p);
	free(text);
}

int main(void)
{
	struct status st;

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *v = &vectors[i];
		char *text = apply(v->def, v->object, v->patch, &st);
		if (!ok(strcmp(text, v->result) == 0, "%s", v->title))
			printf("# want %s\n# got  %s %s\n", v->result, text, st.message);
		free(text);
	}
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *v = &refusals[i];
		free(apply(v->def, v->object, v->patch, &st));
		if (!ok(st.reason == v->reason && (!v->message || strcmp(st.message, v->message) == 0), "%s: refused", v->title))
			printf("# %d %s\n", st.reason, st.message);
	}
	test_big_lists();
	return tap_done();
}
