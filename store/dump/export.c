/* SPDX-License-Identifier: Apache-2.0 */
/* Writing all objects of a snapshot: as a tree like the mount's, or as one v1 List. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/base/arena.h"
#include "store/base/cleanup.h"
#include "store/dump/dump.h"
#include "store/store.h"

struct export {
	struct store *store;
	struct read *read;
	uint64_t count;
	int (*each)(struct export *e, const struct kind *k, const struct object *o, struct status *st);
	int fd;          /* tree: the root directory; list: the output */
	struct buf text; /* scratch */
};

static int failed(struct status *st, const char *what)
{
	int err = errno;

	status_set(st, REASON_INTERNAL, "%s: %s", what, strerror(err));
	return -err;
}

/* Walks all storage rows in discovery order. */
static int walk(struct export *e, struct status *st)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(e->store), &n);

	for (size_t i = 0; i < n; i++) {
		_cleanup_(arena_done) struct arena a;
		struct list_query q = {.kind = all[i]};
		struct list *list;
		struct object o;
		arena_init(&a, 0);
		if (!kind_is(all[i], KIND_STORED) || all[i]->storage != all[i])
			continue;
		int rc = list_begin(e->read, &a, &q, &list, st);
		while (!rc && (rc = list_next(list, &o, st)) == 1) {
			e->count++;
			rc = e->each(e, all[i], &o, st);
		}
		if (rc < 0)
			return rc;
		list_end(list);
	}
	return 0;
}

/* Opens (and makes) the directory of path below root, one component at a time. */
static int make_dirs(int root, const char *path, struct status *st)
{
	char part[512];
	struct str rest = str_of(path);
	int fd = dup(root);

	while (fd >= 0 && rest.len) {
		struct str name = str_cut(&rest, '/');
		snprintf(part, sizeof(part), "%.*s", STR_ARG(name));
		if (mkdirat(fd, part, 0755) < 0 && errno != EEXIST) {
			close(fd);
			return failed(st, part);
		}
		int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	return fd >= 0 ? fd : failed(st, path);
}

static int write_all(int fd, struct str text)
{
	while (text.len) {
		ssize_t n = write(fd, text.ptr, text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text = str_skip(text, (size_t)n);
	}
	return 0;
}

static int export_file(struct export *e, const struct kind *k, const struct object *o, struct status *st)
{
	char dir[512], name[600];

	if (o->ns.len)
		snprintf(dir, sizeof(dir), "namespaces/%.*s/%.*s", STR_ARG(o->ns), STR_ARG(k->dir));
	else
		snprintf(dir, sizeof(dir), "cluster/%.*s", STR_ARG(k->dir));
	snprintf(name, sizeof(name), "%.*s.yaml", STR_ARG(o->name));
	_cleanup_close_ int at = make_dirs(e->fd, dir, st);
	if (at < 0)
		return at;
	_cleanup_close_ int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
					kind_is(k, KIND_SECRET) ? 0600 : 0644);
	if (fd < 0)
		return failed(st, name);
	buf_clear(&e->text);
	if (!object_yaml(k, o, &e->text))
		return status_no_memory(st);
	return write_all(fd, buf_str(&e->text)) < 0 ? failed(st, name) : 0;
}

/* One item of the List: the object's YAML, indented behind a dash. */
static int export_item(struct export *e, const struct kind *k, const struct object *o, struct status *st)
{
	_cleanup_(buf_done) struct buf yaml = {0};
	struct str rest;
	bool first = true;

	if (!object_yaml(k, o, &yaml))
		return status_no_memory(st);
	buf_clear(&e->text);
	for (rest = buf_str(&yaml); rest.len; first = false) {
		struct str line = str_cut(&rest, '\n');
		buf_adds(&e->text, first ? "- " : line.len ? "  " : "");
		buf_add_str(&e->text, line);
		buf_addc(&e->text, '\n');
	}
	if (e->text.failed)
		return status_no_memory(st);
	return write_all(e->fd, buf_str(&e->text)) < 0 ? failed(st, "output") : 0;
}

int export_tree(struct store *s, struct read *r, const char *path, uint64_t *ret_count, struct status *st)
{
	struct export e = {.store = s, .read = r, .each = export_file};

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return failed(st, path);
	e.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e.fd < 0)
		return failed(st, path);
	int err = walk(&e, st);
	close(e.fd);
	buf_done(&e.text);
	*ret_count = e.count;
	return err;
}

int export_list(struct store *s, struct read *r, int fd, uint64_t *ret_count, struct status *st)
{
	struct export e = {.store = s, .read = r, .each = export_item, .fd = fd};

	if (write_all(fd, STR("apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n")) < 0)
		return failed(st, "output");
	int err = walk(&e, st);
	if (!err && !e.count && write_all(fd, STR("[]\n")) < 0)
		err = failed(st, "output");
	buf_done(&e.text);
	*ret_count = e.count;
	return err;
}
