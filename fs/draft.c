/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts: text that is being written to an object's file.
 *
 * A draft lives as long as a handle that may write. It starts as the stored text, and is what the
 * file shows while it differs from that: from the first write or truncation until a commit, or until a
 * refusal, which leaves the stored object at its name. What commits: flush by the process that opened
 * the file (a forked child closing its copy commits nothing), fsync, and the release of the last
 * handle. An empty draft commits nothing: `>` truncates and flushes before it writes. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fs/mount.h"

static int stored_text(struct fs *fs, const struct place *p, struct buf *out, uint64_t *ret_revision)
{
	struct status st;
	struct object o;
	struct read *r;
	int err;

	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = view_object(r, p, &o);
	if (!err) {
		*ret_revision = o.revision;
		if (!view_text(p->kind, &o, p->form, out))
			err = ENOMEM;
	}
	read_end(r);
	return err == ENOENT && !p->uid_hash ? 0 : err == ENOENT ? ESTALE : err;
}

/* What drafts take in all is bounded. Never refuses to shrink. */
static int charge(struct fs *fs, struct draft *d, size_t size)
{
	if (size > d->charged && size - d->charged > DRAFT_BYTES_MAX - fs->draft_bytes)
		return ENOSPC;
	fs->draft_bytes += size - d->charged;
	d->charged = size;
	return 0;
}

/* Text from the store may be a little longer than a draft may grow. */
static int restart(struct fs *fs, struct draft *d, struct buf *text, uint64_t revision)
{
	int err = charge(fs, d, text->len);

	if (err)
		return err;
	buf_done(&d->text);
	d->text = *text;
	*text = (struct buf){0};
	d->base = revision;
	d->error = 0;
	return 0;
}

static void drop(struct fs *fs, struct node *n)
{
	charge(fs, n->draft, 0);
	buf_done(&n->draft->text);
	free(n->draft);
	n->draft = NULL;
}

static void touch(struct node *n)
{
	struct draft *d = n->draft;

	d->dirty = true;
	d->error = 0;
	d->writes++;
	clock_gettime(CLOCK_REALTIME, &d->mtime);
	n->told = 0; /* a write makes the kernel ask for the size */
}

static int join(struct fs *fs, struct node *n, struct buf *text, uint64_t revision, bool truncate)
{
	bool fresh = !n->draft;
	int err = 0;

	if (fresh) {
		n->draft = calloc(1, sizeof(*n->draft));
		if (!n->draft)
			return ENOMEM;
		clock_gettime(CLOCK_REALTIME, &n->draft->mtime);
	}
	if (!n->draft->dirty && !n->draft->busy)
		err = restart(fs, n->draft, text, revision);
	if (err) {
		if (fresh)
			drop(fs, n);
		return err;
	}
	n->draft->refs++;
	if (truncate) {
		buf_clear(&n->draft->text);
		touch(n);
	}
	return 0;
}

int draft_join(struct fs *fs, const struct place *p, struct file *f, bool truncate)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint64_t revision = 0;
	int err = stored_text(fs, p, &text, &revision);

	if (err)
		return err;
	pthread_mutex_lock(&fs->lock);
	err = join(fs, f->node, &text, revision, truncate);
	if (!err)
		f->draft = f->node->draft;
	pthread_mutex_unlock(&fs->lock);
	return err;
}

int draft_write(struct fs *fs, struct file *f, const char *bytes, size_t size, off_t off, bool append)
{
	struct draft *d = f->draft;
	size_t at, end;
	int err;

	pthread_mutex_lock(&fs->lock);
	at = append ? d->text.len : (size_t)off;
	if (__builtin_add_overflow(at, size, &end) || (end > DRAFT_MAX && end > d->text.len))
		err = EFBIG;
	else
		err = charge(fs, d, end > d->text.len ? end : d->text.len);
	if (!err)
		err = text_put(&d->text, bytes, size, at);
	if (!err)
		touch(f->node);
	pthread_mutex_unlock(&fs->lock);
	return err;
}

int draft_resize(struct fs *fs, struct node *n, size_t size)
{
	struct draft *d = n->draft;
	int err = size > DRAFT_MAX && size > d->text.len ? EFBIG : charge(fs, d, size);

	if (!err)
		err = text_resize(&d->text, size);
	if (!err)
		touch(n);
	return err;
}

/* One commit: what was taken under the lock, what came of it. */
struct commit {
	struct buf text;
	uint64_t base, writes, revision;
	struct place place;
};

/* False: nothing to commit; *ret_error says whether that is because it was refused before. */
static bool take(struct fs *fs, struct node *n, struct draft *d, struct commit *c, int *ret_error)
{
	while (d->busy)
		pthread_cond_wait(&fs->settled, &fs->lock);
	*ret_error = d->error;
	if (!d->dirty || !d->text.len || d->orphan)
		return false;
	buf_add_str(&c->text, buf_str(&d->text));
	if (c->text.failed) {
		*ret_error = ENOMEM;
		return false;
	}
	c->base = d->base;
	c->writes = d->writes;
	place_set(&c->place, NODE_OBJECT, n->kind, str_of(n->ns), str_of(n->name));
	c->place.form = n->form;
	d->busy = true;
	return true;
}

/* A new object's node has done its duty: the object has one of its own. Its name is looked up again. */
static bool retire(struct fs *fs, struct node *n)
{
	if (!n->listed)
		return false;
	scratch_drop(fs, n);
	return true;
}

static void settle(struct fs *fs, struct node *n, struct draft *d, const struct commit *c, int err)
{
	char file[FILE_NAME_MAX + 1];
	uint64_t parent = n->parent;
	bool retired = false;

	pthread_mutex_lock(&fs->lock);
	d->busy = false;
	if (!err)
		d->base = c->revision;
	if (d->writes == c->writes) {
		d->error = err;
		d->dirty = false;
		retired = retire(fs, n);
	}
	pthread_cond_broadcast(&fs->settled);
	pthread_mutex_unlock(&fs->lock);
	if (!retired)
		return;
	place_file(&c->place, file);
	notify_entry(fs, parent, file);
}

int draft_commit(struct fs *fs, struct file *f, pid_t pid)
{
	struct commit c = {0};
	int err;

	pthread_mutex_lock(&fs->lock);
	bool due = take(fs, f->node, f->draft, &c, &err);
	pthread_mutex_unlock(&fs->lock);
	if (due) {
		err = save_text(fs, &c.place, buf_str(&c.text), c.base, pid, false, &c.revision);
		settle(fs, f->node, f->draft, &c, err);
	}
	buf_done(&c.text);
	return err;
}

void draft_orphan(struct node *n)
{
	if (n->draft)
		n->draft->orphan = true;
}

/* The last handle is gone: the file shows the store again. */
static bool end(struct fs *fs, struct node *n, char file[FILE_NAME_MAX + 1])
{
	struct str name = file_name(n, file);

	if (name.ptr != file)
		snprintf(file, FILE_NAME_MAX + 1, "%s", n->name);
	n->told = 0;
	drop(fs, n);
	return retire(fs, n);
}

void draft_leave(struct fs *fs, struct file *f)
{
	struct node *n = f->node;
	char file[FILE_NAME_MAX + 1];
	bool last, retired = false;

	pthread_mutex_lock(&fs->lock);
	last = f->draft->refs == 1;
	pthread_mutex_unlock(&fs->lock);
	if (last) /* nobody hears of a refusal but .errors and .rej */
		draft_commit(fs, f, f->tgid);
	pthread_mutex_lock(&fs->lock);
	if (--f->draft->refs == 0)
		retired = end(fs, n, file);
	f->draft = NULL;
	pthread_mutex_unlock(&fs->lock);
	if (retired)
		notify_entry(fs, n->parent, file);
}
