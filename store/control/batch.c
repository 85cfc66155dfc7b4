/* SPDX-License-Identifier: Apache-2.0 */
/* Many writes in flight at once: a single one waits for the disk, a hundred wait for it together. */
#include <errno.h>

#include "store/control/control.h"

static const struct str manager = STR_INIT("kube-controller-manager");

struct flight;

struct job {
	struct flight *flight;
	struct write *write;
	bool ready; /* may be stepped; guarded by flight.lock */
	bool done;
};

struct flight {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job jobs[BATCH_MAX];
};

void batch_init(struct batch *b, struct store *s)
{
	b->store = s;
	b->len = 0;
	b->failed = false;
	arena_init(&b->arena, 0);
}

void batch_done(struct batch *b)
{
	arena_done(&b->arena);
}

static struct str keep(struct batch *b, struct str s)
{
	struct str copy = arena_str(&b->arena, s);

	b->failed = b->failed || !copy.ptr;
	return copy;
}

void batch_add(struct batch *b, const struct write_request *req)
{
	struct write_request *r = &b->requests[b->len++];

	*r = *req;
	r->origin = ORIGIN_CONTROL;
	r->manager = manager;
	r->ns = keep(b, req->ns);
	r->name = keep(b, req->name);
	r->body = keep(b, req->body);
	r->expect_uid = keep(b, req->expect_uid);
}

void batch_delete(struct batch *b, const struct kind *k, const struct object *o, enum propagation how)
{
	batch_add(b, &(struct write_request){
			     .kind = k,
			     .verb = WRITE_DELETE,
			     .ns = o->ns,
			     .name = o->name,
			     .expect_revision = o->revision,
			     .expect_uid = o->uid,
			     .grace = -1,
			     .propagation = how,
		     });
}

void batch_patch(struct batch *b, const struct kind *k, const struct object *o, const struct tree *body)
{
	_cleanup_(buf_done) struct buf text = {0};

	tree_write(body, &text);
	b->failed = b->failed || text.failed;
	batch_add(b, &(struct write_request){
			     .kind = k,
			     .verb = WRITE_PATCH,
			     .patch = PATCH_TYPE_MERGE,
			     .ns = o->ns,
			     .name = o->name,
			     .body = buf_str(&text),
			     .expect_revision = o->revision,
			     .expect_uid = o->uid,
			     .grace = -1,
		     });
}

static void job_wake(void *arg)
{
	struct job *j = arg;

	pthread_mutex_lock(&j->flight->lock);
	j->ready = true;
	pthread_cond_signal(&j->flight->changed);
	pthread_mutex_unlock(&j->flight->lock);
}

/* Goes on with one write; its error unless that says that the object is gone. */
static int job_step(struct job *j, struct status *st)
{
	int r = write_step(j->write, st);

	if (r == 1)
		return 0;
	j->done = true;
	return r == -ENOENT ? 0 : r;
}

/* The next job that can go on, waiting for one; NULL when all are done. */
static struct job *flight_next(struct flight *f, unsigned len)
{
	struct job *found = NULL;
	bool open = true;

	pthread_mutex_lock(&f->lock);
	while (open && !found) {
		open = false;
		for (unsigned i = 0; i < len && !found; i++) {
			open = open || !f->jobs[i].done;
			if (f->jobs[i].ready && !f->jobs[i].done)
				found = &f->jobs[i];
		}
		if (open && !found)
			pthread_cond_wait(&f->changed, &f->lock);
	}
	if (found)
		found->ready = false;
	pthread_mutex_unlock(&f->lock);
	return found;
}

static int flight_run(struct batch *b, struct flight *f, struct status *st)
{
	int err = 0;

	for (unsigned i = 0; i < b->len; i++) {
		struct job *j = &f->jobs[i];
		*j = (struct job){.flight = f, .ready = true};
		j->write = write_new(b->store, &b->requests[i], job_wake, j);
		if (!j->write) {
			j->done = true;
			err = status_no_memory(st);
		}
	}
	for (struct job *j; (j = flight_next(f, b->len));) {
		/* An earlier error must not be lost to a later success. */
		int r = err ? job_step(j, &(struct status){0}) : job_step(j, st);
		err = err ? err : r;
	}
	for (unsigned i = 0; i < b->len; i++)
		write_free(f->jobs[i].write);
	return err;
}

int batch_run(struct batch *b, struct status *st)
{
	struct flight f = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	int err = b->failed ? status_no_memory(st) : flight_run(b, &f, st);
	struct store *s = b->store;

	pthread_cond_destroy(&f.changed);
	pthread_mutex_destroy(&f.lock);
	batch_done(b);
	batch_init(b, s);
	return err;
}

int control_write(struct control *c, const struct write_request *req, struct status *st)
{
	struct write_request r = *req;
	struct write *w = NULL;

	r.origin = ORIGIN_CONTROL;
	r.manager = manager;
	r.grace = -1;
	int err = write_run(c->store, &r, &w, st);
	write_free(w);
	return err;
}
