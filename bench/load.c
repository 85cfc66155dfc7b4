/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: level-triggered epoll, one receive of up to 256 KiB an event, counters instead of bodies. A client costs
 * little more than its system calls, so that what is measured on a machine with few cores is the server. */
#include "bench/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/process.h"
#include "bench/reply.h"
#include "store/base/cleanup.h"

enum { RECEIVE = 256 << 10, BATCH = 64 };
#define SECOND INT64_C(1000000000)
#define PATIENCE (20 * SECOND) /* for streams to open and for replies in flight */

struct client {
	int fd;
	unsigned group, index; /* index within the group */
	bool busy;             /* a request is in flight */
	int64_t sent;
	uint64_t events;       /* of a stream */
	struct reply reply;
};

struct load {
	const struct load_plan *plan;
	struct load_result *ret;
	struct status *st;
	int epoll;
	bool stopping;                       /* answers are awaited, nothing is sent */
	struct client *client;
	unsigned clients, busy, streaming;
	uint64_t sent[LOAD_GROUPS_MAX];      /* requests */
	int64_t due[LOAD_GROUPS_MAX];        /* next request of a group with a rate */
	char *buffer;
};

static const struct load_group *group_of(const struct load *l, const struct client *c)
{
	return &l->plan->group[c->group];
}

static int client_send(struct load *l, struct client *c)
{
	const struct load_group *g = group_of(l, c);

	if (l->stopping || c->busy || (!g->stream && g->limit && l->sent[c->group] >= g->limit))
		return 0;
	struct str bytes = g->request(g->arg, c->index, l->sent[c->group]++);
	c->reply = (struct reply){0};
	c->busy = true;
	l->busy++;
	c->sent = bench_clock();
	/* A request is far smaller than the socket's buffer, which is empty. */
	if (send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL) != (ssize_t)bytes.len)
		return status_set(l->st, REASON_INTERNAL, "send: %m");
	return 0;
}

static void stream_events(struct load *l, struct client *c, unsigned n, int64_t now)
{
	const struct load_group *g = group_of(l, c);
	struct load_count *count = &l->ret->group[c->group];

	count->ops += n;
	for (; g->caused && n; n--)
		histogram_add(&count->latency, now - g->caused(g->arg, c->events++));
}

static int reply_done(struct load *l, struct client *c, int64_t now)
{
	struct load_count *count = &l->ret->group[c->group];

	c->busy = false;
	l->busy--;
	count->ops++;
	histogram_add(&count->latency, now - c->sent);
	return group_of(l, c)->rate > 0 ? 0 : client_send(l, c);
}

static int head_done(struct load *l, struct client *c, const char *rest, size_t n)
{
	const struct load_group *g = group_of(l, c);

	if (c->reply.status != g->expect)
		return status_set(l->st, REASON_INTERNAL, "HTTP %u instead of %u: %.*s", c->reply.status, g->expect,
				  (int)(n < 400 ? n : 400), rest);
	if (c->reply.chunked != g->stream)
		return status_set(l->st, REASON_INTERNAL, "a reply %s", g->stream ? "with a length" : "in chunks");
	if (g->stream) {
		l->streaming++;
		l->busy--;
	}
	return 0;
}

static int received(struct load *l, struct client *c, const char *bytes, size_t n)
{
	const struct load_group *g = group_of(l, c);
	int64_t now = bench_clock();

	if (!c->reply.headed) {
		long used = reply_head(&c->reply, bytes, n);
		if (used < 0)
			return status_set(l->st, REASON_INTERNAL, "not the HTTP that was expected");
		bytes += used;
		n -= (size_t)used;
		if (!c->reply.headed)
			return 0;
		int rc = head_done(l, c, bytes, n);
		if (rc)
			return rc;
	}
	l->ret->group[c->group].bytes += n;
	if (g->body)
		buf_add(g->body, bytes, n);
	if (g->stream) {
		stream_events(l, c, reply_events(&c->reply, bytes, n), now);
		return 0;
	}
	if (n > c->reply.left)
		return status_set(l->st, REASON_INTERNAL, "more bytes than Content-Length");
	c->reply.left -= n;
	return c->reply.left ? 0 : reply_done(l, c, now);
}

static int client_ready(struct load *l, struct client *c)
{
	ssize_t n = recv(c->fd, l->buffer, RECEIVE, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : status_set(l->st, REASON_INTERNAL, "receive: %m");
	if (n == 0)
		return status_set(l->st, REASON_INTERNAL, "the server closed a connection");
	return received(l, c, l->buffer, (size_t)n);
}

/* Waits until `until` at most and handles what came. */
static int step(struct load *l, int64_t until)
{
	struct epoll_event events[BATCH];
	int64_t left = until - bench_clock();
	struct timespec wait = {.tv_sec = left > 0 ? left / SECOND : 0, .tv_nsec = left > 0 ? left % SECOND : 0};
	int n = epoll_pwait2(l->epoll, events, BATCH, &wait, NULL), rc = 0;

	if (n < 0 && errno != EINTR)
		return status_set(l->st, REASON_INTERNAL, "epoll: %m");
	for (int i = 0; i < n && !rc; i++) {
		if (!events[i].data.ptr) {
			status_set(l->st, REASON_INTERNAL, "interrupted");
			return -EINTR;
		}
		rc = client_ready(l, events[i].data.ptr);
	}
	return rc;
}

static struct client *idle_client(struct load *l, unsigned group)
{
	for (unsigned i = 0; i < l->clients; i++)
		if (l->client[i].group == group && !l->client[i].busy)
			return &l->client[i];
	return NULL;
}

/* Sends what is due in groups with a rate; returns when the next one is. A group whose clients are all waiting falls
 * behind and does not catch up: its latencies count from the sending. */
static int send_due(struct load *l, int64_t now, int64_t *ret_next)
{
	for (unsigned g = 0; g < LOAD_GROUPS_MAX; g++) {
		const struct load_group *group = &l->plan->group[g];
		if (!group->clients || group->rate <= 0)
			continue;
		struct client *c = now >= l->due[g] ? idle_client(l, g) : NULL;
		if (c) {
			int64_t pause = (int64_t)((double)SECOND / group->rate);
			l->due[g] = now - l->due[g] > pause ? now + pause : l->due[g] + pause;
			int rc = client_send(l, c);
			if (rc)
				return rc;
		}
		if (l->due[g] > now && l->due[g] < *ret_next)
			*ret_next = l->due[g];
	}
	return 0;
}

static bool limits_reached(const struct load *l)
{
	bool any = false;

	for (unsigned g = 0; g < LOAD_GROUPS_MAX; g++) {
		const struct load_group *group = &l->plan->group[g];
		if (!group->clients || !group->limit)
			continue;
		if (l->ret->group[g].ops < group->limit)
			return false;
		any = true;
	}
	return any;
}

static int run_until(struct load *l, int64_t end)
{
	for (int64_t now = bench_clock(); now < end && !limits_reached(l); now = bench_clock()) {
		int64_t next = end;
		int rc = send_due(l, now, &next);
		if (!rc)
			rc = step(l, next);
		if (rc)
			return rc;
	}
	return 0;
}

static int open_client(struct load *l, struct client *c)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)l->plan->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
	int one = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&in, sizeof(in)) ||
	    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event))
		return status_set(l->st, REASON_INTERNAL, "connect to port %u: %m", l->plan->port);
	return 0;
}

static int open_all(struct load *l)
{
	unsigned i = 0;
	struct epoll_event stop = {.events = EPOLLIN};

	if (l->plan->signal_fd >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->plan->signal_fd, &stop))
		return status_set(l->st, REASON_INTERNAL, "epoll: %m");
	for (unsigned g = 0; g < LOAD_GROUPS_MAX; g++)
		for (unsigned n = 0; n < l->plan->group[g].clients; n++, i++) {
			l->client[i].group = g;
			l->client[i].index = n;
			int rc = open_client(l, &l->client[i]);
			if (rc)
				return rc;
		}
	return 0;
}

static int start_group(struct load *l, bool streams)
{
	for (unsigned i = 0; i < l->clients; i++) {
		const struct load_group *g = group_of(l, &l->client[i]);
		int rc = g->stream == streams && g->rate <= 0 ? client_send(l, &l->client[i]) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* Streams answer their head at once; the others start when all have. */
static int start(struct load *l)
{
	int64_t end = bench_clock() + PATIENCE;
	int rc = start_group(l, true);

	while (!rc && l->busy)
		rc = bench_clock() < end ? step(l, end) : status_set(l->st, REASON_INTERNAL, "a watch was not answered");
	if (rc)
		return rc;
	for (unsigned g = 0; g < LOAD_GROUPS_MAX; g++)
		l->due[g] = bench_clock();
	return start_group(l, false);
}

static int finish(struct load *l)
{
	int64_t end = bench_clock() + PATIENCE;
	int rc = 0;

	l->stopping = true;
	while (!rc && l->busy)
		rc = bench_clock() < end ? step(l, end) : status_set(l->st, REASON_INTERNAL, "no reply in 20 s");
	return rc;
}

static int64_t own_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static int measure(struct load *l, struct load_result *counted)
{
	pid_t server = l->plan->server;
	int rc = start(l);

	if (!rc && l->plan->warm_ns) {
		rc = run_until(l, bench_clock() + l->plan->warm_ns);
		*l->ret = (struct load_result){0};
	}
	int64_t begin = bench_clock(), server_ns = process_cpu(server), client_ns = own_cpu();
	if (!rc)
		rc = run_until(l, begin + l->plan->run_ns);
	l->ret->ns = bench_clock() - begin;
	l->ret->server_ns = process_cpu(server) - server_ns;
	l->ret->client_ns = own_cpu() - client_ns;
	l->ret->server_anon = process_anon(server);
	*counted = *l->ret;
	return rc ? rc : finish(l);
}

static void load_done(struct load *l)
{
	for (unsigned i = 0; l->client && i < l->clients; i++)
		if (l->client[i].fd >= 0)
			close(l->client[i].fd);
	if (l->epoll >= 0)
		close(l->epoll);
	free(l->client);
	free(l->buffer);
	free(l->ret);
}

int load_run(const struct load_plan *plan, struct load_result *ret, struct status *st)
{
	_cleanup_(load_done) struct load l = {.plan = plan, .st = st, .epoll = epoll_create1(EPOLL_CLOEXEC)};

	for (unsigned g = 0; g < LOAD_GROUPS_MAX; g++)
		l.clients += plan->group[g].clients;
	l.client = calloc(l.clients, sizeof(*l.client));
	l.buffer = malloc(RECEIVE);
	l.ret = calloc(1, sizeof(*l.ret));
	if (l.epoll < 0 || !l.client || !l.buffer || !l.ret)
		return status_no_memory(st);
	for (unsigned i = 0; i < l.clients; i++)
		l.client[i].fd = -1;
	int rc = open_all(&l);
	return rc ? rc : measure(&l, ret);
}

static struct str fixed_request(void *arg, unsigned client, uint64_t n)
{
	(void)client;
	(void)n;
	return *(struct str *)arg;
}

int load_fetch(unsigned port, struct str request, unsigned expect, struct buf *out, struct status *st)
{
	struct load_plan plan = {.port = port, .signal_fd = -1, .run_ns = PATIENCE};
	_cleanup_free_ struct load_result *result = calloc(1, sizeof(*result));

	if (!result)
		return status_no_memory(st);
	plan.group[0] = (struct load_group){.clients = 1, .expect = expect, .request = fixed_request, .arg = &request,
					    .limit = 1, .body = out};
	int rc = load_run(&plan, result, st);
	if (!rc && (out->failed || result->group[0].ops != 1))
		return status_set(st, REASON_INTERNAL, "no whole reply");
	return rc;
}
