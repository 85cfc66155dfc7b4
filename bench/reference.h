/* SPDX-License-Identifier: Apache-2.0 */
/* What a server would do that keeps text and parses it on every read: the references of list_labels and list_table. */
#ifndef HOLDFS_BENCH_REFERENCE_H
#define HOLDFS_BENCH_REFERENCE_H

#include "store/base/buf.h"
#include "store/base/status.h"

/* Both parse a list of ConfigMaps with json-c and write their reply to out, which is emptied first. */

/* The list of the items whose label `key` is `value`. */
int reference_select(struct str list, const char *key, const char *value, struct buf *out, struct status *st);
/* A meta.k8s.io/v1 Table: Name, Data, Age, and each row's metadata. */
int reference_table(struct str list, struct buf *out, struct status *st);

/* Elements of the array `field` of a JSON object: to see that a server answered with what was asked for. */
int reference_count(struct str json, const char *field, size_t *ret, struct status *st);

#endif
