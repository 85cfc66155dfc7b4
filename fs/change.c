/* SPDX-License-Identifier: Apache-2.0 */
/* Names that come and go: mkdir, rmdir, unlink, rename, truncate by path. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "fs/mount.h"

void reply_entry(fuse_req_t req, struct fs *fs, const struct place *p, uint64_t parent, const struct stat *attr,
		 bool cached)
{
	struct fuse_entry_param e = {
		.ino = node_tell(fs, p, parent),
		.attr = *attr,
		.attr_timeout = cached ? FOREVER : 0,
		.entry_timeout = cached ? FOREVER : 0,
	};

	if (!e.ino) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	e.attr.st_ino = e.ino;
	if (fuse_reply_entry(req, &e) < 0)
		node_forget(fs, e.ino, 1);
}

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
	place_set(&p, NODE_OBJECT, req.kind, STR(""), str_of(name));
	refuse(fs, &p, pid, &st);
	return reason_errno(st.reason);
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
		err = make_namespace(fs, name, fuse_req_ctx(req)->pid);
	else if (dir.type != NODE_NAMESPACE && dir.type != NODE_CLUSTER)
		err = EPERM;
	if (!err)
		err = view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	if (err)
		fuse_reply_err(req, err == ENOENT ? EPERM : err); /* a directory that is no resource */
	else
		reply_entry(req, fs, &p, parent, &attr, false);
}

static bool namespace_is_there(struct fs *fs, const char *name)
{
	struct status st;
	struct object o;
	struct read *r;

	if (read_begin(fs->store, &r, &st) < 0)
		return false;
	int err = read_get(r, namespaces_kind(fs), STR(""), str_of(name), &o, &st);
	read_end(r);
	return !err;
}

/* Its content goes by the namespace controller, which is quick; waiting is for `rmdir x && mkdir x`. */
static int remove_namespace(struct fs *fs, const char *name, pid_t pid)
{
	int err = view_is_bare(fs, NULL, name) ? save_delete(fs, namespaces_kind(fs), STR(""), str_of(name), pid)
					       : ENOTEMPTY;

	for (int i = 0; !err && i < 400 && namespace_is_there(fs, name); i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return err;
}

void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct place dir, p;
	struct stat attr;
	bool cached;
	int err;

	node_place(fs, parent, &dir);
	pending_run(fs, true);
	err = fs->read_only ? EROFS : view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	if (!err && p.type == NODE_NAMESPACE)
		err = remove_namespace(fs, name, fuse_req_ctx(req)->pid);
	else if (!err && p.type == NODE_RESOURCE && dir.type == NODE_NAMESPACE)
		err = view_is_bare(fs, p.kind, p.ns) ? 0 : ENOTEMPTY;
	else if (!err)
		err = p.type == NODE_OBJECT || p.type == NODE_SCRATCH || p.type == NODE_ALIAS ? ENOTDIR : EBUSY;
	fuse_reply_err(req, err);
}

/* Programs that replace a file by unlink and create (pending.c). For everybody else a delete is a delete: on disk, and seen
 * over HTTP, when unlink returns. */
static bool replaces(pid_t pid)
{
	static const char *const names[] = {"mv", "install", "git", "cp", "tar", "bsdtar", "cpio", "unzip", "patch"};
	char path[64], comm[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(comm, names[i]) == 0)
			return true;
	return false;
}

static int unlink_object(struct fs *fs, const struct place *p, pid_t pid)
{
	if (replaces(pid) && pending_add(fs, p, tgid_of(pid)))
		return 0;
	return save_delete(fs, p->kind, str_of(p->ns), str_of(p->name), pid);
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
	if (!err && p.counted) {
		pthread_mutex_lock(&fs->lock);
		struct node *n = node_find(fs, p.ino);
		if (n)
			scratch_drop(fs, n);
		pthread_mutex_unlock(&fs->lock);
	} else if (!err) {
		err = p.type == NODE_OBJECT ? unlink_object(fs, &p, fuse_req_ctx(req)->pid) : EPERM;
	}
	fuse_reply_err(req, err);
}

/* A copy of what a name holds: a scratch file's bytes, an object's text. */
static int text_of(struct fs *fs, const struct place *p, struct buf *out, uint64_t *ret_revision)
{
	struct status st;
	struct object o;
	struct read *r;
	int err;

	*ret_revision = 0;
	if (p->counted) {
		pthread_mutex_lock(&fs->lock);
		const struct node *n = node_find(fs, p->ino);
		const struct buf *text = n ? (n->draft ? &n->draft->text : &n->text) : NULL;
		if (text)
			buf_add_str(out, buf_str(text));
		pthread_mutex_unlock(&fs->lock);
		return out->failed ? ENOMEM : 0;
	}
	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = -read_get(r, p->kind, str_of(p->ns), str_of(p->name), &o, &st);
	if (!err && !view_text(p->kind, &o, p->form, out))
		err = ENOMEM;
	if (!err)
		*ret_revision = o.revision;
	read_end(r);
	return err;
}

static int make_scratch(struct fs *fs, const struct place *dir, const char *name, struct buf *text)
{
	int err = 0;

	pthread_mutex_lock(&fs->lock);
	struct node *n = scratch_find(fs, dir->ino, str_of(name));
	if (n)
		scratch_drop(fs, n);
	if (fs->scratch_files >= SCRATCH_FILES_MAX || fs->scratch_bytes + text->len > SCRATCH_BYTES_MAX)
		err = ENOSPC;
	n = err ? NULL : node_add(fs, NODE_SCRATCH, 0, dir->kind, str_of(dir->ns), str_of(name));
	if (!n && !err)
		err = ENOMEM;
	if (n) {
		n->parent = dir->ino;
		n->mode = scratch_mode(fs, dir->kind, 0644);
		clock_gettime(CLOCK_REALTIME, &n->mtime);
		n->text = *text;
		*text = (struct buf){0};
		n->next_scratch = fs->scratches;
		fs->scratches = n;
		fs->scratch_files++;
		fs->scratch_bytes += n->text.len;
	}
	pthread_mutex_unlock(&fs->lock);
	return err;
}

static void drop_counted(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n)
		scratch_drop(fs, n);
	pthread_mutex_unlock(&fs->lock);
}

struct renaming {
	struct place from_dir, to_dir, from;
	const char *newname;
	unsigned flags;
	pid_t pid;
};

/* Onto the name of an object: a commit. */
static int rename_to_object(struct fs *fs, const struct renaming *m, struct str stem, enum form form, struct buf *text)
{
	struct place to, target;
	struct stat attr;
	bool cached, exists;

	place_set(&to, NODE_OBJECT, m->to_dir.kind, str_of(m->to_dir.ns), stem);
	to.form = form;
	exists = view_lookup(fs, &m->to_dir, str_of(m->newname), &target, &attr, &cached) == 0 && !target.counted;
	if (exists && (m->flags & RENAME_NOREPLACE))
		return EEXIST;
	if (exists) /* a short form names the object that it stands for */
		memcpy(to.name, target.name, sizeof(to.name));
	pending_cancel(fs, &to, tgid_of(m->pid));
	int err = save_text(fs, &to, buf_str(text), 0, m->pid, true);
	if (!err && m->from.counted)
		drop_counted(fs, m->from.ino);
	else if (!err)
		err = save_delete(fs, m->from.kind, str_of(m->from.ns), str_of(m->from.name), m->pid);
	return err == ENOENT ? 0 : err;
}

/* Onto any other name: scratch. An object stays in the store: this is how vim makes its backup. */
static int rename_to_scratch(struct fs *fs, const struct renaming *m, struct buf *text)
{
	int err;

	pthread_mutex_lock(&fs->lock);
	bool exists = scratch_find(fs, m->to_dir.ino, str_of(m->newname)) != NULL;
	pthread_mutex_unlock(&fs->lock);
	if (exists && (m->flags & RENAME_NOREPLACE))
		return EEXIST;
	if (m->from.counted)
		drop_counted(fs, m->from.ino);
	err = make_scratch(fs, &m->to_dir, m->newname, text);
	return err;
}

static int rename_file(struct fs *fs, struct renaming *m)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct str stem = {0};
	enum form form = name_parse(str_of(m->newname), &stem);
	uint64_t revision;

	if (m->from.type != NODE_OBJECT && m->from.type != NODE_SCRATCH)
		return EPERM;
	if (m->from.type == NODE_OBJECT && !m->from.counted && m->from.kind != m->to_dir.kind)
		return EXDEV; /* mv falls back to a copy, and the copy is refused with a reason */
	int err = text_of(fs, &m->from, &text, &revision);
	if (err)
		return err;
	if (form != FORM_NONE && name_for_new(m->to_dir.kind, stem))
		return rename_to_object(fs, m, stem, form, &text);
	return rename_to_scratch(fs, m, &text);
}

void op_rename(fuse_req_t req, fuse_ino_t from, const char *name, fuse_ino_t to, const char *newname, unsigned flags)
{
	struct fs *fs = fs_of(req);
	struct renaming m = {.newname = newname, .flags = flags, .pid = fuse_req_ctx(req)->pid};
	struct stat attr;
	bool cached;
	int err;

	node_place(fs, from, &m.from_dir);
	node_place(fs, to, &m.to_dir);
	if (fs->read_only)
		err = EROFS;
	else if (flags & ~(unsigned)RENAME_NOREPLACE)
		err = EINVAL;
	else if (m.from_dir.type != NODE_RESOURCE || m.to_dir.type != NODE_RESOURCE)
		err = EPERM;
	else
		err = view_lookup(fs, &m.from_dir, str_of(name), &m.from, &attr, &cached);
	if (!err)
		err = rename_file(fs, &m);
	fuse_reply_err(req, err);
	if (!err) {
		notify_entry(fs, from, name);
		notify_entry(fs, to, newname);
	}
}

/* Truncation without an open writer: emptying is what `>` does before it writes and changes nothing by itself;
 * any other length is a save. */
static int truncate_path(struct fs *fs, const struct place *p, size_t size, pid_t pid)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint64_t revision;
	int err = size > DRAFT_MAX ? EFBIG : text_of(fs, p, &text, &revision);

	if (err || size == 0 || size == text.len)
		return err;
	if (size > text.len && !buf_reserve(&text, size - text.len))
		return ENOMEM;
	if (size > text.len)
		memset(text.ptr + text.len, 0, size - text.len);
	text.len = size;
	return save_text(fs, p, buf_str(&text), revision, pid, false);
}

static int resize(struct buf *text, size_t size)
{
	if (size > DRAFT_MAX)
		return EFBIG;
	if (size > text->len) {
		if (!buf_reserve(text, size - text->len))
			return ENOMEM;
		memset(text->ptr + text->len, 0, size - text->len);
	}
	text->len = size;
	return 0;
}

/* Truncation of an open draft or a scratch file; -1: of neither. */
static int truncate_memory(struct fs *fs, uint64_t ino, size_t size)
{
	int err = -1;

	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n && n->type == NODE_SCRATCH) {
		size_t before = n->text.len;
		err = resize(&n->text, size);
		if (!n->gone)
			fs->scratch_bytes += n->text.len - before;
	} else if (n && n->draft) {
		err = resize(&n->draft->text, size);
		n->draft->dirty = true;
		n->draft->error = 0;
	}
	pthread_mutex_unlock(&fs->lock);
	return err;
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
	if (!err && (to_set & FUSE_SET_ATTR_SIZE)) {
		err = truncate_memory(fs, ino, (size_t)attr->st_size);
		if (err < 0)
			err = p.type == NODE_OBJECT
				      ? truncate_path(fs, &p, (size_t)attr->st_size, fuse_req_ctx(req)->pid)
				      : EPERM;
	}
	/* Modes, owners and times are the store's to say: accepted, and ignored but for scratch files. */
	if (!err && (to_set & FUSE_SET_ATTR_MODE) && p.type == NODE_SCRATCH) {
		pthread_mutex_lock(&fs->lock);
		struct node *n = node_find(fs, ino);
		if (n)
			n->mode = scratch_mode(fs, n->kind, attr->st_mode);
		pthread_mutex_unlock(&fs->lock);
	}
	if (!err)
		err = view_attr(fs, &p, &now, &cached);
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_attr(req, &now, 0);
}
