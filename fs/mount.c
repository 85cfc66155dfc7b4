/* SPDX-License-Identifier: Apache-2.0 */
/* Mounting, the table of operations, and unmounting. */
#include "fs/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want |= conn->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_CACHE_SYMLINKS |
				       FUSE_CAP_PARALLEL_DIROPS);
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_AUTO_INVAL_DATA);
}

static bool is_pending(struct fs *fs, const struct place *dir, struct str file, pid_t pid)
{
	struct str stem;

	if (dir->type != NODE_RESOURCE || name_parse(file, &stem) == FORM_NONE)
		return false;
	return pending_is(fs, dir->kind, str_of(dir->ns), stem, tgid_of(pid));
}

static bool anything_pending(struct fs *fs)
{
	bool any = false;

	pthread_mutex_lock(&fs->lock);
	for (size_t i = 0; i < PENDING_MAX && !any; i++)
		any = fs->pending[i].used;
	pthread_mutex_unlock(&fs->lock);
	return any;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param absent = {.entry_timeout = FOREVER};
	struct place dir, p;
	struct stat attr;
	bool cached;

	node_place(fs, parent, &dir);
	if (anything_pending(fs)) {
		if (is_pending(fs, &dir, str_of(name), fuse_req_ctx(req)->pid)) {
			fuse_reply_err(req, ENOENT);
			return;
		}
		if (dir.type == NODE_RESOURCE)
			pending_run(fs, true);
	}
	pthread_rwlock_rdlock(&fs->telling);
	int err = view_lookup(fs, &dir, str_of(name), &p, &attr, &cached);
	if (err == ENOENT)
		fuse_reply_entry(req, &absent);
	else if (err)
		fuse_reply_err(req, err);
	else
		reply_entry(req, fs, &p, parent, &attr, cached);
	pthread_rwlock_unlock(&fs->telling);
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

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct place p;
	struct stat attr;
	bool cached;

	(void)fi;
	node_place(fs, ino, &p);
	pthread_rwlock_rdlock(&fs->telling);
	int err = view_attr(fs, &p, &attr, &cached);
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
	v.f_bfree = v.f_bavail = (info.bytes_max - (info.bytes_used < info.bytes_max ? info.bytes_used : info.bytes_max)) / 4096;
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

static const struct fuse_lowlevel_ops operations = {
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

/* Lazily: an open file or a shell inside must not keep us. Root may ask the kernel itself. */
static void unmount(const char *mountpoint)
{
	char *argv[] = {"fusermount3", "-u", "-q", "-z", "--", (char *)(uintptr_t)mountpoint, NULL};
	char *envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	pid_t pid;
	int status;

	if (umount2(mountpoint, MNT_DETACH) == 0)
		return;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, envp) == 0)
		waitpid(pid, &status, 0);
}

/* A daemon that died left a mount that answers nothing. */
static int check_mountpoint(const char *path, struct status *st)
{
	struct stat info;

	if (stat(path, &info) < 0 && errno == ENOTCONN)
		unmount(path);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return status_set(st, REASON_NOT_FOUND, "cannot make %s: %s", path, strerror(errno));
	if (stat(path, &info) < 0)
		return status_set(st, REASON_NOT_FOUND, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(info.st_mode))
		return status_set(st, REASON_NOT_FOUND, "%s is not a directory", path);
	return 0;
}

static void *loop_main(void *arg)
{
	struct fs *fs = arg;
	struct fuse_loop_config *config = fuse_loop_cfg_create();

	if (config) {
		fuse_loop_cfg_set_max_threads(config, fs->threads);
		fuse_loop_cfg_set_idle_threads(config, fs->threads);
		fuse_session_loop_mt(fs->session, config);
		fuse_loop_cfg_destroy(config);
	}
	return NULL;
}

static int mount_session(struct fs *fs, const struct fs_options *options, struct status *st)
{
	char opts[256];
	char *argv[] = {"holdfs", "-o", opts, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);

	snprintf(opts, sizeof(opts), "default_permissions,nosuid,nodev,noexec,noatime,fsname=holdfs,subtype=holdfs%s%s",
		 fs->read_only ? ",ro" : "", options->allow_other ? ",allow_other" : "");
	fs->session = fuse_session_new(&args, &operations, sizeof(operations), fs);
	fuse_opt_free_args(&args);
	if (!fs->session)
		return status_set(st, REASON_UNAVAILABLE, "cannot make a FUSE session");
	if (fuse_session_mount(fs->session, fs->mountpoint) < 0)
		return status_set(st, REASON_UNAVAILABLE, "cannot mount on %s (is /dev/fuse there and may it be opened?)",
				  fs->mountpoint);
	return 0;
}

static int start(struct fs *fs, const struct fs_options *options, struct status *st)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int err = check_mountpoint(options->mountpoint, st);

	fs->threads = options->threads ? options->threads : (unsigned)(cores > 0 ? cores : 2) + 4;
	if (err)
		return err;
	fs->mountpoint = realpath(options->mountpoint, NULL);
	fs->nbuckets = NODE_BUCKETS;
	fs->nodes = calloc(fs->nbuckets, sizeof(*fs->nodes));
	if (!fs->mountpoint || !fs->nodes || !node_add(fs, NODE_ROOT, FUSE_ROOT_ID, NULL, STR(""), STR("")))
		return status_no_memory(st);
	err = mount_session(fs, options, st);
	if (!err)
		err = notify_start(fs, st);
	if (err)
		return err;
	if (pthread_create(&fs->loop, NULL, loop_main, fs))
		return status_set(st, REASON_UNAVAILABLE, "cannot start a thread");
	fs->looping = true;
	struct stat info;
	return stat(fs->mountpoint, &info) == 0 ? 0 : status_set(st, REASON_UNAVAILABLE, "the mount does not answer");
}

int fs_start(struct store *store, const struct fs_options *options, struct fs **ret, struct status *st)
{
	struct fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return status_no_memory(st);
	fs->store = store;
	fs->read_only = options->read_only || store_is_read_only(store);
	fs->uid = geteuid();
	fs->gid = getegid();
	fs->next_ino = (uint64_t)1 << 62;
	clock_gettime(CLOCK_REALTIME, &fs->started);
	pthread_mutex_init(&fs->lock, NULL);
	pthread_rwlock_init(&fs->telling, NULL);
	int err = start(fs, options, st);
	if (err) {
		fs_stop(fs);
		return err;
	}
	*ret = fs;
	return 0;
}

/* A lazy unmount with files still open leaves the connection up; aborting it ends the workers. */
static void abort_connection(dev_t dev)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort", minor(dev));
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		log_warn("msg=\"cannot abort the mount's connection\"");
	close(fd);
}

static void end_loop(struct fs *fs)
{
	struct timespec deadline;
	struct stat info;
	bool known = stat(fs->mountpoint, &info) == 0;

	fuse_session_exit(fs->session);
	unmount(fs->mountpoint);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += 300000000;
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_sec++;
		deadline.tv_nsec -= 1000000000;
	}
	if (pthread_timedjoin_np(fs->loop, NULL, &deadline) == 0)
		return;
	if (known)
		abort_connection(info.st_dev);
	pthread_join(fs->loop, NULL);
}

void fs_stop(struct fs *fs)
{
	if (!fs)
		return;
	if (fs->looping) {
		pending_run(fs, true);
		end_loop(fs);
	}
	notify_stop(fs);
	if (fs->session) {
		fuse_session_unmount(fs->session);
		fuse_session_destroy(fs->session);
	}
	if (fs->nodes)
		nodes_free(fs);
	for (size_t i = 0; i < REFUSALS_MAX; i++)
		free(fs->refusals[i]);
	free(fs->mountpoint);
	pthread_mutex_destroy(&fs->lock);
	pthread_rwlock_destroy(&fs->telling);
	free(fs);
}
