/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf wire format: one tagged value after the other. */
#ifndef HOLDFS_PROTO_WIRE_H
#define HOLDFS_PROTO_WIRE_H

#include "store/base/str.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_value {
	uint32_t number; /* 0: none */
	enum wire_type type;
	uint64_t v;       /* VARINT, FIXED64, FIXED32 */
	struct str bytes; /* BYTES; borrowed */
};

/* Cuts the next value off *rest. 1: a value; 0: *rest was empty; -EINVAL: malformed (cut short, a varint of
 * more than 64 bits, field number 0, a group). */
int wire_next(struct str *rest, struct wire_value *ret);

/* Cuts a bare varint (of a packed list) off *rest; results as above. */
int wire_varint(struct str *rest, uint64_t *ret);

/* Reads a small message: slots[i] becomes the last value numbered i + 1, which must have the type that the
 * caller set there; numbers beyond n are passed over. 0 or -EINVAL. */
int wire_pick(struct str bytes, struct wire_value *slots, size_t n);

#endif
