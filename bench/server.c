/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines, nginx' configuration, waiting until a server answers. */
#include "bench/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/process.h"
#include "store/base/cleanup.h"

enum { READY_MS = 20000 };

/* Reads the line `http://127.0.0.1:PORT`; false when it does not come. */
static bool read_ready(int fd, unsigned *ret_port)
{
	char line[256] = "";
	size_t len = 0;

	while (!memchr(line, '\n', len)) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (len == sizeof(line) - 1 || poll(&p, 1, READY_MS) <= 0)
			return false;
		ssize_t n = read(fd, line + len, sizeof(line) - 1 - len);
		if (n <= 0)
			return false;
		len += (size_t)n;
	}
	char *colon = strrchr(line, ':');
	return colon && sscanf(colon, ":%u", ret_port) == 1;
}

int server_start(const char *binary, const char *dir, bool commit_each, struct server *ret, struct status *st)
{
	int pipes[2];
	char fd_text[16];

	if (pipe2(pipes, O_CLOEXEC))
		return status_set(st, REASON_INTERNAL, "pipe: %m");
	_cleanup_close_ int ready = pipes[0];
	snprintf(fd_text, sizeof(fd_text), "%d", pipes[1]);
	char *const argv[] = {(char *)binary, "serve", "--data", (char *)dir, "--listen", "127.0.0.1:0",
			      "--insecure-http", "--quiet", "--ready-fd", fd_text,
			      commit_each ? "--commit-each" : NULL, NULL};
	struct server s = {0};
	int64_t begin = bench_clock();
	int rc = process_start(argv, pipes[1], &s.pid, st);
	close(pipes[1]);
	if (rc)
		return rc;
	if (!read_ready(ready, &s.port)) {
		server_stop(&s, st);
		return status_set(st, REASON_INTERNAL, "%s did not become ready", binary);
	}
	s.start_ns = bench_clock() - begin;
	*ret = s;
	return 0;
}

static const char nginx_conf[] =
	"daemon off;\n%sworker_processes 2;\npid %s/nginx.pid;\nerror_log stderr crit;\n"
	"events { worker_connections 1024; }\n"
	"http {\n\taccess_log off;\n\tsendfile on;\n\tkeepalive_timeout 600s;\n\tkeepalive_requests 1000000000;\n"
	"\tdefault_type application/json;\n"
	"\tclient_body_temp_path %s/t1;\n\tproxy_temp_path %s/t2;\n\tfastcgi_temp_path %s/t3;\n"
	"\tuwsgi_temp_path %s/t4;\n\tscgi_temp_path %s/t5;\n"
	"\tserver { listen 127.0.0.1:%u; root %s/www; }\n}\n";

static int write_conf(const char *dir, unsigned port, char *path, size_t cap, struct status *st)
{
	snprintf(path, cap, "%s/nginx.conf", dir);
	FILE *f = fopen(path, "we");
	if (!f)
		return status_set(st, REASON_INTERNAL, "%s: %m", path);
	/* The directory is private: workers have to stay who we are. */
	fprintf(f, nginx_conf, geteuid() ? "" : "user root;\n", dir, dir, dir, dir, dir, dir, port, dir);
	return fclose(f) ? status_set(st, REASON_INTERNAL, "%s: %m", path) : 0;
}

/* A connected socket to the port on loopback, or -1. */
static int try_connect(unsigned port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&in, sizeof(in))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One that was free a moment ago: nginx cannot pick its port itself. */
static unsigned free_port(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof(in)) || getsockname(fd, (struct sockaddr *)&in, &len))
		return 0;
	return ntohs(in.sin_port);
}

static int wait_connect(unsigned port)
{
	for (int64_t end = bench_clock() + READY_MS * INT64_C(1000000); bench_clock() < end;) {
		int fd = try_connect(port);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	return -ETIMEDOUT;
}

int server_start_nginx(const char *dir, struct server *ret, struct status *st)
{
	char www[4096], conf[4096], *binary = "/usr/sbin/nginx";
	struct server s = {.port = free_port()};

	if (access(binary, X_OK)) {
		status_set(st, REASON_INTERNAL, "%s is not there (Debian: nginx-light)", binary);
		return -ENOENT;
	}
	snprintf(www, sizeof(www), "%s/www", dir);
	if ((mkdir(dir, 0700) && errno != EEXIST) || (mkdir(www, 0700) && errno != EEXIST))
		return status_set(st, REASON_INTERNAL, "%s: %m", www);
	int rc = write_conf(dir, s.port, conf, sizeof(conf), st);
	if (rc)
		return rc;
	char *const argv[] = {binary, "-e", "stderr", "-p", (char *)dir, "-c", conf, NULL};
	rc = process_start(argv, -1, &s.pid, st);
	if (rc)
		return rc;
	if (wait_connect(s.port)) {
		server_stop(&s, st);
		return status_set(st, REASON_INTERNAL, "nginx did not start");
	}
	*ret = s;
	return 0;
}

int server_publish(const char *dir, const char *name, struct str bytes, struct status *st)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/www/%s", dir, name);
	FILE *f = fopen(path, "we");
	if (!f)
		return status_set(st, REASON_INTERNAL, "%s: %m", path);
	bool good = fwrite(bytes.ptr, 1, bytes.len, f) == bytes.len;
	if (fclose(f) || !good)
		return status_set(st, REASON_INTERNAL, "%s: %m", path);
	return 0;
}

int server_stop(struct server *s, struct status *st)
{
	pid_t pid = s->pid;

	s->pid = 0;
	return process_stop(pid, st);
}
