/* SPDX-License-Identifier: Apache-2.0 */
/* The internal controllers: what namespaces have, how they go, and what goes with an owner. */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/store.h"
#include "tests/unit/tap.h"

enum { PATIENCE_S = 20 };

static char dir[] = "/tmp/holdfs-test-control-XXXXXX";
static struct status st;
static struct store *store;
static struct control *control;

/* Commits, counted: we wait for the next one, never for a time. */
static struct subscriber subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t committed = PTHREAD_COND_INITIALIZER;
static unsigned commits;

static void on_commit(struct subscriber *self, uint64_t revision)
{
	(void)self, (void)revision;
	pthread_mutex_lock(&lock);
	commits++;
	pthread_cond_signal(&committed);
	pthread_mutex_unlock(&lock);
}

static unsigned commits_now(void)
{
	pthread_mutex_lock(&lock);
	unsigned n = commits;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Waits for a commit after the first `seen`; false when patience ends. */
static bool next_commit(unsigned seen)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&lock);
	while (commits == seen && !err)
		err = pthread_cond_timedwait(&committed, &lock, &until);
	pthread_mutex_unlock(&lock);
	return !err;
}

/* Becomes x true, now or after some commit? */
#define eventually(x)                                           \
	__extension__({                                         \
		bool _true = false, _patient = true;            \
		while (!_true && _patient) {                    \
			unsigned _seen = commits_now();         \
			_true = (x);                            \
			_patient = _true || next_commit(_seen); \
		}                                               \
		_true;                                          \
	})

static const struct kind *kind(const char *dir_name)
{
	return kinds_by_dir(store_kinds(store), str_of(dir_name));
}

static int request(struct write_request req, const char *ns, const char *name, const char *body, char *ret_uid)
{
	struct write *w = NULL;
	struct str text = str_of(body ? body : "");
	char *copy = strndup(text.ptr, text.len);

	/* Single quotes stand for double ones. */
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	req.ns = str_of(ns);
	req.name = str_of(name);
	req.body = str_of(copy);
	status_clear(&st);
	int err = write_run(store, &req, &w, &st);
	if (!err && ret_uid)
		snprintf(ret_uid, 64, "%.*s", STR_ARG(write_result(w)->uid));
	write_free(w);
	free(copy);
	return err;
}

/* uid: at least 64 bytes, or NULL. */
static bool create(const char *plural, const char *ns, const char *body, char *uid)
{
	struct write_request req = {.kind = kind(plural), .verb = WRITE_CREATE, .grace = -1};

	return request(req, ns, "", body, uid) == 0;
}

static bool patch(const char *plural, const char *ns, const char *name, const char *body)
{
	struct write_request req = {.kind = kind(plural), .verb = WRITE_PATCH, .patch = PATCH_TYPE_MERGE, .grace = -1};

	return request(req, ns, name, body, NULL) == 0;
}

static bool delete(const char *plural, const char *ns, const char *name, enum propagation how)
{
	struct write_request req = {.kind = kind(plural), .verb = WRITE_DELETE, .propagation = how, .grace = -1};

	return request(req, ns, name, NULL, NULL) == 0;
}

/* The object's text, "" when there is none. */
static const char *text(const char *plural, const char *ns, const char *name)
{
	static char out[16384];
	struct object o;
	struct read *r;

	out[0] = '\0';
	if (read_begin(store, &r, &st) < 0)
		return out;
	if (read_get(r, kind(plural), str_of(ns), str_of(name), &o, &st) == 0)
		snprintf(out, sizeof(out), "%.*s", STR_ARG(o.json));
	read_end(r);
	return out;
}

static bool there(const char *plural, const char *ns, const char *name)
{
	return text(plural, ns, name)[0] != '\0';
}

static bool says(const char *plural, const char *ns, const char *name, const char *what)
{
	return strstr(text(plural, ns, name), what) != NULL;
}

static void start(void)
{
	ok(control_start(store, STR("PEM\n"), &control, &st) == 0, "start the controllers");
}

static void stop(void)
{
	control_stop(control);
	control = NULL;
}

static bool namespace(const char *name)
{
	char body[128];

	snprintf(body, sizeof(body), "{'metadata':{'name':'%s'}}", name);
	return create("namespaces", "", body, NULL);
}

/* A ConfigMap; refs: its ownerReferences, or NULL. */
static bool config_map(const char *ns, const char *name, const char *refs, char *uid)
{
	char body[2048];

	snprintf(body, sizeof(body), "{'metadata':{'name':'%s'%s%s%s}}", name, refs ? ",'ownerReferences':[" : "",
		 refs ? refs : "", refs ? "]" : "");
	return create("configmaps", ns, body, uid);
}

static const char *ref(const char *name, const char *uid, const char *more)
{
	static char out[4][256];
	static unsigned turn;
	char *r = out[turn++ % 4];

	snprintf(r, sizeof(out[0]), "{'apiVersion':'v1','kind':'ConfigMap','name':'%s','uid':'%s'%s}", name, uid, more);
	return r;
}

static const char *const blocks = ",'blockOwnerDeletion':true";

static void test_content(void)
{
	ok(namespace("a"), "create a namespace");
	ok(eventually(there("serviceaccounts", "a", "default")), "it gets its ServiceAccount");
	ok(eventually(says("configmaps", "a", "kube-root-ca.crt", "\"ca.crt\":\"PEM\\n\"")), "and the CA bundle");
	ok(says("configmaps", "a", "kube-root-ca.crt", "kubernetes.io/description"), "with a description");
	delete("serviceaccounts", "a", "default", PROPAGATION_DEFAULT);
	ok(eventually(there("serviceaccounts", "a", "default")), "a deleted account comes back");
	delete("configmaps", "a", "kube-root-ca.crt", PROPAGATION_DEFAULT);
	ok(eventually(there("configmaps", "a", "kube-root-ca.crt")), "a deleted bundle comes back");
	patch("configmaps", "a", "kube-root-ca.crt", "{'data':{'ca.crt':'mine','x':'y'}}");
	ok(eventually(says("configmaps", "a", "kube-root-ca.crt", "\"data\":{\"ca.crt\":\"PEM\\n\"}")),
	   "a changed bundle is put back");
}

static void test_namespace_deletion(void)
{
	namespace("gone");
	namespace("held");
	for (int i = 0; i < 300; i++) {
		char name[32];
		snprintf(name, sizeof(name), "m%d", i);
		config_map("gone", name, NULL, NULL);
	}
	create("pods", "gone", "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}", NULL);
	config_map("held", "m", NULL, NULL);
	delete("namespaces", "", "gone", PROPAGATION_DEFAULT);
	ok(eventually(!there("namespaces", "", "gone")), "a namespace goes with all its content");
	ok(!there("configmaps", "gone", "m0") && !there("configmaps", "gone", "m299") && !there("pods", "gone", "p") &&
		   !there("serviceaccounts", "gone", "default"),
	   "nothing of it is left");
	ok(there("configmaps", "held", "m"), "others keep theirs");

	patch("configmaps", "held", "m", "{'metadata':{'finalizers':['example.com/hold']}}");
	delete("namespaces", "", "held", PROPAGATION_DEFAULT);
	ok(eventually(says("namespaces", "", "held", "\"SomeResourcesRemain\"")), "content with a finalizer is reported");
	ok(says("namespaces", "", "held", "has 1 resource instances"), "and counted");
	ok(eventually(says("namespaces", "", "held", "SomeFinalizersRemain")), "and so is its finalizer");
	ok(eventually(says("configmaps", "held", "m", "deletionTimestamp")), "the object waits, marked");
	patch("configmaps", "held", "m", "{'metadata':{'finalizers':null}}");
	ok(eventually(!there("namespaces", "", "held")), "without the finalizer the namespace goes");
}

static void test_namespace_restart(void)
{
	namespace("later");
	config_map("later", "m", NULL, NULL);
	stop();
	delete("namespaces", "", "later", PROPAGATION_DEFAULT);
	namespace("late");
	start();
	ok(eventually(!there("namespaces", "", "later")), "a deletion goes on after a restart");
	ok(eventually(there("serviceaccounts", "late", "default")), "what a namespace lacks is made after a restart");
}

static void test_background(void)
{
	char top[64], middle[64], other[64];

	config_map("a", "top", NULL, top);
	config_map("a", "other", NULL, other);
	config_map("a", "middle", ref("top", top, ""), middle);
	config_map("a", "bottom", ref("middle", middle, ""), NULL);
	char both[512];
	snprintf(both, sizeof(both), "%s,%s", ref("top", top, ""), ref("other", other, ""));
	config_map("a", "both", both, NULL);
	delete("configmaps", "a", "top", PROPAGATION_DEFAULT);
	ok(eventually(!there("configmaps", "a", "middle")), "a dependent goes with its owner");
	ok(eventually(!there("configmaps", "a", "bottom")), "and so does its own dependent");
	ok(eventually(!says("configmaps", "a", "both", top)), "with another owner only the reference goes");
	ok(says("configmaps", "a", "both", other), "the other one stays");
	delete("configmaps", "a", "other", PROPAGATION_DEFAULT);
	ok(eventually(!there("configmaps", "a", "both")), "with the last owner the object goes");
}

static void test_absent(void)
{
	char uid[64];

	config_map("a", "orphaned", ref("nobody", "00000000-0000-0000-0000-000000000000", ""), NULL);
	ok(eventually(!there("configmaps", "a", "orphaned")), "an object of an owner that never was goes");
	config_map("a", "twin", NULL, uid);
	config_map("a", "stale", ref("twin", "00000000-0000-0000-0000-000000000000", ""), NULL);
	ok(eventually(!there("configmaps", "a", "stale")), "an owner of another uid is another owner");
	create("configmaps", "a",
	       "{'metadata':{'name':'foreign','ownerReferences':[{'apiVersion':'example.com/v1','kind':'Widget',"
	       "'name':'w','uid':'1'}]}}",
	       NULL);
	config_map("a", "mark", ref("nobody", "2", ""), NULL);
	ok(eventually(!there("configmaps", "a", "mark")) && there("configmaps", "a", "foreign"),
	   "owners of unknown kinds are believed");
	ok(there("configmaps", "a", "twin"), "the living stay");
}

static void test_orphan(void)
{
	char uid[64];

	config_map("a", "owner", NULL, uid);
	config_map("a", "free", ref("owner", uid, blocks), NULL);
	delete("configmaps", "a", "owner", PROPAGATION_ORPHAN);
	ok(eventually(!there("configmaps", "a", "owner")), "an owner deleted with Orphan goes");
	ok(there("configmaps", "a", "free") && !says("configmaps", "a", "free", "ownerReferences"),
	   "its dependents stay, without the reference");
}

static void test_foreground(void)
{
	char uid[64];

	config_map("a", "front", NULL, uid);
	config_map("a", "blocker", ref("front", uid, blocks), NULL);
	patch("configmaps", "a", "blocker", "{'metadata':{'finalizers':['example.com/hold']}}");
	delete("configmaps", "a", "front", PROPAGATION_FOREGROUND);
	ok(eventually(says("configmaps", "a", "blocker", "deletionTimestamp")), "Foreground deletes the dependents");
	ok(there("configmaps", "a", "front"), "the owner waits for one that blocks");
	patch("configmaps", "a", "blocker", "{'metadata':{'finalizers':null}}");
	ok(eventually(!there("configmaps", "a", "front")), "then it goes");
	ok(!there("configmaps", "a", "blocker"), "after its dependent");
}

static void test_restart(void)
{
	char uid[64];

	config_map("a", "top", NULL, uid);
	for (int i = 0; i < 300; i++) {
		char name[32];
		snprintf(name, sizeof(name), "d%d", i);
		config_map("a", name, ref("top", uid, ""), NULL);
	}
	stop();
	delete("configmaps", "a", "top", PROPAGATION_DEFAULT);
	start();
	ok(eventually(!there("configmaps", "a", "d0") && !there("configmaps", "a", "d299")),
	   "dependents of an owner that went meanwhile go after a restart");
}

static void test_foreground_more(void)
{
	char uid[64], a[64], b[64], other[64], refs[512];

	config_map("a", "front", NULL, uid);
	config_map("a", "blocker", ref("front", uid, blocks), NULL);
	patch("configmaps", "a", "blocker", "{'metadata':{'finalizers':['example.com/hold']}}");
	delete("configmaps", "a", "front", PROPAGATION_FOREGROUND);
	eventually(says("configmaps", "a", "blocker", "deletionTimestamp"));
	patch("configmaps", "a", "blocker", "{'metadata':{'ownerReferences':null}}");
	ok(eventually(!there("configmaps", "a", "front")), "a removed reference blocks no more");
	patch("configmaps", "a", "blocker", "{'metadata':{'finalizers':null}}");

	config_map("a", "front", NULL, uid);
	config_map("a", "other", NULL, other);
	snprintf(refs, sizeof(refs), "%s,%s", ref("front", uid, blocks), ref("other", other, ""));
	config_map("a", "shared", refs, NULL);
	delete("configmaps", "a", "front", PROPAGATION_FOREGROUND);
	ok(eventually(!there("configmaps", "a", "front")), "a dependent with another owner does not block for ever");
	ok(there("configmaps", "a", "shared") && !says("configmaps", "a", "shared", uid), "it loses the reference and stays");

	config_map("a", "one", NULL, a);
	config_map("a", "two", ref("one", a, blocks), b);
	snprintf(refs, sizeof(refs), "{'metadata':{'ownerReferences':[%s]}}", ref("two", b, blocks));
	patch("configmaps", "a", "one", refs);
	delete("configmaps", "a", "one", PROPAGATION_FOREGROUND);
	ok(eventually(!there("configmaps", "a", "one") && !there("configmaps", "a", "two")), "owners of each other go");

	config_map("a", "self", NULL, a);
	snprintf(refs, sizeof(refs), "{'metadata':{'ownerReferences':[%s]}}", ref("self", a, blocks));
	patch("configmaps", "a", "self", refs);
	delete("configmaps", "a", "self", PROPAGATION_FOREGROUND);
	ok(eventually(!there("configmaps", "a", "self")), "an owner of itself goes");
}

static void test_changed_owner(void)
{
	char refs[512];

	config_map("a", "adopted", NULL, NULL);
	snprintf(refs, sizeof(refs), "{'metadata':{'ownerReferences':[%s]}}", ref("nobody", "3", ""));
	patch("configmaps", "a", "adopted", refs);
	ok(eventually(!there("configmaps", "a", "adopted")), "a reference to nobody that came by a patch counts");
}

static void test_namespace_pods(void)
{
	namespace("pods");
	create("pods", "pods",
	       "{'metadata':{'name':'p'},'spec':{'nodeName':'n','terminationGracePeriodSeconds':1,"
	       "'containers':[{'name':'c','image':'i'}]}}",
	       NULL);
	config_map("pods", "m", NULL, NULL);
	delete("namespaces", "", "pods", PROPAGATION_DEFAULT);
	ok(eventually(says("pods", "pods", "p", "deletionTimestamp")), "a pod on a node has its grace period");
	ok(there("configmaps", "pods", "m"), "while there are pods all else stays");
	ok(eventually(!there("namespaces", "", "pods")), "after it the namespace goes, kubelet or not");

	namespace("held");
	config_map("held", "m", NULL, NULL);
	patch("configmaps", "held", "m", "{'metadata':{'finalizers':['example.com/hold']}}");
	delete("namespaces", "", "held", PROPAGATION_DEFAULT);
	ok(eventually(says("namespaces", "", "held", "remaining: example.com/hold in 1 resource instances")),
	   "finalizers are counted by name");
	ok(says("namespaces", "", "held", "configmaps. has 1 resource instances"), "and resources by resource and group");
	patch("configmaps", "held", "m", "{'metadata':{'finalizers':null}}");
	ok(eventually(!there("namespaces", "", "held")), "the namespace goes");
}

static void fault(void *arg, const char *line)
{
	(void)arg;
	printf("# %s\n", line);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
	(void)info, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	struct store_options options = {.dir = dir};

	if (!mkdtemp(dir) || store_open(&options, &store, &st) < 0 || store_bootstrap(store, 6443, &st) < 0) {
		ok(false, "open a store: %s", st.message);
		return tap_done();
	}
	subscriber.wake = on_commit;
	store_subscribe(store, &subscriber);
	start();
	test_content();
	test_namespace_deletion();
	test_namespace_restart();
	test_background();
	test_absent();
	test_orphan();
	test_foreground();
	test_restart();
	test_foreground_more();
	test_changed_owner();
	test_namespace_pods();
	stop();
	control_stop(NULL);
	ok(store_check(store, fault, NULL, &st) == 0, "the store is sound");
	store_unsubscribe(store, &subscriber);
	store_close(store);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
