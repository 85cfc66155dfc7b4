/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the benchmarks and the requests that read and write them. */
#ifndef HOLDFS_BENCH_DATA_H
#define HOLDFS_BENCH_DATA_H

#include <stdint.h>

#include "store/base/buf.h"
#include "store/base/status.h"

/* ConfigMaps of about 560 bytes as served; one in DATA_GOLD has the label tier=gold. */
enum { DATA_OBJECTS = 1000, DATA_GOLD = 20 };
#define DATA_NAMESPACE "bench"
#define DATA_LIST "/api/v1/namespaces/" DATA_NAMESPACE "/configmaps"
#define DATA_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

/* Writes without end, for load_group: each request creates the object numbered `next`, or puts a text that says
 * `next` into object n modulo `objects`; so no write repeats an earlier one, in later runs neither. */
struct data_writer {
	unsigned port;
	uint64_t next;
	unsigned objects;
	int64_t *sent;       /* clock at request n modulo sent_cap; NULL: not kept */
	uint64_t sent_cap;
	struct buf request, body;
};
void data_writer_done(struct data_writer *w);
struct str data_create(void *writer, unsigned client, uint64_t n);
struct str data_update(void *writer, unsigned client, uint64_t n);

/* Adds a GET of path. accept: NULL for application/json. */
void data_get(struct buf *out, unsigned port, const char *path, const char *accept);

/* The newest revision of the server at port. */
int data_revision(unsigned port, uint64_t *ret, struct status *st);

/* Creates the namespace and its first `objects` objects, by 32 clients. */
int data_fill(unsigned port, unsigned objects, struct status *st);

/* For load_group: arg is a struct str, sent again and again. */
struct str data_fixed(void *arg, unsigned client, uint64_t n);

#endif
