/* SPDX-License-Identifier: Apache-2.0 */
/* Reading directories, a window at a time: however many objects there are, a listing holds no more than WINDOW of
 * them. Each window is from a snapshot of its own and goes on behind the last name of the one before. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fs/mount.h"

enum { WINDOW = 1024 };

struct entry {
	uint64_t ino, uid_hash;
	size_t name_at;         /* in names, NUL-terminated: the file's name */
	size_t object_at;       /* OBJECT that is stored: the object's name; 0 otherwise */
	const struct kind *kind;
	uint64_t revision;
	int64_t modified;
	uint32_t size;
	bool dots;              /* `.` or `..` */
	uint8_t type;           /* enum node_type */
};

struct listing {
	struct handle handle;   /* first */
	struct place dir;
	pid_t tgid;             /* whose removals it leaves out; 0: nobody's */
	uint64_t first;         /* offset of entries[0] */
	struct entry *entries;
	size_t n, cap;
	struct buf names;
	char after[512];        /* the last object's name so far */
	bool last;              /* there is no window behind this one */
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

static uint64_t parent_ino(const struct place *dir)
{
	switch (dir->type) {
	case NODE_NAMESPACE: return ino_of_dir(NODE_NAMESPACES, NULL, STR(""));
	case NODE_RESOURCE:
		return *dir->ns ? ino_of_dir(NODE_NAMESPACE, NULL, str_of(dir->ns))
				: ino_of_dir(NODE_CLUSTER, NULL, STR(""));
	default: return FUSE_ROOT_ID;
	}
}

static void add_dots(struct listing *l)
{
	struct entry *e = add(l, l->dir.type, ".", 1);

	if (e) {
		e->dots = true;
		e->ino = l->dir.ino;
	}
	e = add(l, NODE_ROOT, "..", 2);
	if (e) {
		e->dots = true;
		e->ino = parent_ino(&l->dir);
	}
}

static void add_object(struct listing *l, const struct kind *k, const struct object *o)
{
	char file[FILE_NAME_MAX + 1];
	struct entry *e = add(l, NODE_OBJECT, file, name_file(o->name, file));

	if (!e)
		return;
	e->kind = k;
	e->uid_hash = name_hash(FORM_YAML, o->uid);
	e->ino = ino_of_uid(o->uid, FORM_YAML);
	e->revision = o->revision;
	e->size = o->yaml_len;
	e->modified = o->modified;
	e->object_at = l->names.len;
	buf_add_str(&l->names, o->name);
	buf_addc(&l->names, '\0');
}

/* Objects behind l->after, as files or (namespaces) as directories. */
static void list_objects(struct fs *fs, struct read *r, struct listing *l, const struct kind *k, struct str ns)
{
	struct list_query q = {.kind = k, .ns = ns};
	struct status st;
	struct object o;
	struct list *list;
	struct arena a;
	int more = 0;

	if (*l->after) {
		q.after_ns = ns;
		q.after_name = str_of(l->after);
	}
	arena_init(&a, 0);
	if (list_begin(r, &a, &q, &list, &st) < 0) {
		l->failed = true;
		arena_done(&a);
		return;
	}
	while (l->n < WINDOW && (more = list_next(list, &o, &st)) == 1) {
		snprintf(l->after, sizeof(l->after), "%.*s", STR_ARG(o.name));
		if (l->dir.type == NODE_NAMESPACES)
			add_dir(l, NODE_NAMESPACE, NULL, o.name, o.name);
		else if (!l->tgid || !pending_hides_from(fs, k, ns, o.name, l->tgid))
			add_object(l, k, &o);
	}
	l->last = more != 1;
	l->failed = l->failed || more < 0;
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
	char file[FILE_NAME_MAX + 1];

	pthread_mutex_lock(&fs->lock);
	for (struct node *n = fs->scratches; n; n = n->next_scratch) {
		if (n->parent != l->dir.ino)
			continue;
		struct str name = file_name(n, file);
		struct entry *e = add(l, n->type, name.ptr, name.len);
		if (e)
			e->ino = n->ino;
	}
	pthread_mutex_unlock(&fs->lock);
}

static void list_children(struct fs *fs, struct read *r, struct listing *l)
{
	l->last = true;
	switch (l->dir.type) {
	case NODE_ROOT:
		add_dir(l, NODE_NAMESPACES, NULL, STR(""), STR("namespaces"));
		add_dir(l, NODE_CLUSTER, NULL, STR(""), STR("cluster"));
		break;
	case NODE_NAMESPACES: list_objects(fs, r, l, namespaces_kind(fs), STR("")); break;
	case NODE_CLUSTER:
	case NODE_NAMESPACE: list_resources(fs, r, l); break;
	case NODE_RESOURCE:
		list_objects(fs, r, l, l->dir.kind, str_of(l->dir.ns));
		if (l->last)
			list_memory(fs, l);
		break;
	default: break;
	}
}

/* The next window, or the first. */
static int load(struct fs *fs, struct listing *l, bool start)
{
	struct status st;
	struct read *r;

	l->first = start ? 0 : l->first + l->n;
	l->n = 0;
	l->failed = false;
	buf_clear(&l->names);
	if (start) {
		*l->after = '\0';
		add_dots(l);
	}
	if (read_begin(fs->store, &r, &st) < 0)
		return EIO;
	l->revision = read_revision(r);
	list_children(fs, r, l);
	read_end(r);
	return l->failed || l->names.failed ? ENOMEM : 0;
}

/* Makes the window hold off, if there is such an entry. */
static int seek(struct fs *fs, struct listing *l, uint64_t off)
{
	int err = off == 0 || off < l->first ? load(fs, l, true) : 0;

	while (!err && off >= l->first + l->n && !l->last)
		err = load(fs, l, false);
	return err;
}

static void listing_free(struct handle *h)
{
	struct listing *l = (struct listing *)h;

	free(l->entries);
	buf_done(&l->names);
	free(l);
}

static void listing_close(struct fs *fs, struct listing *l)
{
	handle_remove(fs, &l->handle);
	listing_free(&l->handle);
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct listing *l = calloc(1, sizeof(*l));
	bool pending = atomic_load(&fs->npending) > 0;

	if (!l) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	node_place(fs, ino, &l->dir);
	if (pending)
		l->tgid = tgid_of(caller_of(req));
	handle_add(fs, &l->handle, listing_free);
	fi->fh = (uintptr_t)l;
	/* A listing that leaves out removals is this process's alone. */
	fi->cache_readdir = fi->keep_cache = !pending;
	if (fuse_reply_open(req, fi) < 0)
		listing_close(fs, l);
}

static void entry_place(const struct listing *l, const struct entry *e, struct place *ret)
{
	bool object = e->type == NODE_OBJECT;
	const char *name = l->names.ptr + e->name_at;

	place_set(ret, e->type, e->kind, str_of(e->type == NODE_NAMESPACE ? name : l->dir.ns),
		  object && e->object_at ? str_of(l->names.ptr + e->object_at) : STR(""));
	ret->ino = e->ino;
	ret->uid_hash = e->uid_hash;
	ret->revision = e->revision;
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
		cached = !view_draft_attr(fs, &p, &ret->attr);
	} else if (view_attr(fs, &p, &ret->attr, &cached)) {
		return false;
	}
	cached = cached && store_revision(fs->store) == l->revision;
	ret->ino = node_tell(fs, &p, l->dir.ino, cached);
	ret->attr.st_ino = ret->ino;
	ret->attr_timeout = ret->entry_timeout = cached ? FOREVER : 0;
	return ret->ino != 0;
}

/* Entry i into buf; its size, more than room when it does not fit. */
static size_t put_entry(fuse_req_t req, struct listing *l, size_t i, char *buf, size_t room, bool plus)
{
	static const mode_t modes[] = {
		[NODE_OBJECT] = S_IFREG, [NODE_SCRATCH] = S_IFREG, [NODE_ERRORS] = S_IFREG, [NODE_ALIAS] = S_IFLNK,
	};
	const struct entry *e = &l->entries[i];
	const char *name = l->names.ptr + e->name_at;
	off_t next = (off_t)(l->first + i + 1);
	struct fuse_entry_param param = {0}, full;

	param.attr.st_mode = e->type < sizeof(modes) / sizeof(*modes) && modes[e->type] ? modes[e->type] : S_IFDIR;
	param.attr.st_ino = e->ino;
	if (!plus)
		return fuse_add_direntry(req, buf, room, name, &param.attr, next);
	if (fuse_add_direntry_plus(req, NULL, 0, name, &param, 0) > room)
		return room + 1;
	if (!e->dots && entry_param(fs_of(req), l, e, &full))
		param = full;
	return fuse_add_direntry_plus(req, buf, room, name, &param, next);
}

static size_t put_entries(fuse_req_t req, struct listing *l, uint64_t off, char *buf, size_t size, bool plus)
{
	size_t used = 0;

	for (size_t i = (size_t)(off - l->first); i < l->n; i++) {
		size_t n = put_entry(req, l, i, buf + used, size - used, plus);
		if (n > size - used)
			break;
		used += n;
	}
	return used;
}

static void read_dir(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	struct listing *l = (struct listing *)(uintptr_t)fi->fh;
	struct fs *fs = fs_of(req);
	char *buf = malloc(size);
	int err = 0;

	if (!buf || off < 0) {
		free(buf);
		fuse_reply_err(req, buf ? EINVAL : ENOMEM);
		return;
	}
	pthread_rwlock_rdlock(&fs->telling);
	err = seek(fs, l, (uint64_t)off);
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_buf(req, buf, put_entries(req, l, (uint64_t)off, buf, size, plus));
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
	listing_close(fs_of(req), (struct listing *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}
