/* SPDX-License-Identifier: Apache-2.0 */
/* Sending what was saved down the write path, and keeping what was refused. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fs/mount.h"

static void path_of(const struct place *p, char *out, size_t room)
{
	snprintf(out, room, "%s%s%s%.*s/%s.%s", *p->ns ? "namespaces/" : "cluster", p->ns, "/",
		 p->kind ? (int)p->kind->dir.len : 0, p->kind ? p->kind->dir.ptr : "", p->name,
		 p->form == FORM_JSON ? "json" : "yaml");
}

static void who_is(pid_t pid, char *out, size_t room)
{
	char path[64], comm[64] = "?";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (f) {
		if (fgets(comm, sizeof(comm), f))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(f);
	}
	snprintf(out, room, "%s[%d]", comm, (int)pid);
}

void refuse(struct fs *fs, const struct place *p, pid_t pid, const struct status *st)
{
	struct refusal *r = calloc(1, sizeof(*r));

	if (!r)
		return;
	r->time = time(NULL);
	path_of(p, r->path, sizeof(r->path));
	who_is(pid, r->who, sizeof(r->who));
	snprintf(r->why, sizeof(r->why), "%s", st->message);
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

/* `NAME.yaml.rej`: the reason as comments, then the text as it was. */
static void keep_refused(struct fs *fs, const struct place *p, struct str text, const struct status *st)
{
	char name[600];
	uint64_t parent = ino_of_dir(NODE_RESOURCE, p->kind, str_of(p->ns));
	struct buf all = {0};
	struct str rest = str_of(st->message);

	snprintf(name, sizeof(name), "%s.%s.rej", p->name, p->form == FORM_JSON ? "json" : "yaml");
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		buf_addf(&all, "# error: %.*s\n", STR_ARG(line));
	}
	/* A second refusal of a fixed .rej file does not pile up reasons. */
	while (str_starts(text, STR("# error: ")))
		str_cut(&text, '\n');
	buf_add_str(&all, text);
	pthread_mutex_lock(&fs->lock);
	struct node *n = scratch_find(fs, parent, str_of(name));
	if (n)
		scratch_drop(fs, n);
	n = all.failed ? NULL : node_add(fs, NODE_SCRATCH, 0, p->kind, str_of(p->ns), str_of(name));
	if (n) {
		n->parent = parent;
		n->mode = scratch_mode(fs, p->kind, 0644);
		clock_gettime(CLOCK_REALTIME, &n->mtime);
		n->text = all;
		all = (struct buf){0};
		n->next_scratch = fs->scratches;
		fs->scratches = n;
		fs->scratch_files++;
		fs->scratch_bytes += n->text.len;
	}
	pthread_mutex_unlock(&fs->lock);
	buf_done(&all);
	notify_entry(fs, parent, name);
}

/* rename(2) has meanings of its own for EINVAL (mv prints "subdirectory of itself") and ENOENT. */
static int errno_of(const struct status *st, bool renaming)
{
	int err = reason_errno(st->reason);

	if (st->reason == REASON_NOT_FOUND)
		err = EINVAL;
	return renaming && err == EINVAL ? EBADMSG : err;
}

static int write_object(struct fs *fs, const struct place *p, struct str json, uint64_t base, struct status *st)
{
	struct write_request req = {
		.kind = p->kind,
		.verb = WRITE_UPDATE,
		.origin = ORIGIN_MOUNT,
		.ns = str_of(p->ns),
		.name = str_of(p->name),
		.body = json,
		.validation = VALIDATION_STRICT,
		.manager = STR("holdfs-mount"),
		.expect_revision = base,
		.grace = -1,
	};
	struct write *w;
	int err = write_run(fs->store, &req, &w, st);

	write_free(w);
	return err;
}

int save_text(struct fs *fs, const struct place *p, struct str text, uint64_t base_revision, pid_t pid, bool renaming)
{
	struct buf json = {0};
	struct status st;
	struct str body;
	int err;

	status_clear(&st);
	err = body_to_json(STR("application/yaml"), text, &json, &body, &st);
	if (!err)
		err = write_object(fs, p, body, base_revision, &st);
	buf_done(&json);
	if (!err)
		return 0;
	refuse(fs, p, pid, &st);
	keep_refused(fs, p, text, &st);
	return errno_of(&st, renaming);
}

int save_delete(struct fs *fs, const struct kind *k, struct str ns, struct str name, pid_t pid)
{
	struct write_request req = {
		.kind = k,
		.verb = WRITE_DELETE,
		.origin = ORIGIN_MOUNT,
		.ns = ns,
		.name = name,
		.propagation = PROPAGATION_BACKGROUND,
		.grace = -1,
	};
	struct status st;
	struct place p;
	struct write *w;

	status_clear(&st);
	int err = write_run(fs->store, &req, &w, &st);
	write_free(w);
	if (!err || st.reason == REASON_NOT_FOUND)
		return err ? ENOENT : 0;
	place_set(&p, NODE_OBJECT, k, ns, name);
	refuse(fs, &p, pid, &st);
	return reason_errno(st.reason);
}
