/* SPDX-License-Identifier: Apache-2.0 */
/* What all scenarios of api_load share. */
#ifndef HOLDFS_BENCH_BENCH_H
#define HOLDFS_BENCH_BENCH_H

#include "bench/contest.h"
#include "bench/server.h"

struct bench {
	const char *binary;             /* HOLDFS_BIN */
	char dir[4096];                 /* temporary, all of ours is below it */
	struct contest_options options; /* BENCH_SECS, BENCH_RUNS */
	unsigned watchers;              /* BENCH_WATCHERS */
};

struct scenario {
	const char *name, *help;
	int (*run)(const struct bench *b, struct status *st);
};

/* The rows of scenario_*.c; each ends with a row without name. */
extern const struct scenario read_scenarios[], write_scenarios[], watch_scenarios[], start_scenarios[];

/* A path below the temporary directory, in static-sized memory of the caller. */
struct bench_path {
	char text[4200];
};
struct bench_path bench_path(const struct bench *b, const char *name);

/* Starts holdfs on a new store of that name and fills it with `objects` ConfigMaps, if any. */
int bench_start(const struct bench *b, const char *name, bool commit_each, unsigned objects, struct server *ret,
		struct status *st);

/* For _cleanup_ of a struct server: failures to stop are reported by the scenario's own server_stop. */
void bench_kill(struct server *s);

#endif
