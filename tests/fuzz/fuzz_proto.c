/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes protobuf bodies: what is decoded must be strict JSON. */
#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/proto.h"
#include "store/codec/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf out = {0};
	static struct status st;
	struct scan s;
	enum scan_token token;

	if (proto_to_json(str_n((const char *)data, size), &out, &st) < 0)
		return 0;
	/* Embedded JSON may nest the whole deeper than the scanner goes, and does no harm by it. */
	scan_init(&s, buf_str(&out));
	while ((token = scan_next(&s)) != SCAN_END)
		if (token == SCAN_ERROR && s.depth == SCAN_DEPTH_MAX)
			return 0;
		else if (token == SCAN_ERROR)
			abort();
	return 0;
}
