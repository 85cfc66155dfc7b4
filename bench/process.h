/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes: started, measured, stopped; none outlives the bench. */
#ifndef HOLDFS_BENCH_PROCESS_H
#define HOLDFS_BENCH_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "store/base/status.h"

/* Monotonic, ns. */
int64_t bench_clock(void);

/* Starts argv[0] with keep_fd (or -1) open as well as standard error; it gets SIGTERM when the bench dies. */
int process_start(char *const argv[], int keep_fd, pid_t *ret, struct status *st);
/* SIGTERM, after five seconds SIGKILL; waits for the end. pid 0 is nobody. Fails when the process had to be killed
 * or did not exit with 0. */
int process_stop(pid_t pid, struct status *st);

/* CPU time of the process and its children so far, user and system, ns; what utime + stime of /proc/PID/stat say in
 * ticks of 10 ms. 0 when it is gone. */
int64_t process_cpu(pid_t pid);
/* RssAnon of /proc/PID/status in bytes; 0 when it is gone. */
uint64_t process_anon(pid_t pid);

#endif
