/* SPDX-License-Identifier: Apache-2.0 */
/* Standard base64 with padding (RFC 4648), as Go's StdEncoding reads and writes it. */
#ifndef HOLDFS_BASE64_H
#define HOLDFS_BASE64_H

#include "store/base/buf.h"

/* Adds the text of bytes to out. */
void base64_encode(struct str bytes, struct buf *out);
/* Adds the bytes of text to out; line breaks in text are skipped. False, out untouched, when it is
 * not base64. Out of memory is left in out->failed. */
bool base64_decode(struct str text, struct buf *out);

#endif
