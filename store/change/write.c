/* SPDX-License-Identifier: Apache-2.0 */
/* The one write path: prepare against a snapshot, hand to the writer, answer or prepare again. */
#include "store/change/write.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "store/base/cleanup.h"
#include "store/change/patch.h"
#include "store/change/prepare.h"
#include "store/db/writer.h"
#include "store/kind/convert.h"
#include "store/store.h"

/* Attempts at a write whose object keeps changing under it. kube-apiserver stops at 5; we only stop
 * so that nothing loops for ever. */
enum { ATTEMPTS_MAX = 100, GENERATE_ATTEMPTS_MAX = 8 };

struct write {
	struct store *store;
	struct write_request req;
	void (*wake)(void *arg);
	void *arg;
	unsigned attempt;
	bool submitted;
	struct arena arena;
	struct buf draft;
	struct change change;
	struct str ns, name;      /* of the change, in arena */
	struct tree *shown;       /* result in the form of the request, resourceVersion still to be set */
	bool created;
	struct buf text;          /* result JSON */
	struct write_result result;
};

static void change_done(struct change *c)
{
	struct write *w = (struct write *)((char *)c - offsetof(struct write, change));

	w->wake(w->arg);
}

struct write *write_new(struct store *s, const struct write_request *req, void (*wake)(void *arg), void *arg)
{
	struct write *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->store = s;
	w->req = *req;
	w->wake = wake;
	w->arg = arg;
	arena_init(&w->arena, 0);
	return w;
}

void write_free(struct write *w)
{
	if (!w)
		return;
	arena_done(&w->arena);
	buf_done(&w->draft);
	buf_done(&w->text);
	free(w);
}

const struct write_result *write_result(const struct write *w)
{
	return &w->result;
}

/* A private copy of the object as the client sees it: a Scale, or the request's version. */
static struct tree *current_view(struct prepare *p)
{
	if (str_is(p->req->subresource, "scale"))
		return scale_of(p->arena, p->kind, p->old);
	return object_tree(p->arena, p->kind, &p->current);
}

static int apply_patch(struct prepare *p, struct tree *view, struct tree **ret, struct status *st)
{
	struct tree *patch;
	int err = tree_parse(p->arena, p->req->body, &patch, NULL, st);
	const struct schema_def *def =
		str_is(p->req->subresource, "scale") ? schema_find(STR("autoscaling.v1.Scale")) : p->kind->schema;

	if (err)
		return err;
	switch (p->req->patch) {
	case PATCH_TYPE_JSON: return patch_json(p->arena, view, patch, ret, st);
	case PATCH_TYPE_MERGE: return patch_merge(p->arena, view, patch, ret, st);
	case PATCH_TYPE_STRATEGIC: return patch_strategic(p->arena, def, view, patch, ret, st);
	case PATCH_TYPE_APPLY: break;
	}
	return status_set(st, REASON_UNSUPPORTED_MEDIA_TYPE,
			  "the body of the request was in an unknown format - accepted media types include: "
			  "application/json-patch+json, application/merge-patch+json, "
			  "application/strategic-merge-patch+json");
}

/* A patched Scale becomes a change of the object's replicas. */
static int update_scale(struct prepare *p, const struct tree *scale, struct status *st)
{
	struct tree *object = object_tree(p->arena, p->kind, &p->current);
	const struct tree *metadata = tree_getz(scale, "metadata");
	int err;

	if (!object)
		return status_no_memory(st);
	err = prepare_preconditions(p, tree_gets(metadata, "resourceVersion"), tree_gets(metadata, "uid"), st);
	if (!err)
		err = scale_apply(p, scale, object, st);
	return err ? err : admit_update(p, object, st);
}

static int prepare_patch(struct prepare *p, struct status *st)
{
	struct tree *view, *object;
	int err = prepare_current(p, st);

	if (err)
		return err;
	if (!p->exists)
		return prepare_not_found(p, st);
	view = current_view(p);
	if (!view)
		return status_no_memory(st);
	err = apply_patch(p, view, &object, st);
	if (err)
		return err;
	if (str_is(p->req->subresource, "scale"))
		return update_scale(p, object, st);
	err = body_decode(p, object, true, st);
	return err ? err : admit_update(p, object, st);
}

/* Does a PUT of an absent object make one? */
static bool may_create(const struct prepare *p)
{
	if (p->req->origin == ORIGIN_MOUNT || p->req->origin == ORIGIN_IMPORT)
		return true;
	return kind_is(p->kind, KIND_CREATE_ON_UPDATE) && !p->req->subresource.len;
}

static int prepare_update(struct prepare *p, struct status *st)
{
	struct tree *object;
	int err = prepare_current(p, st);

	if (!err && !p->exists && !may_create(p))
		return prepare_not_found(p, st);
	if (!err)
		err = body_object(p, &object, st);
	if (err)
		return err;
	if (str_is(p->req->subresource, "scale"))
		return update_scale(p, object, st);
	err = body_decode(p, object, false, st);
	if (err)
		return err;
	return p->exists ? admit_update(p, object, st) : admit_create(p, object, st);
}

static int prepare_create(struct prepare *p, struct status *st)
{
	struct tree *object;

	if (p->req->subresource.len)
		return pod_action(p, st);
	int err = body_object(p, &object, st);
	if (!err)
		err = body_decode(p, object, false, st);
	return err ? err : admit_create(p, object, st);
}

/* The writer's part: the change and its drafted record. */
static int draft(struct write *w, struct prepare *p, struct status *st)
{
	int64_t modified = p->now_ns;

	if (p->exists && modified <= p->current.modified)
		modified = p->current.modified + 1;
	service_claims(p);
	if (!record_draft(p->arena, p->storage, p->next, p->exists ? p->current.create_revision : 0, modified,
			  p->claims, p->nclaims, &w->draft))
		return status_no_memory(st);
	w->ns = arena_str(&w->arena, w->req.ns);
	w->name = arena_str(&w->arena, p->name);
	w->change = (struct change){
		.kind = p->storage,
		.ns = w->ns,
		.name = w->name,
		.expect = p->exists ? p->current.revision : 0,
		.remove = p->terminated,
		.draft = buf_str(&w->draft),
		.needs_namespace = !p->exists && w->req.ns.len,
		.done = change_done,
	};
	return 0;
}

static void note_warnings(struct write *w, struct prepare *p)
{
	struct write_warning **tail = &w->result.warnings;

	if (w->req.validation != VALIDATION_WARN)
		return;
	for (struct field_problem *f = p->problems; f; f = f->next) {
		struct write_warning *warning = arena_calloc(&w->arena, 1, sizeof(*warning));
		if (!warning)
			return;
		warning->text = f->text;
		*tail = warning;
		tail = &warning->next;
	}
}

/* What the client will see, before the revision is known. */
static int show(struct write *w, struct prepare *p, struct status *st)
{
	struct tree *t = p->next;

	if (pod_action_is(p->req->subresource) && p->req->verb == WRITE_CREATE)
		t = pod_action_reply(p->arena);
	else if (str_is(p->req->subresource, "scale"))
		t = scale_of(p->arena, p->kind, p->next);
	else if (p->kind != p->storage && (t = tree_copy(p->arena, t)) != NULL &&
		 !convert_object(p->arena, p->storage, p->kind, t))
		t = NULL;
	if (!t)
		return status_no_memory(st);
	w->shown = t;
	w->result.name = arena_str(&w->arena, p->name);
	w->result.uid = tree_gets(tree_getz(t, "metadata"), "uid");
	note_warnings(w, p);
	return 0;
}

static int finish(struct write *w, uint64_t revision, struct status *st)
{
	char digits[20];
	size_t n = u64_digits(revision, digits);
	struct tree *metadata = tree_getz(w->shown, "metadata");

	if (str_is(tree_gets(w->shown, "kind"), "Status"))
		metadata = tree_object(&w->arena);
	if (!metadata)
		return status_no_memory(st);
	if (!revision)
		tree_removez(metadata, "resourceVersion"); /* a dry-run create has none */
	else if (!tree_sets(&w->arena, metadata, "resourceVersion", str_n(digits, n)))
		return status_no_memory(st);
	buf_clear(&w->text);
	tree_write(w->shown, &w->text);
	if (w->text.failed)
		return status_no_memory(st);
	w->result.object = buf_str(&w->text);
	w->result.revision = revision;
	return 0;
}

static int dispatch(struct prepare *p, bool *ret_unchanged, struct status *st)
{
	switch (p->req->verb) {
	case WRITE_CREATE: return prepare_create(p, st);
	case WRITE_UPDATE: return prepare_update(p, st);
	case WRITE_PATCH: return prepare_patch(p, st);
	case WRITE_DELETE: return delete_object(p, ret_unchanged, st);
	}
	return status_set(st, REASON_INTERNAL, "Internal error occurred: unknown write");
}

/* Equal but for the resourceVersion, which admission has made equal: nothing to write. */
static bool is_unchanged(const struct prepare *p)
{
	return p->exists && !p->terminated && tree_equal(p->old, p->next);
}

/* 0 done without the writer, 1 ready to submit. */
static int prepare_step(struct write *w, struct prepare *p, struct status *st)
{
	bool unchanged = false;
	int err = dispatch(p, &unchanged, st);

	if (err)
		return err;
	unchanged = unchanged || is_unchanged(p);
	w->created = !p->exists;
	w->result.created = w->created;
	w->result.deleted = p->terminated;
	w->result.unchanged = unchanged;
	err = show(w, p, st);
	if (err)
		return err;
	if (w->req.dry_run || unchanged)
		return finish(w, p->exists ? p->current.revision : 0, st);
	err = draft(w, p, st);
	return err ? err : 1;
}

static int prepare(struct write *w, struct status *st)
{
	struct timespec now;
	struct prepare p = {
		.store = w->store,
		.req = &w->req,
		.kind = w->req.kind,
		.storage = w->req.kind->storage,
		.arena = &w->arena,
		.attempt = w->attempt,
		.name = w->req.name,
	};

	if (store_is_read_only(w->store))
		return status_set(st, REASON_READ_ONLY, "the store is read-only");
	clock_gettime(CLOCK_REALTIME, &now);
	p.now = now.tv_sec;
	p.now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	arena_done(&w->arena);
	w->result = (struct write_result){0};
	int err = read_begin(w->store, &p.read, st);
	if (err)
		return err;
	err = prepare_step(w, &p, st);
	read_end(p.read);
	return err;
}

/* Refused for want of a live namespace: says which of the two it is. */
static int no_namespace(struct write *w, struct status *st)
{
	const struct kind *k = w->req.kind, *ns = kinds_find(store_kinds(w->store), STR(""), STR("v1"), STR("namespaces"));
	struct read *r;
	struct object o;
	int err = read_begin(w->store, &r, st);

	if (err)
		return err;
	err = read_get(r, ns, STR(""), w->req.ns, &o, st);
	bool open = !err && !(o.flags & RECORD_TERMINATING);
	read_end(r);
	if (err == -ENOENT)
		return status_not_found(st, STR(""), STR("namespaces"), w->req.ns);
	if (open && ++w->attempt < ATTEMPTS_MAX)
		return -EAGAIN; /* it was made in the meantime */
	status_cause(st, CAUSE_NAMESPACE_TERMINATING, "metadata.namespace", "namespace %.*s is being terminated",
		     STR_ARG(w->req.ns));
	return status_forbidden(st, k->group, k->plural, w->name,
				"unable to create new content in namespace %.*s because it is being terminated",
				STR_ARG(w->req.ns));
}

static bool generates(const struct write *w)
{
	return w->req.verb == WRITE_CREATE && !w->req.name.len;
}

/* The writer has answered: 0 done, -EAGAIN to prepare again, or an error. */
static int decide(struct write *w, struct status *st)
{
	const struct kind *k = w->req.kind;

	switch (w->change.result) {
	case CHANGE_DONE: return finish(w, w->change.revision, st);
	case CHANGE_NO_NAMESPACE: return no_namespace(w, st);
	case CHANGE_NO_SPACE: return status_set(st, REASON_NO_SPACE, "the store is full");
	case CHANGE_FAILED:
		return status_set(st, REASON_INTERNAL, "Internal error occurred: the store could not write (%d)",
				  w->change.error);
	case CHANGE_STALE:
	case CHANGE_CLAIMED: break;
	}
	if (w->attempt + 1 < ATTEMPTS_MAX) {
		w->attempt++;
		return -EAGAIN;
	}
	return status_conflict(st, k->group, k->plural, w->name,
			       "the object has been modified; please apply your changes to the latest version and "
			       "try again");
}

static int generate_again(struct write *w, int err, struct status *st)
{
	if (err != -EEXIST || !generates(w) || st->reason != REASON_ALREADY_EXISTS || !w->req.body.len)
		return err;
	return ++w->attempt < GENERATE_ATTEMPTS_MAX ? -EAGAIN : err;
}

int write_step(struct write *w, struct status *st)
{
	int err = -EAGAIN;

	status_clear(st);
	if (w->submitted) {
		w->submitted = false;
		err = decide(w, st);
	}
	while (err == -EAGAIN) {
		status_clear(st);
		err = prepare(w, st);
		if (err == 1) {
			w->submitted = true;
			writer_submit(w->store, &w->change);
			return 1;
		}
		err = generate_again(w, err, st);
	}
	return err;
}

struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t decided;
	bool woken;
};

static void waiter_wake(void *arg)
{
	struct waiter *waiter = arg;

	pthread_mutex_lock(&waiter->lock);
	waiter->woken = true;
	pthread_cond_signal(&waiter->decided);
	pthread_mutex_unlock(&waiter->lock);
}

static void waiter_wait(struct waiter *waiter)
{
	pthread_mutex_lock(&waiter->lock);
	while (!waiter->woken)
		pthread_cond_wait(&waiter->decided, &waiter->lock);
	waiter->woken = false;
	pthread_mutex_unlock(&waiter->lock);
}

int write_run(struct store *s, const struct write_request *req, struct write **ret, struct status *st)
{
	struct waiter waiter = {.lock = PTHREAD_MUTEX_INITIALIZER, .decided = PTHREAD_COND_INITIALIZER};
	int err;

	*ret = write_new(s, req, waiter_wake, &waiter);
	if (!*ret)
		return status_no_memory(st);
	while ((err = write_step(*ret, st)) == 1)
		waiter_wait(&waiter);
	pthread_cond_destroy(&waiter.decided);
	pthread_mutex_destroy(&waiter.lock);
	return err;
}
