/* SPDX-License-Identifier: Apache-2.0 */
/* DELETE: at once, or by a deletionTimestamp when finalizers or a grace period hold the object back. */
#include "store/change/prepare.h"
#include "store/kind/cells.h"
#include "store/store.h"

static bool is_namespace(const struct kind *k)
{
	return !k->group.len && str_is(k->kind, "Namespace");
}

static bool is_pod(const struct kind *k)
{
	return !k->group.len && str_is(k->kind, "Pod");
}

bool delete_is_due(const struct kind *k, const struct tree *object)
{
	const struct tree *metadata = tree_getz(object, "metadata");
	int64_t grace = 0;

	if (!tree_getz(metadata, "deletionTimestamp") || !tree_is_empty(tree_getz(metadata, "finalizers")))
		return false;
	if (is_namespace(k) && !tree_is_empty(tree_path(object, "spec.finalizers")))
		return false;
	tree_i64(tree_getz(metadata, "deletionGracePeriodSeconds"), &grace);
	return grace == 0;
}

static int refuse_protected(struct prepare *p, struct status *st)
{
	static const char *const kept[] = {"default", "kube-system", "kube-public"};

	for (size_t i = 0; is_namespace(p->storage) && i < sizeof(kept) / sizeof(*kept); i++)
		if (str_is(p->name, kept[i]))
			return status_forbidden(st, STR(""), STR("namespaces"), p->name,
						"this namespace may not be deleted");
	return 0;
}

/* Seconds a pod is given to stop (defaults.json writes.podGrace); other kinds go at once. */
static int64_t grace_of(struct prepare *p)
{
	int64_t grace = p->req->grace;
	struct str phase = tree_gets(tree_getz(p->old, "status"), "phase");

	if (!is_pod(p->storage))
		return 0;
	if (grace < 0) {
		grace = 30;
		tree_i64(tree_path(p->old, "spec.terminationGracePeriodSeconds"), &grace);
	}
	if (!tree_gets(tree_getz(p->old, "spec"), "nodeName").len || str_is(phase, "Succeeded") || str_is(phase, "Failed"))
		grace = 0;
	return grace;
}

static uint32_t find_finalizer(const struct tree *list, const char *name)
{
	uint32_t i = 0;

	while (i < list->len && !str_is(tree_text(list->items[i]), name))
		i++;
	return i;
}

static bool set_finalizer(struct prepare *p, struct tree *metadata, const char *name, bool wanted)
{
	struct tree *list = tree_getz(metadata, "finalizers");

	if (!list) {
		if (!wanted)
			return true;
		list = tree_array(p->arena);
		if (!list || !tree_setz(p->arena, metadata, "finalizers", list))
			return false;
	}
	uint32_t at = find_finalizer(list, name);
	if (wanted && at == list->len) {
		struct tree *text = tree_string(p->arena, str_of(name));
		return text && tree_append(p->arena, list, text);
	}
	if (!wanted && at < list->len)
		tree_delete_at(list, at);
	if (!list->len)
		tree_removez(metadata, "finalizers");
	return true;
}

/* propagationPolicy becomes finalizers that the garbage collector works off. */
static bool apply_propagation(struct prepare *p, struct tree *metadata)
{
	enum propagation how = p->req->propagation;

	if (kind_is(p->storage, KIND_NO_OWNER))
		return true;
	if (how == PROPAGATION_DEFAULT) {
		/* A policy that an earlier DELETE set stands. */
		if (tree_getz(metadata, "deletionTimestamp") || !kind_is(p->storage, KIND_ORPHANS))
			return true;
		how = PROPAGATION_ORPHAN;
	}
	return set_finalizer(p, metadata, "orphan", how == PROPAGATION_ORPHAN) &&
	       set_finalizer(p, metadata, "foregroundDeletion", how == PROPAGATION_FOREGROUND);
}

static bool set_number(struct prepare *p, struct tree *metadata, const char *key, int64_t n)
{
	struct tree *number = tree_int(p->arena, n);

	return number && tree_setz(p->arena, metadata, key, number);
}

static bool set_deletion(struct prepare *p, struct tree *metadata, int64_t grace)
{
	char text[20];
	int64_t generation;

	time_format(p->now + grace, text);
	struct str copy = arena_str(p->arena, str_n(text, sizeof(text)));
	if (!copy.ptr || !tree_sets(p->arena, metadata, "deletionTimestamp", copy) ||
	    !set_number(p, metadata, "deletionGracePeriodSeconds", grace))
		return false;
	return !tree_i64(tree_getz(metadata, "generation"), &generation) ||
	       set_number(p, metadata, "generation", generation + 1);
}

/* The first DELETE of an object that cannot go at once. */
static bool begin_deletion(struct prepare *p, struct tree *metadata, int64_t grace)
{
	if (!set_deletion(p, metadata, grace))
		return false;
	if (!is_namespace(p->storage))
		return true;
	struct tree *status = tree_ensure(p->arena, p->next, STR("status"));
	return status && tree_sets(p->arena, status, "phase", STR("Terminating"));
}

/* A later DELETE may only shorten the grace period. */
static bool shorten(struct prepare *p, struct tree *metadata, int64_t grace)
{
	int64_t was = 0;

	tree_i64(tree_getz(metadata, "deletionGracePeriodSeconds"), &was);
	if (p->req->grace < 0 || grace >= was)
		return true;
	char text[20];
	time_format(p->now + grace, text);
	struct str copy = arena_str(p->arena, str_n(text, sizeof(text)));
	return copy.ptr && tree_sets(p->arena, metadata, "deletionTimestamp", copy) &&
	       set_number(p, metadata, "deletionGracePeriodSeconds", grace);
}

/* Does something hold the object back once propagation's finalizers are set? */
static bool held(struct prepare *p, const struct tree *metadata, int64_t grace)
{
	return grace > 0 || !tree_is_empty(tree_getz(metadata, "finalizers")) ||
	       (is_namespace(p->storage) && !tree_is_empty(tree_path(p->next, "spec.finalizers")));
}

int delete_object(struct prepare *p, bool *ret_unchanged, struct status *st)
{
	int err = prepare_current(p, st);

	if (!err && !p->exists)
		err = prepare_not_found(p, st);
	if (!err)
		err = prepare_preconditions(p, STR(""), STR(""), st);
	if (!err)
		err = refuse_protected(p, st);
	if (err)
		return err;
	p->next = tree_copy(p->arena, p->old);
	struct tree *metadata = tree_getz(p->next, "metadata");
	int64_t grace = grace_of(p);
	if (!metadata || !apply_propagation(p, metadata))
		return status_no_memory(st);
	bool was = p->current.flags & RECORD_TERMINATING;
	if (was ? !shorten(p, metadata, grace) : held(p, metadata, grace) && !begin_deletion(p, metadata, grace))
		return status_no_memory(st);
	p->terminated = was ? delete_is_due(p->storage, p->next) : !held(p, metadata, grace);
	*ret_unchanged = !p->terminated && tree_equal(p->old, p->next);
	return 0;
}
