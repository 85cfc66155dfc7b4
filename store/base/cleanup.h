/* SPDX-License-Identifier: Apache-2.0 */
/* Scope-bound clean-up: `_cleanup_(buf_done) struct buf b = {0};` */
#ifndef HOLDFS_CLEANUP_H
#define HOLDFS_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* Hands over: returns *p and leaves NULL behind. */
#define steal(p) __extension__({ __typeof__(*(p)) *_p = (p); __typeof__(*(p)) _v = *_p; *_p = NULL; _v; })

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)

#endif
