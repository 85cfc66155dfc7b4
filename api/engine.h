/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that follows the feed and wakes what waits for it: watches, requests for a future
 * revision. It also sees clients that hang up while they sleep, runs bookmarks and deadlines, and
 * knows when each resource last changed. */
#ifndef HOLDFS_API_ENGINE_H
#define HOLDFS_API_ENGINE_H

#include <stdatomic.h>

#include "api/request.h"

struct engine;

/* Why a watcher was woken besides events. */
enum due {
	DUE_BOOKMARK = 1 << 0,
	DUE_END = 1 << 1,     /* deadline, or the server stops */
	DUE_HANGUP = 1 << 2,  /* the client is gone */
};

/* One watch's part in the engine. Between engine_watch and engine_forget the engine reads it; what is not
 * atomic is fixed then, except `position`. */
struct watcher {
	struct watcher *next, **link;
	const struct kind *kind; /* storage row */
	struct str ns;           /* ns.ptr NULL: all */
	struct str name;         /* .len 0: all */
	struct park *park;
	int fd;                  /* the connection's; -1 unknown */
	_Atomic uint64_t position;/* every event up to here has been sent or does not concern this watch. The engine
	                            moves it forward, and only while the watcher sleeps */
	_Atomic unsigned due;    /* enum due bits; the watcher clears BOOKMARK */
	int64_t bookmark_at;     /* monotonic ns of the next one; 0 none */
	int64_t last_bookmark_at;/* the one before the deadline; 0 none */
	int64_t deadline;        /* monotonic ns */
};

/* Starts the thread. */
int engine_start(struct api *api, struct engine **ret, struct status *st);
/* Marks every watcher DUE_END and wakes all that sleeps; the engine goes on running. */
void engine_drain(struct engine *e);
/* No watchers may be left. Takes NULL. */
void engine_stop(struct engine *e);

/* Before the watch looks at the store for the first time. */
void engine_watch(struct engine *e, struct watcher *w);
/* On return the engine does not know w any more; before the connection's fd is closed. */
void engine_forget(struct engine *e, struct watcher *w);

/* Wakes park once when the store has reached revision, or at `until` (monotonic ns). */
int engine_wait(struct engine *e, struct park *park, uint64_t revision, int64_t until, struct status *st);
/* Takes back engine_wait; nothing happens when it was woken already. */
void engine_unwait(struct engine *e, struct park *park);

/* Revision of the last change of storage row k that was seen, when the engine has seen the feed up to `now`;
 * UINT64_MAX when it lags behind. */
uint64_t engine_changed(struct engine *e, const struct kind *k, uint64_t now);
/* Feed position that is compacted, as last seen. */
uint64_t engine_compacted(struct engine *e);
/* Number of watchers. */
unsigned engine_watchers(struct engine *e);

#endif
