/* SPDX-License-Identifier: Apache-2.0 */
/* What generate.py writes and kind.c and schema.c read: private to store/kind. */
#ifndef HOLDFS_KIND_GENERATED_H
#define HOLDFS_KIND_GENERATED_H

#include "store/kind/kind.h"
#include "store/kind/schema.h"

/* A word that names a resource for kubectl: plural, singular or short name, lower case. */
struct kind_word {
	struct str word;
	uint16_t row;
};

/* Open-addressed hash: row numbers plus 1, 0 is a free slot; mask + 1 slots, a power of two, never full. */
struct kind_index {
	const uint16_t *slots;
	uint32_t mask;
};

/* All arrays live as long as the set. */
struct kinds {
	const struct kind *const *rows; /* discovery order */
	size_t count;
	struct kind_index by_resource; /* group, version, plural */
	struct kind_index by_gvk;      /* api_version, kind */
	struct kind_index by_dir;      /* dir, preferred row only */
	const struct kind_word *words; /* sorted by word; equal words by what wins */
	size_t nwords;
};

extern const struct kinds kinds_generated;

extern const struct schema_def schema_generated[];
extern const size_t schema_generated_count;

/* FNV-1a over the parts, each followed by a zero byte; generate.py has the same function. */
static inline uint32_t kind_hash(uint32_t h, struct str part)
{
	for (size_t i = 0; i < part.len; i++)
		h = (h ^ (uint8_t)part.ptr[i]) * 16777619u;
	return h * 16777619u;
}

#define KIND_HASH_START 0x811c9dc5u

#endif
