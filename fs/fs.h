/* SPDX-License-Identifier: Apache-2.0 */
/* The mount: a store's objects as files.
 *
 *     MOUNT/namespaces/<namespace>/<resource>/<name>.yaml
 *     MOUNT/cluster/<resource>/<name>.yaml
 *
 * A save is a commit: what is written to an object's file is a draft until it is closed, synced or
 * renamed into place, and then takes the store's one write path. */
#ifndef HOLDFS_FS_H
#define HOLDFS_FS_H

#include <stdbool.h>

struct fs;
struct status;
struct store;

struct fs_options {
	const char *mountpoint; /* an existing directory; a dead mount left on it is removed first */
	bool read_only;         /* also when the store is */
	bool allow_other;       /* other users may enter, as far as the modes allow */
	unsigned threads;       /* that answer the kernel; 0: processors + 4 */
	/* Called once, from a thread of the mount, when somebody else unmounted it; must not block. May be NULL. */
	void (*gone)(void *arg);
	void *arg;
};

/* Mounts; answering when it returns. Borrows the store until fs_stop, copies the options. Failures:
 * REASON_NOT_FOUND no such directory, REASON_UNAVAILABLE the kernel or fusermount3 refused, no memory. */
int fs_start(struct store *store, const struct fs_options *options, struct fs **ret, struct status *st);

/* Carries out what is waiting, unmounts (lazily: open files answer ENOTCONN from then on) and ends
 * all threads, within a second unless the store is slower. Takes NULL. */
void fs_stop(struct fs *fs);

#endif
