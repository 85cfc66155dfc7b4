/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what the kernel knows: nodes by inode number, counted by lookups. */
#include <errno.h>
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
	struct node **from = fs->nodes, **to, *next;

	if (fs->nnodes < 2 * old || !(to = calloc(2 * old, sizeof(struct node *))))
		return;
	fs->nodes = to;
	fs->nbuckets = 2 * old;
	for (size_t i = 0; i < old; i++) {
		for (struct node *n = from[i]; n; n = next) {
			next = n->next_ino;
			struct node **b = bucket(fs, n->ino);
			n->next_ino = *b;
			*b = n;
		}
	}
	free(from);
}

static uint64_t next_counted(struct fs *fs)
{
	uint64_t ino;

	do
		ino = fs->next_ino++;
	while (node_find(fs, ino));
	return ino;
}

/* Both names in one block. */
static char *names_new(struct str ns, struct str name)
{
	char *p = malloc(ns.len + name.len + 2);

	if (!p)
		return NULL;
	if (ns.len)
		memcpy(p, ns.ptr, ns.len);
	p[ns.len] = '\0';
	if (name.len)
		memcpy(p + ns.len + 1, name.ptr, name.len);
	p[ns.len + 1 + name.len] = '\0';
	return p;
}

static void set_names(struct node *n, char *names)
{
	free(n->ns);
	n->ns = names;
	n->name = names + strlen(names) + 1;
}

struct node *node_add(struct fs *fs, enum node_type type, uint64_t ino, const struct kind *k, struct str ns,
		      struct str name)
{
	struct node *n = calloc(1, sizeof(*n));
	char *names = names_new(ns, name);

	if (!n || !names) {
		free(names);
		free(n);
		return NULL;
	}
	set_names(n, names);
	n->counted = ino == 0;
	n->ino = ino ? ino : next_counted(fs);
	n->type = type;
	n->kind = k;
	n->mtime = fs->started;
	struct node **b = bucket(fs, n->ino);
	n->next_ino = *b;
	*b = n;
	fs->nnodes++;
	grow(fs);
	return n;
}

int node_rename(struct node *n, const struct place *dir, struct str name)
{
	char *names = names_new(str_of(dir->ns), name);

	if (!names)
		return ENOMEM;
	set_names(n, names);
	n->kind = dir->kind;
	n->parent = dir->ino;
	return 0;
}

void node_show(struct node *n, struct text *t)
{
	if (n->text)
		n->text->node = NULL;
	n->text = t;
	t->node = n;
}

void text_unref(struct text *t)
{
	if (!t || --t->refs)
		return;
	if (t->node)
		t->node->text = NULL;
	free(t);
}

static void node_free(struct fs *fs, struct node *n)
{
	struct node **p = bucket(fs, n->ino);

	while (*p != n)
		p = &(*p)->next_ino;
	*p = n->next_ino;
	fs->nnodes--;
	if (n->text)
		n->text->node = NULL;
	buf_done(&n->content);
	free(n->ns);
	free(n);
}

void node_release(struct fs *fs, struct node *n)
{
	if (n->nlookup == 0 && !n->listed && n->ino != FUSE_ROOT_ID)
		node_free(fs, n);
}

void node_forget(struct fs *fs, uint64_t ino, uint64_t count)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n) {
		n->nlookup -= count < n->nlookup ? count : n->nlookup;
		node_release(fs, n);
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

void handle_add(struct fs *fs, struct handle *h, void (*free_it)(struct handle *h))
{
	pthread_mutex_lock(&fs->lock);
	*h = (struct handle){.next = fs->handles, .at = &fs->handles, .free = free_it};
	if (h->next)
		h->next->at = &h->next;
	fs->handles = h;
	pthread_mutex_unlock(&fs->lock);
}

void handle_remove(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->lock);
	*h->at = h->next;
	if (h->next)
		h->next->at = h->at;
	pthread_mutex_unlock(&fs->lock);
}

void handles_free(struct fs *fs)
{
	while (fs->handles) {
		struct handle *h = fs->handles;
		handle_remove(fs, h);
		h->free(h);
	}
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

static void place_of_node(struct place *ret, const struct node *n)
{
	place_set(ret, n->type, n->kind, str_of(n->ns), str_of(n->name));
	ret->form = n->form;
	ret->ino = n->ino;
	ret->uid_hash = n->uid_hash;
	ret->counted = n->counted;
	ret->gone = n->gone;
}

void node_place(struct fs *fs, uint64_t ino, struct place *ret)
{
	pthread_mutex_lock(&fs->lock);
	const struct node *n = node_find(fs, ino);
	if (n)
		place_of_node(ret, n);
	else
		*ret = (struct place){.type = NODE_SCRATCH, .gone = true, .ino = ino};
	pthread_mutex_unlock(&fs->lock);
}

static struct str object_file(struct str name, enum form form, char out[FILE_NAME_MAX + 1])
{
	size_t len = name_file(name, out);

	if (form == FORM_JSON)
		memcpy(out + len - 5, ".json", 5);
	return str_n(out, len);
}

void place_file(const struct place *p, char out[FILE_NAME_MAX + 1])
{
	if (p->type == NODE_OBJECT)
		object_file(str_of(p->name), p->form, out);
	else
		snprintf(out, FILE_NAME_MAX + 1, "%.*s", FILE_NAME_MAX, p->name);
}

struct str file_name(const struct node *n, char out[FILE_NAME_MAX + 1])
{
	return n->type == NODE_OBJECT ? object_file(str_of(n->name), n->form, out) : str_of(n->name);
}

static bool is_place(const struct node *n, const struct place *p)
{
	return n->type == p->type && n->kind == p->kind && n->form == p->form && n->uid_hash == p->uid_hash &&
	       strcmp(n->ns, p->ns) == 0 && strcmp(n->name, p->name) == 0;
}

/* Two uids with one hash: the next free number, which is as good as stable. */
static struct node *find_place(struct fs *fs, const struct place *p, uint64_t *ino)
{
	struct node *n = node_find(fs, *ino);

	while (n && !p->counted && p->type == NODE_OBJECT && !is_place(n, p))
		n = node_find(fs, ++*ino);
	return n;
}

uint64_t node_tell(struct fs *fs, const struct place *p, uint64_t parent, bool cached)
{
	uint64_t ino = p->ino;

	pthread_mutex_lock(&fs->lock);
	struct node *n = find_place(fs, p, &ino);
	if (!n) {
		n = node_add(fs, p->type, ino, p->kind, str_of(p->ns), str_of(p->name));
		if (n) {
			n->form = p->form;
			n->uid_hash = p->uid_hash;
			n->parent = parent;
		}
	}
	if (n) {
		n->nlookup++;
		if (cached && p->revision > n->told)
			n->told = p->revision;
		if (p->revision > n->newest)
			n->newest = p->revision;
	}
	pthread_mutex_unlock(&fs->lock);
	return n ? ino : 0;
}
