/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: libmicrohttpd's daemons, seen without libmicrohttpd. */
#ifndef HOLDFS_API_HTTP_H
#define HOLDFS_API_HTTP_H

#include "api/api.h"
#include "api/server.h"

/* NULL when out of memory. */
struct http *http_new(struct api *api);
/* Listens and serves. After a failure some daemons may run: http_stop. */
int http_start(struct http *h, const struct api_options *options, struct status *st);
/* Takes no new connections from now on. */
void http_quiesce(struct http *h);
/* Ends all connections; none may be asleep. */
void http_stop(struct http *h);
void http_free(struct http *h); /* takes NULL */
unsigned http_port(const struct http *h);
unsigned http_connections(struct http *h);

/* Closes connections that take too long to say what they want, or to take what they asked for. */
void http_check_deadlines(struct api *api, int64_t now);

/* Socket of a request's connection, for poll only. */
int http_fd(const struct request *r);

/* See struct park. */
void park_begin(struct park *p);
bool park_asleep(const struct park *p);

#endif
