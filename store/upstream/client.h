/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP client of other API servers (the only user of <curl/curl.h>); here: the running holdfs that owns a store. */
#ifndef HOLDFS_CLIENT_H
#define HOLDFS_CLIENT_H

#include "store/dump/dump.h"

/* The socket that `holdfs serve` answers its owner on, below the store's directory. */
#define CLIENT_SOCKET "api.sock"

/* A sink that writes through the running server of the store in dir, one object at a time. NULL when out
 * of memory; -1 results come one by one through `done`. */
struct import_sink *import_sink_server(const char *dir);
void import_sink_server_free(struct import_sink *sink);

#endif
