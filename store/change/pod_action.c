/* SPDX-License-Identifier: Apache-2.0 */
/* POSTs to a pod's subresources that are orders, not objects: binding and eviction. */
#include "store/change/prepare.h"
#include "store/kind/cells.h"

static int parse_order(struct prepare *p, const char *kind, struct tree **ret, struct status *st)
{
	int err = tree_parse(p->arena, p->req->body, ret, NULL, st);
	struct str got = tree_gets(err ? NULL : *ret, "kind");

	if (!err && got.len && !str_is(got, kind))
		err = status_set(st, REASON_BAD_REQUEST,
				 "the kind in the data (%.*s) does not match the expected kind (%s)", STR_ARG(got), kind);
	if (!err)
		err = prepare_current(p, st);
	return !err && !p->exists ? prepare_not_found(p, st) : err;
}

/* The condition that a scheduler's binding brings with it. */
static bool set_scheduled(struct prepare *p, struct tree *object)
{
	struct tree *status = tree_ensure(p->arena, object, STR("status"));
	struct tree *list = tree_getz(status, "conditions"), *condition = tree_object(p->arena);
	char now[20];

	time_format(p->now, now);
	if (!status || !condition)
		return false;
	if (!tree_is(list, TREE_ARRAY)) {
		list = tree_array(p->arena);
		if (!list || !tree_setz(p->arena, status, "conditions", list))
			return false;
	}
	struct str copy = arena_str(p->arena, str_n(now, sizeof(now)));
	for (uint32_t i = list->len; i-- > 0;)
		if (str_is(tree_gets(list->items[i], "type"), "PodScheduled"))
			tree_delete_at(list, i);
	return copy.ptr && tree_sets(p->arena, condition, "type", STR("PodScheduled")) &&
	       tree_sets(p->arena, condition, "status", STR("True")) &&
	       tree_sets(p->arena, condition, "lastTransitionTime", copy) && tree_append(p->arena, list, condition);
}

static int bind_pod(struct prepare *p, struct status *st)
{
	struct tree *order, *object;
	int err = parse_order(p, "Binding", &order, st);

	if (err)
		return err;
	struct str node = tree_gets(tree_getz(order, "target"), "name");
	struct str bound = tree_gets(tree_getz(p->old, "spec"), "nodeName");
	if (!node.len) {
		status_cause(st, CAUSE_REQUIRED, "target.name", "%s", "");
		return status_invalid(st, STR(""), STR("Binding"), p->name);
	}
	if (bound.len)
		return status_conflict(st, STR(""), STR("pods/binding"), p->name,
				       "the pod is already assigned to a node");
	object = tree_copy(p->arena, p->old);
	struct tree *spec = object ? tree_ensure(p->arena, object, STR("spec")) : NULL;
	if (!spec || !tree_sets(p->arena, spec, "nodeName", node) || !set_scheduled(p, object))
		return status_no_memory(st);
	return admit_update(p, object, st);
}

static int evict_pod(struct prepare *p, struct status *st)
{
	struct tree *order;
	bool unchanged;
	int err = parse_order(p, "Eviction", &order, st);

	return err ? err : delete_object(p, &unchanged, st);
}

static const struct {
	const char *name;
	int (*run)(struct prepare *p, struct status *st);
} actions[] = {
	{"binding", bind_pod},
	{"eviction", evict_pod},
};

bool pod_action_is(struct str subresource)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (str_is(subresource, actions[i].name))
			return true;
	return false;
}

int pod_action(struct prepare *p, struct status *st)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (str_is(p->req->subresource, actions[i].name))
			return actions[i].run(p, st);
	return status_set(st, REASON_METHOD_NOT_ALLOWED, "create is not supported on resources of kind \"%.*s/%.*s\"",
			  STR_ARG(p->kind->plural), STR_ARG(p->req->subresource));
}

struct tree *pod_action_reply(struct arena *a)
{
	struct tree *t = tree_object(a), *metadata = tree_object(a), *code = tree_int(a, 201);
	bool good = t && metadata && code && tree_sets(a, t, "apiVersion", STR("v1")) &&
		    tree_sets(a, t, "kind", STR("Status")) && tree_setz(a, t, "metadata", metadata) &&
		    tree_sets(a, t, "status", STR("Success")) && tree_setz(a, t, "code", code);

	return good ? t : NULL;
}
