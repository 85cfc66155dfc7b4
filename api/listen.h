/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets. */
#ifndef HOLDFS_API_LISTEN_H
#define HOLDFS_API_LISTEN_H

#include "store/base/status.h"

enum { LISTEN_MAX = 4 };

/* Binds all addresses of host ("localhost": both loopbacks, where there are both) to one port; *port 0
 * becomes the one that was free. Fills fds (at least one); returns their number or a negative errno. */
int listen_tcp(const char *host, unsigned *port, int fds[LISTEN_MAX], struct status *st);
/* A unix socket of mode 0600; a stale one is replaced. Returns the fd. */
int listen_unix(const char *path, struct status *st);

#endif
