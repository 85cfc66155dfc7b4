/* SPDX-License-Identifier: Apache-2.0 */
/* The status that a new pod starts with. */
#include "store/change/prepare.h"
#include "store/kind/cells.h"
#include "store/kind/quantity.h"

/* What the resources of all containers add up to, for one resource. */
struct usage {
	bool any;       /* some container asks for it */
	bool all_equal; /* every container has a limit, and requests just that */
};

static bool is_positive(struct str text, struct quantity *ret)
{
	return quantity_parse(text, ret) && ret->nano > 0;
}

static void look_at(const struct tree *container, const char *resource, struct usage *u)
{
	const struct tree *resources = tree_getz(container, "resources");
	struct quantity request, limit;
	bool requested = is_positive(tree_gets(tree_getz(resources, "requests"), resource), &request);
	bool limited = is_positive(tree_gets(tree_getz(resources, "limits"), resource), &limit);

	u->any = u->any || requested || limited;
	u->all_equal = u->all_equal && limited && (!requested || quantity_cmp(&request, &limit) == 0);
}

/* Guaranteed, Burstable or BestEffort by cpu and memory of all containers (kube-apiserver's qos.ComputePodQOS). */
static struct str quality_of_service(const struct tree *spec)
{
	static const char *const lists[] = {"initContainers", "containers"};
	struct usage cpu = {.all_equal = true}, memory = {.all_equal = true};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const struct tree *list = tree_getz(spec, lists[i]);
		for (uint32_t j = 0; tree_is(list, TREE_ARRAY) && j < list->len; j++) {
			look_at(list->items[j], "cpu", &cpu);
			look_at(list->items[j], "memory", &memory);
		}
	}
	if (!cpu.any && !memory.any)
		return STR("BestEffort");
	return cpu.all_equal && memory.all_equal ? STR("Guaranteed") : STR("Burstable");
}

/* A pod with scheduling gates says that they hold it back. */
static bool add_gated(struct prepare *p, struct tree *status)
{
	struct tree *list = tree_array(p->arena), *condition = tree_object(p->arena);
	char now[20];

	time_format(p->now, now);
	struct str copy = arena_str(p->arena, str_n(now, sizeof(now)));
	return list && condition && copy.ptr && tree_sets(p->arena, condition, "type", STR("PodScheduled")) &&
	       tree_sets(p->arena, condition, "status", STR("False")) &&
	       tree_sets(p->arena, condition, "reason", STR("SchedulingGated")) &&
	       tree_sets(p->arena, condition, "message", STR("Scheduling is blocked due to non-empty scheduling gates")) &&
	       tree_sets(p->arena, condition, "lastTransitionTime", copy) && tree_append(p->arena, list, condition) &&
	       tree_setz(p->arena, status, "conditions", list);
}

bool pod_status_new(struct prepare *p)
{
	const struct tree *spec = tree_getz(p->next, "spec");
	struct tree *status = tree_object(p->arena);

	if (!status || !tree_setz(p->arena, p->next, "status", status) ||
	    !tree_sets(p->arena, status, "phase", STR("Pending")) ||
	    !tree_sets(p->arena, status, "qosClass", quality_of_service(spec)))
		return false;
	return tree_is_empty(tree_getz(spec, "schedulingGates")) || add_gated(p, status);
}
