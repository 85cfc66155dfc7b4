/* SPDX-License-Identifier: Apache-2.0 */
/* Reading objects from files: documents, lists, directories. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/base/arena.h"
#include "store/base/cleanup.h"
#include "store/codec/scan.h"
#include "store/codec/tree.h"
#include "store/codec/yaml.h"
#include "store/dump/dump.h"

/* An object whose namespace was not there yet. */
struct deferred {
	struct deferred *next;
	struct import_item item;
	char *json, *file;
};

struct import {
	const struct import_options *options;
	struct import_counts counts;
	struct deferred *deferred, **tail;
	size_t deferred_bytes;
	bool last; /* deferring is over */
	int error;
};

static void report(struct import *im, const char *file, unsigned line, struct str what, const char *why)
{
	im->counts.failed++;
	im->options->report(im->options->arg, file, line, what, why);
}

static bool misses_namespace(const struct status *st)
{
	return st->reason == REASON_NOT_FOUND && strcmp(st->kind, "namespaces") == 0;
}

static bool defer(struct import *im, const struct import_item *item)
{
	struct deferred *d;

	if (im->last || im->deferred_bytes + item->json.len > IMPORT_DEFERRED_MAX)
		return false;
	d = calloc(1, sizeof(*d));
	if (!d)
		return false;
	d->item = *item;
	d->json = strndup(item->json.ptr, item->json.len);
	d->file = strdup(item->file);
	if (!d->json || !d->file) {
		free(d->json);
		free(d->file);
		free(d);
		return false;
	}
	im->deferred_bytes += item->json.len;
	*im->tail = d;
	im->tail = &d->next;
	return true;
}

static void sink_done(const struct import_item *item, const struct status *st, void *arg)
{
	struct import *im = arg;

	if (st->reason == REASON_OK)
		im->counts.stored++;
	else if (!misses_namespace(st) || !defer(im, item))
		report(im, item->file, item->line, item->what, st->message);
	if (im->options->progress)
		im->options->progress(im->options->arg, &im->counts);
}

/* Fills in kind, place and label; false when it is no object that we know (reported). */
static bool describe(struct import *im, struct arena *a, const struct tree *object, struct import_item *item)
{
	struct str version = tree_gets(object, "apiVersion"), kind = tree_gets(object, "kind");
	const struct tree *metadata = tree_getz(object, "metadata");
	char why[256];

	item->name = tree_gets(metadata, "name");
	item->ns = tree_gets(metadata, "namespace");
	item->what = arena_printf(a, "%.*s %.*s%s%.*s", STR_ARG(kind), STR_ARG(item->ns), item->ns.len ? "/" : "",
				  STR_ARG(item->name));
	if (!version.len || !kind.len) {
		report(im, item->file, item->line, STR(""), "not a Kubernetes object: apiVersion or kind is missing");
		return false;
	}
	item->kind = kinds_by_gvk(im->options->kinds, version, kind);
	if (!item->kind || !kind_is(item->kind, KIND_STORED)) {
		snprintf(why, sizeof(why), "no matches for kind \"%.*s\" in version \"%.*s\"", STR_ARG(kind),
			 STR_ARG(version));
		report(im, item->file, item->line, item->what, why);
		return false;
	}
	if (!item->name.len) {
		report(im, item->file, item->line, item->what, "metadata.name is missing");
		return false;
	}
	if (!kind_is(item->kind, KIND_NAMESPACED))
		item->ns = STR("");
	else if (!item->ns.len)
		item->ns = STR("default");
	return true;
}

static void put_object(struct import *im, struct arena *a, const struct tree *object, const char *file, unsigned line)
{
	struct import_item item = {.file = file, .line = line};
	_cleanup_(buf_done) struct buf json = {0};

	if (!describe(im, a, object, &item))
		return;
	tree_write(object, &json);
	if (json.failed) {
		report(im, file, line, item.what, "out of memory");
		return;
	}
	item.json = buf_str(&json);
	im->options->sink->put(im->options->sink, &item);
}

/* Items of a list that do not say what they are take it from the list. */
static void put_list(struct import *im, struct arena *a, const struct tree *list, const char *file, unsigned line)
{
	const struct tree *items = tree_getz(list, "items");
	struct str kind = tree_gets(list, "kind"), version = tree_gets(list, "apiVersion");

	kind.len -= STR("List").len;
	for (uint32_t i = 0; i < items->len; i++) {
		struct tree *item = items->items[i];
		if (!tree_is(item, TREE_OBJECT)) {
			report(im, file, line, STR(""), "an item of the list is not an object");
			continue;
		}
		if (kind.len && !tree_getz(item, "kind"))
			tree_sets(a, item, "kind", kind);
		if (kind.len && !tree_getz(item, "apiVersion"))
			tree_sets(a, item, "apiVersion", version);
		put_object(im, a, item, file, line);
	}
}

static void put_document(struct import *im, struct str json, const char *file, unsigned line)
{
	_cleanup_(arena_done) struct arena a;
	struct status st;
	struct tree *t;

	arena_init(&a, 0);
	status_clear(&st);
	if (tree_parse(&a, json, &t, NULL, &st) < 0) {
		report(im, file, line, STR(""), st.message);
		return;
	}
	if (t->type == TREE_NULL)
		return;
	if (t->type != TREE_OBJECT)
		report(im, file, line, STR(""), "not a Kubernetes object");
	else if (str_ends(tree_gets(t, "kind"), STR("List")) && tree_is(tree_getz(t, "items"), TREE_ARRAY))
		put_list(im, &a, t, file, line);
	else
		put_object(im, &a, t, file, line);
}

static bool looks_like_json(struct str text)
{
	struct status st;

	while (text.len && (*text.ptr == ' ' || *text.ptr == '\n' || *text.ptr == '\t' || *text.ptr == '\r'))
		text = str_skip(text, 1);
	return text.len && (*text.ptr == '{' || *text.ptr == '[') && scan_check(text, &st) == 0;
}

static void put_text(struct import *im, struct str text, const char *file)
{
	_cleanup_(buf_done) struct buf json = {0};
	struct yaml_stream *stream;
	struct status st;
	unsigned line = 0;
	int rc;

	im->counts.files++;
	if (looks_like_json(text)) {
		put_document(im, text, file, 1);
		return;
	}
	status_clear(&st);
	stream = yaml_open(text);
	if (!stream) {
		report(im, file, 0, STR(""), "out of memory");
		return;
	}
	while ((rc = yaml_next(stream, &json, &line, &st)) == 1)
		put_document(im, buf_str(&json), file, line);
	if (rc < 0)
		report(im, file, 0, STR(""), st.message);
	yaml_close(stream);
}

/* Reads a descriptor to its end, at most IMPORT_FILE_MAX bytes. */
static int slurp(int fd, struct buf *out)
{
	for (;;) {
		if (!buf_reserve(out, 64 << 10))
			return -ENOMEM;
		ssize_t n = read(fd, out->ptr + out->len, out->cap - out->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		out->len += (size_t)n;
		if (out->len > IMPORT_FILE_MAX)
			return -EFBIG;
	}
}

static void put_fd(struct import *im, int fd, const char *file)
{
	_cleanup_(buf_done) struct buf text = {0};
	int err = slurp(fd, &text);

	if (err)
		report(im, file, 0, STR(""), strerror(-err));
	else
		put_text(im, buf_str(&text), file);
}

static void put_file(struct import *im, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		report(im, path, 0, STR(""), strerror(errno));
	else
		put_fd(im, fd, path);
}

static bool wanted_name(const char *name)
{
	struct str s = str_of(name);

	return *name != '.' && (str_ends(s, STR(".yaml")) || str_ends(s, STR(".yml")) || str_ends(s, STR(".json")));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void put_directory(struct import *im, char *path)
{
	char *roots[] = {path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;

	if (!walk) {
		report(im, path, 0, STR(""), strerror(errno));
		return;
	}
	while ((e = fts_read(walk)) != NULL) {
		if (e->fts_info == FTS_D && e->fts_level > 0 && e->fts_name[0] == '.')
			fts_set(walk, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && wanted_name(e->fts_name))
			put_file(im, e->fts_path);
		else if (e->fts_info == FTS_ERR || e->fts_info == FTS_DNR)
			report(im, e->fts_path, 0, STR(""), strerror(e->fts_errno));
	}
	fts_close(walk);
}

static void put_path(struct import *im, char *path)
{
	struct stat info;

	if (strcmp(path, "-") == 0)
		put_fd(im, STDIN_FILENO, "-");
	else if (stat(path, &info) < 0)
		report(im, path, 0, STR(""), strerror(errno));
	else if (S_ISDIR(info.st_mode))
		put_directory(im, path);
	else
		put_file(im, path);
}

/* The second try of what waited for a namespace. The items are described anew: their strings died
 * with their documents. */
static void put_deferred(struct import *im)
{
	struct deferred *next;

	im->last = true;
	for (struct deferred *d = im->deferred; d; d = d->next)
		put_document(im, str_of(d->json), d->file, d->item.line);
	im->options->sink->finish(im->options->sink);
	for (struct deferred *d = im->deferred; d; d = next) {
		next = d->next;
		free(d->json);
		free(d->file);
		free(d);
	}
}

int import_paths(const struct import_options *options, char **paths, int npaths, struct import_counts *ret)
{
	struct import im = {.options = options};

	im.tail = &im.deferred;
	options->sink->done = sink_done;
	options->sink->arg = &im;
	for (int i = 0; i < npaths; i++)
		put_path(&im, paths[i]);
	options->sink->finish(options->sink);
	put_deferred(&im);
	*ret = im.counts;
	return im.error;
}
