/* SPDX-License-Identifier: Apache-2.0 */
/* Counters under the names that Kubernetes dashboards know; label values from fixed sets only. */
#ifndef HOLDFS_API_METRICS_H
#define HOLDFS_API_METRICS_H

#include "api/request.h"

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m); /* takes NULL */

/* A request was answered. Any thread. */
void metrics_request(struct metrics *m, const struct request *r, unsigned code, double seconds, size_t bytes);
/* Watch events were sent. */
void metrics_watch(struct metrics *m, const struct kind *k, uint64_t events, uint64_t bytes);

/* GET /metrics */
int metrics_handle(struct request *r, struct reply *p, struct status *st);

#endif
