/* SPDX-License-Identifier: Apache-2.0 */
/* What the tree looks like: children of directories and attributes, from the store and from drafts. */
#include <errno.h>
#include <sys/stat.h>

#include "fs/mount.h"

const struct kind *namespaces_kind(struct fs *fs)
{
	return kinds_find(store_kinds(fs->store), STR(""), STR("v1"), STR("namespaces"));
}

/* Write bits go when nobody may write. */
static mode_t writable(const struct fs *fs, mode_t mode)
{
	return fs->read_only ? mode & ~(mode_t)0222 : mode;
}

mode_t scratch_mode(const struct fs *fs, const struct kind *k, mode_t mode)
{
	return S_IFREG | writable(fs, kind_is(k, KIND_SECRET) ? (mode & 0600) | 0600 : (mode & 0777) | 0600);
}

static void fill(const struct fs *fs, struct stat *ret, uint64_t ino, mode_t mode, size_t size, struct timespec mtime)
{
	*ret = (struct stat){
		.st_ino = ino,
		.st_mode = mode,
		.st_nlink = 1, /* for directories: "not counted", which find and others understand */
		.st_uid = fs->uid,
		.st_gid = fs->gid,
		.st_size = (off_t)size,
		.st_blocks = (blkcnt_t)((size + 511) / 512),
		.st_blksize = 4096,
		.st_atim = mtime,
		.st_mtim = mtime,
		.st_ctim = mtime,
	};
}

static struct timespec time_of_ns(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static mode_t object_mode(const struct fs *fs, const struct kind *k)
{
	return S_IFREG | writable(fs, kind_is(k, KIND_SECRET) ? 0600 : 0644);
}

void view_object_attr(struct fs *fs, const struct kind *k, const struct object *o, uint64_t ino, struct stat *ret)
{
	fill(fs, ret, ino, object_mode(fs, k), o->yaml_len, time_of_ns(o->modified));
}

bool view_text(const struct kind *k, const struct object *o, enum form form, struct buf *out)
{
	if (form == FORM_YAML)
		return object_yaml(k, o, out);
	if (!object_json(k, o, out))
		return false;
	buf_addc(out, '\n');
	return !out->failed;
}

/* JSON is rendered for its size: it is opened by name only, one at a time. */
static int object_attr(struct fs *fs, struct place *p, const struct object *o, struct stat *ret)
{
	struct buf text = {0};

	view_object_attr(fs, p->kind, o, p->ino, ret);
	p->revision = o->revision;
	if (p->form != FORM_JSON)
		return 0;
	bool good = view_text(p->kind, o, FORM_JSON, &text);
	ret->st_size = (off_t)text.len;
	ret->st_blocks = (blkcnt_t)((text.len + 511) / 512);
	buf_done(&text);
	return good ? 0 : ENOMEM;
}

/* A draft that somebody is writing: its size, and nothing the kernel may keep. */
bool view_draft_attr(struct fs *fs, const struct place *p, struct stat *ret)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, p->ino);
	bool found = n && draft_shows(n);
	if (found)
		fill(fs, ret, p->ino, object_mode(fs, p->kind), n->draft->text.len, n->draft->mtime);
	pthread_mutex_unlock(&fs->lock);
	return found;
}

/* A file without a name has no links, but answers while it is open. */
static bool scratch_attr(struct fs *fs, const struct place *p, struct stat *ret)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, p->ino);
	if (n) {
		fill(fs, ret, n->ino, n->mode, n->content.len, n->mtime);
		ret->st_nlink = n->listed;
	}
	pthread_mutex_unlock(&fs->lock);
	return n != NULL;
}

int view_object(struct read *r, const struct place *p, struct object *ret)
{
	struct status st;
	int err = -read_get(r, p->kind, str_of(p->ns), str_of(p->name), ret, &st);

	if (!err && p->uid_hash && name_hash(p->form, ret->uid) != p->uid_hash)
		err = ESTALE;
	return err;
}

static int stored_attr(struct fs *fs, struct place *p, struct stat *ret)
{
	struct status st;
	struct object o;
	struct read *r;
	int err;

	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = view_object(r, p, &o);
	if (!err)
		err = object_attr(fs, p, &o, ret);
	read_end(r);
	return err == ENOENT ? ESTALE : err;
}

bool view_open_attr(struct fs *fs, const struct place *p, struct stat *ret)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, p->ino);
	bool found = n && n->type == NODE_OBJECT && n->text;
	if (found) {
		fill(fs, ret, p->ino, object_mode(fs, p->kind), n->text->len, n->mtime);
		ret->st_nlink = 0;
	}
	pthread_mutex_unlock(&fs->lock);
	return found;
}

static void dir_attr(struct fs *fs, const struct place *p, struct stat *ret)
{
	struct timespec mtime = fs->started;
	bool secret = p->type == NODE_RESOURCE && kind_is(p->kind, KIND_SECRET);

	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, p->ino);
	if (n)
		mtime = n->mtime;
	pthread_mutex_unlock(&fs->lock);
	fill(fs, ret, p->ino, S_IFDIR | writable(fs, secret ? 0700 : 0755), 0, mtime);
}

int view_attr(struct fs *fs, struct place *p, struct stat *ret, bool *ret_cached)
{
	struct buf text = {0};

	*ret_cached = true;
	switch (p->type) {
	case NODE_ALIAS:
		fill(fs, ret, p->ino, S_IFLNK | 0777, p->kind->dir.len, fs->started);
		return 0;
	case NODE_ERRORS:
		*ret_cached = false;
		errors_text(fs, &text);
		fill(fs, ret, p->ino, S_IFREG | 0400, text.len, fs->started);
		buf_done(&text);
		return 0;
	case NODE_SCRATCH:
		*ret_cached = false;
		return scratch_attr(fs, p, ret) ? 0 : ESTALE;
	case NODE_OBJECT:
		if (view_draft_attr(fs, p, ret)) {
			*ret_cached = false;
			return 0;
		}
		*ret_cached = !p->counted;
		return stored_attr(fs, p, ret);
	default:
		dir_attr(fs, p, ret);
		return 0;
	}
}

static int found_dir(struct place *ret, enum node_type type, const struct kind *k, struct str ns)
{
	place_set(ret, type, k, ns, STR(""));
	ret->ino = ino_of_dir(type, k, ns);
	return 0;
}

static int lookup_root(struct str name, struct place *ret)
{
	static const struct {
		const char *name;
		enum node_type type;
	} children[] = {{"namespaces", NODE_NAMESPACES}, {"cluster", NODE_CLUSTER}, {".errors", NODE_ERRORS}};

	for (size_t i = 0; i < sizeof(children) / sizeof(*children); i++)
		if (str_is(name, children[i].name))
			return found_dir(ret, children[i].type, NULL, STR(""));
	return ENOENT;
}

bool view_has_namespace(struct fs *fs, const char *name)
{
	struct status st;
	struct object o;
	struct read *r;

	if (read_begin(fs->store, &r, &st) < 0)
		return false;
	int err = read_get(r, namespaces_kind(fs), STR(""), str_of(name), &o, &st);
	read_end(r);
	return !err;
}

static int lookup_namespace(struct fs *fs, struct str name, struct place *ret)
{
	return view_has_namespace(fs, name.ptr) ? found_dir(ret, NODE_NAMESPACE, NULL, name) : ENOENT;
}

/* A resource directory of this scope by its name; other names of a resource are symlinks to it. */
static int lookup_resource(struct fs *fs, const struct place *dir, struct str name, struct place *ret)
{
	const struct kind *k = kinds_by_dir(store_kinds(fs->store), name);

	if (!k)
		k = kinds_by_resource(store_kinds(fs->store), name);
	if (k)
		k = k->storage;
	if (!k || !kind_is(k, KIND_STORED) || kind_is(k, KIND_NAMESPACED) != (dir->type == NODE_NAMESPACE))
		return ENOENT;
	if (str_eq(k->dir, name))
		return found_dir(ret, NODE_RESOURCE, k, str_of(dir->ns));
	place_set(ret, NODE_ALIAS, k, str_of(dir->ns), name);
	ret->ino = ino_of_dir(NODE_ALIAS, k, str_of(dir->ns)) ^ name_hash(3, name);
	return 0;
}

/* The object that a short form stands for. Those that share its head stand together. */
static int find_short(struct read *r, const struct place *dir, struct str stem, struct str head, struct object *ret)
{
	struct list_query q = {
		.kind = dir->kind,
		.ns = str_of(dir->ns),
		.after_ns = str_of(dir->ns),
		.after_name = head,
	};
	struct status st;
	struct list *list;
	struct arena a;
	int err = ENOENT;

	arena_init(&a, 0);
	if (list_begin(r, &a, &q, &list, &st) == 0) {
		while (err && list_next(list, ret, &st) == 1 && str_starts(ret->name, head))
			err = name_short_fits(stem, ret->name) ? 0 : ENOENT;
		list_end(list);
	}
	arena_done(&a);
	return err;
}

static int lookup_object(struct fs *fs, const struct place *dir, enum form form, struct str stem, struct place *ret,
			 struct stat *ret_attr)
{
	struct str head;
	struct status st;
	struct object o;
	struct read *r;
	int err;

	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = name_is_short(stem, &head) ? find_short(r, dir, stem, head, &o)
					 : -read_get(r, dir->kind, str_of(dir->ns), stem, &o, &st);
	if (!err) {
		place_set(ret, NODE_OBJECT, dir->kind, str_of(dir->ns), o.name);
		snprintf(ret->uid, sizeof(ret->uid), "%.*s", STR_ARG(o.uid));
		ret->form = form;
		ret->uid_hash = name_hash(form, o.uid);
		ret->ino = ino_of_uid(o.uid, form);
		err = object_attr(fs, ret, &o, ret_attr);
	}
	read_end(r);
	return err;
}

/* Scratch files and new objects: what exists only here. */
static bool lookup_memory(struct fs *fs, const struct place *dir, struct str file, struct place *ret)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = scratch_find(fs, dir->ino, file);
	if (n) {
		place_set(ret, n->type, n->kind, str_of(n->ns), str_of(n->name));
		ret->form = n->form;
		ret->ino = n->ino;
		ret->counted = true;
	}
	pthread_mutex_unlock(&fs->lock);
	return n != NULL;
}

static int lookup_file(struct fs *fs, const struct place *dir, struct str file, struct place *ret, struct stat *attr,
		       bool *cached)
{
	struct str stem = {0};
	enum form form = name_parse(file, &stem);
	int err = form == FORM_NONE ? ENOENT : lookup_object(fs, dir, form, stem, ret, attr);

	if (err == ENOENT && lookup_memory(fs, dir, file, ret))
		return view_attr(fs, ret, attr, cached);
	if (!err && view_draft_attr(fs, ret, attr))
		*cached = false;
	return err;
}

int view_lookup(struct fs *fs, const struct place *dir, struct str name, struct place *ret, struct stat *ret_attr,
		bool *ret_cached)
{
	int err;

	*ret_cached = true;
	switch (dir->type) {
	case NODE_ROOT: err = lookup_root(name, ret); break;
	case NODE_NAMESPACES: err = lookup_namespace(fs, name, ret); break;
	case NODE_CLUSTER:
	case NODE_NAMESPACE: err = lookup_resource(fs, dir, name, ret); break;
	case NODE_RESOURCE: return lookup_file(fs, dir, name, ret, ret_attr, ret_cached);
	default: err = ENOTDIR; break;
	}
	return err ? err : view_attr(fs, ret, ret_attr, ret_cached);
}

static int memory_file(struct fs *fs, const struct place *p, struct buf *out)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, p->ino);
	if (n)
		buf_add_str(out, buf_str(n->draft ? &n->draft->text : &n->content));
	pthread_mutex_unlock(&fs->lock);
	return out->failed ? ENOMEM : n ? 0 : ESTALE;
}

int view_file(struct fs *fs, const struct place *p, struct buf *out, uint64_t *ret_revision)
{
	struct status st;
	struct object o;
	struct read *r;
	int err;

	*ret_revision = 0;
	if (p->counted)
		return memory_file(fs, p, out);
	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	err = view_object(r, p, &o);
	if (!err && !view_text(p->kind, &o, p->form, out))
		err = ENOMEM;
	if (!err)
		*ret_revision = o.revision;
	read_end(r);
	return err;
}

static bool is_automatic(const struct kind *k, struct str name)
{
	return (str_is(k->dir, "serviceaccounts") && str_is(name, "default")) ||
	       (str_is(k->dir, "configmaps") && str_is(name, "kube-root-ca.crt"));
}

static bool kind_is_bare(struct read *r, const struct kind *k, const char *ns)
{
	struct list_query q = {.kind = k, .ns = str_of(ns)};
	uint64_t n = read_count(r, k, str_of(ns));
	struct status st;
	struct object o;
	struct list *list;
	struct arena a;

	if (n > 1)
		return false;
	if (!n)
		return true;
	arena_init(&a, 0);
	bool bare = list_begin(r, &a, &q, &list, &st) == 0;
	if (bare) {
		bare = list_next(list, &o, &st) == 1 && is_automatic(k, o.name);
		list_end(list);
	}
	arena_done(&a);
	return bare;
}

bool view_is_bare(struct fs *fs, const struct kind *only, const char *ns)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(fs->store), &n);
	struct status st;
	struct read *r;
	bool bare = true;

	if (read_begin(fs->store, &r, &st) < 0)
		return false;
	for (size_t i = 0; bare && !only && i < n; i++)
		if (all[i]->storage == all[i] && kind_is(all[i], KIND_STORED) && kind_is(all[i], KIND_NAMESPACED))
			bare = kind_is_bare(r, all[i], ns);
	if (only)
		bare = kind_is_bare(r, only, ns);
	read_end(r);
	return bare;
}
