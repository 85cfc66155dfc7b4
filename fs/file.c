/* SPDX-License-Identifier: Apache-2.0 */
/* Open files.
 *
 * A reader gets one rendering, made when it opens. Readers of one file share the kernel's pages, so
 * when the object has changed meanwhile, a reader goes on with the new text (as with any file that
 * is written while it is read): pages of two revisions never mix. Where the kernel may still have the attributes
 * of an older revision, a text of another length would be cut short: then the kernel is sent to look again, once,
 * and otherwise the file is read around its cache. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/mount.h"

static struct file *file_of(struct fuse_file_info *fi)
{
	return (struct file *)(uintptr_t)fi->fh;
}

/* --- Renderings */

static struct text *text_new(size_t len, uint64_t revision)
{
	struct text *t = malloc(sizeof(*t) + len + 1);

	if (t)
		*t = (struct text){.refs = 1, .revision = revision, .len = len};
	return t;
}

/* The node's rendering of this revision, if a handle keeps it. Lock not held. */
static struct text *text_shared(struct fs *fs, struct node *n, uint64_t revision)
{
	pthread_mutex_lock(&fs->lock);
	struct text *t = n->text && n->text->revision == revision ? n->text : NULL;
	if (t)
		t->refs++;
	pthread_mutex_unlock(&fs->lock);
	return t;
}

static struct text *render(const struct place *p, const struct object *o)
{
	_cleanup_(buf_done) struct buf out = {0};

	if (!view_text(p->kind, o, p->form, &out))
		return NULL;
	struct text *t = text_new(out.len, o->revision);
	if (t)
		memcpy(t->bytes, out.ptr, out.len);
	return t;
}

static int stored_text(struct fs *fs, struct node *n, const struct place *p, struct text **ret)
{
	struct status st;
	struct object o;
	struct read *r;
	int err;

	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = view_object(r, p, &o);
	if (!err) {
		*ret = text_shared(fs, n, o.revision);
		if (!*ret)
			*ret = render(p, &o);
		if (!*ret)
			err = ENOMEM;
	}
	read_end(r);
	return err == ENOENT ? ESTALE : err;
}

/* --- Handles */

static void free_file(struct handle *h)
{
	struct file *f = (struct file *)h;

	text_unref(f->text);
	if (f->draft && --f->draft->refs == 0) {
		buf_done(&f->draft->text);
		free(f->draft);
		f->node->draft = NULL;
	}
	free(f);
}

static struct file *file_new(fuse_req_t req, uint64_t ino)
{
	struct fs *fs = fs_of(req);
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	handle_add(fs, &f->handle, free_file);
	pthread_mutex_lock(&fs->lock);
	f->node = node_find(fs, ino);
	pthread_mutex_unlock(&fs->lock);
	return f;
}

static void file_free(struct fs *fs, struct file *f)
{
	if (f->draft)
		draft_leave(fs, f);
	handle_remove(fs, &f->handle);
	pthread_mutex_lock(&fs->lock);
	text_unref(f->text);
	pthread_mutex_unlock(&fs->lock);
	free(f);
}

/* --- Opening */

static void go_direct(struct file *f, struct fuse_file_info *fi)
{
	f->direct = true;
	fi->direct_io = 1;
}

/* A reader of an object that is being written sees the draft. */
static bool open_draft(struct fs *fs, struct file *f, int *ret_err)
{
	pthread_mutex_lock(&fs->lock);
	bool found = draft_shows(f->node);
	if (found) {
		const struct buf *text = &f->node->draft->text;
		f->text = text_new(text->len, 0);
		if (f->text && text->len)
			memcpy(f->text->bytes, text->ptr, text->len);
		*ret_err = f->text ? 0 : ENOMEM;
	}
	pthread_mutex_unlock(&fs->lock);
	return found;
}

enum route { ROUTE_CACHE, ROUTE_CACHE_KEPT, ROUTE_DIRECT, ROUTE_AGAIN };

/* How f's text may be read, given what the kernel knows of the file. Lock held. */
static enum route choose_route(struct node *n, struct text *t)
{
	bool newest = t->revision >= n->newest;

	if (newest)
		n->newest = t->revision;
	if (n->counted || !newest)
		return ROUTE_DIRECT;
	if (n->told && n->told != t->revision) {
		if (n->stale_open == t->revision)
			return ROUTE_DIRECT;
		n->stale_open = t->revision;
		return ROUTE_AGAIN;
	}
	node_show(n, t);
	if (n->paged == t->revision)
		return ROUTE_CACHE_KEPT;
	n->paged = t->revision;
	return ROUTE_CACHE;
}

static int open_object(struct fs *fs, const struct place *p, struct file *f, struct fuse_file_info *fi)
{
	int err = 0;

	go_direct(f, fi);
	if (open_draft(fs, f, &err))
		return err;
	err = stored_text(fs, f->node, p, &f->text);
	if (err)
		return err;
	pthread_mutex_lock(&fs->lock);
	enum route route = choose_route(f->node, f->text);
	pthread_mutex_unlock(&fs->lock);
	f->direct = route == ROUTE_DIRECT;
	fi->direct_io = f->direct;
	fi->keep_cache = route == ROUTE_CACHE_KEPT;
	fi->noflush = 1;
	return route == ROUTE_AGAIN ? ESTALE : 0;
}

static int open_errors(struct fs *fs, struct file *f, struct fuse_file_info *fi)
{
	_cleanup_(buf_done) struct buf text = {0};

	errors_text(fs, &text);
	f->text = text.failed ? NULL : text_new(text.len, 0);
	if (!f->text)
		return ENOMEM;
	if (text.len)
		memcpy(f->text->bytes, text.ptr, text.len);
	go_direct(f, fi);
	return 0;
}

static int open_scratch(struct fs *fs, struct file *f, struct fuse_file_info *fi)
{
	go_direct(f, fi);
	if (!(fi->flags & O_TRUNC))
		return 0;
	pthread_mutex_lock(&fs->lock);
	scratch_resize(fs, f->node, 0);
	pthread_mutex_unlock(&fs->lock);
	return 0;
}

static int open_to_write(struct fs *fs, const struct place *p, struct file *f, struct fuse_file_info *fi)
{
	go_direct(f, fi);
	return draft_join(fs, p, f, fi->flags & O_TRUNC);
}

/* f->node is there: the kernel opens only what it knows. */
static int open_file(struct fs *fs, const struct place *p, struct file *f, struct fuse_file_info *fi)
{
	bool writing = (fi->flags & O_ACCMODE) != O_RDONLY;

	if (!f->node)
		return ESTALE;
	if (writing && fs->read_only)
		return EROFS;
	switch (p->type) {
	case NODE_SCRATCH: return open_scratch(fs, f, fi);
	case NODE_ERRORS: return writing ? EACCES : open_errors(fs, f, fi);
	case NODE_OBJECT: return writing ? open_to_write(fs, p, f, fi) : open_object(fs, p, f, fi);
	default: return EISDIR;
	}
}

/* Who closes is compared with who opened only for writers. */
static void note_opener(fuse_req_t req, struct file *f)
{
	if (f->draft)
		f->tgid = tgid_of(caller_of(req));
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_new(req, ino);
	struct place p;
	int err;

	if (!f) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	node_place(fs, ino, &p);
	err = open_file(fs, &p, f, fi);
	if (err) {
		file_free(fs, f);
		fuse_reply_err(req, err);
		return;
	}
	note_opener(req, f);
	fi->fh = (uintptr_t)f;
	if (fuse_reply_open(req, fi) < 0)
		file_free(fs, f);
}

/* --- Creating */

static bool is_there(struct fs *fs, const struct place *dir, const char *name, struct place *ret)
{
	struct stat attr;
	bool cached;

	return view_lookup(fs, dir, str_of(name), ret, &attr, &cached) == 0 && ret->type == NODE_OBJECT && !ret->counted;
}

/* An object that is there already. Ours: the process removed or moved it a moment ago, and creating the file is an
 * update; else somebody has just made it. */
static bool create_over(fuse_req_t req, const struct place *dir, const char *name, struct place *ret, bool *ret_ours)
{
	struct fs *fs = fs_of(req);

	*ret_ours = false;
	if (!is_there(fs, dir, name, ret))
		return false;
	*ret_ours = pending_cancel(fs, ret, tgid_of(caller_of(req)));
	/* It may have waited for a delete to end. */
	return *ret_ours || is_there(fs, dir, name, ret);
}

/* A new object or scratch file, or the one that another process has just made. */
static int create_here(struct fs *fs, const struct place *dir, const char *name, mode_t mode, bool exclusive,
		       uint64_t *ret_ino)
{
	int err = 0;

	pthread_mutex_lock(&fs->lock);
	struct node *n = scratch_find(fs, dir->ino, str_of(name));
	if (n && exclusive)
		err = EEXIST;
	else if (!n)
		n = scratch_add(fs, dir, str_of(name), mode, &err);
	if (!err) {
		n->nlookup++;
		*ret_ino = n->ino;
	}
	pthread_mutex_unlock(&fs->lock);
	return err;
}

static int create_node(fuse_req_t req, const struct place *dir, const char *name, mode_t mode, bool exclusive,
		       uint64_t *ret_ino)
{
	struct fs *fs = fs_of(req);
	struct place p;
	bool ours;

	if (fs->read_only)
		return EROFS;
	if (dir->type != NODE_RESOURCE)
		return EPERM;
	if (!create_over(req, dir, name, &p, &ours))
		return create_here(fs, dir, name, mode, exclusive, ret_ino);
	if (exclusive && !ours)
		return EEXIST;
	*ret_ino = node_tell(fs, &p, dir->ino, false);
	return *ret_ino ? 0 : ENOMEM;
}

/* Undoes a create that could not be answered. */
static void uncreate(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n && n->listed && n->type == NODE_OBJECT && !n->draft)
		scratch_drop(fs, n);
	pthread_mutex_unlock(&fs->lock);
	node_forget(fs, ino, 1);
}

static int create_open(fuse_req_t req, struct file *f, struct fuse_file_info *fi, struct stat *ret_attr)
{
	struct fs *fs = fs_of(req);
	struct place p;
	bool cached;
	int err;

	node_place(fs, f->node->ino, &p);
	go_direct(f, fi);
	err = p.type == NODE_SCRATCH ? 0 : draft_join(fs, &p, f, true);
	if (!err)
		err = view_attr(fs, &p, ret_attr, &cached);
	note_opener(req, f);
	return err;
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = {0}; /* no time-outs */
	struct file *f = NULL;
	struct place dir;
	uint64_t ino = 0;
	int err;

	node_place(fs, parent, &dir);
	err = create_node(req, &dir, name, mode, fi->flags & O_EXCL, &ino);
	if (!err && !(f = file_new(req, ino)))
		err = ENOMEM;
	if (!err)
		err = create_open(req, f, fi, &e.attr);
	e.ino = e.attr.st_ino = ino;
	fi->fh = (uintptr_t)f;
	if (err)
		fuse_reply_err(req, err);
	else if (fuse_reply_create(req, &e, fi) == 0)
		return;
	if (f)
		file_free(fs, f);
	if (ino)
		uncreate(fs, ino);
}

/* --- Reading and writing */

/* Copies [off, off + size) of text, as far as it goes. */
static void reply_range(fuse_req_t req, const char *text, size_t len, size_t size, off_t off)
{
	if (off < 0 || (size_t)off >= len)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, text + off, size < len - (size_t)off ? size : len - (size_t)off);
}

/* The reply ends the read for its caller, who may write or close before our system call is back: so not from the
 * draft itself, nor under the lock. */
static void read_memory(fuse_req_t req, struct file *f, size_t size, off_t off)
{
	struct fs *fs = fs_of(req);
	char *copy = malloc(size + 1);
	size_t n = 0;

	if (!copy) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	pthread_mutex_lock(&fs->lock);
	const struct buf *text = f->draft ? &f->draft->text : &f->node->content;
	if (off >= 0 && (size_t)off < text->len) {
		n = size < text->len - (size_t)off ? size : text->len - (size_t)off;
		memcpy(copy, text->ptr + off, n);
	}
	pthread_mutex_unlock(&fs->lock);
	fuse_reply_buf(req, copy, n);
	free(copy);
}

/* The object has changed since f was opened, and the kernel's pages are to be of one revision. */
static void refresh(struct fs *fs, struct file *f)
{
	struct text *fresh = NULL, *old;
	struct place p;

	node_place(fs, f->node->ino, &p);
	if (stored_text(fs, f->node, &p, &fresh))
		return; /* deleted: what was opened is what there is */
	pthread_mutex_lock(&fs->lock);
	if (fresh->revision > f->node->newest)
		f->node->newest = fresh->revision;
	node_show(f->node, fresh);
	old = f->text;
	f->text = fresh;
	text_unref(old);
	pthread_mutex_unlock(&fs->lock);
}

static void read_text(fuse_req_t req, struct file *f, size_t size, off_t off)
{
	struct fs *fs = fs_of(req);
	struct node *n = f->node;

	pthread_mutex_lock(&fs->lock);
	if (!f->direct && f->text->revision < n->newest) {
		pthread_mutex_unlock(&fs->lock);
		refresh(fs, f);
		pthread_mutex_lock(&fs->lock);
	}
	struct text *t = f->text;
	t->refs++;
	pthread_mutex_unlock(&fs->lock);
	reply_range(req, t->bytes, t->len, size, off);
	pthread_mutex_lock(&fs->lock); /* f may be gone by now */
	text_unref(t);
	pthread_mutex_unlock(&fs->lock);
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);

	(void)ino;
	if (f->text)
		read_text(req, f, size, off);
	else
		read_memory(req, f, size, off);
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fi);
	bool append = fi->flags & O_APPEND;
	int err;

	(void)ino;
	if (f->draft) {
		err = draft_write(fs, f, bytes, size, off, append);
	} else {
		pthread_mutex_lock(&fs->lock);
		err = scratch_write(fs, f->node, bytes, size, append ? f->node->content.len : (size_t)off);
		pthread_mutex_unlock(&fs->lock);
	}
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_write(req, size);
}

void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);
	pid_t pid = caller_of(req);

	(void)ino;
	fuse_reply_err(req, f->draft && tgid_of(pid) == f->tgid ? draft_commit(fs_of(req), f, pid) : 0);
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);

	(void)ino, (void)datasync;
	fuse_reply_err(req, f->draft ? draft_commit(fs_of(req), f, caller_of(req)) : 0);
}

void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	file_free(fs_of(req), file_of(fi));
	fuse_reply_err(req, 0);
}
