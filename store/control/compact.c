/* SPDX-License-Identifier: Apache-2.0 */
/* When the feed is looked at for events to drop: by the clock, and sooner when many came. */
#include "store/control/control.h"
#include "store/db/feed.h"

enum { PERIOD_MS = 60 * 1000, EVENTS_MAX = 4096 };

static void compact_queue(struct control *c, int64_t delay)
{
	control_queue(c, &control_compact, NULL, (struct str){0}, (struct str){0}, (struct str){0}, delay);
}

static void compact_start(struct control *c, struct read *r)
{
	(void)r;
	compact_queue(c, PERIOD_MS);
}

static void compact_event(struct control *c, struct read *r, const struct event *e)
{
	(void)r, (void)e;
	if (++c->events >= EVENTS_MAX)
		compact_queue(c, 0);
}

static int compact_work(struct control *c, const struct task *t, struct status *st)
{
	(void)t;
	c->events = 0;
	int err = db_compact(c->store, st);
	if (err == 0)
		compact_queue(c, PERIOD_MS);
	return err;
}

const struct controller control_compact = {compact_start, compact_event, compact_work};
