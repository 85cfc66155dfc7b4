/* SPDX-License-Identifier: Apache-2.0 */
/* A small process that aborts the mount's connection when we die.
 *
 * The kernel ends a connection when the last descriptor of it is closed. After a SIGKILL that may never happen: the notify
 * thread may be inside an invalidation, waiting without mercy for the lock of a directory whose holder waits for an
 * answer that no worker will give any more; while it waits, our descriptors stay open, and with them every process that
 * touches the mount hangs. (Seen by tests/crash.) So a child without any descriptor of ours waits for the death of the thread that made it, and
 * then writes to the connection's `abort`, which belongs to whoever mounted. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "fs/mount.h"

/* Runs after fork in a process with threads: async-signal-safe calls only. */
static void guard_main(const char *abort_path, const char *mountpoint, pid_t parent)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	close_range(0, ~0u, 0);
	if (getppid() == parent)
		sigwait(&set, &number);
	int fd = open(abort_path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		umount2(mountpoint, MNT_FORCE);
	umount2(mountpoint, MNT_DETACH);
	_exit(0);
}

/* Call from the thread that lives as long as the process does. A mount without a guard works as well until it is killed. */
void guard_start(struct fs *fs, dev_t dev)
{
	char path[96];
	pid_t parent = getpid();

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort", minor(dev));
	fs->guard = fork();
	if (fs->guard == 0)
		guard_main(path, fs->mountpoint, parent);
	if (fs->guard < 0)
		log_warn("msg=\"no guard for the mount\" error=\"%s\"", strerror(errno));
}

void guard_stop(struct fs *fs)
{
	int status;

	if (fs->guard <= 0)
		return;
	kill(fs->guard, SIGKILL);
	waitpid(fs->guard, &status, 0);
	fs->guard = 0;
}
