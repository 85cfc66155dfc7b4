/* SPDX-License-Identifier: Apache-2.0 */
/* Admission of creates and updates: what the server owns in an object, generation, status, then the
 * rules of its kind. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "store/change/prepare.h"
#include "store/db/key.h"
#include "store/kind/cells.h"
#include "store/kind/convert.h"
#include "store/kind/names.h"
#include "store/store.h"

int prepare_conflict(struct prepare *p, struct status *st)
{
	return status_conflict(st, p->kind->group, p->kind->plural, p->name,
			       "the object has been modified; please apply your changes to the latest version and "
			       "try again");
}

int prepare_not_found(struct prepare *p, struct status *st)
{
	return status_not_found(st, p->kind->group, p->kind->plural, p->name);
}

int prepare_current(struct prepare *p, struct status *st)
{
	int err = read_get(p->read, p->kind, p->req->ns, p->name, &p->current, st);

	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	p->exists = true;
	p->old = object_tree(p->arena, p->storage, &p->current);
	return p->old ? 0 : status_no_memory(st);
}

static int precondition_failed(struct prepare *p, const char *what, struct str want, struct str is, struct status *st)
{
	char why[512];

	snprintf(why, sizeof(why),
		 "Precondition failed: %s in precondition: %.*s, %s in object meta: %.*s", what, STR_ARG(want), what,
		 STR_ARG(is));
	return status_conflict(st, p->kind->group, p->kind->plural, p->name, why);
}

int prepare_preconditions(struct prepare *p, struct str version, struct str uid, struct status *st)
{
	const struct write_request *req = p->req;
	uint64_t n;

	if (version.len && (!str_u64(version, &n) || (n && n != p->current.revision)))
		return prepare_conflict(p, st);
	if (req->expect_revision && req->expect_revision != p->current.revision)
		return prepare_conflict(p, st);
	if (uid.len && !str_eq(uid, p->current.uid))
		return precondition_failed(p, "UID", uid, p->current.uid, st);
	if (req->expect_uid.len && !str_eq(req->expect_uid, p->current.uid))
		return precondition_failed(p, "UID", req->expect_uid, p->current.uid, st);
	return 0;
}

static bool random_bytes(void *out, size_t n)
{
	return getrandom(out, n, 0) == (ssize_t)n;
}

/* RFC 4122 version 4. */
static struct str new_uid(struct arena *a)
{
	unsigned char b[16];

	if (!random_bytes(b, sizeof(b)))
		return (struct str){0};
	b[6] = (b[6] & 0x0F) | 0x40;
	b[8] = (b[8] & 0x3F) | 0x80;
	return arena_printf(a, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
			    b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* Base cut to 58 characters and 5 random ones that spell no words (reference A7). */
static struct str generate_name(struct arena *a, struct str base)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char r[5];
	char tail[5];

	if (!random_bytes(r, sizeof(r)))
		return (struct str){0};
	for (size_t i = 0; i < sizeof(tail); i++)
		tail[i] = letters[r[i] % (sizeof(letters) - 1)];
	if (base.len > 58)
		base.len = 58;
	return arena_printf(a, "%.*s%.5s", STR_ARG(base), tail);
}

static int choose_name(struct prepare *p, struct tree *metadata, struct status *st)
{
	struct str base = tree_gets(metadata, "generateName");

	p->name = tree_gets(metadata, "name");
	if (p->name.len)
		return 0;
	if (!base.len) {
		status_cause(st, CAUSE_REQUIRED, "metadata.name", ": name or generateName is required");
		return status_invalid(st, p->kind->group, p->kind->kind, STR(""));
	}
	const char *bad = name_of_kind(p->storage, base, true);
	if (bad) {
		status_cause(st, CAUSE_INVALID, "metadata.generateName", ": \"%.*s\": %s", STR_ARG(base), bad);
		return status_invalid(st, p->kind->group, p->kind->kind, base);
	}
	p->name = generate_name(p->arena, base);
	return p->name.ptr && tree_sets(p->arena, metadata, "name", p->name) ? 0 : status_no_memory(st);
}

static bool set_generation(struct arena *a, struct tree *metadata, int64_t n)
{
	struct tree *number = tree_int(a, n);

	return number && tree_setz(a, metadata, "generation", number);
}

static bool set_time(struct arena *a, struct tree *metadata, const char *key, int64_t t)
{
	char text[20];

	time_format(t, text);
	struct str copy = arena_str(a, str_n(text, sizeof(text)));
	return copy.ptr && tree_sets(a, metadata, key, copy);
}

int metadata_new(struct prepare *p, struct tree *metadata, struct status *st)
{
	static const char *const dropped[] = {"deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion",
					      "generation", "uid", "creationTimestamp"};
	struct str version = tree_gets(metadata, "resourceVersion");
	int err;

	if (version.len && !str_is(version, "0"))
		return status_set(st, REASON_UNKNOWN, "resourceVersion should not be set on objects to be created");
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		tree_removez(metadata, dropped[i]);
	err = choose_name(p, metadata, st);
	if (err)
		return err;
	struct str uid = new_uid(p->arena);
	bool counted = p->storage->generation != GENERATION_NONE && p->storage->generation != GENERATION_SPEC_FROM_ZERO;
	if (!uid.ptr || !tree_sets(p->arena, metadata, "uid", uid) ||
	    !set_time(p->arena, metadata, "creationTimestamp", p->now) ||
	    (counted && !set_generation(p->arena, metadata, 1)))
		return status_no_memory(st);
	return 0;
}

/* What is left of status at create (defaults.json statusSubresource); defaults fill in the phases. */
static void reset_status(struct prepare *p, struct tree *object)
{
	if (kind_is(p->storage, KIND_STATUS) && !kind_is(p->storage, KIND_STATUS_ON_CREATE))
		tree_removez(object, "status");
}

static int to_storage(struct prepare *p, struct tree *object, struct status *st)
{
	if (p->kind != p->storage && !convert_object(p->arena, p->kind, p->storage, object))
		return status_no_memory(st);
	return 0;
}

/* A pod's spec is immutable but for the subresources made to change it. */
static bool may_change_spec(const struct prepare *p)
{
	return str_is(p->req->subresource, "binding") || str_is(p->req->subresource, "resize");
}

/* Defaults, admission plugins, validation: the same for creates and updates. */
static int apply_rules(struct prepare *p, struct status *st)
{
	int err;

	if (!rules_default(p->arena, p->storage, p->next, p->old))
		return status_no_memory(st);
	err = admission_mutate(p, st);
	if (!err)
		err = service_allocate(p, st);
	if (err)
		return err;
	rules_validate(p->arena, p->storage, p->next, may_change_spec(p) ? NULL : p->old, st);
	return status_invalid(st, p->kind->group, p->kind->kind, p->name);
}

int admit_create(struct prepare *p, struct tree *object, struct status *st)
{
	struct object existing;
	struct key key;
	int err = to_storage(p, object, st);

	p->next = object;
	if (!err)
		err = metadata_new(p, tree_getz(object, "metadata"), st);
	if (err)
		return err;
	err = read_get(p->read, p->kind, p->req->ns, p->name, &existing, st);
	if (err == 0) {
		err = status_already_exists(st, p->kind->group, p->kind->plural, p->name);
		if (existing.flags & RECORD_TERMINATING)
			status_set(st, REASON_ALREADY_EXISTS, "object is being deleted: %.*s%s%.*s \"%.*s\" already exists",
				   STR_ARG(p->kind->plural), p->kind->group.len ? "." : "", STR_ARG(p->kind->group),
				   STR_ARG(p->name));
		return err;
	}
	if (err != -ENOENT)
		return err;
	reset_status(p, object);
	err = apply_rules(p, st);
	if (!err && !key_object(&key, 1, p->req->ns, p->name)) {
		status_cause(st, CAUSE_TOO_LONG, "metadata.name", ": may not be more than %zu bytes",
			     (size_t)KEY_OBJECT_MAX - p->req->ns.len - 5);
		err = status_invalid(st, p->kind->group, p->kind->kind, STR("..."));
	}
	return err;
}

/* Top-level members that a write to the subresource may change; everything else is the stored object's. */
struct subresource_rule {
	const char *name;
	const char *taken[3]; /* paths, at most two levels */
	bool metadata;        /* labels, annotations and the like may change too */
};

static const struct subresource_rule subresource_rules[] = {
	{"status", {"status"}, true},
	{"finalize", {"spec.finalizers"}, false},
	{"approval", {"status.conditions"}, false},
	{"ephemeralcontainers", {"spec.ephemeralContainers"}, false},
	{"resize", {"spec.containers", "spec.initContainers", "spec.resources"}, false},
	{"binding", {"spec.nodeName", "status"}, false},
	{"scale", {"spec"}, false},
};

static const struct subresource_rule *find_rule(struct str name)
{
	for (size_t i = 0; i < sizeof(subresource_rules) / sizeof(*subresource_rules); i++)
		if (str_is(name, subresource_rules[i].name))
			return &subresource_rules[i];
	return NULL;
}

/* Copies one path (`a` or `a.b`) of from into to, removing it there when from has none. */
static bool take_path(struct arena *a, const char *path, const struct tree *from, struct tree *to)
{
	struct str rest = str_of(path), head = str_cut(&rest, '.');
	struct tree *value = tree_path(from, path);

	if (rest.len) {
		to = tree_ensure(a, to, head);
		head = rest;
	}
	if (!to)
		return false;
	if (!value) {
		tree_remove(to, head);
		return true;
	}
	return tree_set(a, to, head, value);
}

/* The stored object with only the subresource's part replaced. */
static struct tree *merge_subresource(struct prepare *p, const struct subresource_rule *rule, struct tree *object)
{
	struct tree *next = tree_copy(p->arena, p->old);

	if (!next)
		return NULL;
	for (size_t i = 0; i < 3 && rule->taken[i]; i++)
		if (!take_path(p->arena, rule->taken[i], object, next))
			return NULL;
	if (rule->metadata && !take_path(p->arena, "metadata", object, next))
		return NULL;
	return next;
}

/* A write to the main resource ignores status, and a Namespace's finalizers. */
static bool keep_status(struct prepare *p, struct tree *object)
{
	if (kind_is(p->storage, KIND_STATUS) && !take_path(p->arena, "status", p->old, object))
		return false;
	return !str_is(p->storage->kind, "Namespace") || p->storage->group.len ||
	       take_path(p->arena, "spec.finalizers", p->old, object);
}

/* Identity and lifecycle fields are the server's: the stored values stand. */
static int keep_metadata(struct prepare *p, struct tree *metadata, struct status *st)
{
	static const char *const kept[] = {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
					   "generation", "generateName", "resourceVersion"};
	const struct tree *old = tree_getz(p->old, "metadata");

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!take_path(p->arena, kept[i], old, metadata))
			return status_no_memory(st);
	return 0;
}

static bool same_member(const struct prepare *p, const char *path)
{
	const struct tree *a = tree_path(p->old, path), *b = tree_path(p->next, path);

	return a == b || (a && b && tree_equal(a, b));
}

/* Any member outside metadata (and status, where it is a subresource) differs. */
static bool spec_changed(const struct prepare *p)
{
	const struct tree *sides[2][2] = {{p->old, p->next}, {p->next, p->old}};

	for (size_t s = 0; s < 2; s++)
		for (uint32_t i = 0; i < sides[s][0]->len; i++) {
			const struct tree_member *m = &sides[s][0]->members[i];
			const struct tree *other = tree_get(sides[s][1], m->key);
			if (str_is(m->key, "metadata") || (str_is(m->key, "status") && kind_is(p->storage, KIND_STATUS)))
				continue;
			if (!other || (s == 0 && !tree_equal(m->value, other)))
				return true;
		}
	return false;
}

static bool grows(const struct prepare *p)
{
	switch (p->storage->generation) {
	case GENERATION_SPEC:
	case GENERATION_SPEC_FROM_ZERO: return spec_changed(p);
	case GENERATION_SPEC_ANNOTATIONS: return spec_changed(p) || !same_member(p, "metadata.annotations");
	case GENERATION_SPEC_LABELS: return spec_changed(p) || !same_member(p, "metadata.labels");
	default: return false;
	}
}

static int next_generation(struct prepare *p, struct status *st)
{
	struct tree *metadata = tree_getz(p->next, "metadata");
	int64_t n = 0;

	tree_i64(tree_getz(tree_getz(p->old, "metadata"), "generation"), &n);
	if (!grows(p))
		return 0;
	return set_generation(p->arena, metadata, n + 1) ? 0 : status_no_memory(st);
}

static int needs_version(struct prepare *p, struct str version, struct status *st)
{
	if (version.len || p->req->verb != WRITE_UPDATE || p->req->origin != ORIGIN_API ||
	    !kind_is(p->kind, KIND_NEEDS_VERSION))
		return 0;
	status_cause(st, CAUSE_INVALID, "metadata.resourceVersion", ": 0: must be specified for an update");
	return status_invalid(st, p->kind->group, p->kind->kind, p->name);
}

int admit_update(struct prepare *p, struct tree *object, struct status *st)
{
	const struct subresource_rule *rule = find_rule(p->req->subresource);
	struct tree *metadata = tree_getz(object, "metadata");
	struct str version = tree_gets(metadata, "resourceVersion");
	int err = needs_version(p, version, st);

	if (!err)
		err = prepare_preconditions(p, version, tree_gets(metadata, "uid"), st);
	if (!err)
		err = to_storage(p, object, st);
	if (err)
		return err;
	if (rule)
		object = merge_subresource(p, rule, object);
	else if (!keep_status(p, object))
		object = NULL;
	if (!object)
		return status_no_memory(st);
	p->next = object;
	err = keep_metadata(p, tree_getz(object, "metadata"), st);
	if (!err)
		err = apply_rules(p, st);
	if (!err)
		err = next_generation(p, st);
	if (!err)
		p->terminated = delete_is_due(p->storage, p->next);
	return err;
}
