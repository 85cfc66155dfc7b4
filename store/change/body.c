/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to a decoded object: media types, apiVersion and kind, schema problems. */
#include "store/change/prepare.h"
#include "store/codec/proto.h"
#include "store/codec/yaml.h"
#include "store/store.h"

int body_to_json(struct str media, struct str body, struct buf *out, struct str *ret, struct status *st)
{
	int err;

	if (str_is(media, "application/json")) {
		*ret = body;
		return 0;
	}
	if (str_is(media, "application/yaml"))
		err = yaml_to_json(body, out, st);
	else if (str_is(media, "application/vnd.kubernetes.protobuf"))
		err = proto_to_json(body, out, st);
	else
		return status_set(st, REASON_UNSUPPORTED_MEDIA_TYPE,
				  "the body of the request was in an unknown format - accepted media types include: "
				  "application/json, application/yaml, application/vnd.kubernetes.protobuf");
	if (!err && out->failed)
		err = status_no_memory(st);
	if (!err)
		*ret = buf_str(out);
	return err;
}

/* Appends `duplicate field "path"` for each key that stood twice. */
static int note_duplicates(struct prepare *p, const struct tree_dup *dups, struct status *st)
{
	struct field_problem **tail = &p->problems;

	while (*tail)
		tail = &(*tail)->next;
	for (; dups; dups = dups->next) {
		struct field_problem *f = arena_calloc(p->arena, 1, sizeof(*f));
		if (!f)
			return status_no_memory(st);
		f->text = arena_printf(p->arena, "duplicate field \"%.*s\"", STR_ARG(dups->path));
		*tail = f;
		tail = &f->next;
	}
	return 0;
}

/* apiVersion and kind may be left out (the path says them), but not contradict. */
static int check_type(struct prepare *p, struct tree *object, struct status *st)
{
	bool scale = str_is(p->req->subresource, "scale");
	struct str version = scale ? STR("autoscaling/v1") : p->kind->api_version;
	struct str kind = scale ? STR("Scale") : p->kind->kind;
	struct str got_version = tree_gets(object, "apiVersion"), got_kind = tree_gets(object, "kind");

	if ((tree_getz(object, "apiVersion") && !tree_is(tree_getz(object, "apiVersion"), TREE_STRING)) ||
	    (tree_getz(object, "kind") && !tree_is(tree_getz(object, "kind"), TREE_STRING)))
		return status_set(st, REASON_BAD_REQUEST,
				  "couldn't get version/kind; json parse error: apiVersion and kind are strings");
	if (got_version.len && !str_eq(got_version, version))
		return status_set(st, REASON_BAD_REQUEST,
				  "the API version in the data (%.*s) does not match the expected API version (%.*s)",
				  STR_ARG(got_version), STR_ARG(version));
	if (got_kind.len && !str_eq(got_kind, kind))
		return status_set(st, REASON_BAD_REQUEST, "the kind in the data (%.*s) does not match the expected kind (%.*s)",
				  STR_ARG(got_kind), STR_ARG(kind));
	if (!tree_sets(p->arena, object, "apiVersion", version) || !tree_sets(p->arena, object, "kind", kind))
		return status_no_memory(st);
	return 0;
}

/* A Job's selector and pod labels carry the uid of the Job that the text came from; a new Job gets its own. */
static void drop_generated(struct prepare *p, struct tree *object)
{
	static const char *const labels[] = {"batch.kubernetes.io/controller-uid", "controller-uid",
					     "batch.kubernetes.io/job-name", "job-name"};
	struct tree *spec = tree_getz(object, "spec");

	if (!str_is(p->kind->kind, "Job") || !str_is(p->kind->group, "batch") ||
	    tree_is_true(tree_getz(spec, "manualSelector")))
		return;
	tree_removez(spec, "selector");
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		tree_removez(tree_path(spec, "template.metadata.labels"), labels[i]);
		tree_removez(tree_path(object, "metadata.labels"), labels[i]);
	}
}

/* The path wins: what the text says about name, namespace and foreign identities is replaced. */
static int path_wins(struct prepare *p, struct tree *object, struct tree *metadata, struct status *st)
{
	struct str uid = tree_gets(metadata, "uid");
	bool ours = p->exists && (!uid.len || str_eq(uid, p->current.uid));

	if (p->req->origin == ORIGIN_IMPORT || !ours) {
		tree_removez(metadata, "uid");
		tree_removez(metadata, "resourceVersion");
	}
	if (!ours)
		tree_removez(metadata, "deletionTimestamp");
	if (!p->exists)
		drop_generated(p, object);
	tree_removez(metadata, "generateName");
	if (p->req->ns.len ? !tree_sets(p->arena, metadata, "namespace", p->req->ns)
			   : (tree_removez(metadata, "namespace"), false))
		return status_no_memory(st);
	return tree_sets(p->arena, metadata, "name", p->req->name) ? 0 : status_no_memory(st);
}

static int check_namespace(struct prepare *p, struct tree *metadata, struct status *st)
{
	struct str ns = tree_gets(metadata, "namespace");

	if (!kind_is(p->kind, KIND_NAMESPACED)) {
		tree_removez(metadata, "namespace");
		return 0;
	}
	if (ns.len && !str_eq(ns, p->req->ns))
		return status_set(st, REASON_BAD_REQUEST,
				  "the namespace of the provided object does not match the namespace sent on the request");
	return tree_sets(p->arena, metadata, "namespace", p->req->ns) ? 0 : status_no_memory(st);
}

static int check_name(struct prepare *p, struct tree *metadata, struct status *st)
{
	struct str name = tree_gets(metadata, "name");

	if (!p->req->name.len)
		return 0;
	if (name.len && !str_eq(name, p->req->name))
		return status_set(st, REASON_BAD_REQUEST,
				  "the name of the object (%.*s) does not match the name on the URL (%.*s)", STR_ARG(name),
				  STR_ARG(p->req->name));
	return tree_sets(p->arena, metadata, "name", p->req->name) ? 0 : status_no_memory(st);
}

static int check_place(struct prepare *p, struct tree *object, struct status *st)
{
	struct tree *metadata = tree_ensure(p->arena, object, STR("metadata"));
	int err;

	if (!metadata)
		return status_set(st, REASON_BAD_REQUEST,
				  "%.*s in version \"%.*s\" cannot be handled as a %.*s: metadata is not an object",
				  STR_ARG(p->kind->kind), STR_ARG(p->kind->version), STR_ARG(p->kind->kind));
	tree_removez(metadata, "managedFields");
	tree_removez(metadata, "selfLink");
	if (p->req->origin == ORIGIN_MOUNT || p->req->origin == ORIGIN_IMPORT)
		return path_wins(p, object, metadata, st);
	err = check_namespace(p, metadata, st);
	return err ? err : check_name(p, metadata, st);
}

int body_object(struct prepare *p, struct tree **ret, struct status *st)
{
	struct tree_dup *dups = NULL;
	int err = tree_parse(p->arena, p->req->body, ret, &dups, st);

	if (err)
		return err;
	if (!tree_is(*ret, TREE_OBJECT))
		return status_set(st, REASON_BAD_REQUEST, "the body of the request is not an object");
	err = note_duplicates(p, dups, st);
	if (!err)
		err = check_type(p, *ret, st);
	return err ? err : check_place(p, *ret, st);
}

/* `strict decoding error: unknown field "a", duplicate field "b"` */
static int strict_error(struct prepare *p, bool patch, struct status *st)
{
	_cleanup_(buf_done) struct buf text = {0};
	const struct kind *k = p->kind;

	for (struct field_problem *f = p->problems; f; f = f->next) {
		buf_adds(&text, f == p->problems ? "" : ", ");
		buf_add_str(&text, f->text);
	}
	if (text.failed)
		return status_no_memory(st);
	if (patch) {
		status_cause(st, CAUSE_INVALID, "patch", ": strict decoding error: %.*s", STR_ARG(buf_str(&text)));
		return status_invalid(st, k->group, k->kind, p->name);
	}
	return status_set(st, REASON_BAD_REQUEST,
			  "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: %.*s",
			  STR_ARG(k->kind), STR_ARG(k->version), STR_ARG(k->kind), STR_ARG(buf_str(&text)));
}

/* A patch may not give the object another name or namespace. */
static int check_moved(struct prepare *p, const struct tree *metadata, struct status *st)
{
	if (!str_eq(tree_gets(metadata, "name"), p->name))
		return status_set(st, REASON_BAD_REQUEST,
				  "the name of the object (%.*s) does not match the name on the URL (%.*s)",
				  STR_ARG(tree_gets(metadata, "name")), STR_ARG(p->name));
	if (kind_is(p->kind, KIND_NAMESPACED) && !str_eq(tree_gets(metadata, "namespace"), p->req->ns))
		return status_set(st, REASON_BAD_REQUEST,
				  "the namespace of the provided object does not match the namespace sent on the request");
	return 0;
}

int body_decode(struct prepare *p, struct tree *object, bool patch, struct status *st)
{
	struct tree *metadata = tree_getz(object, "metadata");
	int err;

	if (patch && !tree_is(metadata, TREE_OBJECT))
		return status_set(st, REASON_BAD_REQUEST, "the result of the patch has no metadata");
	tree_removez(metadata, "managedFields");
	if (patch && ((err = check_type(p, object, st)) != 0 || (err = check_moved(p, metadata, st)) != 0))
		return err;
	err = rules_decode(p->arena, p->kind, object, &p->problems, st);
	if (err && patch && st->reason == REASON_BAD_REQUEST) {
		char why[sizeof(st->message)];
		memcpy(why, st->message, sizeof(why));
		status_cause(st, CAUSE_INVALID, "patch", ": %.400s", why);
		return status_invalid(st, p->kind->group, p->kind->kind, p->name);
	}
	if (!err && p->problems && p->req->validation == VALIDATION_STRICT)
		err = strict_error(p, patch, st);
	return err;
}
