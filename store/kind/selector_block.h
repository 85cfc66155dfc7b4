/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the label and field blocks of selector.h in place; a damaged block reads as if it ended earlier. */
#ifndef HOLDFS_SELECTOR_BLOCK_H
#define HOLDFS_SELECTOR_BLOCK_H

#include "store/base/str.h"

/* A walk through a labels block. */
struct block_labels {
	struct str rest;
	uint16_t left;
	struct str key, value; /* of the present label, borrowed from the block */
};

void block_labels_open(struct block_labels *w, struct str block);
/* Goes to the next label; false at the end. */
bool block_labels_next(struct block_labels *w);

/* The value in a slot of a fields block; empty when there is no such slot. */
struct str block_field(struct str block, unsigned slot);

#endif
