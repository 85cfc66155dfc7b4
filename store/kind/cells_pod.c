/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules of Pod: what its containers' states add up to. */
#include <stdlib.h>

#include "store/kind/cells_private.h"

/* Restarts of some containers and when the latest one of them ended. */
struct restarts {
	int64_t count;
	int64_t latest;
	bool has_latest;
};

/* Why a pod is as it is: `prefix` and `text`, or numbers around a text that is fixed. */
struct pod_reason {
	const char *prefix;  /* "Init:" or "" */
	struct str text;
	const char *label;   /* "Signal:" or "ExitCode:" before number; NULL when text is it */
	int64_t number;
	int64_t total;       /* "/N" behind the number when not negative */
};

/* One walk over the container statuses gives three cells. */
struct pod {
	struct pod_reason reason;
	struct pod_reason error;  /* of a container that ended badly; valid when has_error */
	bool has_error, has_running, initializing;
	int64_t ready, total;
	struct restarts restarts;
	struct restarts restartable; /* of the init containers that keep running (sidecars) */
	struct cell_list sidecars;   /* their names, sorted */
};

static struct pod_reason reason_text(struct str text)
{
	return (struct pod_reason){.prefix = "", .text = text, .total = -1};
}

static struct pod_reason reason_terminated(const char *prefix, const struct tree *terminated)
{
	int64_t signal = cell_i64(tree_getz(terminated, "signal"));
	struct pod_reason r = {.prefix = prefix, .text = tree_gets(terminated, "reason"), .total = -1};

	if (r.text.len)
		return r;
	r.label = signal ? "Signal:" : "ExitCode:";
	r.number = signal ? signal : cell_i64(tree_getz(terminated, "exitCode"));
	return r;
}

static void reason_write(struct cells *c, const struct pod_reason *r)
{
	cell_begin(c);
	cell_addz(c, r->prefix);
	if (!r->label) {
		cell_add(c, r->text);
	} else {
		cell_addz(c, r->label);
		cell_add_int(c, r->number);
	}
	if (r->total >= 0) {
		cell_addz(c, "/");
		cell_add_int(c, r->total);
	}
	cell_end(c);
}

static const struct tree *state_of(const struct tree *status, const char *state)
{
	const struct tree *t = tree_getz(tree_getz(status, "state"), state);

	return tree_is(t, TREE_OBJECT) ? t : NULL;
}

static void restarts_add(struct restarts *r, const struct tree *status)
{
	const struct tree *last = tree_path(status, "lastState.terminated.finishedAt");
	int64_t time;

	if (__builtin_add_overflow(r->count, cell_i64(tree_getz(status, "restartCount")), &r->count))
		r->count = INT64_MAX;
	if (cell_time(last, &time) && (!r->has_latest || time > r->latest)) {
		r->latest = time;
		r->has_latest = true;
	}
}

static void sidecars_find(struct cells *c, struct pod *p)
{
	const struct tree *containers = tree_path(c->object, "spec.initContainers");

	for (uint32_t i = 0; i < cell_items(containers); i++)
		if (str_is(tree_gets(containers->items[i], "restartPolicy"), "Always"))
			list_add(c, &p->sidecars, tree_gets(containers->items[i], "name"));
	p->total = (int64_t)cell_items(tree_path(c->object, "spec.containers")) + p->sidecars.len;
	list_sort(&p->sidecars);
}

/* Looks at init container number i; false when the pod stands there. */
static bool init_passed(const struct cells *c, struct pod *p, const struct tree *status, uint32_t i, bool sidecar)
{
	const struct tree *terminated = state_of(status, "terminated");
	struct str waiting = tree_gets(state_of(status, "waiting"), "reason");

	if (terminated && cell_i64(tree_getz(terminated, "exitCode")) == 0)
		return true;
	if (sidecar && tree_is_true(tree_getz(status, "started"))) {
		p->ready += tree_is_true(tree_getz(status, "ready"));
		return true;
	}
	if (terminated)
		p->reason = reason_terminated("Init:", terminated);
	else if (waiting.len && !str_is(waiting, "PodInitializing"))
		p->reason = (struct pod_reason){.prefix = "Init:", .text = waiting, .total = -1};
	else
		p->reason = (struct pod_reason){.prefix = "Init:", .label = "", .number = i,
					    .total = cell_items(tree_path(c->object, "spec.initContainers"))};
	return false;
}

static void walk_init(const struct cells *c, struct pod *p)
{
	const struct tree *statuses = tree_path(c->object, "status.initContainerStatuses");

	for (uint32_t i = 0; i < cell_items(statuses) && !p->initializing; i++) {
		const struct tree *status = statuses->items[i];
		bool sidecar = list_has(&p->sidecars, tree_gets(status, "name"));
		restarts_add(&p->restarts, status);
		if (sidecar)
			restarts_add(&p->restartable, status);
		p->initializing = !init_passed(c, p, status, i, sidecar);
	}
}

static void see_container(struct pod *p, const struct tree *status)
{
	const struct tree *terminated = state_of(status, "terminated");
	struct str waiting = tree_gets(state_of(status, "waiting"), "reason");

	restarts_add(&p->restarts, status);
	if (waiting.len) {
		p->reason = reason_text(waiting);
	} else if (terminated) {
		p->reason = reason_terminated("", terminated);
		if (cell_i64(tree_getz(terminated, "exitCode")) != 0) {
			p->error = p->reason;
			p->has_error = true;
		}
	} else if (tree_is_true(tree_getz(status, "ready")) && state_of(status, "running")) {
		p->has_running = true;
		p->ready++;
	}
}

static bool is_ready(const struct tree *conditions)
{
	for (uint32_t i = 0; i < cell_items(conditions); i++)
		if (str_is(tree_gets(conditions->items[i], "type"), "Ready") &&
		    str_is(tree_gets(conditions->items[i], "status"), "True"))
			return true;
	return false;
}

static void walk_containers(const struct cells *c, struct pod *p)
{
	const struct tree *statuses = tree_path(c->object, "status.containerStatuses");

	p->restarts = p->restartable;
	/* Backward, so that the first container has the last word. */
	for (uint32_t i = cell_items(statuses); i-- > 0;)
		see_container(p, statuses->items[i]);
	if (p->reason.label || !str_is(p->reason.text, "Completed"))
		return;
	if (p->has_running && is_ready(tree_path(c->object, "status.conditions")))
		p->reason = reason_text(STR("Running"));
	else if (p->has_error)
		p->reason = p->error;
	else if (p->has_running)
		p->reason = reason_text(STR("NotReady"));
}

static bool is_gated(const struct tree *conditions)
{
	for (uint32_t i = 0; i < cell_items(conditions); i++)
		if (str_is(tree_gets(conditions->items[i], "type"), "PodScheduled") &&
		    str_is(tree_gets(conditions->items[i], "reason"), "SchedulingGated"))
			return true;
	return false;
}

static bool is_finished(struct str phase)
{
	return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static void pod_walk(struct cells *c, struct pod *p)
{
	const struct tree *status = tree_getz(c->object, "status"), *conditions = tree_getz(status, "conditions");
	struct str phase = tree_gets(status, "phase"), reason = tree_gets(status, "reason");

	p->reason = reason_text(reason.len ? reason : phase);
	if (is_gated(conditions))
		p->reason = reason_text(STR("SchedulingGated"));
	sidecars_find(c, p);
	walk_init(c, p);
	if (!p->initializing || cell_is_true(conditions, "Initialized"))
		walk_containers(c, p);
	if (!cell_is_deleted(c))
		return;
	if (str_is(reason, "NodeLost"))
		p->reason = reason_text(STR("Unknown"));
	else if (!is_finished(phase))
		p->reason = reason_text(STR("Terminating"));
}

/* The walk is done for the first cell that needs it. NULL when out of memory. */
static const struct pod *pod_of(struct cells *c)
{
	if (c->pod)
		return c->pod;
	struct pod *p = arena_calloc(c->arena, 1, sizeof(*p));
	if (!p) {
		c->failed = true;
		return NULL;
	}
	pod_walk(c, p);
	c->pod = p;
	return p;
}

void rule_pod_ready(struct cells *c)
{
	const struct pod *p = pod_of(c);

	if (!p)
		return;
	cell_begin(c);
	cell_add_int(c, p->ready);
	cell_addz(c, "/");
	cell_add_int(c, p->total);
	cell_end(c);
}

static const char *row_conditions(struct str phase)
{
	if (str_is(phase, "Succeeded"))
		return "[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"Succeeded\","
		       "\"message\":\"The pod has completed successfully.\"}]";
	if (str_is(phase, "Failed"))
		return "[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"Failed\","
		       "\"message\":\"The pod failed.\"}]";
	return NULL;
}

void rule_pod_status(struct cells *c)
{
	const struct pod *p = pod_of(c);

	if (!p)
		return;
	reason_write(c, &p->reason);
	c->conditions = row_conditions(tree_text(tree_path(c->object, "status.phase")));
}

void rule_pod_restarts(struct cells *c)
{
	const struct pod *p = pod_of(c);

	if (!p)
		return;
	cell_begin(c);
	cell_add_int(c, p->restarts.count);
	if (p->restarts.count && p->restarts.has_latest) {
		cell_addz(c, " (");
		cell_add_age(c, p->restarts.latest);
		cell_addz(c, " ago)");
	}
	cell_end(c);
}

/* Conditions by type; those of one type in the order of the object, which is that of their slots. */
static int condition_order(const void *pa, const void *pb)
{
	struct tree **a = *(struct tree ***)pa, **b = *(struct tree ***)pb;
	int order = str_cmp(tree_gets(*a, "type"), tree_gets(*b, "type"));

	return order ? order : (a > b) - (a < b);
}

/* The types whose first condition is true, sorted. Sorting first keeps gates times conditions out of our time. */
static struct cell_list true_types(struct cells *c, const struct tree *conditions)
{
	uint32_t n = cell_items(conditions);
	struct cell_list list = {0};
	struct tree ***slots = arena_calloc(c->arena, (size_t)n + 1, sizeof(*slots));

	if (!slots) {
		c->failed = true;
		return list;
	}
	for (uint32_t i = 0; i < n; i++)
		slots[i] = &conditions->items[i];
	qsort(slots, n, sizeof(*slots), condition_order);
	for (uint32_t i = 0; i < n; i++) {
		struct str type = tree_gets(*slots[i], "type");
		bool first = i == 0 || !str_eq(type, tree_gets(*slots[i - 1], "type"));
		if (first && str_is(tree_gets(*slots[i], "status"), "True"))
			list_add(c, &list, type);
	}
	return list;
}

void rule_pod_gates(struct cells *c)
{
	const struct tree *gates = cell_place(c);
	struct cell_list passed = {0};
	int64_t n = 0;

	if (cell_items(gates) == 0) {
		cell_textz(c, "<none>");
		return;
	}
	passed = true_types(c, tree_path(c->object, "status.conditions"));
	for (uint32_t i = 0; i < gates->len; i++)
		n += list_has(&passed, tree_gets(gates->items[i], "conditionType"));
	cell_begin(c);
	cell_add_int(c, n);
	cell_addz(c, "/");
	cell_add_int(c, gates->len);
	cell_end(c);
}
