/* SPDX-License-Identifier: Apache-2.0 */
/* The servers that are compared: holdfs on a store of its own, and nginx on a directory of files. */
#ifndef HOLDFS_BENCH_SERVER_H
#define HOLDFS_BENCH_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "store/base/status.h"

/* {0} is one that does not run. */
struct server {
	pid_t pid;
	unsigned port;
	int64_t start_ns; /* from fork to the line on the ready descriptor; 0 for nginx */
};

/* Starts BINARY serve on the store in dir (made when absent), plain HTTP on a free port, no mount; returns when it
 * has said that it is ready. commit_each: with --commit-each. */
int server_start(const char *binary, const char *dir, bool commit_each, struct server *ret, struct status *st);
/* Starts nginx: two workers, sendfile, keep-alive, no log, everything below dir (made when absent), files of dir/www.
 * -ENOENT when it is not installed. */
int server_start_nginx(const char *dir, struct server *ret, struct status *st);
/* Makes bytes a file that nginx serves as /name. */
int server_publish(const char *dir, const char *name, struct str bytes, struct status *st);
int server_stop(struct server *s, struct status *st);

#endif
