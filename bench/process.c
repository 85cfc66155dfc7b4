/* SPDX-License-Identifier: Apache-2.0 */
/* fork and exec, /proc and CPU clocks. */
#include "bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_MS = 5000 };

int64_t bench_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* The bench keeps SIGINT and SIGTERM blocked (it reads them from a descriptor); children must not inherit that. */
static _Noreturn void child(char *const argv[], int keep_fd)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (keep_fd >= 0)
		fcntl(keep_fd, F_SETFD, 0);
	execvp(argv[0], argv);
	fprintf(stderr, "bench: cannot run %s: %m\n", argv[0]);
	_exit(127);
}

int process_start(char *const argv[], int keep_fd, pid_t *ret, struct status *st)
{
	pid_t pid = fork();

	if (pid < 0)
		return status_set(st, REASON_INTERNAL, "fork: %m");
	if (pid == 0)
		child(argv, keep_fd);
	*ret = pid;
	return 0;
}

/* False when the process did not end in time. */
static bool wait_ms(pid_t pid, int ms, int *ret_how)
{
	for (int64_t end = bench_clock() + ms * INT64_C(1000000); bench_clock() < end;) {
		pid_t got = waitpid(pid, ret_how, WNOHANG);
		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return false;
}

int process_stop(pid_t pid, struct status *st)
{
	int how = 0;

	if (pid <= 0)
		return 0;
	kill(pid, SIGTERM);
	if (!wait_ms(pid, STOP_MS, &how)) {
		kill(pid, SIGKILL);
		waitpid(pid, &how, 0);
		return status_set(st, REASON_INTERNAL, "process %d did not stop on SIGTERM", (int)pid);
	}
	if (how)
		return status_set(st, REASON_INTERNAL, "process %d ended with wait status %d", (int)pid, how);
	return 0;
}

static int64_t cpu_of(pid_t pid)
{
	clockid_t clock;
	struct timespec ts;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int64_t process_cpu(pid_t pid)
{
	char path[64];
	int64_t sum = cpu_of(pid);
	int worker;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return sum;
	while (fscanf(f, "%d", &worker) == 1)
		sum += cpu_of(worker);
	fclose(f);
	return sum;
}

uint64_t process_anon(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %lu kB", &kib) == 1)
			break;
	fclose(f);
	return (uint64_t)kib << 10;
}
