/* SPDX-License-Identifier: Apache-2.0 */
/* A list of connections with deadlines. */
#include "api/conn.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "api/server.h"

void conns_init(struct conns *cs)
{
	*cs = (struct conns){0};
	pthread_mutex_init(&cs->lock, NULL);
}

void conns_done(struct conns *cs)
{
	pthread_mutex_destroy(&cs->lock);
}

static bool is_local(const struct sockaddr *sa)
{
	if (!sa || sa->sa_family == AF_UNIX)
		return true;
	if (sa->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 == 127;
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

struct conn *conn_open(struct conns *cs, int fd, const struct sockaddr *peer, bool trusted)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->trusted = trusted;
	c->local = trusted || (peer && is_local(peer));
	pthread_mutex_lock(&cs->lock);
	c->next = cs->head;
	c->link = &cs->head;
	if (c->next)
		c->next->link = &c->next;
	cs->head = c;
	pthread_mutex_unlock(&cs->lock);
	atomic_fetch_add(&cs->count, 1);
	return c;
}

void conn_close(struct conns *cs, struct conn *c)
{
	pthread_mutex_lock(&cs->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	pthread_mutex_unlock(&cs->lock);
	atomic_fetch_sub(&cs->count, 1);
	free(c);
}

void conn_deadline(struct conn *c, int64_t seconds)
{
	atomic_store(&c->deadline, seconds ? clock_ns() + seconds * 1000000000LL : 0);
}

/* The list keeps a connection until its socket is about to be closed, so fd is still the same. */
void conns_check(struct conns *cs, int64_t now)
{
	pthread_mutex_lock(&cs->lock);
	for (struct conn *c = cs->head; c; c = c->next) {
		int64_t deadline = atomic_load(&c->deadline);
		if (!deadline || deadline > now)
			continue;
		atomic_store(&c->deadline, 0);
		shutdown(c->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&cs->lock);
}
