/* SPDX-License-Identifier: Apache-2.0 */
/* The import sink of an open store: a window of writes in flight, so that they share commits. */
#include <pthread.h>

#include "store/base/arena.h"
#include "store/base/cleanup.h"
#include "store/change/write.h"
#include "store/dump/dump.h"

enum { WINDOW = 128 };

struct slot {
	struct arena arena;        /* what the item and the request borrow */
	struct import_item item;
	struct write *write;       /* NULL: free */
	bool woken;                /* guarded by the sink's lock */
	struct store_sink *sink;
};

struct store_sink {
	struct import_sink base;
	struct store *store;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	struct slot slots[WINDOW];
	size_t next;               /* the oldest slot: slots are used in turn */
};

static void slot_wake(void *arg)
{
	struct slot *slot = arg;
	struct store_sink *sink = slot->sink;

	pthread_mutex_lock(&sink->lock);
	slot->woken = true;
	pthread_cond_signal(&sink->woken);
	pthread_mutex_unlock(&sink->lock);
}

static void slot_wait(struct slot *slot)
{
	pthread_mutex_lock(&slot->sink->lock);
	while (!slot->woken)
		pthread_cond_wait(&slot->sink->woken, &slot->sink->lock);
	slot->woken = false;
	pthread_mutex_unlock(&slot->sink->lock);
}

static void slot_answer(struct slot *slot, const struct status *st)
{
	slot->sink->base.done(&slot->item, st, slot->sink->base.arg);
	write_free(slot->write);
	slot->write = NULL;
	arena_done(&slot->arena);
}

/* Brings a write in flight to its end. */
static void slot_finish(struct slot *slot)
{
	struct status st;
	int rc;

	if (!slot->write)
		return;
	do {
		slot_wait(slot);
		rc = write_step(slot->write, &st);
	} while (rc == 1);
	slot_answer(slot, &st);
}

static bool slot_fill(struct slot *slot, const struct import_item *item)
{
	slot->item = *item;
	slot->item.ns = arena_str(&slot->arena, item->ns);
	slot->item.name = arena_str(&slot->arena, item->name);
	slot->item.json = arena_str(&slot->arena, item->json);
	slot->item.what = arena_str(&slot->arena, item->what);
	struct str file = arena_str(&slot->arena, str_of(item->file));
	slot->item.file = file.ptr;
	return slot->item.ns.ptr && slot->item.name.ptr && slot->item.json.ptr && slot->item.what.ptr && file.ptr;
}

static void store_put(struct import_sink *self, const struct import_item *item)
{
	struct store_sink *sink = (struct store_sink *)self;
	struct slot *slot = &sink->slots[sink->next];
	struct status st;

	sink->next = (sink->next + 1) % WINDOW;
	slot_finish(slot);
	status_clear(&st);
	if (slot_fill(slot, item)) {
		struct write_request req = {
			.kind = item->kind,
			.verb = WRITE_UPDATE,
			.origin = ORIGIN_IMPORT,
			.ns = slot->item.ns,
			.name = slot->item.name,
			.body = slot->item.json,
			.validation = VALIDATION_IGNORE,
			.grace = -1,
		};
		slot->write = write_new(sink->store, &req, slot_wake, slot);
	}
	if (!slot->write) {
		status_no_memory(&st);
		sink->base.done(item, &st, sink->base.arg);
		arena_done(&slot->arena);
		return;
	}
	if (write_step(slot->write, &st) != 1)
		slot_answer(slot, &st);
}

static void store_finish(struct import_sink *self)
{
	struct store_sink *sink = (struct store_sink *)self;

	for (size_t i = 0; i < WINDOW; i++)
		slot_finish(&sink->slots[(sink->next + i) % WINDOW]);
}

struct import_sink *import_sink_store(struct store *s)
{
	struct store_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->base.put = store_put;
	sink->base.finish = store_finish;
	sink->store = s;
	pthread_mutex_init(&sink->lock, NULL);
	pthread_cond_init(&sink->woken, NULL);
	for (size_t i = 0; i < WINDOW; i++) {
		arena_init(&sink->slots[i].arena, 0);
		sink->slots[i].sink = sink;
	}
	return &sink->base;
}

void import_sink_store_free(struct import_sink *base)
{
	struct store_sink *sink = (struct store_sink *)base;

	if (!sink)
		return;
	pthread_mutex_destroy(&sink->lock);
	pthread_cond_destroy(&sink->woken);
	free(sink);
}
