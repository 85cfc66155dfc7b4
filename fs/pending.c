/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes that wait a moment.
 *
 * `mv` across file systems, `install` and `git checkout` replace a file by unlink and create. Taken literally the object would
 * be deleted, with its uid, its dependents and its place in every watch, and made anew. So the unlink of such a tool (a table in
 * change.c) waits PENDING_MS for a create of the same name by the same process, which makes both an update. Until then the
 * object is gone for this process and there for everybody else; another process's lookup of it, a directory listing, and the unmount
 * carry the delete out. Should we be killed meanwhile, the object is still there: the tool had not finished. */
#include <time.h>

#include "fs/mount.h"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is(const struct pending *d, const struct kind *k, struct str ns, struct str name)
{
	return d->used && d->kind == k && str_eq(str_of(d->ns), ns) && str_eq(str_of(d->name), name);
}

static struct pending *find(struct fs *fs, const struct kind *k, struct str ns, struct str name)
{
	for (size_t i = 0; i < PENDING_MAX; i++)
		if (is(&fs->pending[i], k, ns, name))
			return &fs->pending[i];
	return NULL;
}

bool pending_add(struct fs *fs, const struct place *p, pid_t tgid)
{
	bool added = false;

	pthread_mutex_lock(&fs->lock);
	for (size_t i = 0; i < PENDING_MAX && !added; i++) {
		struct pending *d = &fs->pending[i];
		if (d->used)
			continue;
		*d = (struct pending){.used = true, .kind = p->kind, .tgid = tgid, .due = now_ms() + PENDING_MS};
		memcpy(d->ns, p->ns, sizeof(d->ns));
		memcpy(d->name, p->name, sizeof(d->name));
		added = true;
	}
	pthread_mutex_unlock(&fs->lock);
	if (added)
		notify_kick(fs);
	return added;
}

bool pending_cancel(struct fs *fs, const struct place *p, pid_t tgid)
{
	pthread_mutex_lock(&fs->lock);
	struct pending *d = find(fs, p->kind, str_of(p->ns), str_of(p->name));
	bool ours = d && d->tgid == tgid;
	if (ours)
		d->used = false;
	pthread_mutex_unlock(&fs->lock);
	return ours;
}

bool pending_is(struct fs *fs, const struct kind *k, struct str ns, struct str name, pid_t tgid)
{
	pthread_mutex_lock(&fs->lock);
	const struct pending *d = find(fs, k, ns, name);
	bool ours = d && d->tgid == tgid;
	pthread_mutex_unlock(&fs->lock);
	return ours;
}

/* Takes one that is due off the table. */
static bool take_due(struct fs *fs, int64_t now, bool all, struct pending *ret, int64_t *ret_next)
{
	bool found = false;

	*ret_next = -1;
	pthread_mutex_lock(&fs->lock);
	for (size_t i = 0; i < PENDING_MAX && !found; i++) {
		struct pending *d = &fs->pending[i];
		if (!d->used)
			continue;
		if (all || d->due <= now) {
			*ret = *d;
			d->used = false;
			found = true;
		} else if (*ret_next < 0 || d->due - now < *ret_next) {
			*ret_next = d->due - now;
		}
	}
	pthread_mutex_unlock(&fs->lock);
	return found;
}

int pending_run(struct fs *fs, bool all)
{
	struct pending d;
	int64_t next;

	while (take_due(fs, now_ms(), all, &d, &next))
		save_delete(fs, d.kind, str_of(d.ns), str_of(d.name), d.tgid);
	return (int)next;
}
