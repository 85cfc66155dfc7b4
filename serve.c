/* SPDX-License-Identifier: Apache-2.0 */
/* `holdfs serve`: store, bootstrap, API, controllers, mount come up in this order and go down in reverse.
 *
 * Signals are blocked in every thread and taken by sigwait here; nothing runs in a handler. */
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "api/api.h"
#include "api/kubeconfig.h"
#include "api/tls.h"
#include "fs/fs.h"
#include "options.h"
#include "store/store.h"
#include "store/upstream/client.h"

/* All parts of a running server; NULL or empty when not up. */
struct server {
	const struct options *o;
	struct store *store;
	struct tls_files tls;
	struct api *api;
	struct control *control;
	struct fs *fs;
	char host[256];
	unsigned port;
	char url[320];
	char kubeconfig[4096];
	char socket[4096];
};

/* `HOST:PORT`, `[::1]:PORT`, or `:PORT`. */
static bool parse_listen(const char *text, struct server *s)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;

	if (!colon || !str_u64(str_of(colon + 1), &port) || port > 65535)
		return false;
	struct str host = str_n(text, (size_t)(colon - text));
	if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
		host = str_n(host.ptr + 1, host.len - 2);
	if (host.len >= sizeof(s->host) || (str_chr(host, ':') >= 0 && text[0] != '['))
		return false;
	snprintf(s->host, sizeof(s->host), "%.*s", STR_ARG(host.len ? host : STR("localhost")));
	s->port = (unsigned)port;
	return true;
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 || strncmp(host, "127.", 4) == 0;
}

static int start_store(struct server *s, struct status *st)
{
	const struct options *o = s->o;
	struct store_options options = {
		.dir = o->data,
		.max_size = o->max_size,
		.feed_bytes = o->feed_size,
		.feed_seconds = (unsigned)(o->feed_age < UINT32_MAX ? o->feed_age : UINT32_MAX),
		.commit_each = o->commit_each,
	};

	return store_open(&options, &s->store, st);
}

static int start_api(struct server *s, struct status *st)
{
	const struct options *o = s->o;
	struct api_options options = {
		.host = s->host,
		.port = s->port,
		.insecure_http = o->insecure_http,
		.read_only = o->read_only,
		.unix_socket = s->socket,
		.threads = (unsigned)o->threads,
	};
	int err = tls_ensure(o->data, s->host, &s->tls, st);

	if (err)
		return err;
	options.cert_pem = s->tls.cert_pem;
	options.key_pem = s->tls.key_pem;
	options.ca_pem = s->tls.ca_pem;
	options.token = o->insecure_http ? STR("") : s->tls.token;
	err = api_start(s->store, &options, &s->api, st);
	if (err)
		return err;
	s->port = api_port(s->api);
	bool v6 = strchr(s->host, ':') != NULL;
	snprintf(s->url, sizeof(s->url), "%s://%s%s%s:%u", o->insecure_http ? "http" : "https", v6 ? "[" : "", s->host,
		 v6 ? "]" : "", s->port);
	return 0;
}

static int write_kubeconfig(struct server *s, struct status *st)
{
	bool plain = s->o->insecure_http;

	if (s->o->kubeconfig)
		snprintf(s->kubeconfig, sizeof(s->kubeconfig), "%s", s->o->kubeconfig);
	else
		snprintf(s->kubeconfig, sizeof(s->kubeconfig), "%s/kubeconfig", s->o->data);
	return kubeconfig_write(s->kubeconfig, s->url, plain ? STR("") : s->tls.ca_pem, plain ? STR("") : s->tls.token, st);
}

static int start_mount(struct server *s, struct status *st)
{
	struct fs_options options = {
		.mountpoint = s->o->mount,
		.read_only = s->o->read_only,
		.allow_other = s->o->allow_other,
	};

	if (!s->o->mount)
		return 0;
	return fs_start(s->store, &options, &s->fs, st);
}

static int start(struct server *s, struct status *st)
{
	int err = start_store(s, st);

	if (!err)
		err = start_api(s, st);
	if (!err)
		err = store_bootstrap(s->store, s->port, st);
	if (!err)
		err = write_kubeconfig(s, st);
	if (!err)
		err = control_start(s->store, s->tls.ca_pem, &s->control, st);
	if (!err)
		err = start_mount(s, st);
	return err;
}

static void stop(struct server *s)
{
	fs_stop(s->fs);
	control_stop(s->control);
	api_stop(s->api);
	store_close(s->store);
	tls_files_done(&s->tls);
}

static void tell_ready(struct server *s)
{
	int fd = (int)s->o->ready_fd;

	if (!s->o->quiet) {
		log_info("msg=\"ready\" api=%s kubeconfig=%s%s%s", s->url, s->kubeconfig, s->o->mount ? " mount=" : "",
			 s->o->mount ? s->o->mount : "");
		if (s->o->insecure_http)
			log_warn("msg=\"plain HTTP: every local user and program is admin here\"");
	}
	if (s->o->ready_fd == UINT64_MAX)
		return;
	dprintf(fd, "%s\n", s->url);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Every watch is a connection: take all descriptors that we may. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int command_serve(const struct options *o)
{
	struct server s = {.o = o};
	struct status st;
	sigset_t set;
	int number;

	if (!parse_listen(o->listen, &s)) {
		fprintf(stderr, "holdfs: --listen takes HOST:PORT, not '%s'\n", o->listen);
		return EXIT_USAGE;
	}
	if (o->insecure_http && !is_loopback(s.host)) {
		fprintf(stderr, "holdfs: --insecure-http is for loopback addresses only\n");
		return EXIT_USAGE;
	}
	umask(077);
	raise_limits();
	block_signals(&set);
	log_set_level(o->verbose ? LOG_DEBUG : o->quiet ? LOG_ERROR : LOG_INFO);
	snprintf(s.socket, sizeof(s.socket), "%s/" CLIENT_SOCKET, o->data);
	status_clear(&st);
	int err = start(&s, &st);
	if (err) {
		fprintf(stderr, "holdfs: %s\n", st.message);
	} else {
		tell_ready(&s);
		sigwait(&set, &number);
		if (!o->quiet)
			log_info("msg=\"stopping\" signal=%s", sigabbrev_np(number));
	}
	stop(&s);
	return err ? EXIT_FAILED : EXIT_OK;
}
