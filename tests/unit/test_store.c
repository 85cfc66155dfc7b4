/* SPDX-License-Identifier: Apache-2.0 */
/* The store from the outside: writes, conflicts, lists at old revisions, the feed, compaction, restart. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/db/feed.h"
#include "store/db/owners.h"
#include "store/store.h"
#include "tests/unit/tap.h"

static char dir[] = "/tmp/holdfs-test-store-XXXXXX";
static struct status st;

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
	(void)info, (void)type, (void)ftw;
	return remove(path);
}

static struct store *reopen(struct store *s)
{
	struct store_options options = {.dir = dir};
	struct store *next = NULL;

	store_close(s);
	ok(store_open(&options, &next, &st) == 0, "open the store: %s", st.message);
	return next;
}

static const struct kind *kind(struct store *s, const char *group, const char *plural)
{
	return kinds_find(store_kinds(s), str_of(group), STR("v1"), str_of(plural));
}

/* One write of a ConfigMap in namespace default; returns its revision, 0 when it failed. */
static uint64_t put(struct store *s, enum write_verb verb, const char *name, const char *value, const char *version)
{
	char body[512];
	struct write *w;
	struct write_request req = {
		.kind = kind(s, "", "configmaps"),
		.verb = verb,
		.ns = STR("default"),
		.name = verb == WRITE_CREATE ? STR("") : str_of(name),
		.grace = -1,
	};

	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"v\":\"%s\"}%s%s%s},\"data\":{\"k\":\"%s\"}}", name, value,
		 version ? ",\"resourceVersion\":\"" : "", version ? version : "", version ? "\"" : "", value);
	if (verb != WRITE_DELETE)
		req.body = str_of(body);
	int err = write_run(s, &req, &w, &st);
	uint64_t revision = err ? 0 : write_result(w)->revision;
	write_free(w);
	return revision;
}

/* The names and values of the ConfigMaps in default at a revision: "a=1 b=2 ". */
static const char *listing(struct store *s, uint64_t at, const struct selector *labels)
{
	static char text[4096];
	struct arena a;
	struct list *list = NULL;
	struct object o;
	struct read *r;
	struct list_query q = {.kind = kind(s, "", "configmaps"), .ns = STR("default"), .at = at, .labels = labels};

	text[0] = '\0';
	if (read_begin(s, &r, &st) < 0)
		return "no snapshot";
	arena_init(&a, 0);
	int rc = list_begin(r, &a, &q, &list, &st);
	while (!rc && (rc = list_next(list, &o, &st)) == 1) {
		rc = 0;
		const char *v = memmem(o.json.ptr, o.json.len, "\"k\":\"", 5);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s=%c ", STR_ARG(o.name), v ? v[5] : '?');
	}
	list_end(list);
	read_end(r);
	arena_done(&a);
	return rc < 0 ? st.message : text;
}

static bool same(const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		printf("# got '%s', want '%s'\n", got, want);
	return strcmp(got, want) == 0;
}

static void print_fault(void *arg, const char *line)
{
	(void)arg;
	printf("# %s\n", line);
}

static void check_sound(struct store *s, const char *when)
{
	ok(store_check(s, print_fault, NULL, &st) == 0, "the store is sound %s", when);
}

static void test_writes(struct store *s)
{
	char digits[24];
	uint64_t a = put(s, WRITE_CREATE, "a", "1", NULL);

	ok(a > 0, "create: gets a revision (%s)", st.message);
	ok(!put(s, WRITE_CREATE, "a", "1", NULL) && st.reason == REASON_ALREADY_EXISTS, "create twice: AlreadyExists");
	ok(put(s, WRITE_UPDATE, "a", "1", NULL) == a, "update with the same text: no new revision");
	uint64_t b = put(s, WRITE_UPDATE, "a", "2", NULL);
	ok(b > a, "update: a larger revision");
	snprintf(digits, sizeof(digits), "%ju", (uintmax_t)a);
	ok(!put(s, WRITE_UPDATE, "a", "3", digits) && st.reason == REASON_CONFLICT, "update of a stale version: Conflict");
	ok(!put(s, WRITE_UPDATE, "none", "3", NULL) && st.reason == REASON_NOT_FOUND, "update of nothing: NotFound");
	ok(!put(s, WRITE_CREATE, "Bad_Name", "3", NULL) && st.reason == REASON_INVALID, "create with a bad name: Invalid");
	ok(put(s, WRITE_DELETE, "a", "", NULL) > b, "delete: a larger revision still");
	ok(!put(s, WRITE_DELETE, "a", "", NULL) && st.reason == REASON_NOT_FOUND, "delete twice: NotFound");
}

/* Events after a revision as text: "+a ~a -a ". */
static const char *events(struct store *s, uint64_t after)
{
	static char text[1024];
	struct read *r;
	struct event e;
	int rc;

	text[0] = '\0';
	if (read_begin(s, &r, &st) < 0)
		return "no snapshot";
	while ((rc = feed_next(r, after, &e, &st)) == 1) {
		after = e.revision;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c%.*s ", "+~-"[e.type],
			 STR_ARG(e.object.name));
	}
	read_end(r);
	return rc < 0 ? "gone" : text;
}

static void test_history(struct store **sp)
{
	struct store *s = *sp;
	uint64_t r0 = store_revision(s);
	uint64_t r1 = put(s, WRITE_CREATE, "x", "1", NULL), r2 = put(s, WRITE_CREATE, "y", "1", NULL);
	uint64_t r3 = put(s, WRITE_UPDATE, "x", "2", NULL), r4 = put(s, WRITE_DELETE, "y", "", NULL);
	uint64_t r5 = put(s, WRITE_CREATE, "y", "5", NULL), r6 = put(s, WRITE_UPDATE, "x", "6", NULL);

	ok(same(events(s, r0), "+x +y ~x -y +y ~x "), "feed: every change once, in order");
	for (int round = 0; round < 2; round++) {
		const char *when = round ? "after a restart" : "before a restart";
		ok(same(listing(s, 0, NULL), "x=6 y=5 "), "list %s: the newest state", when);
		ok(same(listing(s, r0, NULL), ""), "list before the first: empty, %s", when);
		ok(same(listing(s, r1, NULL), "x=1 "), "list at r1 %s", when);
		ok(same(listing(s, r2, NULL), "x=1 y=1 "), "list at r2 %s", when);
		ok(same(listing(s, r3, NULL), "x=2 y=1 "), "list at r3 %s", when);
		ok(same(listing(s, r4, NULL), "x=2 "), "list at r4 %s", when);
		ok(same(listing(s, r5, NULL), "x=2 y=5 "), "list at r5 %s", when);
		s = reopen(s);
		ok(store_revision(s) == r6, "revision survives");
	}
	ok(db_compact_to(s, r4, &st) == 0, "compact to r4");
	ok(same(events(s, r3), "gone"), "feed below the compaction point: Expired");
	ok(same(events(s, r4), "+y ~x "), "feed from the compaction point on: complete");
	ok(same(listing(s, r4, NULL), "x=2 "), "list at the compaction point: the state is still known");
	ok(same(listing(s, r5, NULL), "x=2 y=5 "), "list at r5 after compaction");
	ok(strstr(listing(s, r3, NULL), "too old") != NULL, "list below it: Expired");
	check_sound(s, "after compaction");
	put(s, WRITE_UPDATE, "y", "7", NULL);
	ok(db_compact_to(s, store_revision(s), &st) == 0, "compact everything");
	r6 = store_revision(s);
	put(s, WRITE_UPDATE, "x", "8", NULL);
	ok(same(listing(s, r6, NULL), "x=6 y=7 "), "list at a revision whose state is older than the feed");
	check_sound(s, "after a full compaction");
	*sp = s;
}

static void test_selector(struct store *s)
{
	struct arena a;
	struct selector *labels;

	arena_init(&a, 0);
	ok(selector_parse_labels(&a, STR("v in (7)"), &labels, &st) == 0, "parse a selector");
	ok(same(listing(s, 0, labels), "y=7 "), "list by label: only what matches");
	arena_done(&a);
}

static void test_service(struct store *s)
{
	static const char *const bodies[] = {
		"{\"metadata\":{\"name\":\"one\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}}",
		"{\"metadata\":{\"name\":\"two\"},\"spec\":{\"clusterIP\":\"10.96.0.1\",\"ports\":[{\"port\":80}]}}",
	};
	struct write_request req = {.kind = kind(s, "", "services"), .verb = WRITE_CREATE, .ns = STR("default"),
				    .body = str_of(bodies[0]), .grace = -1};
	struct write *w;

	ok(write_run(s, &req, &w, &st) == 0, "create a NodePort service: %s", st.message);
	struct str text = write_result(w)->object;
	ok(memmem(text.ptr, text.len, "\"clusterIP\":\"10.", 16) != NULL, "it gets an address");
	ok(memmem(text.ptr, text.len, "\"nodePort\":3", 12) != NULL, "and a node port");
	write_free(w);
	req.body = str_of(bodies[1]);
	ok(write_run(s, &req, &w, &st) < 0 && st.reason == REASON_INVALID && strstr(st.message, "already allocated"),
	   "an address that is taken: Invalid (%s)", st.message);
	write_free(w);
}

int main(void)
{
	struct store *s = NULL;

	if (!mkdtemp(dir))
		return 1;
	s = reopen(s);
	ok(store_bootstrap(s, 6443, &st) == 0, "bootstrap: %s", st.message);
	test_writes(s);
	test_history(&s);
	test_selector(s);
	test_service(s);
	check_sound(s, "at the end");
	store_close(s);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
