/* SPDX-License-Identifier: Apache-2.0 */
/* Binding TCP and unix sockets. */
#include "api/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/base/cleanup.h"

enum { BACKLOG = 1024 };

static int failed(struct status *st, const char *what, const char *where, int err)
{
	status_set(st, REASON_UNAVAILABLE, "cannot %s %s: %s", what, where, strerror(err));
	return -err;
}

static unsigned bound_port(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return 0;
	return ss.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&ss)->sin6_port)
					: ntohs(((struct sockaddr_in *)&ss)->sin_port);
}

static void set_port(struct sockaddr *sa, unsigned port)
{
	if (sa->sa_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)sa)->sin_port = htons((uint16_t)port);
}

/* The fd or a negative errno. */
static int bind_one(const struct addrinfo *ai, unsigned port)
{
	int one = 1, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	set_port(ai->ai_addr, port);
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		int err = errno;
		close(fd);
		return -err;
	}
	return fd;
}

/* Binds what can be bound; the first address decides the port and must work. */
static int bind_all(const struct addrinfo *list, unsigned *port, int fds[LISTEN_MAX])
{
	int n = 0, err = -EADDRNOTAVAIL;

	for (const struct addrinfo *ai = list; ai && n < LISTEN_MAX; ai = ai->ai_next) {
		int fd = bind_one(ai, *port);
		if (fd < 0) {
			err = fd;
			if (fd == -EADDRINUSE && n == 0)
				return fd;
			continue;
		}
		if (*port == 0)
			*port = bound_port(fd);
		fds[n++] = fd;
	}
	return n ? n : err;
}

/* "localhost" may be bound to one loopback only in /etc/hosts: ask for both by number. */
static int loopbacks(unsigned *port, int fds[LISTEN_MAX])
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
	struct addrinfo *v4 = NULL, *v6 = NULL;
	int n = -EADDRNOTAVAIL;

	if (getaddrinfo("127.0.0.1", NULL, &hints, &v4) == 0)
		n = bind_all(v4, port, fds);
	if (n == 1 && getaddrinfo("::1", NULL, &hints, &v6) == 0) {
		int fd = bind_one(v6, *port);
		if (fd >= 0)
			fds[n++] = fd;
	}
	if (v4)
		freeaddrinfo(v4);
	if (v6)
		freeaddrinfo(v6);
	return n;
}

int listen_tcp(const char *host, unsigned *port, int fds[LISTEN_MAX], struct status *st)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *list;
	int n;

	if (!host || strcmp(host, "localhost") == 0) {
		n = loopbacks(port, fds);
	} else {
		int rc = getaddrinfo(host, NULL, &hints, &list);
		if (rc != 0) {
			status_set(st, REASON_UNAVAILABLE, "cannot listen on %s: %s", host, gai_strerror(rc));
			return -EADDRNOTAVAIL;
		}
		n = bind_all(list, port, fds);
		freeaddrinfo(list);
	}
	if (n > 0)
		return n;
	char where[300];
	snprintf(where, sizeof(where), "%s:%u", host ? host : "localhost", *port);
	return failed(st, "listen on", where, -n);
}

static bool is_alive(const struct sockaddr_un *sa)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0;
}

int listen_unix(const char *path, struct status *st)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(sa.sun_path))
		return failed(st, "listen on", path, ENAMETOOLONG);
	memcpy(sa.sun_path, path, strlen(path) + 1);
	if (is_alive(&sa))
		return failed(st, "listen on", path, EADDRINUSE);
	if (unlink(path) < 0 && errno != ENOENT)
		return failed(st, "replace", path, errno);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* bind gives the file the mode that the socket has: it is never open to others, not even briefly. */
	if (fd < 0 || fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		int err = errno;
		if (fd >= 0)
			close(fd);
		return failed(st, "listen on", path, err);
	}
	return fd;
}
