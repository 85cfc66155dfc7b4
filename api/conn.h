/* SPDX-License-Identifier: Apache-2.0 */
/* The open connections and the time each of them may take. */
#ifndef HOLDFS_API_CONN_H
#define HOLDFS_API_CONN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* One connection. */
struct conn {
	struct conn *next, **link;
	int fd;
	bool trusted;             /* the unix socket: the owner */
	bool local;               /* the peer is this machine */
	_Atomic int64_t deadline; /* monotonic ns; 0 none */
};

struct conns {
	pthread_mutex_t lock; /* guards head and all links */
	struct conn *head;
	atomic_uint count;
};

void conns_init(struct conns *cs);
void conns_done(struct conns *cs);

/* A new one; peer may be NULL. NULL when out of memory. */
struct conn *conn_open(struct conns *cs, int fd, const struct sockaddr *peer, bool trusted);
/* Before the socket is closed. */
void conn_close(struct conns *cs, struct conn *c);

/* The connection is shut down in so many seconds; 0: never. */
void conn_deadline(struct conn *c, int64_t seconds);
/* Shuts down whose time is over. */
void conns_check(struct conns *cs, int64_t now);

#endif
