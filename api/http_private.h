/* SPDX-License-Identifier: Apache-2.0 */
/* What http.c (daemons, connections) and http_exchange.c (requests, replies) share; the two users of
 * <microhttpd.h>. */
#ifndef HOLDFS_API_HTTP_PRIVATE_H
#define HOLDFS_API_HTTP_PRIVATE_H

#include <microhttpd.h>

#include "api/conn.h"
#include "api/http.h"
#include "api/listen.h"

enum { HEAD_SECONDS = 120 }; /* a connection without a complete request line, however it drips */

struct daemon {
	struct MHD_Daemon *mhd;
	bool trusted;
};

struct http {
	struct api *api;
	struct daemon daemon[LISTEN_MAX + 1];
	unsigned ndaemons;
	unsigned port;
	char *unix_path;
	struct conns conns;
};

/* Callbacks of a daemon; cls is the struct http. */
void *http_on_uri(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result http_on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
				const char *version, const char *upload, size_t *upload_size, void **context);
void http_on_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code);

#endif
