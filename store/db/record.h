/* SPDX-License-Identifier: Apache-2.0 */
/* How one object is kept: a single value that holds, ready-made, everything a reader may ask for.
 *
 * A record is a fixed header followed by its sections, without gaps:
 *
 *     header | uid | labels | fields | owners | claims | cells | json
 *
 * json is the object's canonical text without apiVersion and kind and without the opening brace:
 * `"data":{...},"metadata":{...}}`. A get sends `{` + kind->type_meta + json, a list item of a built-in
 * kind `{` + json, a watch event the same inside its frame. metadata is a span of json; a Table row
 * is the cells and that span.
 *
 * The revision is known only when the writer commits, so a record is drafted with a hole: the
 * resourceVersion member is there as `"resourceVersion":""`, and record_stamp copies the record with
 * the digits put in. json is last so that only offsets inside it move.
 *
 * labels, fields: see kind/selector.h. cells: see kind/cells.h.
 * owners: u16 count, then (u16 length, uid) each. claims: u16 count, then (u16 length, text) each:
 * names that only one object may hold at a time, such as "ip/10.96.0.10" or "port/30080". */
#ifndef HOLDFS_RECORD_H
#define HOLDFS_RECORD_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/codec/tree.h"
#include "store/kind/kind.h"

enum { RECORD_FORMAT = 1 };

enum record_flag {
	RECORD_TERMINATING = 1 << 0, /* metadata.deletionTimestamp is set */
	RECORD_FINALIZERS = 1 << 1,  /* metadata.finalizers is not empty */
};

/* One object as it is kept, pointing into the record it was read from (mostly the database map:
 * borrowed until the read transaction ends). */
struct object {
	uint64_t revision;        /* of this version: resourceVersion */
	uint64_t create_revision; /* of the object's first version */
	int64_t created;          /* seconds since 1970: creationTimestamp */
	int64_t modified;         /* nanoseconds since 1970 of this version; strictly increasing per object */
	uint32_t flags;           /* enum record_flag */
	uint32_t rules;           /* revision of the column and field definitions it was rendered by */
	uint32_t yaml_len;        /* bytes of the object as YAML with apiVersion and kind (object_yaml) */
	struct str ns, name;      /* ns is empty for cluster-scoped objects */
	struct str uid;
	struct str labels, fields, owners, claims, cells;
	struct str json;          /* without opening brace, apiVersion and kind; ends with `}` */
	struct str metadata;      /* span of json: `{"name":...}` */
	struct str raw;           /* the whole record */
};

/* Looks at a record in place; ns and name are those of its key. False when it is not a record of
 * this format or its lengths do not add up (never reads outside raw). */
bool record_view(struct str raw, struct str ns, struct str name, struct object *ret);

/* Renders object, an admitted object of kind `storage` (a storage row) whose metadata.resourceVersion is ignored,
 * into out as a draft: revision 0, hole empty. create_revision 0 means "the revision it will get".
 * False when out of memory. a is for scratch. */
bool record_draft(struct arena *a, const struct kind *storage, const struct tree *object, uint64_t create_revision,
		  int64_t modified, const struct str *claims, size_t nclaims, struct buf *out);

/* Size of raw once it is stamped with revision. */
size_t record_stamped_len(struct str raw, uint64_t revision);
/* Copies raw to out (record_stamped_len bytes) with revision in its hole in place of what is there. */
void record_stamp(struct str raw, uint64_t revision, char *out);

/* Does the stored checksum hold? */
bool record_sound(struct str raw);

/* Iterates an owners or claims section: *at starts at 0. False at the end. */
bool record_list_next(struct str section, size_t *at, struct str *ret);

/* Adds the whole object as JSON in the form of kind k (apiVersion and kind included); k must share
 * the storage row the object is kept by. When k is not that row itself the object is converted, which
 * may fail for lack of memory: false. */
bool object_json(const struct kind *k, const struct object *o, struct buf *out);
/* The same as YAML, as kubectl prints it. For a storage row its length is o->yaml_len. */
bool object_yaml(const struct kind *k, const struct object *o, struct buf *out);
/* The same as a tree in a (for the write path). NULL when out of memory. */
struct tree *object_tree(struct arena *a, const struct kind *k, const struct object *o);

#endif
