/* SPDX-License-Identifier: Apache-2.0 */
/* What the controllers share. Private to store/control.
 *
 * There is one thread. It reads the feed and shows each event to every controller, which queues tasks; between events it works
 * the tasks off. A controller therefore needs no locks, keeps nothing that a restart may lose (on_start finds again
 * what is left to do), and a task looks at the store as it is then, whatever the event said. All
 * writes go the way of everybody else's, with ORIGIN_CONTROL. */
#ifndef HOLDFS_CONTROL_H
#define HOLDFS_CONTROL_H

#include <pthread.h>

#include "store/control/queue.h"
#include "store/store.h"

/* A row of the table in control.c; absent functions are NULL. */
struct controller {
	/* Queues what the store as it is asks for: at start, and when the feed was compacted from under us. */
	void (*on_start)(struct control *c, struct read *r);
	/* Queues what an event asks for. r: a snapshot in which it has happened. Does not write. */
	void (*on_event)(struct control *c, struct read *r, const struct event *e);
	/* Does a task: 0 when there is nothing left of it; -errno: again later, and later each time. */
	int (*work)(struct control *c, const struct task *t, struct status *st);
};

extern const struct controller control_compact;          /* compact.c */
extern const struct controller control_content;          /* namespace.c: what each namespace has */
extern const struct controller control_purge;            /* namespace_delete.c: empties terminating namespaces */
extern const struct controller control_finalize;         /* namespace_delete.c: lets empty ones go */
extern const struct controller control_gc;               /* gc.c: follows the feed */
extern const struct controller control_gc_scan;          /* gc.c: a page of all objects at start */
extern const struct controller control_gc_absent;        /* gc.c: dependents of an owner that is gone */
extern const struct controller control_gc_dependent;     /* gc.c: has this object an owner left? */
extern const struct controller control_gc_owner;         /* gc_owner.c: owners being deleted, foreground or orphan */

struct control {
	struct store *store;
	struct str ca_pem; /* ours */
	const struct kind *namespaces, *pods, *accounts, *config_maps;

	/* The thread's own. */
	struct queue queue;
	uint64_t seen;      /* feed position */
	unsigned events;    /* since the last compaction */
	void *foreground;   /* tsearch tree of struct waiting (gc.h), by uid */
	bool rescan;        /* a task was lost for lack of memory: find them again */

	/* Guarded by lock. */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool woken, stop;
	struct subscriber subscriber;
};

/* Queues a task, due in `delay` milliseconds. Any text is copied. */
void control_queue(struct control *c, const struct controller *controller, const struct kind *kind, struct str ns,
		   struct str name, struct str uid, int64_t delay);

/* Does k hold objects of its own, in namespaces? */
static inline bool control_is_content(const struct kind *k)
{
	return k == k->storage && kind_is(k, KIND_STORED) && kind_is(k, KIND_NAMESPACED);
}

/* Writes that are collected under a snapshot and then run together, so that the writer commits them in
 * groups. {.store = s} is an empty batch. */
enum { BATCH_MAX = 128 };

struct batch {
	struct store *store;
	struct arena arena; /* texts of the requests */
	struct write_request requests[BATCH_MAX];
	unsigned len;
	bool failed;        /* out of memory while adding */
};

void batch_init(struct batch *b, struct store *s);
void batch_done(struct batch *b);
static inline bool batch_is_full(const struct batch *b)
{
	return b->len == BATCH_MAX;
}
/* The batch is not full. Copies all texts; origin is set. */
void batch_add(struct batch *b, const struct write_request *req);
/* Deletes or merge-patches o only as it is now: by uid and revision. body may be in any memory. */
void batch_delete(struct batch *b, const struct kind *k, const struct object *o, enum propagation how);
void batch_patch(struct batch *b, const struct kind *k, const struct object *o, const struct tree *body);
/* Runs all and empties the batch. What is not there any more counts as done. 0, or the error of one of them with st. */
int batch_run(struct batch *b, struct status *st);

/* One write, with ORIGIN_CONTROL. */
int control_write(struct control *c, const struct write_request *req, struct status *st);

#endif
