/* SPDX-License-Identifier: Apache-2.0 */
/* Between proto.c (envelopes, messages, fields) and proto_form.c (messages with a JSON form of their own). */
#ifndef HOLDFS_PROTO_DECODE_H
#define HOLDFS_PROTO_DECODE_H

#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/codec/proto_table.h"
#include "store/codec/proto_wire.h"

/* One decoding. All functions below add JSON to out; 0 or a negative errno with st filled. */
struct decoder {
	struct buf *out;
	unsigned depth; /* of open messages; at most SCAN_DEPTH_MAX */
	struct status *st;
};

/* -EINVAL with REASON_BAD_REQUEST `error decoding protobuf: NAME: WHY`. */
int proto_fail(struct decoder *d, struct str name, const char *why);

/* An envelope with its magic, as an object with apiVersion and kind. */
int proto_write_envelope(struct decoder *d, struct str body);
/* A message in its JSON form. */
int proto_write_message(struct decoder *d, const struct proto_message *m, struct str bytes);
/* As an object of its fields, whatever its form. */
int proto_write_object(struct decoder *d, const struct proto_message *m, struct str bytes);
/* All values of a LIST field in the message's bytes, as an array. The bytes have been surveyed. */
int proto_write_list(struct decoder *d, const struct proto_field *f, struct str bytes);

/* By m->form. */
int proto_write_form(struct decoder *d, const struct proto_message *m, struct str bytes);
/* Is the message what Go writes for an absent value: a zero time, an empty extension? */
bool proto_form_absent(const struct proto_message *m, struct str bytes);

/* Do all values have the wire types of their fields, and do single fields stand once? Sets one bit for
 * each field of m found. */
int proto_survey(struct decoder *d, const struct proto_message *m, struct str bytes, uint64_t seen[4]);

#endif
