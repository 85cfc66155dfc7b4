/* SPDX-License-Identifier: Apache-2.0 */
/* Renaming files: onto an object's name it is a commit, onto any other it makes scratch files. */
#include <errno.h>
#include <stdlib.h>

#include "fs/mount.h"

/* linux/fs.h, whose names libc may or may not have. */
enum { NO_REPLACE = 1 << 0 };

struct renaming {
	struct place from_dir, to_dir, from, to;
	bool replaces;          /* there is something at the new name: `to` */
	const char *newname;
	unsigned flags;
	pid_t pid;
};

static bool is_stored(const struct place *p)
{
	return p->type == NODE_OBJECT && !p->counted;
}

static void drop_memory(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n) {
		draft_orphan(n);
		scratch_drop(fs, n);
	}
	pthread_mutex_unlock(&fs->lock);
}

static bool same_object(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && strcmp(a->ns, b->ns) == 0 && strcmp(a->name, b->name) == 0;
}

/* Does the new name belong to an object, existing or possible? Then m->to is that. */
static bool to_object(struct renaming *m)
{
	struct str stem = {0};
	enum form form = name_parse(str_of(m->newname), &stem);

	if (m->replaces)
		return m->to.type == NODE_OBJECT;
	if (form == FORM_NONE || !name_for_new(m->to_dir.kind, stem))
		return false;
	place_set(&m->to, NODE_OBJECT, m->to_dir.kind, str_of(m->to_dir.ns), stem);
	m->to.form = form;
	return true;
}

static int rename_to_object(struct fs *fs, struct renaming *m)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint64_t revision;
	int err;

	if (is_stored(&m->from) && m->from.kind != m->to.kind)
		return EXDEV; /* mv falls back to a copy, and that is refused with a reason */
	if (is_stored(&m->from) && same_object(&m->from, &m->to))
		return m->from.form == m->to.form ? 0 : EPERM; /* NAME.yaml to NAME.json: one object has both names */
	err = view_file(fs, &m->from, &text, &revision);
	if (err)
		return err;
	pending_cancel(fs, &m->to, tgid_of(m->pid));
	err = save_text(fs, &m->to, buf_str(&text), 0, m->pid, true, NULL);
	if (err)
		return err;
	if (m->replaces && m->to.counted)
		drop_memory(fs, m->to.ino);
	if (!is_stored(&m->from)) {
		drop_memory(fs, m->from.ino);
		return 0;
	}
	err = save_delete(fs, &m->from, m->pid);
	return err == ENOENT ? 0 : err;
}

/* A scratch file keeps its node, and whoever has it open keeps the file. */
static int move_scratch(struct fs *fs, const struct renaming *m)
{
	int err = ESTALE;

	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, m->from.ino);
	if (n) {
		err = node_rename(n, &m->to_dir, str_of(m->newname));
		if (!err)
			n->mode = scratch_mode(fs, n->kind, n->mode);
	}
	pthread_mutex_unlock(&fs->lock);
	return err;
}

static int copy_to_scratch(struct fs *fs, const struct renaming *m)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint64_t revision;
	int err = view_file(fs, &m->from, &text, &revision);

	if (err)
		return err;
	pthread_mutex_lock(&fs->lock);
	struct node *n = scratch_add(fs, &m->to_dir, str_of(m->newname), 0644, &err);
	if (n) {
		err = scratch_fill(fs, n, &text);
		if (err)
			scratch_drop(fs, n);
	}
	pthread_mutex_unlock(&fs->lock);
	return err;
}

/* An object stays in the store: this is how vim makes its backup. Its name is free for the same process. */
static int rename_to_scratch(struct fs *fs, const struct renaming *m)
{
	int err;

	if (m->replaces && m->to.ino == m->from.ino)
		return 0;
	if (m->replaces)
		drop_memory(fs, m->to.ino);
	if (m->from.type == NODE_SCRATCH)
		return move_scratch(fs, m);
	err = copy_to_scratch(fs, m);
	if (err)
		return err;
	if (is_stored(&m->from))
		pending_shadow(fs, &m->from, tgid_of(m->pid));
	else
		drop_memory(fs, m->from.ino);
	return 0;
}

static int look(struct fs *fs, struct renaming *m, fuse_ino_t from, const char *name, fuse_ino_t to)
{
	struct stat attr;
	bool cached;
	int err;

	node_place(fs, from, &m->from_dir);
	node_place(fs, to, &m->to_dir);
	if (fs->read_only)
		return EROFS;
	if (m->flags & ~(unsigned)NO_REPLACE)
		return EINVAL; /* "not supported", in renameat2's words */
	if (m->from_dir.type != NODE_RESOURCE || m->to_dir.type != NODE_RESOURCE)
		return EPERM;
	err = view_lookup(fs, &m->from_dir, str_of(name), &m->from, &attr, &cached);
	if (err)
		return err;
	m->replaces = view_lookup(fs, &m->to_dir, str_of(m->newname), &m->to, &attr, &cached) == 0;
	return m->replaces && (m->flags & NO_REPLACE) ? EEXIST : 0;
}

void op_rename(fuse_req_t req, fuse_ino_t from, const char *name, fuse_ino_t to, const char *newname, unsigned flags)
{
	struct fs *fs = fs_of(req);
	struct renaming m = {.newname = newname, .flags = flags, .pid = caller_of(req)};
	int err = look(fs, &m, from, name, to);

	if (!err)
		err = to_object(&m) ? rename_to_object(fs, &m) : rename_to_scratch(fs, &m);
	fuse_reply_err(req, err);
	/* The kernel has moved the old file to the new name; ours may be another. */
	if (!err && !(m.from.type == NODE_SCRATCH && !to_object(&m)))
		notify_entry(fs, to, newname);
}
