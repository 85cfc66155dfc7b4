/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to JSON and back, by libyaml (the only user of <yaml.h>). */
#ifndef HOLDFS_YAML_H
#define HOLDFS_YAML_H

#include "store/base/buf.h"
#include "store/base/status.h"

enum {
	YAML_DEPTH_MAX = 200,       /* libyaml 0.2.5 is quadratic in depth */
	YAML_NODES_MAX = 1 << 20,   /* after alias expansion */
	YAML_ANCHORS_MAX = 1024,    /* in one document */
	YAML_TEXT_MAX = 64 << 20,   /* written: indentation makes deep objects some 500 times as long */
};

/* Reads the documents of a YAML stream one by one. */
struct yaml_stream;

/* Borrows text until yaml_close. NULL when out of memory. */
struct yaml_stream *yaml_open(struct str text);
void yaml_close(struct yaml_stream *y);
/* The next document that is not empty, as strict JSON text in out (cleared first): scalars resolved as
 * sigs.k8s.io/yaml does (YAML 1.1 booleans y/n/yes/no/on/off, ~ and null, octal, hex, floats; timestamps stay
 * strings; numbers as JSON numbers; NaN and infinities are an error), keys made strings, merge keys (<<) and
 * aliases expanded within 10 times the input (at least 1 MiB). A key that stands twice in a mapping is
 * written twice, so that the tree reports it. *ret_line (may be NULL): line on which the document starts, from 1.
 * 1: a document; 0: the end; -EINVAL with REASON_BAD_REQUEST `error converting YAML to JSON: yaml: line N: ...`. */
int yaml_next(struct yaml_stream *y, struct buf *out, unsigned *ret_line, struct status *st);

/* One document: what an HTTP body or a saved file holds. An empty stream gives `null`; a second
 * document is an error. */
int yaml_to_json(struct str text, struct buf *out, struct status *st);

/* Adds canonical JSON as kubectl prints it: block style, sequences not indented, members in the order
 * they stand, multi-line strings as literals, strings quoted only where they would read as something
 * else, no line folding, a newline at the end. json must be strict JSON (it comes from the store).
 * Reads the text with scan.h; builds no tree. REASON_TOO_LARGE beyond YAML_TEXT_MAX bytes. */
int yaml_from_json(struct str json, struct buf *out, struct status *st);

#endif
