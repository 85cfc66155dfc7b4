/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping the kernel's caches true: one thread follows the feed and invalidates what has changed.
 *
 * Only what the kernel has looked up is spoken of: a file by its node, a name by its directory's
 * node. Notifications are sent from this thread alone, never from a worker and with no lock held:
 * the kernel may ask a worker while it carries one out.
 *
 * An answer that was made from an older snapshot must not arrive after the invalidation. That it was sent
 * is what `telling` ensures. That the kernel has taken it in follows from its own locks: lookups and readdirs
 * hold the directory's, and dropping a name (even one that does not exist) takes it exclusively;
 * attributes of inodes it already has are versioned, and late ones dropped. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

#include "fs/mount.h"

struct dropped {
	struct dropped *next;
	uint64_t parent;
	char name[];
};

struct notify {
	struct subscriber subscriber; /* first */
	struct fs *fs;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	int event;              /* eventfd */
	uint64_t seen;          /* revision that has been dealt with */
	struct dropped *drops;  /* fs->lock */
};

static void ring(struct notify *n)
{
	uint64_t one = 1;

	if (write(n->event, &one, sizeof(one)) < 0)
		return; /* the counter is full: it has been rung */
}

static void wake(struct subscriber *self, uint64_t revision)
{
	(void)revision;
	ring((struct notify *)self);
}

void notify_entry(struct fs *fs, uint64_t parent, const char *name)
{
	struct dropped *d = malloc(sizeof(*d) + strlen(name) + 1);

	if (!d)
		return;
	d->parent = parent;
	memcpy(d->name, name, strlen(name) + 1);
	pthread_mutex_lock(&fs->lock);
	if (fs->notify) {
		d->next = fs->notify->drops;
		fs->notify->drops = d;
		d = NULL;
		ring(fs->notify);
	}
	pthread_mutex_unlock(&fs->lock);
	free(d);
}

static void drop_name(struct fs *fs, uint64_t parent, const char *name)
{
	fuse_lowlevel_notify_inval_entry(fs->session, parent, name, strlen(name));
}

/* Does the kernel know this directory? Its time of change is now. */
static bool touch_dir(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n)
		clock_gettime(CLOCK_REALTIME, &n->mtime);
	pthread_mutex_unlock(&fs->lock);
	return n != NULL;
}

static void dir_changed(struct fs *fs, enum node_type type, const struct kind *k, struct str ns)
{
	uint64_t ino = ino_of_dir(type, k, ns);

	if (touch_dir(fs, ino))
		fuse_lowlevel_notify_inval_inode(fs->session, ino, 0, 0);
}

/* A lookup of this file may be on its way into the kernel, which would not know the inode yet. */
static void wait_for_lookups(struct fs *fs, const struct event *e)
{
	drop_name(fs, ino_of_dir(NODE_RESOURCE, e->kind, e->object.ns), "/");
}

static bool knows_file(struct fs *fs, uint64_t ino, uint64_t revision)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n) {
		n->paged = 0;
		if (n->newest < revision)
			n->newest = revision;
	}
	pthread_mutex_unlock(&fs->lock);
	return n != NULL;
}

/* From now on the kernel asks, unless it was told something newer meanwhile. */
static void forget_told(struct fs *fs, uint64_t ino, uint64_t revision)
{
	pthread_mutex_lock(&fs->lock);
	struct node *n = node_find(fs, ino);
	if (n && n->told < revision)
		n->told = 0;
	pthread_mutex_unlock(&fs->lock);
}

static void file_changed(struct fs *fs, const struct event *e, enum form form)
{
	uint64_t ino = ino_of_uid(e->object.uid, form);

	if (!knows_file(fs, ino, e->revision))
		return;
	wait_for_lookups(fs, e);
	fuse_lowlevel_notify_inval_inode(fs->session, ino, 0, 0);
	forget_told(fs, ino, e->revision);
}

static void name_changed(struct fs *fs, const struct event *e)
{
	uint64_t dir = ino_of_dir(NODE_RESOURCE, e->kind, e->object.ns);
	char name[FILE_NAME_MAX + 1];

	pthread_mutex_lock(&fs->lock);
	bool known = node_find(fs, dir) != NULL;
	pthread_mutex_unlock(&fs->lock);
	if (known) {
		size_t len = name_file(e->object.name, name);
		drop_name(fs, dir, name);
		memcpy(name + len - 5, ".json", 5);
		drop_name(fs, dir, name);
	}
	dir_changed(fs, NODE_RESOURCE, e->kind, e->object.ns);
	if (kind_is(e->kind, KIND_NAMESPACED))
		dir_changed(fs, NODE_NAMESPACE, NULL, e->object.ns);
	else
		dir_changed(fs, NODE_CLUSTER, NULL, STR(""));
}

static void namespace_changed(struct fs *fs, const struct event *e)
{
	char name[256];

	snprintf(name, sizeof(name), "%.*s", STR_ARG(e->object.name));
	drop_name(fs, ino_of_dir(NODE_NAMESPACES, NULL, STR("")), name);
	dir_changed(fs, NODE_NAMESPACES, NULL, STR(""));
}

static void tell(struct fs *fs, const struct event *e)
{
	file_changed(fs, e, FORM_YAML);
	file_changed(fs, e, FORM_JSON);
	if (e->type == EVENT_MODIFIED)
		return;
	name_changed(fs, e);
	if (e->kind == namespaces_kind(fs))
		namespace_changed(fs, e);
}

static void run_drops(struct fs *fs)
{
	struct dropped *next;

	pthread_mutex_lock(&fs->lock);
	struct dropped *d = fs->notify->drops;
	fs->notify->drops = NULL;
	pthread_mutex_unlock(&fs->lock);
	for (; d; d = next) {
		next = d->next;
		drop_name(fs, d->parent, d->name);
		if (touch_dir(fs, d->parent))
			fuse_lowlevel_notify_inval_inode(fs->session, d->parent, 0, 0);
		free(d);
	}
}

/* An event's copy that outlives its snapshot: notifications can wait for the kernel, snapshots must not. */
struct copy {
	struct event event;
	char uid[64], ns[256], name[512];
};

enum { BATCH = 64 };

static bool copy_event(struct copy *c, const struct event *e)
{
	const struct object *o = &e->object;

	if (o->uid.len > sizeof(c->uid) || o->ns.len > sizeof(c->ns) || o->name.len > sizeof(c->name))
		return false;
	c->event = (struct event){.type = e->type, .revision = e->revision, .kind = e->kind};
	memcpy(c->uid, o->uid.ptr, o->uid.len);
	memcpy(c->ns, o->ns.ptr, o->ns.len);
	memcpy(c->name, o->name.ptr, o->name.len);
	c->event.object.uid = str_n(c->uid, o->uid.len);
	c->event.object.ns = str_n(c->ns, o->ns.len);
	c->event.object.name = str_n(c->name, o->name.len);
	return true;
}

static size_t read_batch(struct notify *n, struct copy *batch)
{
	struct status st;
	struct event e;
	struct read *r;
	size_t count = 0;

	if (read_begin(n->fs->store, &r, &st) < 0)
		return 0;
	if (n->seen < read_compacted(r))
		n->seen = read_compacted(r); /* cannot happen while we keep up: compaction is minutes away */
	while (count < BATCH && feed_next(r, n->seen, &e, &st) == 1) {
		n->seen = e.revision;
		if (e.kind && copy_event(&batch[count], &e))
			count++;
	}
	read_end(r);
	return count;
}

static void follow(struct notify *n, struct copy *batch)
{
	size_t count;

	while (!atomic_load(&n->stop) && (count = read_batch(n, batch)) > 0) {
		/* Replies made from older snapshots are out before we contradict them. */
		pthread_rwlock_wrlock(&n->fs->telling);
		pthread_rwlock_unlock(&n->fs->telling);
		for (size_t i = 0; i < count; i++)
			tell(n->fs, &batch[i].event);
	}
}

static void *notify_main(void *arg)
{
	struct notify *n = arg;
	struct copy *batch = calloc(BATCH, sizeof(*batch));
	struct pollfd poller = {.fd = n->event, .events = POLLIN};
	uint64_t count;

	while (batch && !atomic_load(&n->stop)) {
		if (poll(&poller, 1, -1) > 0 && read(n->event, &count, sizeof(count)) < 0 && errno != EAGAIN)
			break;
		run_drops(n->fs);
		follow(n, batch);
	}
	free(batch);
	return NULL;
}

int notify_start(struct fs *fs, struct status *st)
{
	struct notify *n = calloc(1, sizeof(*n));

	if (!n)
		return status_no_memory(st);
	n->fs = fs;
	n->subscriber.wake = wake;
	n->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fs->notify = n;
	n->seen = store_revision(fs->store);
	if (n->event < 0 || pthread_create(&n->thread, NULL, notify_main, n))
		return status_set(st, REASON_UNAVAILABLE, "cannot start the mount's notifier");
	pthread_setname_np(n->thread, "fs-notify");
	n->running = true;
	store_subscribe(fs->store, &n->subscriber);
	return 0;
}

void notify_stop(struct fs *fs)
{
	struct notify *n = fs->notify;

	if (!n)
		return;
	if (n->running) {
		store_unsubscribe(fs->store, &n->subscriber);
		atomic_store(&n->stop, true);
		ring(n);
		pthread_join(n->thread, NULL);
	}
	/* Workers are still at it: nothing may be added any more. */
	pthread_mutex_lock(&fs->lock);
	fs->notify = NULL;
	pthread_mutex_unlock(&fs->lock);
	while (n->drops) {
		struct dropped *d = n->drops;
		n->drops = d->next;
		free(d);
	}
	if (n->event >= 0)
		close(n->event);
	free(n);
}
