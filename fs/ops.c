/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations, and those that only look. */
#include <errno.h>

#include "fs/mount.h"

/* Attributes bring a new mtime with every revision: where they reach the kernel before our invalidation
 * does, AUTO_INVAL_DATA drops the old pages. */
static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want |= conn->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_CACHE_SYMLINKS |
				       FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_AUTO_INVAL_DATA);
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_EXPLICIT_INVAL_DATA);
}

static bool is_hidden(struct fs *fs, const struct place *dir, struct str file, pid_t pid)
{
	struct str stem;

	return atomic_load(&fs->npending) && dir->type == NODE_RESOURCE && name_parse(file, &stem) != FORM_NONE &&
	       pending_hides(fs, dir, stem, pid);
}

/* That a name is absent is cached where its appearing is invalidated: not where resources may be defined. */
static void reply_absent(fuse_req_t req, const struct place *dir)
{
	bool cached = dir->type == NODE_RESOURCE || dir->type == NODE_NAMESPACES || dir->type == NODE_ROOT;
	struct fuse_entry_param absent = {.entry_timeout = cached ? FOREVER : 0};

	fuse_reply_entry(req, &absent);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct place dir, p;
	struct stat attr;
	bool cached;

	node_place(fs, parent, &dir);
	if (is_hidden(fs, &dir, str_of(name), caller_of(req))) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	pthread_rwlock_rdlock(&fs->telling);
	int err = view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	if (err == ENOENT)
		reply_absent(req, &dir);
	else if (err)
		fuse_reply_err(req, err);
	else
		reply_entry(req, &p, parent, &attr, cached);
	pthread_rwlock_unlock(&fs->telling);
}

void reply_entry(fuse_req_t req, const struct place *p, uint64_t parent, const struct stat *attr, bool cached)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = {
		.ino = node_tell(fs, p, parent, cached),
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

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	node_forget(fs_of(req), ino, n);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		node_forget(fs_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

/* The kernel is about to keep the attributes of this revision. */
static void note_told(struct fs *fs, const struct place *p)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, p->ino);
	if (n && p->revision > n->told)
		n->told = p->revision;
	if (n && p->revision > n->newest)
		n->newest = p->revision;
	pthread_mutex_unlock(&fs->lock);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct place p;
	struct stat attr;
	bool cached;

	(void)fi; /* fstat does not send it */
	node_place(fs, ino, &p);
	pthread_rwlock_rdlock(&fs->telling);
	int err = view_attr(fs, &p, &attr, &cached);
	if (err == ESTALE && view_open_attr(fs, &p, &attr)) {
		err = 0;
		cached = false;
	}
	if (!err && cached)
		note_told(fs, &p);
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_attr(req, &attr, cached ? FOREVER : 0);
	pthread_rwlock_unlock(&fs->telling);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[256];
	struct place p;

	node_place(fs_of(req), ino, &p);
	if (p.type != NODE_ALIAS) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	snprintf(target, sizeof(target), "%.*s", STR_ARG(p.kind->dir));
	fuse_reply_readlink(req, target);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct store_info info;
	struct statvfs v = {.f_bsize = 4096, .f_frsize = 4096, .f_namemax = FILE_NAME_MAX};

	(void)ino;
	store_info(fs_of(req)->store, &info);
	v.f_blocks = info.bytes_max / 4096;
	v.f_bfree = v.f_bavail =
		info.bytes_used < info.bytes_max ? (info.bytes_max - info.bytes_used) / 4096 : 0;
	v.f_files = info.objects;
	fuse_reply_statfs(req, &v);
}

/* Links and devices cannot be objects. */
static void op_symlink(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name)
{
	(void)link, (void)parent, (void)name;
	fuse_reply_err(req, EPERM);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino, (void)parent, (void)name;
	fuse_reply_err(req, EPERM);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	(void)parent, (void)name, (void)mode, (void)rdev;
	fuse_reply_err(req, EPERM);
}

const struct fuse_lowlevel_ops fs_operations = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.link = op_link,
	.rename = op_rename,
	.open = op_open,
	.create = op_create,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.fsync = op_fsync,
	.release = op_release,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.statfs = op_statfs,
};
