/* SPDX-License-Identifier: Apache-2.0 */
/* Mounting, the threads that answer the kernel, and unmounting. */
#include "fs/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* --- Workers.
 *
 * Not fuse_session_loop_mt: its threads end only with the connection, which a lazy unmount does not close while a file
 * is open somewhere. Ours wait for the kernel or for stop_event, each on an epoll of its own, so that a request
 * wakes one of them. */

static int waiter_open(const struct fs *fs)
{
	int waiter = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event request = {.events = EPOLLIN | EPOLLEXCLUSIVE}, stop = {.events = EPOLLIN};

	if (waiter < 0)
		return -1;
	if (epoll_ctl(waiter, EPOLL_CTL_ADD, fuse_session_fd(fs->session), &request) < 0 ||
	    epoll_ctl(waiter, EPOLL_CTL_ADD, fs->stop_event, &stop) < 0) {
		close(waiter);
		return -1;
	}
	return waiter;
}

/* Answers requests until there is none. False: the mount is gone. */
static bool answer(struct fs *fs, struct fuse_buf *buf)
{
	while (!atomic_load(&fs->stopping)) {
		int n = fuse_session_receive_buf(fs->session, buf);
		if (n == -EINTR)
			continue;
		if (n == -EAGAIN)
			return true;
		if (n <= 0)
			return false;
		fuse_session_process_buf(fs->session, buf);
	}
	return true;
}

static void *worker_main(void *arg)
{
	struct fs *fs = arg;
	struct fuse_buf buf = {0};
	struct epoll_event event;
	int waiter = waiter_open(fs);
	bool mounted = waiter >= 0;

	if (!mounted)
		log_error("msg=\"a thread of the mount cannot wait\" error=\"%s\"", strerror(errno));
	while (mounted && !atomic_load(&fs->stopping)) {
		if (epoll_wait(waiter, &event, 1, -1) > 0)
			mounted = answer(fs, &buf);
	}
	if (waiter >= 0) {
		close(waiter);
		if (!mounted && !atomic_exchange(&fs->gone, true) && fs->on_gone)
			fs->on_gone(fs->arg);
	}
	free(buf.mem);
	return NULL;
}

static int workers_start(struct fs *fs, unsigned count, struct status *st)
{
	int fd = fuse_session_fd(fs->session);

	fs->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fs->stop_event < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return status_set(st, REASON_UNAVAILABLE, "cannot wait for the kernel: %s", strerror(errno));
	fs->workers = calloc(count, sizeof(*fs->workers));
	if (!fs->workers)
		return status_no_memory(st);
	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&fs->workers[i], NULL, worker_main, fs))
			return status_set(st, REASON_UNAVAILABLE, "cannot start a thread");
		pthread_setname_np(fs->workers[i], "fs-worker");
		fs->nworkers++;
	}
	return 0;
}

static void workers_stop(struct fs *fs)
{
	atomic_store(&fs->stopping, true);
	if (fs->stop_event >= 0)
		eventfd_write(fs->stop_event, 1);
	for (unsigned i = 0; i < fs->nworkers; i++)
		pthread_join(fs->workers[i], NULL);
	fs->nworkers = 0;
	free(fs->workers);
	if (fs->stop_event >= 0)
		close(fs->stop_event);
}

/* --- The mount */

/* Lazily: a shell inside must not keep us. Root may ask the kernel itself. */
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

static int mount_session(struct fs *fs, const struct fs_options *options, struct status *st)
{
	char opts[256];
	char *argv[] = {"holdfs", "-o", opts, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);

	snprintf(opts, sizeof(opts), "default_permissions,nosuid,nodev,noexec,noatime,fsname=holdfs,subtype=holdfs%s%s",
		 fs->read_only ? ",ro" : "", options->allow_other ? ",allow_other" : "");
	fs->session = fuse_session_new(&args, &fs_operations, sizeof(fs_operations), fs);
	fuse_opt_free_args(&args);
	if (!fs->session)
		return status_set(st, REASON_UNAVAILABLE, "cannot make a FUSE session");
	if (fuse_session_mount(fs->session, fs->mountpoint) < 0)
		return status_set(st, REASON_UNAVAILABLE, "cannot mount on %s (is /dev/fuse there and may it be opened?)",
				  fs->mountpoint);
	return 0;
}

static unsigned worker_count(const struct fs_options *options)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return options->threads ? options->threads : (unsigned)(cores > 0 ? cores : 2) + 4;
}

static int start(struct fs *fs, const struct fs_options *options, struct status *st)
{
	struct stat info;
	int err = check_mountpoint(options->mountpoint, st);

	if (err)
		return err;
	fs->mountpoint = realpath(options->mountpoint, NULL);
	fs->nodes = calloc(fs->nbuckets, sizeof(struct node *));
	if (!fs->mountpoint || !fs->nodes || !node_add(fs, NODE_ROOT, FUSE_ROOT_ID, NULL, STR(""), STR("")))
		return status_no_memory(st);
	err = mount_session(fs, options, st);
	if (!err)
		err = notify_start(fs, st);
	if (!err)
		err = pending_start(fs, st);
	if (!err)
		err = workers_start(fs, worker_count(options), st);
	if (err)
		return err;
	if (stat(fs->mountpoint, &info) < 0)
		return status_set(st, REASON_UNAVAILABLE, "the mount does not answer");
	guard_start(fs, info.st_dev);
	return 0;
}

/* The notifier waits for it: many readers in a row must not keep it out. */
static void init_telling(struct fs *fs)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&fs->telling, &attr);
	pthread_rwlockattr_destroy(&attr);
}

static void init_locks(struct fs *fs)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&fs->lock, NULL);
	pthread_cond_init(&fs->settled, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&fs->pending_due, &attr);
	pthread_condattr_destroy(&attr);
	init_telling(fs);
}

int fs_start(struct store *store, const struct fs_options *options, struct fs **ret, struct status *st)
{
	struct fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return status_no_memory(st);
	fs->store = store;
	fs->read_only = options->read_only || store_is_read_only(store);
	fs->on_gone = options->gone;
	fs->arg = options->arg;
	fs->uid = geteuid();
	fs->gid = getegid();
	fs->next_ino = (uint64_t)1 << 62;
	fs->nbuckets = NODE_BUCKETS;
	fs->stop_event = -1;
	clock_gettime(CLOCK_REALTIME, &fs->started);
	init_locks(fs);
	int err = start(fs, options, st);
	if (err) {
		fs_stop(fs);
		return err;
	}
	*ret = fs;
	return 0;
}

/* The order matters: the notifier may be inside a system call that ends when a worker has answered, so
 * the workers go last; and only then is the connection closed, which ends what still waits for an answer. */
void fs_stop(struct fs *fs)
{
	if (!fs)
		return;
	pending_stop(fs);
	notify_stop(fs);
	workers_stop(fs);
	guard_stop(fs);
	if (fs->session) {
		fuse_session_unmount(fs->session);
		fuse_session_destroy(fs->session);
	}
	if (fs->nodes) {
		handles_free(fs);
		nodes_free(fs);
	}
	for (size_t i = 0; i < REFUSALS_MAX; i++)
		free(fs->refusals[i]);
	free(fs->mountpoint);
	pthread_mutex_destroy(&fs->lock);
	pthread_cond_destroy(&fs->settled);
	pthread_cond_destroy(&fs->pending_due);
	pthread_rwlock_destroy(&fs->telling);
	free(fs);
}
