/* SPDX-License-Identifier: Apache-2.0 */
/* api_load [SCENARIO...]: loads holdfs' API and compares it with a reference in the same minute.
 *
 *   api_load.c           settings, the temporary directory, the list of scenarios
 *   scenario_*.c         one scenario a function: servers, requests, sides, targets
 *   contest.c            sides measured in turns, ratios
 *   load.c, reply.c      the HTTP clients
 *   data.c, reference.c  objects and requests; json-c instead of a server
 *   server.c, process.c  holdfs and nginx as children
 *   stats.c, report.c    figures and their table */
#include "bench/bench.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bench/data.h"
#include "bench/process.h"

static const struct scenario *const tables[] = {read_scenarios, write_scenarios, watch_scenarios, start_scenarios};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

struct bench_path bench_path(const struct bench *b, const char *name)
{
	struct bench_path p;

	snprintf(p.text, sizeof(p.text), "%s/%s", b->dir, name);
	return p;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	(void)s;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int bench_start(const struct bench *b, const char *name, bool commit_each, unsigned objects, struct server *ret,
		struct status *st)
{
	struct bench_path dir = bench_path(b, name);

	remove_tree(dir.text);
	int rc = server_start(b->binary, dir.text, commit_each, ret, st);
	return rc || !objects ? rc : data_fill(ret->port, objects, st);
}

void bench_kill(struct server *s)
{
	struct status ignored;

	status_clear(&ignored);
	server_stop(s, &ignored);
}

static double setting(const char *name, double def, double low, double high)
{
	const char *text = getenv(name);
	double v = text && *text ? strtod(text, NULL) : def;
	return v < low ? low : v > high ? high : v;
}

/* build/bench/api_load has its server in build/. */
static void find_binary(struct bench *b, char *room, size_t cap)
{
	ssize_t n;

	b->binary = getenv("HOLDFS_BIN");
	if (b->binary && *b->binary)
		return;
	n = readlink("/proc/self/exe", room, cap - sizeof("/holdfs"));
	room[n > 0 ? n : 0] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(room, '/');
		if (slash)
			*slash = '\0';
	}
	strcat(room, "/holdfs");
	b->binary = room;
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Servers inherit it, and a watcher takes a descriptor on both sides. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Not below /tmp, which often is memory: the writes are to be durable. */
static bool make_dir(struct bench *b)
{
	const char *base = getenv("BENCH_DIR");

	snprintf(b->dir, sizeof(b->dir), "%s/holdfs-bench-XXXXXX", base && *base ? base : "/var/tmp");
	return mkdtemp(b->dir) != NULL;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 2;
}

static const struct scenario *find(const char *name)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct scenario *s = tables[t]; s->name; s++)
			if (strcmp(s->name, name) == 0)
				return s;
	return NULL;
}

static int usage(const char *unknown)
{
	FILE *f = unknown ? stderr : stdout;

	if (unknown)
		fprintf(stderr, "api_load: no scenario '%s'\n", unknown);
	fprintf(f, "api_load [SCENARIO...]\n\n");
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct scenario *s = tables[t]; s->name; s++)
			fprintf(f, "  %-12s %s\n", s->name, s->help);
	fprintf(f, "\nEnvironment:\n"
		   "  BENCH_SECS      seconds of one run of one side [1]\n"
		   "  BENCH_RUNS      runs of each side [6]\n"
		   "  BENCH_WATCHERS  of the scenario watch [1000]\n"
		   "  BENCH_DIR       for stores, on a real disk [/var/tmp]\n"
		   "  HOLDFS_BIN      the server [../holdfs from here]\n");
	return unknown ? 2 : 0;
}

static int run_all(const struct bench *b, int argc, char **argv)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct scenario *s = tables[t]; s->name; s++) {
			struct status st;
			status_clear(&st);
			if (!wanted(s->name, argc, argv) || s->run(b, &st) == 0)
				continue;
			fprintf(stderr, "api_load: %s: %s\n", s->name, st.message);
			return 1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	char room[4096];

	for (int i = 1; i < argc; i++)
		if (!find(argv[i]))
			return usage(strcmp(argv[i], "--help") == 0 ? NULL : argv[i]);
	b.options.run_ns = (int64_t)(setting("BENCH_SECS", 1, 0.05, 600) * 1e9);
	b.options.runs = (unsigned)setting("BENCH_RUNS", 6, 1, CONTEST_RUNS_MAX);
	b.options.signal_fd = block_signals();
	b.watchers = (unsigned)setting("BENCH_WATCHERS", 1000, 1, 9000);
	find_binary(&b, room, sizeof(room));
	raise_limits();
	if (!make_dir(&b)) {
		fprintf(stderr, "api_load: %s: %m\n", b.dir);
		return 1;
	}
	int code = run_all(&b, argc, argv);
	remove_tree(b.dir);
	return code;
}
