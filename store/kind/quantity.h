/* SPDX-License-Identifier: Apache-2.0 */
/* resource.Quantity: parse, canonical text, compare. */
#ifndef HOLDFS_QUANTITY_H
#define HOLDFS_QUANTITY_H

#include "store/base/arena.h"
#include "store/base/str.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

__extension__ typedef __int128 quantity_nano; /* ISO C has no such type */

/* value = nano / 10^9, exact within +-2^127 nano units. */
struct quantity {
	quantity_nano nano;
	enum quantity_format format;
};

/* Grammar of apimachinery's resource.Quantity, no blanks around it. Smaller parts than nano are rounded up (away
 * from 0), binary quantities above 2^63-1 are cut to it. False when s is none or does not fit. */
bool quantity_parse(struct str s, struct quantity *ret);
/* True when the server gives the text back as it is instead of its canonical form ("1.500", "1e3", "1025Mi", "+5"):
 * apimachinery does so for many texts that are nearly canonical. Rounding that changes nothing keeps it, too. */
bool quantity_keeps_text(struct str s);
/* Canonical text (1000m is 1, 1024Ki is 1Mi, rounded up to nano); room of at least 48 bytes; returns the length. */
size_t quantity_text(const struct quantity *q, char *out);
/* <0, 0, >0. */
int quantity_cmp(const struct quantity *a, const struct quantity *b);
/* Rounds up to whole milli units, as ResourceList values are on decode. */
void quantity_round_milli(struct quantity *q);

#endif
