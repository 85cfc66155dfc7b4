/* SPDX-License-Identifier: Apache-2.0 */
/* Objects from files and to files: `holdfs import` and `holdfs export`. */
#ifndef HOLDFS_DUMP_H
#define HOLDFS_DUMP_H

#include "store/base/status.h"
#include "store/db/read.h"
#include "store/kind/kind.h"

enum { IMPORT_FILE_MAX = 256 << 20, IMPORT_DEFERRED_MAX = 64 << 20 };

/* One object on its way into a store. */
struct import_item {
	const struct kind *kind;
	struct str ns, name;      /* ns empty for cluster scope */
	struct str json;          /* the object */
	const char *file;         /* where it comes from; "-" for standard input */
	unsigned line;            /* of the document in it, from 1; 0 unknown */
	struct str what;          /* `Deployment shop/web`, for messages */
};

/* Where objects go. Owned by the caller. */
struct import_sink {
	/* Stores item (updating what is there). The sink may answer later; it copies what it keeps. Calls done(item, status, arg)
	 * exactly once for each, on the caller's thread, from put or from finish. */
	void (*put)(struct import_sink *self, const struct import_item *item);
	/* Waits for everything that was put. */
	void (*finish)(struct import_sink *self);
	void (*done)(const struct import_item *item, const struct status *st, void *arg);
	void *arg;
};

struct import_counts {
	uint64_t files, stored, failed;
};

struct import_options {
	const struct kinds *kinds;
	struct import_sink *sink;
	/* Says what could not be stored; object is empty for a whole file. Caller's thread. */
	void (*report)(void *arg, const char *file, unsigned line, struct str object, const char *why);
	/* After each document. */
	void (*progress)(void *arg, const struct import_counts *counts);
	void *arg;
};

/* Reads all paths: files, directories (every .yaml, .yml, .json below them, names sorted), "-" for standard input. Objects whose
 * namespace comes later in the input are tried again at the end. One bad file or object never stops the rest. 0, or -ENOMEM. */
int import_paths(const struct import_options *options, char **paths, int npaths, struct import_counts *ret);

/* A sink that writes to an open store, a window of writes at a time. NULL when out of memory. */
struct import_sink *import_sink_store(struct store *s);
void import_sink_store_free(struct import_sink *sink);

/* Writes every object of the snapshot as a tree like the mount's below path (made when absent):
 * namespaces/<ns>/<resource>/<name>.yaml, cluster/<resource>/<name>.yaml. Secrets get mode 0600. */
int export_tree(struct store *s, struct read *r, const char *path, uint64_t *ret_count, struct status *st);
/* Writes a v1 List of all objects as YAML to the descriptor. */
int export_list(struct store *s, struct read *r, int fd, uint64_t *ret_count, struct status *st);

#endif
