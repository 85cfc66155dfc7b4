/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what the kernel knows: nodes by inode number, counted by lookups; scratch files; drafts. */
#include <stdlib.h>

#include "fs/mount.h"

static struct node **bucket(struct fs *fs, uint64_t ino)
{
	return &fs->nodes[(ino ^ (ino >> 29)) & (fs->nbuckets - 1)];
}

struct node *node_find(struct fs *fs, uint64_t ino)
{
	for (struct node *n = *bucket(fs, ino); n; n = n->next_ino)
		if (n->ino == ino)
			return n;
	return NULL;
}

/* Twice the buckets when chains grow beyond two on average. Staying as it is when memory is short is fine. */
static void grow(struct fs *fs)
{
	size_t old = fs->nbuckets;
	struct node **from = fs->nodes, **to;

	if (fs->nnodes < 2 * old || !(to = calloc(2 * old, sizeof(*to))))
		return;
	fs->nodes = to;
	fs->nbuckets = 2 * old;
	for (size_t i = 0; i < old; i++)
		for (struct node *n = from[i], *next; n; n = next) {
			next = n->next_ino;
			struct node **b = bucket(fs, n->ino);
			n->next_ino = *b;
			*b = n;
		}
	free(from);
}

struct node *node_add(struct fs *fs, enum node_type type, uint64_t ino, const struct kind *k, struct str ns,
		      struct str name)
{
	struct node *n = calloc(1, sizeof(*n) + ns.len + name.len + 2);

	if (!n)
		return NULL;
	if (!ino) {
		do
			ino = fs->next_ino++;
		while (node_find(fs, ino));
		n->counted = true;
	}
	n->ino = ino;
	n->type = type;
	n->kind = k;
	n->ns = (char *)(n + 1);
	n->name = n->ns + ns.len + 1;
	if (ns.len)
		memcpy(n->ns, ns.ptr, ns.len);
	if (name.len)
		memcpy(n->name, name.ptr, name.len);
	n->mtime = fs->started;
	struct node **b = bucket(fs, ino);
	n->next_ino = *b;
	*b = n;
	fs->nnodes++;
	grow(fs);
	return n;
}

static void node_free(struct fs *fs, struct node *n)
{
	struct node **p = bucket(fs, n->ino);

	while (*p != n)
		p = &(*p)->next_ino;
	*p = n->next_ino;
	fs->nnodes--;
	draft_unref(n->draft);
	buf_done(&n->text);
	free(n);
}

/* A node stays while the kernel knows it, and a scratch file while it has a name. */
static void release(struct fs *fs, struct node *n)
{
	bool named = !n->gone && (n->type == NODE_SCRATCH || (n->type == NODE_OBJECT && n->counted));

	if (n->nlookup == 0 && !named)
		node_free(fs, n);
}

void node_forget(struct fs *fs, uint64_t ino, uint64_t count)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = ino == FUSE_ROOT_ID ? NULL : node_find(fs, ino);
	if (n) {
		n->nlookup -= count < n->nlookup ? count : n->nlookup;
		release(fs, n);
	}
	pthread_mutex_unlock(&fs->lock);
}

void nodes_free(struct fs *fs)
{
	for (size_t i = 0; i < fs->nbuckets; i++)
		while (fs->nodes[i])
			node_free(fs, fs->nodes[i]);
	free(fs->nodes);
}

static uint64_t real_ino(uint64_t hash)
{
	return hash < 1024 ? hash + 1024 : hash;
}

uint64_t ino_of_uid(struct str uid, enum form form)
{
	return real_ino(name_hash(form, uid));
}

uint64_t ino_of_dir(enum node_type type, const struct kind *k, struct str ns)
{
	if (type == NODE_ROOT)
		return FUSE_ROOT_ID;
	return real_ino(name_hash(name_hash(16 + type, ns), k ? k->dir : STR("")));
}

void place_set(struct place *p, enum node_type type, const struct kind *k, struct str ns, struct str name)
{
	*p = (struct place){.type = type, .kind = k};
	snprintf(p->ns, sizeof(p->ns), "%.*s", STR_ARG(ns));
	snprintf(p->name, sizeof(p->name), "%.*s", STR_ARG(name));
}

void node_place(struct fs *fs, uint64_t ino, struct place *ret)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, ino);
	if (n) {
		place_set(ret, n->type, n->kind, str_of(n->ns), str_of(n->name));
		ret->form = n->form;
		ret->ino = n->ino;
		ret->uid_hash = n->uid_hash;
		ret->counted = n->counted;
		ret->gone = n->gone;
	} else {
		*ret = (struct place){.type = NODE_SCRATCH, .gone = true, .ino = ino};
	}
	pthread_mutex_unlock(&fs->lock);
}

static bool is_place(const struct node *n, const struct place *p)
{
	return n->type == p->type && n->kind == p->kind && n->form == p->form && n->uid_hash == p->uid_hash &&
	       strcmp(n->ns, p->ns) == 0 && strcmp(n->name, p->name) == 0;
}

uint64_t node_tell(struct fs *fs, const struct place *p, uint64_t parent)
{
	uint64_t ino = p->ino;

	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	/* Two uids with one hash: the next free number, which is as good as stable. */
	while (n && !p->counted && p->type == NODE_OBJECT && !is_place(n, p))
		n = node_find(fs, ++ino);
	if (!n) {
		n = node_add(fs, p->type, ino, p->kind, str_of(p->ns), str_of(p->name));
		if (n) {
			n->form = p->form;
			n->uid_hash = p->uid_hash;
			n->parent = parent;
		}
	}
	if (n)
		n->nlookup++;
	pthread_mutex_unlock(&fs->lock);
	return n ? ino : 0;
}

struct node *scratch_find(struct fs *fs, uint64_t parent, struct str name)
{
	for (struct node *n = fs->scratches; n; n = n->next_scratch)
		if (n->type == NODE_SCRATCH && n->parent == parent && str_eq(str_of(n->name), name))
			return n;
	return NULL;
}

struct node *new_find(struct fs *fs, const struct place *p)
{
	for (struct node *n = fs->scratches; n; n = n->next_scratch)
		if (n->type == NODE_OBJECT && n->kind == p->kind && n->form == p->form &&
		    strcmp(n->ns, p->ns) == 0 && strcmp(n->name, p->name) == 0)
			return n;
	return NULL;
}

void scratch_drop(struct fs *fs, struct node *n)
{
	for (struct node **p = &fs->scratches; *p; p = &(*p)->next_scratch)
		if (*p == n) {
			*p = n->next_scratch;
			if (n->type == NODE_SCRATCH) {
				fs->scratch_files--;
				fs->scratch_bytes -= n->text.len;
				buf_done(&n->text);
			}
			break;
		}
	n->gone = true;
	release(fs, n);
}

struct draft *draft_new(void)
{
	struct draft *d = calloc(1, sizeof(*d));

	if (d)
		d->refs = 1;
	return d;
}

void draft_unref(struct draft *d)
{
	if (!d || --d->refs)
		return;
	buf_done(&d->text);
	free(d);
}
