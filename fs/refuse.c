/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused: the list behind .errors, and the texts in NAME.yaml.rej. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fs/mount.h"

int errno_of(const struct status *st, bool renaming)
{
	int err = reason_errno(st->reason);

	/* ENOSYS would make the kernel stop asking for good; ENOENT from a close means nothing to anybody. */
	if (err == ENOSYS || err == 0)
		err = EIO;
	if (st->reason == REASON_NOT_FOUND)
		err = EINVAL;
	/* rename(2) has a meaning of its own for EINVAL: mv prints "to a subdirectory of itself". */
	return renaming && err == EINVAL ? EBADMSG : err;
}

static void path_of(const struct place *p, char *out, size_t room)
{
	char file[FILE_NAME_MAX + 1];
	struct str dir = p->kind ? p->kind->dir : STR("?");

	place_file(p, file);
	if (*p->ns)
		snprintf(out, room, "namespaces/%s/%.*s/%s", p->ns, STR_ARG(dir), file);
	else
		snprintf(out, room, "cluster/%.*s/%s", STR_ARG(dir), file);
}

/* One line stays one line. */
static void plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

void refuse(struct fs *fs, const struct place *p, pid_t pid, const struct status *st)
{
	struct refusal *r = calloc(1, sizeof(*r));
	char comm[64];

	if (!r)
		return;
	r->time = time(NULL);
	path_of(p, r->path, sizeof(r->path));
	comm_of(pid, comm, sizeof(comm));
	snprintf(r->who, sizeof(r->who), "%s[%d]", comm, (int)pid);
	snprintf(r->why, sizeof(r->why), "%s", st->message);
	plain(r->path);
	plain(r->who);
	plain(r->why);
	/* The message may quote the object: it is for .errors, not for the log. */
	log_warn("msg=\"save refused\" path=\"%s\" by=\"%s\" reason=%s", r->path, r->who, reason_string(st->reason));
	pthread_mutex_lock(&fs->lock);
	struct refusal **slot = &fs->refusals[fs->nrefusals++ % REFUSALS_MAX];
	struct refusal *old = *slot;
	*slot = r;
	pthread_mutex_unlock(&fs->lock);
	free(old);
}

void errors_text(struct fs *fs, struct buf *out)
{
	pthread_mutex_lock(&fs->lock);
	unsigned first = fs->nrefusals > REFUSALS_MAX ? fs->nrefusals - REFUSALS_MAX : 0;
	for (unsigned i = first; i < fs->nrefusals; i++) {
		const struct refusal *r = fs->refusals[i % REFUSALS_MAX];
		char when[32];
		struct tm tm;
		gmtime_r(&r->time, &tm);
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
		buf_addf(out, "%s %s %s: %s\n", when, r->path, r->who, r->why);
	}
	pthread_mutex_unlock(&fs->lock);
}

/* A second refusal of a corrected .rej file does not pile up reasons. */
static void rej_text(struct str text, const struct status *st, struct buf *out)
{
	struct str rest = str_of(st->message);

	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		buf_addf(out, "# error: %.*s\n", STR_ARG(line));
	}
	while (str_starts(text, STR("# error: ")))
		str_cut(&text, '\n');
	buf_add_str(out, text);
}

static void dir_of(const struct place *p, struct place *ret)
{
	place_set(ret, NODE_RESOURCE, p->kind, str_of(p->ns), STR(""));
	ret->ino = ino_of_dir(NODE_RESOURCE, p->kind, str_of(p->ns));
}

void refuse_keep(struct fs *fs, const struct place *p, struct str text, const struct status *st)
{
	_cleanup_(buf_done) struct buf all = {0};
	char name[FILE_NAME_MAX + 1], file[FILE_NAME_MAX + 1];
	struct place dir;
	int err = 0;

	place_file(p, name);
	snprintf(file, sizeof(file), "%.*s.rej", (int)(FILE_NAME_MAX - sizeof(".rej") + 1), name);
	dir_of(p, &dir);
	rej_text(text, st, &all);
	pthread_mutex_lock(&fs->lock);
	struct node *n = scratch_find(fs, dir.ino, str_of(file));
	if (!n)
		n = scratch_add(fs, &dir, str_of(file), 0644, &err);
	if (n)
		err = scratch_fill(fs, n, &all);
	if (n && err && !n->content.len)
		scratch_drop(fs, n);
	pthread_mutex_unlock(&fs->lock);
	if (err)
		log_warn("msg=\"no room for the text of a refused save\" file=\"%s\"", file);
	notify_entry(fs, dir.ino, file);
}
