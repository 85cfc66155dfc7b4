/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be done and when: tasks, each at most once, ordered by time. */
#ifndef HOLDFS_QUEUE_H
#define HOLDFS_QUEUE_H

#include "store/base/str.h"

struct controller;
struct kind;

/* A thing for a controller to look at. What it means is the controller's affair; a task holds no state, so that asking twice
 * is the same as asking once. */
struct task {
	const struct controller *controller;
	const struct kind *kind; /* NULL where it does not matter */
	struct str ns, name, uid;
	int64_t due;             /* milliseconds, queue_now */
	unsigned tries;          /* failures so far */

	/* Private to queue.c. */
	uint64_t order; /* of arrival, among equals */
	size_t slot;    /* in the heap */
};

/* {0} is an empty queue. One thread at a time. */
struct queue {
	struct task **heap; /* the earliest first */
	size_t len, cap;
	void *known;        /* tsearch tree of the same tasks, by what they say */
	uint64_t arrivals;
};

void queue_done(struct queue *q);
/* Copies t. A task that says the same becomes due at the earlier of both times. False when out of memory. */
bool queue_add(struct queue *q, const struct task *t);
/* Gives the first task that is due, NULL when there is none. task_free it. */
struct task *queue_take(struct queue *q, int64_t now);
/* When the first task is due; INT64_MAX without any. */
int64_t queue_due(const struct queue *q);
void task_free(struct task *t);

/* The clock of `due`. */
int64_t queue_now(void);

#endif
