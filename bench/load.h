/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP load of many keep-alive clients and watches from one thread. */
#ifndef HOLDFS_BENCH_LOAD_H
#define HOLDFS_BENCH_LOAD_H

#include <sys/types.h>

#include "bench/stats.h"
#include "store/base/status.h"

enum { LOAD_GROUPS_MAX = 3, LOAD_CLIENTS = 32 };

/* Clients that do the same. */
struct load_group {
	unsigned clients;  /* 0: no such group */
	unsigned expect;   /* the HTTP status of every reply; another one ends the run as a failure */
	/* Gives the bytes of the group's n-th request; borrowed until the next call. */
	struct str (*request)(void *arg, unsigned client, uint64_t n);
	void *arg;
	double rate;       /* requests a second of the whole group; 0: a client sends as soon as it was answered */
	uint64_t limit;    /* requests (for streams: events) after which the group is done; 0: none */
	bool stream;       /* watches: one request a client, an event is an operation */
	/* Streams: when the index-th event of a stream was caused, ns; latency counts from there. NULL: not counted. */
	int64_t (*caused)(void *arg, uint64_t index);
	struct buf *body;  /* bodies are added to it; NULL: thrown away */
};

struct load_plan {
	unsigned port;      /* on 127.0.0.1 */
	pid_t server;       /* whose CPU is counted; 0: none */
	int signal_fd;      /* readable: stop at once, -EINTR */
	int64_t warm_ns;    /* not counted, before the run */
	int64_t run_ns;     /* the run ends after this time, or when all groups that have a limit are done */
	struct load_group group[LOAD_GROUPS_MAX];
};

struct load_count {
	uint64_t ops, bytes; /* bytes of bodies */
	struct histogram latency;
};

struct load_result {
	struct load_count group[LOAD_GROUPS_MAX];
	int64_t ns;              /* the counted time */
	int64_t server_ns;       /* CPU of the server in it */
	int64_t client_ns;       /* CPU of the bench in it */
	uint64_t server_anon;    /* RssAnon of the server at its end, connections still open */
};

/* Connects, opens the streams, then starts the other groups and the clock; waits for replies in flight at the end.
 * *ret is some 60 KB: keep it off small stacks. */
int load_run(const struct load_plan *plan, struct load_result *ret, struct status *st);

/* One request, whose reply's body is added to out. expect: its status. */
int load_fetch(unsigned port, struct str request, unsigned expect, struct buf *out, struct status *st);

#endif
