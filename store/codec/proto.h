/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes protobuf bodies to JSON (application/vnd.kubernetes.protobuf).
 *
 * Source of the numbers: tables/protobuf.json (Kubernetes v1.36 .proto files). */
#ifndef HOLDFS_PROTO_H
#define HOLDFS_PROTO_H

#include "store/base/buf.h"
#include "store/base/status.h"

/* Is body a `k8s\0` envelope? */
bool proto_is_envelope(struct str body);

/* Decodes an envelope: apiVersion and kind come from its TypeMeta, the raw part by the message of
 * that kind. out (cleared first) gets one JSON object with apiVersion and kind. Proto2's zero scalars that Go's
 * encoder always writes are left out where JSON would omit them (schema omitempty), so that the
 * result is what the same client would have sent as JSON.
 * -EINVAL with REASON_BAD_REQUEST for malformed bytes or an unknown kind. Depth limit SCAN_DEPTH_MAX. */
int proto_to_json(struct str body, struct buf *out, struct status *st);

#endif
