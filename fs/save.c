/* SPDX-License-Identifier: Apache-2.0 */
/* Sending what was saved down the write path.
 *
 * A resourceVersion in the text is a precondition. An editor's buffer, however, keeps the one it was
 * loaded with through any number of saves; a literal reading would refuse the second `:w`. So we remember who
 * saved last: while the same process saves again, on top of nothing but its own saves, its older
 * resourceVersion is taken for the newest. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "fs/mount.h"

/* What is to be known of a text before it is sent. */
struct parsed {
	struct arena arena;
	struct buf converted, shortened;
	struct str json;
	struct tree *object;    /* NULL: no object, the write path says why */
	const struct kind *kind;/* the row that the text's apiVersion asks for */
	uint64_t version;       /* its resourceVersion; 0: none */
};

static void parsed_done(struct parsed *t)
{
	arena_done(&t->arena);
	buf_done(&t->converted);
	buf_done(&t->shortened);
}

/* JSON is almost YAML: not with tabs, surrogates and the like. So what looks like JSON is tried as such. */
static int to_json(struct parsed *t, const struct place *p, struct str text, struct status *st)
{
	struct status ignored;
	struct str at = text;

	while (at.len && strchr(" \t\r\n", *at.ptr))
		at = str_skip(at, 1);
	if (at.len && *at.ptr == '{') {
		struct status *why = p->form == FORM_JSON ? st : &ignored;
		t->json = text;
		if (tree_parse(&t->arena, text, &t->object, NULL, why) == 0)
			return 0;
		if (p->form == FORM_JSON && str_ends(at, STR("}")))
			return -EINVAL;
		status_clear(why);
	}
	int err = body_to_json(STR("application/yaml"), text, &t->converted, &t->json, st);
	if (!err)
		err = tree_parse(&t->arena, t->json, &t->object, NULL, st);
	return err;
}

static void look(struct parsed *t, const struct fs *fs, const struct place *p)
{
	const struct kind *k = kinds_by_gvk(store_kinds(fs->store), tree_gets(t->object, "apiVersion"),
					    tree_gets(t->object, "kind"));
	uint64_t version;

	t->kind = k && k->storage == p->kind ? k : p->kind;
	if (str_u64(tree_gets(tree_getz(t->object, "metadata"), "resourceVersion"), &version))
		t->version = version;
}

static uint64_t save_key(const struct place *p)
{
	uint64_t key = name_hash(name_hash(name_hash(1, p->kind->dir), str_of(p->ns)), str_of(p->name));

	return key ? key : 1;
}

/* Lock held. */
static struct saved *find_saved(struct fs *fs, uint64_t key, pid_t tgid)
{
	for (size_t i = 0; i < SAVES_MAX; i++)
		if (fs->saves[i].key == key && fs->saves[i].tgid == tgid)
			return &fs->saves[i];
	return NULL;
}

/* The revision that `version` has become by this process's own saves; 0: by none. */
static uint64_t became(struct fs *fs, uint64_t key, pid_t tgid, uint64_t version)
{
	uint64_t to = 0;

	pthread_mutex_lock(&fs->lock);
	const struct saved *s = find_saved(fs, key, tgid);
	if (s && version >= s->from && version < s->to)
		to = s->to;
	pthread_mutex_unlock(&fs->lock);
	return to;
}

static void note_saved(struct fs *fs, uint64_t key, pid_t tgid, uint64_t base, uint64_t revision)
{
	pthread_mutex_lock(&fs->lock);
	struct saved *s = find_saved(fs, key, tgid);
	if (!s)
		s = &fs->saves[fs->next_save++ % SAVES_MAX];
	uint64_t from = s->key == key && s->tgid == tgid && s->to == base ? s->from : base ? base : revision;
	*s = (struct saved){.key = key, .tgid = tgid, .from = from, .to = revision};
	pthread_mutex_unlock(&fs->lock);
}

/* Takes the resourceVersion out of the text. Out of memory leaves it in: then it is refused. */
static void drop_version(struct parsed *t)
{
	tree_removez(tree_getz(t->object, "metadata"), "resourceVersion");
	tree_write(t->object, &t->shortened);
	if (!t->shortened.failed)
		t->json = buf_str(&t->shortened);
}

static int write_object(struct fs *fs, const struct place *p, const struct parsed *t, uint64_t base,
			uint64_t *ret_revision, struct status *st)
{
	struct write_request req = {
		.kind = t->kind,
		.verb = WRITE_UPDATE,
		.origin = ORIGIN_MOUNT,
		.ns = str_of(p->ns),
		.name = str_of(p->name),
		.body = t->json,
		.validation = VALIDATION_STRICT,
		.manager = STR("holdfs-mount"),
		.expect_revision = base,
		.grace = INT64_MIN,
	};
	struct write *w;
	int err = write_run(fs->store, &req, &w, st);

	if (!err)
		*ret_revision = write_result(w)->revision;
	write_free(w);
	return err;
}

static int save(struct fs *fs, const struct place *p, struct str text, uint64_t base, pid_t tgid,
		uint64_t *ret_revision, struct status *st)
{
	_cleanup_(parsed_done) struct parsed t = {0};
	uint64_t key = save_key(p), now = 0;
	int err;

	arena_init(&t.arena, 0);
	err = to_json(&t, p, text, st);
	if (err)
		return err;
	look(&t, fs, p);
	if (t.version)
		now = became(fs, key, tgid, t.version);
	if (now && (!base || base == now)) {
		drop_version(&t);
		base = now;
	}
	err = write_object(fs, p, &t, base, ret_revision, st);
	if (!err)
		note_saved(fs, key, tgid, base ? base : t.version, *ret_revision);
	return err;
}

int save_text(struct fs *fs, const struct place *p, struct str text, uint64_t base, pid_t pid, bool renaming,
	      uint64_t *ret_revision)
{
	struct status st;
	uint64_t revision = 0;
	int err;

	status_clear(&st);
	err = save(fs, p, text, base, tgid_of(pid), &revision, &st);
	if (!err) {
		if (ret_revision)
			*ret_revision = revision;
		return 0;
	}
	refuse(fs, p, pid, &st);
	refuse_keep(fs, p, text, &st);
	return errno_of(&st, renaming);
}

int save_delete(struct fs *fs, const struct place *p, pid_t pid)
{
	struct write_request req = {
		.kind = p->kind,
		.verb = WRITE_DELETE,
		.origin = ORIGIN_MOUNT,
		.ns = str_of(p->ns),
		.name = str_of(p->name),
		.expect_uid = str_of(p->uid),
		.propagation = PROPAGATION_BACKGROUND,
		.grace = INT64_MIN,
	};
	struct status st;
	struct write *w;

	status_clear(&st);
	int err = write_run(fs->store, &req, &w, &st);
	write_free(w);
	if (!err || st.reason == REASON_NOT_FOUND)
		return err ? ENOENT : 0;
	refuse(fs, p, pid, &st);
	return errno_of(&st, true);
}
