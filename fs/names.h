/* SPDX-License-Identifier: Apache-2.0 */
/* File names of objects. */
#ifndef HOLDFS_FS_NAMES_H
#define HOLDFS_FS_NAMES_H

#include "store/kind/kind.h"

enum { FILE_NAME_MAX = 255 };

/* The form in which a file shows its object. */
enum form { FORM_NONE, FORM_YAML, FORM_JSON };

/* What the name of a file says: its form, and the text before the suffix in *ret_stem.
 * FORM_NONE: not the name of an object in any directory. */
enum form name_parse(struct str file, struct str *ret_stem);

/* Writes `OBJECT.yaml`, NUL-terminated. An object name that would not fit becomes its first 200 bytes,
 * `%` (which no object name contains) and 16 hex digits of its hash. Returns the length. */
size_t name_file(struct str object, char out[FILE_NAME_MAX + 1]);
/* Is the stem such a short form? *ret_head is then the part of the object's name that it keeps. */
bool name_is_short(struct str stem, struct str *ret_head);
/* Does the short form stem stand for object? */
bool name_short_fits(struct str stem, struct str object);

/* May a new object of kind k get this name by creating a file? True for names the kind allows that do not look like
 * an editor's temporary files. A guess for telling scratch from objects; the write path decides. */
bool name_for_new(const struct kind *k, struct str stem);

/* A hash of text that goes on from seed. */
uint64_t name_hash(uint64_t seed, struct str text);

#endif
