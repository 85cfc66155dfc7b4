/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request on its way through api/: what was asked (struct request), what is answered
 * (struct reply). Everything here is free of libmicrohttpd; http.c fills and empties it. */
#ifndef HOLDFS_API_REQUEST_H
#define HOLDFS_API_REQUEST_H

#include "api/negotiate.h"
#include "store/store.h"

struct api;
struct request;
struct reply;

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_PUT, METHOD_PATCH, METHOD_DELETE, METHOD_OTHER };

/* What is wanted of a resource: Kubernetes' verbs. VERB_x of kind.h are the bits of discovery. */
enum action {
	ACTION_NONE, /* not about a resource */
	ACTION_GET,
	ACTION_LIST,
	ACTION_WATCH,
	ACTION_CREATE,
	ACTION_UPDATE,
	ACTION_PATCH,
	ACTION_DELETE,
	ACTION_DELETECOLLECTION,
	ACTION_COUNT,
};

enum {
	BODY_MAX = 3 << 20,      /* bytes of a request body: 413 beyond */
	DISCARD_MAX = 16 << 20,  /* of a larger one that is read only so that the client sees the 413 */
	SEGMENTS_MAX = 16,       /* of a path */
	PARAMS_MAX = 64,         /* of a query */
	HEADERS_MAX = 100,
	REQUEST_WAIT = 1,        /* a handler's answer: call me again after park_wake */
};

struct pair {
	struct str name, value;
};

/* Puts a connection to sleep until somebody wakes it. The handshake makes a wake that comes before
 * the sleep count: park_begin, look for work, park_wait. */
struct park {
	_Atomic int state;
	void *connection; /* http.c's */
	struct api *api;
	bool asleep;      /* counted in api->asleep */
};

/* From any thread, any number of times while the request lives; the last toucher rule: a caller whose wake
 * lets the request finish touches nothing of it afterwards. arg is a struct park. */
void park_wake(void *arg);

typedef int handler(struct request *r, struct reply *p, struct status *st);

struct request {
	struct api *api;
	struct conn *conn;
	struct arena arena;
	struct park park;

	enum method method;
	struct str method_name;
	struct str uri;                      /* raw, as it came */
	struct str path;                     /* raw, without the query */
	struct str segment[SEGMENTS_MAX];    /* of the path, decoded */
	unsigned nsegments;
	struct pair param[PARAMS_MAX];       /* of the query, decoded, in order */
	unsigned nparams;
	struct pair header[HEADERS_MAX];
	unsigned nheaders;
	struct buf body;
	size_t body_seen;                    /* bytes that came, kept or not */
	size_t body_budget;                  /* bytes charged to api->body_bytes */
	bool http10;
	bool trusted;                        /* came over the unix socket: no token needed */
	bool local;                          /* peer is this machine */

	/* What the path means; kind is NULL when it is not about a resource. */
	const struct kind *kind;
	struct str ns;                       /* ns.ptr NULL: all namespaces, or cluster scope */
	struct str name;
	const struct kind_subresource *subresource;
	struct str subresource_name;
	enum action action;
	struct negotiation accept;

	handler *handle;
	void *state;                         /* of a handler that waits */
	void (*state_free)(void *state);
	int64_t started;                     /* monotonic, ns */
	int64_t wait_until;                  /* monotonic, ns: wait.h */
	bool refused;                        /* answered before its body was read */
	bool counted;                        /* in the in-flight gauge */
};

/* A body that is made while it is sent. */
struct stream {
	/* Up to max bytes to out: their number; 0: nothing now, sleep until park_wake(park);
	 * STREAM_AGAIN: nothing now, but go on after other connections had their turn; STREAM_END; STREAM_FAIL. */
	ptrdiff_t (*read)(struct stream *s, char *out, size_t max);
	/* Called once, after the last read. */
	void (*free)(struct stream *s);
	struct park *park;
};

enum { STREAM_END = -1, STREAM_FAIL = -2, STREAM_AGAIN = -3 };

enum { REPLY_HEADERS_MAX = 24 };

struct reply {
	unsigned code;
	const char *content_type;
	/* The body: bytes that `owner` keeps alive until release(owner); or a stream. */
	struct str body;
	void *owner;
	void (*release)(void *owner);
	struct stream *stream;
	struct pair header[REPLY_HEADERS_MAX]; /* extra ones; in the request's arena or static, NUL-terminated */
	unsigned nheaders;
	bool close;
	bool text;   /* not JSON: never pretty-printed or converted */
};

/* Splits and decodes uri. -EINVAL with REASON_BAD_REQUEST for ambiguous paths. */
int request_parse_uri(struct request *r, struct status *st);
/* Memory of the request, not the struct itself. */
void request_done(struct request *r);

/* First value of a query parameter; .ptr is NULL when it is absent. */
struct str request_param(const struct request *r, const char *name);
/* Kubernetes' booleans: absent, "0" and "false" in any case are false, all else (also empty) is true. */
bool request_flag(const struct request *r, const char *name);
/* Value of a header by its lower-case name; .ptr NULL when absent. */
struct str request_header(const struct request *r, const char *name);
/* Media type of the body without parameters, in lower case in the arena; application/json when none is given. */
struct str request_media(struct request *r);

#endif
