/* SPDX-License-Identifier: Apache-2.0 */
/* What every namespace has: ServiceAccount `default` and ConfigMap `kube-root-ca.crt`. */
#include <errno.h>

#include "store/control/control.h"

static const struct str account = STR_INIT("default");
static const struct str bundle = STR_INIT("kube-root-ca.crt");
static const struct str note_key = STR_INIT("kubernetes.io/description");
static const struct str note = STR_INIT("The certificate authority of this API server, for programs that talk to it from "
					"inside the cluster.");

/* What is missing in a namespace. */
struct lack {
	bool account;
	bool bundle;
	struct tree *repaired; /* the bundle as it should be, when it is there but wrong */
};

static void content_queue(struct control *c, struct str ns)
{
	control_queue(c, &control_content, c->namespaces, (struct str){0}, ns, (struct str){0}, 0);
}

static void content_start(struct control *c, struct read *r)
{
	struct list_query q = {.kind = c->namespaces};
	struct list *list = NULL;
	struct arena a;
	struct object o;
	struct status st;

	arena_init(&a, 0);
	int err = list_begin(r, &a, &q, &list, &st);
	while (!err && (err = list_next(list, &o, &st)) == 1) {
		err = 0;
		content_queue(c, o.name);
	}
	list_end(list);
	arena_done(&a);
	c->rescan = err < 0 || c->rescan;
}

static void content_event(struct control *c, struct read *r, const struct event *e)
{
	(void)r;
	if (e->kind == c->namespaces && e->type == EVENT_ADDED)
		content_queue(c, e->object.name);
	else if (e->kind == c->accounts && e->type == EVENT_DELETED && str_eq(e->object.name, account))
		content_queue(c, e->object.ns);
	else if (e->kind == c->config_maps && str_eq(e->object.name, bundle))
		content_queue(c, e->object.ns);
}

/* The bundle with our data and a description, NULL in *ret when it is so already. */
static int repair(struct control *c, struct arena *a, const struct object *o, struct tree **ret, struct status *st)
{
	struct tree *object = object_tree(a, c->config_maps, o), *data = tree_object(a);
	struct tree *metadata = tree_getz(object, "metadata"), *old = tree_getz(object, "data");
	bool same = old && old->len == 1 && str_eq(tree_gets(old, "ca.crt"), c->ca_pem);
	bool noted = tree_get(tree_getz(metadata, "annotations"), note_key);

	*ret = NULL;
	if (!object || !data)
		return status_no_memory(st);
	if (same && noted)
		return 0;
	struct tree *annotations = tree_ensure(a, metadata, STR("annotations"));
	bool good = tree_sets(a, data, "ca.crt", c->ca_pem) && tree_setz(a, object, "data", data) && annotations &&
		    (noted || tree_set(a, annotations, note_key, tree_string(a, note)));
	*ret = object;
	return good ? 0 : status_no_memory(st);
}

/* 1 with *ret: the namespace is there and lives; 0: it wants nothing; -errno. */
static int look(struct control *c, struct read *r, struct arena *a, struct str ns, struct lack *ret, struct status *st)
{
	struct object o;
	int err = read_get(r, c->namespaces, (struct str){0}, ns, &o, st);

	if (err == -ENOENT || (err == 0 && (o.flags & RECORD_TERMINATING)))
		return 0;
	if (!err)
		err = read_get(r, c->accounts, ns, account, &o, st);
	if (err && err != -ENOENT)
		return err;
	*ret = (struct lack){.account = err == -ENOENT};
	err = read_get(r, c->config_maps, ns, bundle, &o, st);
	ret->bundle = err == -ENOENT;
	if (!err && !(o.flags & RECORD_TERMINATING))
		err = repair(c, a, &o, &ret->repaired, st);
	return err && err != -ENOENT ? err : 1;
}

static int create(struct control *c, const struct kind *k, struct str ns, struct str body, struct status *st)
{
	int err = control_write(c, &(struct write_request){.kind = k, .verb = WRITE_CREATE, .ns = ns, .body = body}, st);

	/* Somebody was faster: its event brings us back. The namespace is going or gone: nothing to do. */
	return err == -EEXIST || err == -ENOENT || err == -EACCES ? 0 : err;
}

static int create_bundle(struct control *c, struct str ns, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};

	buf_adds(&body, "{\"metadata\":{\"name\":");
	buf_add_json(&body, bundle);
	buf_adds(&body, ",\"annotations\":{");
	buf_add_json(&body, note_key);
	buf_addc(&body, ':');
	buf_add_json(&body, note);
	buf_adds(&body, "}},\"data\":{\"ca.crt\":");
	buf_add_json(&body, c->ca_pem);
	buf_adds(&body, "}}");
	return body.failed ? status_no_memory(st) : create(c, c->config_maps, ns, buf_str(&body), st);
}

static int update_bundle(struct control *c, struct str ns, const struct tree *object, struct status *st)
{
	_cleanup_(buf_done) struct buf body = {0};

	tree_write(object, &body);
	if (body.failed)
		return status_no_memory(st);
	int err = control_write(c,
				&(struct write_request){.kind = c->config_maps,
							.verb = WRITE_UPDATE,
							.ns = ns,
							.name = bundle,
							.body = buf_str(&body)},
				st);
	return err == -ENOENT ? 0 : err;
}

static int content_work(struct control *c, const struct task *t, struct status *st)
{
	struct lack lack = {0};
	struct arena a;
	struct read *r;
	int err = read_begin(c->store, &r, st);

	if (err < 0)
		return err;
	arena_init(&a, 0);
	err = look(c, r, &a, t->name, &lack, st);
	read_end(r);
	bool lives = err == 1;
	err = err < 0 ? err : 0;
	if (lives && lack.account)
		err = create(c, c->accounts, t->name, STR("{\"metadata\":{\"name\":\"default\"}}"), st);
	if (!err && lives && lack.bundle)
		err = create_bundle(c, t->name, st);
	if (!err && lives && lack.repaired)
		err = update_bundle(c, t->name, lack.repaired, st);
	arena_done(&a);
	return err;
}

const struct controller control_content = {content_start, content_event, content_work};
