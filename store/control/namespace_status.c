/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of a namespace being deleted (bootstrap.json `namespaceConditions`). */
#include "store/control/namespace_status.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { CONDITIONS = 5 };

struct condition {
	const char *type, *status, *reason;
	char message[1200];
};

void remaining_add(struct remaining *left, const struct kind *k, uint64_t n)
{
	size_t at = strlen(left->text);

	snprintf(left->text + at, sizeof(left->text) - at, "%s%.*s has %ju resource instances", left->kinds ? ", " : "",
		 STR_ARG(k->dir), (uintmax_t)n);
	left->kinds++;
	left->pods = left->pods || str_is(k->dir, "pods");
}

static void describe(const struct remaining *left, struct condition out[CONDITIONS])
{
	static const struct condition good[CONDITIONS] = {
		{"NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
		 "All resources successfully discovered"},
		{"NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
		 "All legacy kube types successfully parsed"},
		{"NamespaceDeletionContentFailure", "False", "ContentDeleted",
		 "All content successfully deleted, may be waiting on finalization"},
		{"NamespaceContentRemaining", "True", "SomeResourcesRemain", ""},
		{"NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers",
		 "All content-preserving finalizers finished"},
	};

	memcpy(out, good, sizeof(good));
	snprintf(out[3].message, sizeof(out[3].message), "Some resources are remaining: %s", left->text);
	if (!left->held)
		return;
	out[4].status = "True";
	out[4].reason = "SomeFinalizersRemain";
	snprintf(out[4].message, sizeof(out[4].message),
		 "Some content in the namespace has finalizers remaining: %u objects", left->held);
}

/* Is this condition there as it should be? */
static bool is_told(const struct tree *list, const struct condition *want)
{
	for (uint32_t i = 0; tree_is(list, TREE_ARRAY) && i < list->len; i++) {
		const struct tree *has = list->items[i];
		if (str_is(tree_gets(has, "type"), want->type))
			return str_is(tree_gets(has, "status"), want->status) &&
			       str_is(tree_gets(has, "message"), want->message);
	}
	return false;
}

static bool all_told(const struct tree *object, const struct condition conditions[CONDITIONS])
{
	const struct tree *list = tree_path(object, "status.conditions");

	for (size_t i = 0; i < CONDITIONS; i++)
		if (!is_told(list, &conditions[i]))
			return false;
	return true;
}

static void add_patch(const struct condition conditions[CONDITIONS], struct buf *out)
{
	char now[20];

	time_format(time(NULL), now);
	buf_adds(out, "{\"status\":{\"conditions\":[");
	for (size_t i = 0; i < CONDITIONS; i++) {
		buf_addf(out, "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\",\"lastTransitionTime\":\"%.20s\",",
			 i ? "," : "", conditions[i].type, conditions[i].status, conditions[i].reason, now);
		buf_adds(out, "\"message\":");
		buf_add_json(out, str_of(conditions[i].message));
		buf_addc(out, '}');
	}
	buf_adds(out, "]}}");
}

int namespace_tell(struct control *c, struct str ns, const struct remaining *left, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};
	struct condition conditions[CONDITIONS];
	struct arena a;
	struct object o;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	describe(left, conditions);
	arena_init(&a, 0);
	err = read_get(r, c->namespaces, (struct str){0}, ns, &o, st);
	bool told = err || all_told(object_tree(&a, c->namespaces, &o), conditions);
	read_end(r);
	arena_done(&a);
	if (told)
		return err == -ENOENT ? 0 : err;
	add_patch(conditions, &body);
	if (body.failed)
		return status_no_memory(st);
	err = control_write(c,
			    &(struct write_request){.kind = c->namespaces,
						    .verb = WRITE_PATCH,
						    .patch = PATCH_TYPE_MERGE,
						    .name = ns,
						    .subresource = STR("status"),
						    .body = buf_str(&body)},
			    st);
	return err == -ENOENT ? 0 : err;
}
