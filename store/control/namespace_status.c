/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of a namespace that is being deleted (bootstrap.json namespaceConditions). */
#include "store/control/namespace_status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum condition { DISCOVERY, PARSING, DELETION, CONTENT, FINALIZERS, CONDITIONS };

static const struct condition_row {
	const char *type;
	const char *good_reason, *good_message;
	const char *bad_reason;
} rows[CONDITIONS] = {
	[DISCOVERY] = {"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
		       "All resources successfully discovered", "DiscoveryFailed"},
	[PARSING] = {"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
		     "All legacy kube types successfully parsed", "GroupVersionParsingFailed"},
	[DELETION] = {"NamespaceDeletionContentFailure", "ContentDeleted",
		      "All content successfully deleted, may be waiting on finalization", "ContentDeletionFailed"},
	[CONTENT] = {"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
		     "SomeResourcesRemain"},
	[FINALIZERS] = {"NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
			"All content-preserving finalizers finished", "SomeFinalizersRemain"},
};

/* What is left in the namespace, as the conditions put it. */
struct report {
	struct buf bad[CONDITIONS]; /* messages; empty: all is well */
};

static void report_done(struct report *p)
{
	for (size_t i = 0; i < CONDITIONS; i++)
		buf_done(&p->bad[i]);
}

static void report_add(struct report *p, enum condition which, const char *head, struct str name, const char *between,
		       uint64_t n)
{
	struct buf *b = &p->bad[which];

	buf_adds(b, b->len ? ", " : head);
	buf_add_str(b, name);
	buf_adds(b, between);
	buf_add_u64(b, n);
	buf_adds(b, " resource instances");
}

/* Adds the finalizers of o to tally, an object of counts. */
static bool tally_object(struct arena *a, struct tree *tally, const struct object *o)
{
	struct tree *metadata;
	struct status st;

	if (!(o->flags & RECORD_FINALIZERS))
		return true;
	if (tree_parse(a, o->metadata, &metadata, NULL, &st) < 0)
		return false;
	const struct tree *list = tree_getz(metadata, "finalizers");
	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++) {
		struct str name = tree_text(list->items[i]);
		int64_t n = 0;
		tree_i64(tree_get(tally, name), &n);
		if (!tree_set(a, tally, name, tree_int(a, n + 1)))
			return false;
	}
	return true;
}

static int tally_kind(struct read *r, const struct kind *k, struct str ns, struct arena *a, struct tree *tally,
		      struct status *st)
{
	struct list_query q = {.kind = k, .ns = ns};
	struct list *list = NULL;
	struct object o;
	int err = list_begin(r, a, &q, &list, st);

	while (!err && (err = list_next(list, &o, st)) == 1)
		err = tally_object(a, tally, &o) ? 0 : status_no_memory(st);
	list_end(list);
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct kind *const *x = a, *const *y = b;
	int c = str_cmp((*x)->plural, (*y)->plural);

	return c ? c : str_cmp((*x)->group, (*y)->group);
}

/* The kinds that ns has objects of, by name. *ret is in a. */
static size_t kinds_left(struct control *c, struct read *r, struct str ns, struct arena *a, const struct kind ***ret)
{
	size_t n, left = 0;
	const struct kind *const *all = kinds_all(store_kinds(c->store), &n);
	const struct kind **kinds = arena_calloc(a, n + 1, sizeof(struct kind *));

	for (size_t i = 0; kinds && i < n; i++)
		if (control_is_content(all[i]) && read_count(r, all[i], ns))
			kinds[left++] = all[i];
	if (left)
		qsort(kinds, left, sizeof(struct kind *), by_name);
	*ret = kinds;
	return left;
}

static int survey(struct control *c, struct read *r, struct str ns, struct arena *a, struct report *p, struct status *st)
{
	const struct kind **kinds;
	size_t n = kinds_left(c, r, ns, a, &kinds);
	struct tree *tally = tree_object(a);
	int err = kinds && tally ? 0 : status_no_memory(st);

	for (size_t i = 0; i < n && !err; i++) {
		char name[320];
		int len = snprintf(name, sizeof(name), "%.*s.%.*s", STR_ARG(kinds[i]->plural), STR_ARG(kinds[i]->group));
		report_add(p, CONTENT, "Some resources are remaining: ", str_n(name, (size_t)len), " has ",
			   read_count(r, kinds[i], ns));
		err = tally_kind(r, kinds[i], ns, a, tally, st);
	}
	for (uint32_t i = 0; !err && i < tally->len; i++) {
		int64_t times = 0;
		tree_i64(tally->members[i].value, &times);
		report_add(p, FINALIZERS, "Some content in the namespace has finalizers remaining: ",
			   tally->members[i].key, " in ", (uint64_t)times);
	}
	return err;
}

static struct tree *find_condition(const struct tree *list, const char *type)
{
	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++)
		if (str_is(tree_gets(list->items[i], "type"), type))
			return list->items[i];
	return NULL;
}

/* Makes one condition say what the report does; *changed when it did not. */
static bool set_condition(struct arena *a, struct tree *list, const struct condition_row *row, const struct buf *bad,
			  struct str now, bool *changed)
{
	const char *status = bad->len ? "True" : "False", *reason = bad->len ? row->bad_reason : row->good_reason;
	struct str message = bad->len ? arena_str(a, buf_str(bad)) : str_of(row->good_message);
	struct tree *condition = find_condition(list, row->type);

	if (!condition) {
		condition = tree_object(a);
		if (!tree_sets(a, condition, "type", str_of(row->type)) || !tree_append(a, list, condition))
			return false;
	}
	bool turned = !str_is(tree_gets(condition, "status"), status);
	if (!turned && str_is(tree_gets(condition, "reason"), reason) &&
	    str_eq(tree_gets(condition, "message"), message))
		return true;
	*changed = true;
	return message.ptr && (!turned || tree_sets(a, condition, "lastTransitionTime", now)) &&
	       tree_sets(a, condition, "status", str_of(status)) &&
	       tree_sets(a, condition, "reason", str_of(reason)) && tree_sets(a, condition, "message", message);
}

/* The list of conditions as it should be; NULL in *ret when it is so already. */
static int compose(struct arena *a, const struct object *o, const struct report *p, const struct kind *namespaces,
		   struct tree **ret, struct status *st)
{
	struct tree *object = object_tree(a, namespaces, o), *list = tree_path(object, "status.conditions");
	bool changed = false, good = object != NULL, had = find_condition(list, rows[CONTENT].type);
	char *now = arena_alloc(a, 20);

	*ret = NULL;
	if (!good || !now)
		return status_no_memory(st);
	time_format(time(NULL), now);
	if (!had && !p->bad[CONTENT].len && !p->bad[DELETION].len)
		return 0;
	if (!tree_is(list, TREE_ARRAY))
		list = tree_array(a);
	for (size_t i = 0; good && i < CONDITIONS; i++)
		good = !p->bad[i].failed && set_condition(a, list, &rows[i], &p->bad[i], str_n(now, 20), &changed);
	if (!good)
		return status_no_memory(st);
	*ret = changed ? list : NULL;
	return 0;
}

static int write_conditions(struct control *c, struct str ns, const struct tree *list, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};

	buf_adds(&body, "{\"status\":{\"conditions\":");
	tree_write(list, &body);
	buf_adds(&body, "}}");
	if (body.failed)
		return status_no_memory(st);
	int err = control_write(c,
				&(struct write_request){.kind = c->namespaces,
							.verb = WRITE_PATCH,
							.patch = PATCH_TYPE_MERGE,
							.name = ns,
							.subresource = STR("status"),
							.body = buf_str(&body)},
				st);
	return err == -ENOENT ? 0 : err;
}

/* Reads what there is to say; *ret as compose's. */
static int read_report(struct control *c, struct str ns, struct arena *a, struct report *p, struct tree **ret,
		       struct status *st)
{
	struct object o;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	*ret = NULL;
	err = read_get(r, c->namespaces, (struct str){0}, ns, &o, st);
	if (!err && (o.flags & RECORD_TERMINATING)) {
		err = survey(c, r, ns, a, p, st);
		err = err ? err : compose(a, &o, p, c->namespaces, ret, st);
	}
	read_end(r);
	return err == -ENOENT ? 0 : err;
}

int namespace_tell(struct control *c, struct str ns, const struct status *failure, struct status *st)
{
	_cleanup_(report_done) struct report report = {0};
	struct tree *list;
	struct arena a;

	if (failure)
		buf_addf(&report.bad[DELETION], "Failed to delete all resource types, 1 remaining: %s", failure->message);
	arena_init(&a, 0);
	int err = read_report(c, ns, &a, &report, &list, st);
	if (!err && list)
		err = write_conditions(c, ns, list, st);
	arena_done(&a);
	return err;
}
