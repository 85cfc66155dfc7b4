/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap by time, and a search tree that finds a task said before. */
#include "store/control/queue.h"

#include <search.h>
#include <stdlib.h>
#include <time.h>

enum { NS_PER_MS = 1000000, MS_PER_S = 1000 };

int64_t queue_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * MS_PER_S + t.tv_nsec / NS_PER_MS;
}

static int pointer_compare(const void *a, const void *b)
{
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int task_compare(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	int c = pointer_compare(x->controller, y->controller);

	if (!c)
		c = pointer_compare(x->kind, y->kind);
	if (!c)
		c = str_cmp(x->ns, y->ns);
	if (!c)
		c = str_cmp(x->name, y->name);
	return c ? c : str_cmp(x->uid, y->uid);
}

static bool is_earlier(const struct task *x, const struct task *y)
{
	return x->due != y->due ? x->due < y->due : x->order < y->order;
}

static void place(struct queue *q, struct task *t, size_t slot)
{
	q->heap[slot] = t;
	t->slot = slot;
}

static void sift_up(struct queue *q, struct task *t)
{
	size_t slot = t->slot;

	while (slot && is_earlier(t, q->heap[(slot - 1) / 2])) {
		place(q, q->heap[(slot - 1) / 2], slot);
		slot = (slot - 1) / 2;
	}
	place(q, t, slot);
}

static void sift_down(struct queue *q, struct task *t)
{
	size_t slot = t->slot;

	for (;;) {
		size_t child = 2 * slot + 1;
		if (child + 1 < q->len && is_earlier(q->heap[child + 1], q->heap[child]))
			child++;
		if (child >= q->len || !is_earlier(q->heap[child], t))
			break;
		place(q, q->heap[child], slot);
		slot = child;
	}
	place(q, t, slot);
}

static char *put(char *at, struct str from, struct str *ret)
{
	if (from.len)
		memcpy(at, from.ptr, from.len);
	*ret = str_n(at, from.len);
	return at + from.len;
}

/* One block of memory: the task, then its texts. */
static struct task *task_copy(const struct task *t)
{
	struct task *copy = malloc(sizeof(*copy) + t->ns.len + t->name.len + t->uid.len);

	if (!copy)
		return NULL;
	*copy = *t;
	char *at = put((char *)(copy + 1), t->ns, &copy->ns);
	at = put(at, t->name, &copy->name);
	put(at, t->uid, &copy->uid);
	return copy;
}

void task_free(struct task *t)
{
	free(t);
}

static bool make_room(struct queue *q)
{
	if (q->len < q->cap)
		return true;
	size_t cap = q->cap ? q->cap * 2 : 64;
	struct task **grown = reallocarray(q->heap, cap, sizeof(*grown));
	if (!grown)
		return false;
	q->heap = grown;
	q->cap = cap;
	return true;
}

bool queue_add(struct queue *q, const struct task *t)
{
	struct task **known = tfind(t, &q->known, task_compare);

	if (known) {
		if (t->due < (*known)->due) {
			(*known)->due = t->due;
			sift_up(q, *known);
		}
		return true;
	}
	struct task *copy = make_room(q) ? task_copy(t) : NULL;
	if (!copy)
		return false;
	if (!tsearch(copy, &q->known, task_compare)) {
		task_free(copy);
		return false;
	}
	copy->order = q->arrivals++;
	copy->slot = q->len++;
	sift_up(q, copy);
	return true;
}

struct task *queue_take(struct queue *q, int64_t now)
{
	if (queue_due(q) > now)
		return NULL;
	struct task *first = q->heap[0], *last = q->heap[--q->len];
	if (first != last) {
		last->slot = 0;
		sift_down(q, last);
	}
	tdelete(first, &q->known, task_compare);
	return first;
}

int64_t queue_due(const struct queue *q)
{
	return q->len ? q->heap[0]->due : INT64_MAX;
}

void queue_done(struct queue *q)
{
	while (q->len) {
		tdelete(q->heap[--q->len], &q->known, task_compare);
		task_free(q->heap[q->len]);
	}
	free(q->heap);
	*q = (struct queue){0};
}
