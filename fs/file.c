/* SPDX-License-Identifier: Apache-2.0 */
/* Open files: objects read from one rendering, drafts, scratch files.
 *
 * What commits a draft: flush by the process that opened it (a forked child closing its copy commits nothing), fsync,
 * release as the last resort. An empty or untouched draft commits nothing: `>` flushes before it writes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/mount.h"

pid_t tgid_of(pid_t tid)
{
	char path[64], line[128];
	pid_t tgid = tid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return tid;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	fclose(f);
	return tgid;
}

static struct file *file_of(struct fuse_file_info *fi)
{
	return (struct file *)(uintptr_t)fi->fh;
}

/* A reply to a read ends the read for its caller, who may close the file before our system call is back:
 * whoever sends f->text holds a reference. */
static void file_free(struct fs *fs, struct file *f)
{
	if (atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	pthread_mutex_lock(&fs->lock);
	draft_unref(f->draft);
	pthread_mutex_unlock(&fs->lock);
	free(f->text);
	free(f);
}

static void reply_opened(fuse_req_t req, struct file *f, struct fuse_file_info *fi, int err)
{
	if (err) {
		file_free(fs_of(req), f);
		fuse_reply_err(req, err);
		return;
	}
	fi->fh = (uintptr_t)f;
	if (fuse_reply_open(req, fi) < 0)
		file_free(fs_of(req), f);
}

/* The stored text of p, and its revision. ENOENT when there is no such object. */
static int stored_text(struct fs *fs, const struct place *p, struct buf *out, uint64_t *ret_revision)
{
	struct status st;
	struct object o;
	struct read *r;
	int err;

	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = -read_get(r, p->kind, str_of(p->ns), str_of(p->name), &o, &st);
	if (!err && !p->counted && name_hash(p->form, o.uid) != p->uid_hash)
		err = ESTALE;
	if (!err) {
		*ret_revision = o.revision;
		if (!view_text(p->kind, &o, p->form, out))
			err = ENOMEM;
	}
	read_end(r);
	return err;
}

/* A reader of an object that is being written sees the draft. */
static bool open_draft_text(struct fs *fs, const struct place *p, struct file *f, int *ret_err)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, p->ino);
	bool found = n && n->draft;
	if (found) {
		f->len = n->draft->text.len;
		f->text = malloc(f->len + 1);
		if (f->text && f->len)
			memcpy(f->text, n->draft->text.ptr, f->len);
		*ret_err = f->text ? 0 : ENOMEM;
	}
	pthread_mutex_unlock(&fs->lock);
	return found;
}

/* Does the kernel have pages of this very revision? From now on it will. */
static bool remember_pages(struct fs *fs, uint64_t ino, uint64_t revision)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	bool kept = n && n->cached_revision == revision;
	if (n)
		n->cached_revision = revision;
	pthread_mutex_unlock(&fs->lock);
	return kept;
}

static int open_object(struct fs *fs, const struct place *p, struct file *f, struct fuse_file_info *fi)
{
	struct buf text = {0};
	uint64_t revision = 0;
	int err = 0;

	if (open_draft_text(fs, p, f, &err)) {
		fi->direct_io = 1;
		return err;
	}
	err = stored_text(fs, p, &text, &revision);
	if (err) {
		buf_done(&text);
		return err == ENOENT ? ESTALE : err;
	}
	f->text = buf_steal(&text, &f->len);
	if (!f->text)
		return ENOMEM;
	if (p->counted)
		fi->direct_io = 1;
	else
		fi->keep_cache = remember_pages(fs, p->ino, revision);
	fi->noflush = 1;
	return 0;
}

/* Takes part in the file's draft, starting one from what is stored. */
static int join_draft(struct fs *fs, const struct place *p, struct file *f, bool truncate)
{
	struct buf text = {0};
	uint64_t revision = 0;
	int err = stored_text(fs, p, &text, &revision);

	if (err && err != ENOENT) {
		buf_done(&text);
		return err;
	}
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, p->ino);
	err = n ? 0 : ESTALE;
	if (n && !n->draft) {
		n->draft = draft_new();
		if (n->draft) {
			n->draft->text = text;
			n->draft->base_revision = revision;
			text = (struct buf){0};
		} else {
			err = ENOMEM;
		}
	}
	if (!err) {
		f->draft = n->draft;
		f->draft->refs++;
		n->cached_revision = 0;
		if (truncate)
			buf_clear(&f->draft->text);
	}
	pthread_mutex_unlock(&fs->lock);
	buf_done(&text);
	return err;
}

static int open_errors(struct fs *fs, struct file *f, struct fuse_file_info *fi)
{
	struct buf text = {0};

	errors_text(fs, &text);
	f->text = buf_steal(&text, &f->len);
	fi->direct_io = 1;
	return f->text ? 0 : ENOMEM;
}

static int open_scratch(struct fs *fs, const struct place *p, struct file *f, struct fuse_file_info *fi)
{
	f->scratch = true;
	fi->direct_io = 1;
	if (!(fi->flags & O_TRUNC))
		return 0;
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, p->ino);
	if (n) {
		fs->scratch_bytes -= n->gone ? 0 : n->text.len;
		buf_clear(&n->text);
	}
	pthread_mutex_unlock(&fs->lock);
	return 0;
}

static struct file *file_new(fuse_req_t req, uint64_t ino)
{
	struct fs *fs = fs_of(req);
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	atomic_init(&f->refs, 1);
	f->tgid = tgid_of(fuse_req_ctx(req)->pid);
	pthread_mutex_lock(&fs->lock);
	f->node = node_find(fs, ino);
	pthread_mutex_unlock(&fs->lock);
	return f;
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	bool writing = (fi->flags & O_ACCMODE) != O_RDONLY;
	struct file *f = file_new(req, ino);
	struct place p;
	int err;

	if (!f) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	node_place(fs, ino, &p);
	if (writing && fs->read_only)
		err = EROFS;
	else if (p.type == NODE_SCRATCH)
		err = open_scratch(fs, &p, f, fi);
	else if (p.type == NODE_ERRORS)
		err = writing ? EACCES : open_errors(fs, f, fi);
	else if (p.type != NODE_OBJECT)
		err = EISDIR;
	else if (writing) {
		fi->direct_io = 1;
		err = join_draft(fs, &p, f, fi->flags & O_TRUNC);
	} else {
		err = open_object(fs, &p, f, fi);
	}
	reply_opened(req, f, fi, err);
}

/* Copies [off, off + size) of text, as far as it goes. */
static void reply_range(fuse_req_t req, const char *text, size_t len, size_t size, off_t off)
{
	if (off < 0 || (size_t)off >= len)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, text + off, size < len - (size_t)off ? size : len - (size_t)off);
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fi);

	(void)ino;
	atomic_fetch_add(&f->refs, 1);
	if (!f->draft && !f->scratch) {
		reply_range(req, f->text, f->len, size, off);
	} else {
		pthread_mutex_lock(&fs->lock);
		const struct buf *text = f->draft ? &f->draft->text : &f->node->text;
		reply_range(req, text->ptr, text->len, size, off);
		pthread_mutex_unlock(&fs->lock);
	}
	file_free(fs, f);
}

/* Puts bytes at off, zeros in a gap before it. A positive errno. */
static int put(struct buf *text, const char *bytes, size_t size, size_t off, size_t limit)
{
	size_t end;

	if (__builtin_add_overflow(off, size, &end) || end > limit)
		return EFBIG;
	if (end > text->len) {
		if (!buf_reserve(text, end - text->len)) {
			text->failed = false;
			return ENOMEM;
		}
		if (off > text->len)
			memset(text->ptr + text->len, 0, off - text->len);
		text->len = end;
	}
	if (size)
		memcpy(text->ptr + off, bytes, size);
	return 0;
}

static int write_scratch(struct fs *fs, struct node *n, const char *bytes, size_t size, size_t off)
{
	size_t before = n->text.len;
	size_t limit = n->gone ? DRAFT_MAX : SCRATCH_BYTES_MAX - fs->scratch_bytes + before;
	int err = put(&n->text, bytes, size, off, limit);

	if (!n->gone)
		fs->scratch_bytes += n->text.len - before;
	clock_gettime(CLOCK_REALTIME, &n->mtime);
	return err == EFBIG ? ENOSPC : err;
}

/* After a commit the node has no draft; whoever writes on brings it back. */
static int write_draft(struct node *n, struct draft *d, const char *bytes, size_t size, size_t off)
{
	if (!n->draft) {
		n->draft = d;
		d->refs++;
	}
	d->error = 0;
	d->dirty = true;
	return put(&d->text, bytes, size, off, DRAFT_MAX);
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fi);
	int err = EBADF;

	(void)ino;
	pthread_mutex_lock(&fs->lock);
	if (fi->flags & O_APPEND)
		off = (off_t)(f->draft ? f->draft->text.len : f->scratch ? f->node->text.len : 0);
	if (f->draft)
		err = write_draft(f->node, f->draft, bytes, size, (size_t)off);
	else if (f->scratch)
		err = write_scratch(fs, f->node, bytes, size, (size_t)off);
	pthread_mutex_unlock(&fs->lock);
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_write(req, size);
}

/* Takes the draft's text for a commit: false when there is nothing to commit. */
static bool take_text(struct fs *fs, struct draft *d, struct buf *out, uint64_t *ret_base, int *ret_error)
{
	bool due;

	pthread_mutex_lock(&fs->lock);
	due = d->dirty && d->text.len && !d->error;
	*ret_error = d->error;
	if (due) {
		buf_add_str(out, buf_str(&d->text));
		*ret_base = d->base_revision;
	}
	pthread_mutex_unlock(&fs->lock);
	if (due && out->failed) {
		*ret_error = ENOMEM;
		return false;
	}
	return due;
}

/* What a commit leaves: committed, the file is the store's again; refused, the error sticks until the next write and a new
 * file disappears. */
static void settle(struct fs *fs, struct node *n, struct draft *d, int err)
{
	pthread_mutex_lock(&fs->lock);
	d->error = err;
	if (!err)
		d->dirty = false;
	if (n->draft == d) {
		draft_unref(d);
		n->draft = NULL;
	}
	if (n->type == NODE_OBJECT && n->counted)
		scratch_drop(fs, n);
	pthread_mutex_unlock(&fs->lock);
}

/* The next save through this handle builds on what this one made. */
static void rebase(struct fs *fs, const struct place *p, struct draft *d)
{
	struct status st;
	struct object o;
	struct read *r;

	if (read_begin(fs->store, &r, &st) < 0)
		return;
	if (read_get(r, p->kind, str_of(p->ns), str_of(p->name), &o, &st) == 0) {
		pthread_mutex_lock(&fs->lock);
		d->base_revision = o.revision;
		pthread_mutex_unlock(&fs->lock);
	}
	read_end(r);
}

static int commit(struct fs *fs, struct file *f, pid_t pid)
{
	struct buf text = {0};
	uint64_t base = 0;
	struct place p;
	int err = 0;

	if (!f->draft || !take_text(fs, f->draft, &text, &base, &err)) {
		buf_done(&text);
		return err;
	}
	node_place(fs, f->node->ino, &p);
	err = save_text(fs, &p, buf_str(&text), base, pid, false);
	settle(fs, f->node, f->draft, err);
	if (!err)
		rebase(fs, &p, f->draft);
	buf_done(&text);
	return err;
}

void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);
	pid_t pid = fuse_req_ctx(req)->pid;

	(void)ino;
	if (!f->draft || tgid_of(pid) != f->tgid)
		fuse_reply_err(req, 0);
	else
		fuse_reply_err(req, commit(fs_of(req), f, pid));
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);

	(void)ino;
	(void)datasync;
	fuse_reply_err(req, f->draft ? commit(fs_of(req), f, fuse_req_ctx(req)->pid) : 0);
}

/* The last writer is gone: what is left uncommitted is committed (nobody hears of a refusal but .errors), an empty
 * draft is dropped. */
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fi);

	(void)ino;
	if (f->draft) {
		pthread_mutex_lock(&fs->lock);
		bool last = f->draft->refs <= (f->node->draft == f->draft ? 2u : 1u);
		pthread_mutex_unlock(&fs->lock);
		if (last) {
			commit(fs, f, f->tgid);
			settle(fs, f->node, f->draft, f->draft->error);
		}
	}
	file_free(fs, f);
	fuse_reply_err(req, 0);
}

/* A new name in a resource directory: a new object's draft, or a scratch file. */
static struct node *create_node(struct fs *fs, const struct place *dir, struct str file, mode_t mode, int *ret_err)
{
	struct str stem = {0};
	enum form form = name_parse(file, &stem);
	bool object = form != FORM_NONE && name_for_new(dir->kind, stem);

	if (!object && fs->scratch_files >= SCRATCH_FILES_MAX) {
		*ret_err = ENOSPC;
		return NULL;
	}
	struct node *n = node_add(fs, object ? NODE_OBJECT : NODE_SCRATCH, 0, dir->kind, str_of(dir->ns),
				  object ? stem : file);
	if (!n) {
		*ret_err = ENOMEM;
		return NULL;
	}
	n->form = object ? form : FORM_NONE;
	n->parent = dir->ino;
	n->mode = scratch_mode(fs, dir->kind, mode);
	clock_gettime(CLOCK_REALTIME, &n->mtime);
	n->next_scratch = fs->scratches;
	fs->scratches = n;
	fs->scratch_files += !object;
	n->nlookup = 1;
	return n;
}

/* An object that is there already, its delete pending perhaps: its file is opened for an update. */
static bool create_over(fuse_req_t req, const struct place *dir, const char *name, struct place *ret, struct stat *attr)
{
	struct fs *fs = fs_of(req);
	bool cached;

	if (view_lookup(fs, dir, str_of(name), ret, attr, &cached) || ret->type != NODE_OBJECT || ret->counted)
		return false;
	pending_cancel(fs, ret, tgid_of(fuse_req_ctx(req)->pid));
	return true;
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = {0};
	struct place dir, p;
	struct file *f = NULL;
	int err = 0;

	node_place(fs, parent, &dir);
	if (fs->read_only)
		err = EROFS;
	else if (dir.type != NODE_RESOURCE)
		err = EPERM;
	else if (create_over(req, &dir, name, &p, &e.attr))
		e.ino = node_tell(fs, &p, dir.ino);
	else {
		pthread_mutex_lock(&fs->lock);
		struct node *n = scratch_find(fs, parent, str_of(name));
		if (n)
			n->nlookup++;
		else
			n = create_node(fs, &dir, str_of(name), mode, &err);
		e.ino = n ? n->ino : 0;
		pthread_mutex_unlock(&fs->lock);
	}
	if (!err && !e.ino)
		err = ENOMEM;
	if (!err && !(f = file_new(req, e.ino)))
		err = ENOMEM;
	if (!err) {
		node_place(fs, e.ino, &p);
		fi->direct_io = 1;
		f->scratch = p.type == NODE_SCRATCH;
		if (!f->scratch)
			err = join_draft(fs, &p, f, true);
	}
	bool cached;
	if (!err)
		err = view_attr(fs, &p, &e.attr, &cached);
	if (err) {
		if (f)
			file_free(fs, f);
		if (e.ino)
			node_forget(fs, e.ino, 1);
		fuse_reply_err(req, err);
		return;
	}
	e.attr.st_ino = e.ino;
	fi->fh = (uintptr_t)f;
	if (fuse_reply_create(req, &e, fi) < 0) {
		file_free(fs, f);
		node_forget(fs, e.ino, 1);
	}
}
