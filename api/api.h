/* SPDX-License-Identifier: Apache-2.0 */
/* The Kubernetes HTTP API over a store: what main.c starts and stops. */
#ifndef HOLDFS_API_H
#define HOLDFS_API_H

#include "store/base/status.h"
#include "store/base/str.h"

struct api;
struct store;

/* All strings are borrowed during api_start only. */
struct api_options {
	const char *host;         /* name or address to listen on; "localhost" means 127.0.0.1 and ::1. NULL: localhost */
	unsigned port;            /* 0: a free one */
	bool insecure_http;       /* plain HTTP instead of TLS */
	struct str cert_pem, key_pem, ca_pem; /* of tls_ensure; not looked at with insecure_http */
	struct str token;         /* bearer token of the one admin; empty: everybody is admin */
	const char *allowed_hosts;/* more names for the Host header, separated by commas; NULL: none */
	const char *unix_socket;  /* plain HTTP for the owner (0600): every caller is admin; NULL: none */
	bool read_only;           /* refuse all writes */
	bool gzip_loopback;       /* compress for local peers too */
	unsigned threads;         /* that serve requests; 0: as many as cores */
	unsigned connections;     /* at most; 0: what the file descriptor limit allows */
};

/* Binds and serves; returns when clients can connect. The store must outlive the api.
 * -EADDRINUSE and the like, REASON_UNAVAILABLE, when it cannot listen. */
int api_start(struct store *s, const struct api_options *options, struct api **ret, struct status *st);
/* The TCP port that is bound. */
unsigned api_port(const struct api *api);
/* Ends watches cleanly, lets requests in flight finish, closes. Within a second. Takes NULL. */
void api_stop(struct api *api);

#endif
