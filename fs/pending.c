/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes that wait a moment.
 *
 * `mv` across file systems, `install` and `git checkout` replace a file by unlink and create. Taken
 * literally the object would be deleted, with its uid, its dependents and its place in every watch,
 * and made anew. So the unlink of such a tool (a table in change.c) waits PENDING_MS for a create of
 * the same name by the same process, which makes both an update. Until then the object is gone for
 * this process and there for everybody else; another process's lookup, rmdir and the unmount carry
 * the delete out. Should we be killed meanwhile, the object is still there: the tool had not finished.
 *
 * A file that was renamed to a backup name waits here too, as a shadow: the object stays for
 * everybody, but the process that moved it away may create it anew. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fs/mount.h"

struct pending {
	struct pending *next;
	bool shadow;            /* nothing will be deleted */
	bool running;           /* being carried out: wait for fs->settled */
	pid_t tgid;
	int64_t due;            /* monotonic ms */
	char file[FILE_NAME_MAX + 1];
	struct place place;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* By the stem of the file's name, which a short form does not change. */
static struct pending **slot(struct fs *fs, const struct kind *k, const char *ns, struct str stem)
{
	uint64_t h = name_hash(name_hash(name_hash(0, k->dir), str_of(ns)), stem);
	struct pending **at = &fs->pending[h % PENDING_BUCKETS];

	while (*at && !((*at)->place.kind == k && strcmp((*at)->place.ns, ns) == 0 && str_eq(str_of((*at)->file), stem)))
		at = &(*at)->next;
	return at;
}

static void stem_of(struct str name, char out[FILE_NAME_MAX + 1])
{
	size_t len = name_file(name, out);

	out[len - (sizeof(".yaml") - 1)] = '\0';
}

static struct pending **slot_of(struct fs *fs, const struct place *p)
{
	char stem[FILE_NAME_MAX + 1];

	stem_of(str_of(p->name), stem);
	return slot(fs, p->kind, p->ns, str_of(stem));
}

static void remove_pending(struct fs *fs, struct pending *d)
{
	struct pending **at = slot_of(fs, &d->place);

	*at = d->next;
	free(d);
	atomic_fetch_sub(&fs->npending, 1);
}

/* Deletes the object; d is gone afterwards. Lock held, let go meanwhile. */
static void carry_out(struct fs *fs, struct pending *d)
{
	d->running = true;
	if (!d->shadow) {
		pthread_mutex_unlock(&fs->lock);
		save_delete(fs, &d->place, d->tgid);
		pthread_mutex_lock(&fs->lock);
	}
	remove_pending(fs, d);
	pthread_cond_broadcast(&fs->settled);
}

static bool add(struct fs *fs, const struct place *p, pid_t tgid, bool shadow, int64_t ms)
{
	struct pending *d = calloc(1, sizeof(*d)), **at;
	bool added = false;

	if (!d)
		return false;
	d->shadow = shadow;
	d->tgid = tgid;
	d->due = now_ms() + ms;
	d->place = *p;
	stem_of(str_of(p->name), d->file);
	pthread_mutex_lock(&fs->lock);
	at = slot_of(fs, p);
	if (!*at && fs->reaping && atomic_load(&fs->npending) < PENDING_MAX) {
		*at = d;
		added = true;
		atomic_fetch_add(&fs->npending, 1);
		pthread_cond_signal(&fs->pending_due);
	}
	pthread_mutex_unlock(&fs->lock);
	if (!added)
		free(d);
	return added;
}

bool pending_add(struct fs *fs, const struct place *p, pid_t tgid)
{
	return add(fs, p, tgid, false, PENDING_MS);
}

void pending_shadow(struct fs *fs, const struct place *p, pid_t tgid)
{
	add(fs, p, tgid, true, SHADOW_MS);
}

bool pending_cancel(struct fs *fs, const struct place *p, pid_t tgid)
{
	struct pending *d;
	bool ours = false;

	if (!atomic_load(&fs->npending))
		return false;
	pthread_mutex_lock(&fs->lock);
	while ((d = *slot_of(fs, p)) != NULL && d->running)
		pthread_cond_wait(&fs->settled, &fs->lock);
	if (d && d->tgid == tgid) {
		remove_pending(fs, d);
		ours = true;
	}
	pthread_mutex_unlock(&fs->lock);
	return ours;
}

/* Somebody else's delete is carried out. Lock held. */
static bool hides(struct fs *fs, const struct place *dir, struct str stem, pid_t tgid)
{
	struct pending *d;

	while ((d = *slot(fs, dir->kind, dir->ns, stem)) != NULL && d->tgid != tgid) {
		if (d->shadow)
			return false;
		if (d->running)
			pthread_cond_wait(&fs->settled, &fs->lock);
		else
			carry_out(fs, d);
	}
	return d != NULL;
}

bool pending_hides(struct fs *fs, const struct place *dir, struct str stem, pid_t pid)
{
	pthread_mutex_lock(&fs->lock);
	bool hidden = *slot(fs, dir->kind, dir->ns, stem) != NULL;
	pthread_mutex_unlock(&fs->lock);
	if (!hidden)
		return false;
	pid_t tgid = tgid_of(pid);
	pthread_mutex_lock(&fs->lock);
	hidden = hides(fs, dir, stem, tgid);
	pthread_mutex_unlock(&fs->lock);
	return hidden;
}

bool pending_hides_from(struct fs *fs, const struct kind *k, struct str ns, struct str name, pid_t tgid)
{
	struct place p;

	place_set(&p, NODE_OBJECT, k, ns, name);
	pthread_mutex_lock(&fs->lock);
	const struct pending *d = *slot_of(fs, &p);
	bool hidden = d && d->tgid == tgid;
	pthread_mutex_unlock(&fs->lock);
	return hidden;
}

/* One that is not being carried out and is due (due < 0: any) in a namespace (NULL: any); *ret_next is the time that
 * the first of the others is due. Lock held. */
static struct pending *find_due(struct fs *fs, int64_t due, const struct kind *only, const char *ns, int64_t *ret_next)
{
	*ret_next = INT64_MAX;
	for (size_t i = 0; i < PENDING_BUCKETS; i++) {
		for (struct pending *d = fs->pending[i]; d; d = d->next) {
			if (d->running || (ns && strcmp(d->place.ns, ns) != 0) || (only && d->place.kind != only))
				continue;
			if (due < 0 || d->due <= due)
				return d;
			if (d->due < *ret_next)
				*ret_next = d->due;
		}
	}
	return NULL;
}

static bool is_running(struct fs *fs, const char *ns)
{
	for (size_t i = 0; i < PENDING_BUCKETS; i++)
		for (struct pending *d = fs->pending[i]; d; d = d->next)
			if (d->running && (!ns || strcmp(d->place.ns, ns) == 0))
				return true;
	return false;
}

/* Lock held, let go meanwhile. */
static void flush(struct fs *fs, const struct kind *only, const char *ns)
{
	struct pending *d;
	int64_t next;

	while ((d = find_due(fs, -1, only, ns, &next)) != NULL)
		carry_out(fs, d);
	while (is_running(fs, ns))
		pthread_cond_wait(&fs->settled, &fs->lock);
}

void pending_flush(struct fs *fs, const struct kind *only, const char *ns)
{
	if (!atomic_load(&fs->npending))
		return;
	pthread_mutex_lock(&fs->lock);
	flush(fs, only, ns);
	pthread_mutex_unlock(&fs->lock);
}

static void wait_until(struct fs *fs, int64_t ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	if (ms == INT64_MAX)
		pthread_cond_wait(&fs->pending_due, &fs->lock);
	else
		pthread_cond_timedwait(&fs->pending_due, &fs->lock, &t);
}

static void *reaper_main(void *arg)
{
	struct fs *fs = arg;
	struct pending *d;
	int64_t next;

	pthread_mutex_lock(&fs->lock);
	while (fs->reaping) {
		d = find_due(fs, now_ms(), NULL, NULL, &next);
		if (d)
			carry_out(fs, d);
		else
			wait_until(fs, next);
	}
	flush(fs, NULL, NULL);
	pthread_mutex_unlock(&fs->lock);
	return NULL;
}

int pending_start(struct fs *fs, struct status *st)
{
	fs->reaping = true;
	if (pthread_create(&fs->reaper, NULL, reaper_main, fs)) {
		fs->reaping = false;
		return status_set(st, REASON_UNAVAILABLE, "cannot start a thread");
	}
	pthread_setname_np(fs->reaper, "fs-reaper");
	return 0;
}

void pending_stop(struct fs *fs)
{
	pthread_mutex_lock(&fs->lock);
	bool running = fs->reaping;
	fs->reaping = false;
	pthread_cond_signal(&fs->pending_due);
	pthread_mutex_unlock(&fs->lock);
	if (running)
		pthread_join(fs->reaper, NULL);
}
