/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and names that come and go, and attributes that are set. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "fs/mount.h"

static int make_namespace(struct fs *fs, const char *name, pid_t pid)
{
	_cleanup_(buf_done) struct buf body = {0};
	struct status st;
	struct place p;
	struct write *w;

	status_clear(&st);
	buf_adds(&body, "{\"metadata\":{\"name\":");
	buf_add_json(&body, str_of(name));
	buf_adds(&body, "}}");
	if (body.failed)
		return ENOMEM;
	struct write_request req = {
		.kind = namespaces_kind(fs),
		.verb = WRITE_CREATE,
		.origin = ORIGIN_API,
		.body = buf_str(&body),
		.grace = -1,
	};
	int err = write_run(fs->store, &req, &w, &st);
	write_free(w);
	if (!err)
		return 0;
	if (st.reason == REASON_ALREADY_EXISTS)
		return EEXIST;
	place_set(&p, NODE_OBJECT, req.kind, STR(""), str_of(name));
	refuse(fs, &p, pid, &st);
	return errno_of(&st, false);
}

void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct place dir, p;
	struct stat attr;
	bool cached;
	int err = 0;

	(void)mode;
	node_place(fs, parent, &dir);
	if (fs->read_only)
		err = EROFS;
	else if (dir.type == NODE_NAMESPACES)
		err = make_namespace(fs, name, caller_of(req));
	else if (dir.type != NODE_NAMESPACE && dir.type != NODE_CLUSTER)
		err = EPERM;
	if (!err)
		err = view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	if (err)
		fuse_reply_err(req, err == ENOENT ? EPERM : err); /* a directory that is no resource */
	else
		reply_entry(req, &p, parent, &attr, false);
}

enum { GONE_TRIES = 400, GONE_NS = 5000000 };

/* Its content goes by the namespace controller, which is quick; waiting is for `rmdir x && mkdir x`. Finalizers
 * can hold it back for as long as they like. */
static int remove_namespace(struct fs *fs, const char *name, pid_t pid)
{
	struct place p;

	if (!view_is_bare(fs, NULL, name))
		return ENOTEMPTY;
	place_set(&p, NODE_OBJECT, namespaces_kind(fs), STR(""), str_of(name));
	int err = save_delete(fs, &p, pid);
	for (int i = 0; !err && view_has_namespace(fs, name); i++) {
		if (i == GONE_TRIES)
			return EBUSY;
		nanosleep(&(struct timespec){.tv_nsec = GONE_NS}, NULL);
	}
	return err;
}

/* A resource's directory is there whenever it is asked for: removing it means that it is empty. */
static int remove_dir(struct fs *fs, const struct place *p, pid_t pid)
{
	switch (p->type) {
	case NODE_NAMESPACE:
		pending_flush(fs, NULL, p->ns);
		return remove_namespace(fs, p->ns, pid);
	case NODE_RESOURCE:
		pending_flush(fs, p->kind, p->ns);
		return view_is_bare(fs, p->kind, p->ns) ? 0 : ENOTEMPTY;
	case NODE_OBJECT:
	case NODE_SCRATCH:
	case NODE_ALIAS:
	case NODE_ERRORS: return ENOTDIR;
	default: return EBUSY;
	}
}

void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct place dir, p;
	struct stat attr;
	bool cached;
	int err;

	node_place(fs, parent, &dir);
	err = fs->read_only ? EROFS : view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	fuse_reply_err(req, err ? err : remove_dir(fs, &p, caller_of(req)));
}

/* Programs that replace a file by unlink and create (pending.c). For everybody else a delete is a delete: on disk, and
 * seen over HTTP, when unlink returns. */
static bool replaces(pid_t pid)
{
	static const char *const names[] = {"mv",     "install", "git",   "cp",    "tar",
					    "bsdtar", "cpio",    "unzip", "patch", "perl"};
	char comm[64];

	comm_of(pid, comm, sizeof(comm));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(comm, names[i]) == 0)
			return true;
	return false;
}

static int unlink_object(struct fs *fs, const struct place *p, pid_t pid)
{
	pid_t tgid = tgid_of(pid);

	if (replaces(tgid) && pending_add(fs, p, tgid))
		return 0;
	return save_delete(fs, p, pid);
}

static int unlink_memory(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n) {
		draft_orphan(n);
		scratch_drop(fs, n);
	}
	pthread_mutex_unlock(&fs->lock);
	return 0;
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct place dir, p;
	struct stat attr;
	bool cached;
	int err;

	node_place(fs, parent, &dir);
	err = fs->read_only ? EROFS : view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	if (!err && p.counted)
		err = unlink_memory(fs, p.ino);
	else if (!err)
		err = p.type == NODE_OBJECT ? unlink_object(fs, &p, caller_of(req)) : EPERM;
	fuse_reply_err(req, err);
}

/* Truncation without an open writer: emptying is what `>` does before it writes and changes nothing by itself;
 * any other length is a save. */
static int truncate_object(struct fs *fs, const struct place *p, size_t size, pid_t pid)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint64_t revision;
	int err = size > DRAFT_MAX ? EFBIG : view_file(fs, p, &text, &revision);

	if (err || size == 0 || size == text.len)
		return err;
	if (text_resize(&text, size))
		return ENOMEM;
	return save_text(fs, p, buf_str(&text), revision, pid, false, NULL);
}

/* Truncation of a scratch file or an open draft; -1: it is neither. */
static int truncate_memory(struct fs *fs, uint64_t ino, size_t size)
{
	int err = -1;

	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n && n->type == NODE_SCRATCH)
		err = scratch_resize(fs, n, size);
	else if (n && n->draft)
		err = draft_resize(fs, n, size);
	pthread_mutex_unlock(&fs->lock);
	return err;
}

static int set_size(struct fs *fs, const struct place *p, off_t size, pid_t pid)
{
	int err = size < 0 ? EINVAL : truncate_memory(fs, p->ino, (size_t)size);

	if (err >= 0)
		return err;
	return p->type == NODE_OBJECT ? truncate_object(fs, p, (size_t)size, pid) : EPERM;
}

/* Modes, owners and times are the store's to say: accepted, and ignored but for scratch files. */
static void set_scratch(struct fs *fs, uint64_t ino, const struct stat *attr, int to_set)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n && n->type == NODE_SCRATCH) {
		if (to_set & FUSE_SET_ATTR_MODE)
			n->mode = scratch_mode(fs, n->kind, attr->st_mode);
		if (to_set & FUSE_SET_ATTR_MTIME_NOW)
			clock_gettime(CLOCK_REALTIME, &n->mtime);
		else if (to_set & FUSE_SET_ATTR_MTIME)
			n->mtime = attr->st_mtim;
	}
	pthread_mutex_unlock(&fs->lock);
}

void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct place p;
	struct stat now;
	bool cached;
	int err = fs->read_only ? EROFS : 0;

	(void)fi;
	node_place(fs, ino, &p);
	if (!err && (to_set & FUSE_SET_ATTR_SIZE))
		err = set_size(fs, &p, attr->st_size, caller_of(req));
	if (!err) {
		set_scratch(fs, ino, attr, to_set);
		err = view_attr(fs, &p, &now, &cached);
	}
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_attr(req, &now, 0);
}
