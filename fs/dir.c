/* SPDX-License-Identifier: Apache-2.0 */
/* Reading directories: a listing is made from one snapshot at opendir and handed out in pieces. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fs/mount.h"

struct entry {
	uint64_t ino, uid_hash;
	size_t name_at;         /* in names, NUL-terminated: the file's name */
	size_t object_at;       /* OBJECT: the object's */
	const struct kind *kind;
	uint32_t size;
	int64_t modified;
	uint8_t type;           /* enum node_type */
};

struct listing {
	struct place dir;
	struct entry *entries;
	size_t n, cap;
	struct buf names;
	uint64_t revision;      /* of the snapshot */
	bool failed;
};

static struct entry *add(struct listing *l, enum node_type type, const char *name, size_t len)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct entry *grown = realloc(l->entries, cap * sizeof(*grown));
		if (!grown) {
			l->failed = true;
			return NULL;
		}
		l->entries = grown;
		l->cap = cap;
	}
	struct entry *e = &l->entries[l->n++];
	*e = (struct entry){.type = (uint8_t)type, .name_at = l->names.len};
	buf_add(&l->names, name, len);
	buf_addc(&l->names, '\0');
	return e;
}

static void add_dir(struct listing *l, enum node_type type, const struct kind *k, struct str ns, struct str name)
{
	struct entry *e = add(l, type, name.ptr, name.len);

	if (!e)
		return;
	e->kind = k;
	e->ino = ino_of_dir(type, k, ns);
}

static void list_objects(struct read *r, struct listing *l, const struct kind *k, struct str ns, bool as_dirs)
{
	struct list_query q = {.kind = k, .ns = ns};
	struct status st;
	struct object o;
	struct list *list;
	struct arena a;

	arena_init(&a, 0);
	if (list_begin(r, &a, &q, &list, &st) < 0) {
		l->failed = true;
		arena_done(&a);
		return;
	}
	while (list_next(list, &o, &st) == 1) {
		char file[FILE_NAME_MAX + 1];
		if (as_dirs) {
			add_dir(l, NODE_NAMESPACE, NULL, o.name, o.name);
			continue;
		}
		struct entry *e = add(l, NODE_OBJECT, file, name_file(o.name, file));
		if (!e)
			break;
		e->kind = k;
		e->uid_hash = name_hash(FORM_YAML, o.uid);
		e->ino = ino_of_uid(o.uid, FORM_YAML);
		e->size = o.yaml_len;
		e->modified = o.modified;
		e->object_at = l->names.len;
		buf_add_str(&l->names, o.name);
		buf_addc(&l->names, '\0');
	}
	list_end(list);
	arena_done(&a);
}

/* Resources of this scope that have objects. */
static void list_resources(struct fs *fs, struct read *r, struct listing *l)
{
	size_t n;
	const struct kind *const *all = kinds_all(store_kinds(fs->store), &n);
	bool namespaced = l->dir.type == NODE_NAMESPACE;
	struct str ns = namespaced ? str_of(l->dir.ns) : (struct str){0};

	for (size_t i = 0; i < n; i++)
		if (all[i]->storage == all[i] && kind_is(all[i], KIND_STORED) &&
		    kind_is(all[i], KIND_NAMESPACED) == namespaced && read_count(r, all[i], ns))
			add_dir(l, NODE_RESOURCE, all[i], str_of(l->dir.ns), all[i]->dir);
}

static void list_memory(struct fs *fs, struct listing *l)
{
	pthread_mutex_lock(&fs->lock);
	for (struct node *n = fs->scratches; n; n = n->next_scratch) {
		char file[FILE_NAME_MAX + 8];
		if (n->parent != l->dir.ino)
			continue;
		int len = snprintf(file, sizeof(file), "%s%s", n->name,
				   n->type == NODE_SCRATCH ? "" : n->form == FORM_JSON ? ".json" : ".yaml");
		struct entry *e = add(l, n->type, file, (size_t)len);
		if (e)
			e->ino = n->ino;
	}
	pthread_mutex_unlock(&fs->lock);
}

static int fill_listing(struct fs *fs, struct listing *l)
{
	struct status st;
	struct read *r;

	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	l->revision = read_revision(r);
	switch (l->dir.type) {
	case NODE_ROOT:
		add_dir(l, NODE_NAMESPACES, NULL, STR(""), STR("namespaces"));
		add_dir(l, NODE_CLUSTER, NULL, STR(""), STR("cluster"));
		break;
	case NODE_NAMESPACES: list_objects(r, l, namespaces_kind(fs), STR(""), true); break;
	case NODE_CLUSTER:
	case NODE_NAMESPACE: list_resources(fs, r, l); break;
	case NODE_RESOURCE: list_objects(r, l, l->dir.kind, str_of(l->dir.ns), false); break;
	default: break;
	}
	read_end(r);
	if (l->dir.type == NODE_RESOURCE)
		list_memory(fs, l);
	return l->failed || l->names.failed ? ENOMEM : 0;
}

static void listing_free(struct listing *l)
{
	free(l->entries);
	buf_done(&l->names);
	free(l);
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct listing *l = calloc(1, sizeof(*l));

	if (!l) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	node_place(fs, ino, &l->dir);
	if (l->dir.type == NODE_RESOURCE)
		pending_run(fs, true);
	int err = fill_listing(fs, l);
	if (err) {
		listing_free(l);
		fuse_reply_err(req, err);
		return;
	}
	fi->fh = (uintptr_t)l;
	/* Scratch files come and go unseen by the kernel's cache of this directory. */
	fi->cache_readdir = fi->keep_cache = l->dir.type != NODE_RESOURCE || !fs->scratch_files;
	if (fuse_reply_open(req, fi) < 0)
		listing_free(l);
}

static void entry_place(const struct listing *l, const struct entry *e, struct place *ret)
{
	bool object = e->type == NODE_OBJECT;
	const char *name = l->names.ptr + e->name_at;

	place_set(ret, e->type, e->kind, str_of(e->type == NODE_NAMESPACE ? name : l->dir.ns),
		  object && e->object_at ? str_of(l->names.ptr + e->object_at) : STR(""));
	ret->ino = e->ino;
	ret->uid_hash = e->uid_hash;
	ret->form = object ? FORM_YAML : FORM_NONE;
	ret->counted = e->type == NODE_SCRATCH || (object && !e->object_at);
}

/* Attributes for readdirplus; time-outs only when nothing has changed since the snapshot. False: leave them out. */
static bool entry_param(struct fs *fs, const struct listing *l, const struct entry *e, struct fuse_entry_param *ret)
{
	struct place p;
	bool cached = true;

	*ret = (struct fuse_entry_param){0};
	entry_place(l, e, &p);
	if (p.counted)
		return false;
	if (e->type == NODE_OBJECT) {
		struct object o = {.yaml_len = e->size, .modified = e->modified};
		view_object_attr(fs, e->kind, &o, e->ino, &ret->attr);
	} else if (view_attr(fs, &p, &ret->attr, &cached)) {
		return false;
	}
	cached = cached && store_revision(fs->store) == l->revision;
	ret->ino = node_tell(fs, &p, l->dir.ino);
	ret->attr.st_ino = ret->ino;
	ret->attr_timeout = ret->entry_timeout = cached ? FOREVER : 0;
	return ret->ino != 0;
}

/* One entry at offset off into buf; its size, or 0 when it does not fit. */
static size_t put_entry(fuse_req_t req, struct listing *l, size_t i, char *buf, size_t room, bool plus)
{
	const struct entry *e = &l->entries[i];
	const char *name = l->names.ptr + e->name_at;
	struct fuse_entry_param param = {0};
	static const mode_t modes[] = {
		[NODE_OBJECT] = S_IFREG, [NODE_SCRATCH] = S_IFREG, [NODE_ERRORS] = S_IFREG, [NODE_ALIAS] = S_IFLNK,
	};

	param.attr.st_mode = modes[e->type] ? modes[e->type] : S_IFDIR;
	param.attr.st_ino = e->ino;
	if (!plus)
		return fuse_add_direntry(req, buf, room, name, &param.attr, (off_t)i + 1);
	if (fuse_add_direntry_plus(req, NULL, 0, name, &param, 0) > room)
		return room + 1;
	struct fuse_entry_param full;
	if (entry_param(fs_of(req), l, e, &full))
		param = full;
	return fuse_add_direntry_plus(req, buf, room, name, &param, (off_t)i + 1);
}

static void read_dir(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	struct listing *l = (struct listing *)(uintptr_t)fi->fh;
	struct fs *fs = fs_of(req);
	char *buf = malloc(size);
	size_t used = 0;

	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	pthread_rwlock_rdlock(&fs->telling);
	for (size_t i = (size_t)off; i < l->n; i++) {
		size_t n = put_entry(req, l, i, buf + used, size - used, plus);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
	pthread_rwlock_unlock(&fs->telling);
	free(buf);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	(void)ino;
	read_dir(req, size, off, fi, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	(void)ino;
	read_dir(req, size, off, fi, true);
}

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	listing_free((struct listing *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}
