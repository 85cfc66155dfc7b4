/* SPDX-License-Identifier: Apache-2.0 */
/* The running API: what all handlers share. */
#ifndef HOLDFS_API_SERVER_H
#define HOLDFS_API_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/auth.h"
#include "api/request.h"

struct cache;
struct engine;
struct metrics;
struct openapi;
struct pool;
struct http;

struct api {
	struct store *store;
	struct pool *pool;       /* reply buffers */
	struct cache *cache;     /* bodies of unchanged lists */
	struct engine *engine;   /* wakes watches and waiting requests */
	struct metrics *metrics;
	struct openapi *openapi; /* documents that were made */
	struct http *http;       /* daemons and connections */
	struct auth auth;
	bool read_only;
	bool gzip_loopback;
	atomic_bool stopping;
	atomic_size_t body_bytes; /* of request bodies being collected */
	atomic_uint asleep;       /* connections that wait to be woken */
	atomic_uint streams;      /* replies that are still being made */
	atomic_uint inflight_reading, inflight_mutating; /* the gauges */
};

/* Monotonic, ns. */
int64_t clock_ns(void);

/* Bytes of request bodies in memory at one time; beyond, 429. */
#define BODY_BYTES_MAX ((size_t)256 << 20)

#endif
