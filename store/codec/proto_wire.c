/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the protobuf wire format, strictly. */
#include "store/codec/proto_wire.h"

#include <endian.h>
#include <errno.h>

int wire_varint(struct str *rest, uint64_t *ret)
{
	uint64_t v = 0;

	if (rest->len == 0)
		return 0;
	for (size_t i = 0; i < rest->len && i < 10; i++) {
		uint64_t byte = (unsigned char)rest->ptr[i];
		/* The tenth byte has room for one bit. */
		if (i == 9 && byte > 1)
			return -EINVAL;
		v |= (byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*rest = str_skip(*rest, i + 1);
			*ret = v;
			return 1;
		}
	}
	return -EINVAL;
}

/* A little-endian number of 4 or 8 bytes. */
static int fixed(struct str *rest, size_t size, uint64_t *ret)
{
	uint64_t v = 0;

	if (rest->len < size)
		return -EINVAL;
	memcpy(&v, rest->ptr, size);
	*rest = str_skip(*rest, size);
	*ret = le64toh(v);
	return 1;
}

static int counted(struct str *rest, struct str *ret)
{
	uint64_t len;

	if (wire_varint(rest, &len) <= 0 || len > rest->len)
		return -EINVAL;
	*ret = str_n(rest->ptr, (size_t)len);
	*rest = str_skip(*rest, (size_t)len);
	return 1;
}

int wire_next(struct str *rest, struct wire_value *ret)
{
	uint64_t tag;
	int r = wire_varint(rest, &tag);

	if (r <= 0)
		return r;
	if (tag >> 3 == 0 || tag >> 3 >= 1u << 29)
		return -EINVAL;
	*ret = (struct wire_value){.number = (uint32_t)(tag >> 3), .type = (enum wire_type)(tag & 7)};
	switch (ret->type) {
	case WIRE_VARINT: return wire_varint(rest, &ret->v) == 1 ? 1 : -EINVAL;
	case WIRE_FIXED64: return fixed(rest, 8, &ret->v);
	case WIRE_BYTES: return counted(rest, &ret->bytes);
	case WIRE_FIXED32: return fixed(rest, 4, &ret->v);
	}
	return -EINVAL;
}

int wire_pick(struct str bytes, struct wire_value *slots, size_t n)
{
	struct wire_value v;
	int r;

	while ((r = wire_next(&bytes, &v)) == 1) {
		if (v.number > n)
			continue;
		if (v.type != slots[v.number - 1].type)
			return -EINVAL;
		slots[v.number - 1] = v;
	}
	return r;
}
