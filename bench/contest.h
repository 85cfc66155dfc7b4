/* SPDX-License-Identifier: Apache-2.0 */
/* Several ways of doing the same, measured in turns, so that what disturbs the machine disturbs all of them. */
#ifndef HOLDFS_BENCH_CONTEST_H
#define HOLDFS_BENCH_CONTEST_H

#include "bench/load.h"

enum { CONTEST_SIDES_MAX = 6, CONTEST_RUNS_MAX = 64 };

struct side {
	const char *name;
	struct load_plan plan;     /* the first group is counted; times (where 0) and signal_fd are filled in */
	/* Called before each run; may be NULL. */
	int (*prepare)(void *arg, struct status *st);
	/* Instead of a load: one operation in the bench itself, repeated. */
	int (*local)(void *arg, struct status *st);
	void *arg;                 /* of both */
	/* Results, the first two by run. */
	double rate[CONTEST_RUNS_MAX];   /* operations a second */
	double cpu[CONTEST_RUNS_MAX];    /* us an operation: of the server; of the bench for `local` */
	double client;                   /* cores that the bench used, highest of all runs */
	struct histogram latency;        /* of all runs */
};

/* What a ratio is of. */
enum ratio { RATIO_NONE, RATIO_RATE, RATIO_CPU };

/* A line of the report: a side, compared with another one or by itself. */
struct verdict {
	unsigned side, reference;
	enum ratio ratio;    /* RATE: side's rate by the reference's; CPU: the reference's CPU by the side's */
	double target;       /* the ratio should not be below; 0: none */
};

struct contest {
	const char *name;
	struct side side[CONTEST_SIDES_MAX];
	unsigned sides;
	struct verdict verdict[2 * CONTEST_SIDES_MAX];
	unsigned verdicts;
};

struct contest_options {
	int64_t run_ns;      /* of one run of one side */
	unsigned runs;       /* of each side, at most CONTEST_RUNS_MAX */
	int signal_fd;
};

/* {0}-filled on the heap, for free(): it is too large for a stack. */
struct contest *contest_new(const char *name);
/* Gives the next side to be filled in. */
struct side *contest_side(struct contest *c, const char *name);
void contest_compare(struct contest *c, unsigned side, unsigned reference, enum ratio ratio, double target);

/* Runs the sides forwards, then backwards, and so on (ABBA); prints a line for each verdict. */
int contest_run(struct contest *c, const struct contest_options *options, struct status *st);

#endif
