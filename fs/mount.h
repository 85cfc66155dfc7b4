/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/: the running mount, its nodes, drafts and scratch files.
 *
 * Three kinds of truth meet here. The store knows objects. The kernel caches names, attributes and
 * pages without time limit, so whatever it was told must stay true or be invalidated: notify.c
 * follows the feed and does that. In between stand drafts (text being written to an object's file,
 * not yet committed) and scratch files (every name in a resource directory that is no object: editor
 * swap, backup and temporary files). Both live in memory only, and the kernel caches nothing of
 * them: their replies carry no time-outs and their files use direct I/O.
 *
 * Inode numbers are node ids. An object's comes from its uid, so it is stable for the object's life
 * and a new object of the same name gets another one; a directory's from its path; those of scratch
 * files and of drafts of new objects are counted. A handler that finds the object of a node gone
 * answers ESTALE, upon which the kernel looks the path up again: that heals the moment between a
 * change and its invalidation.
 *
 * Locks. `lock` guards what struct fs says; it is never held across a store call or a reply.
 * `telling` orders replies that the kernel caches against invalidations and is taken before `lock`.
 * Handlers may wait for the store, never for the notifier: it waits for the kernel, and the kernel
 * may be waiting for a handler. */
#ifndef HOLDFS_FS_MOUNT_H
#define HOLDFS_FS_MOUNT_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fs/fs.h"
#include "fs/names.h"
#include "store/store.h"

enum {
	SCRATCH_FILES_MAX = 256,
	SCRATCH_BYTES_MAX = 16 << 20,
	DRAFT_MAX = 3 << 20,        /* one file */
	DRAFT_BYTES_MAX = 64 << 20, /* all of them */
	REFUSALS_MAX = 64,
	SAVES_MAX = 128,
	PENDING_MAX = 4096,
	PENDING_MS = 50,
	SHADOW_MS = 5000,
	NODE_BUCKETS = 1 << 12,
	PENDING_BUCKETS = 1 << 8,
};

#define FOREVER ((double)(1 << 30))

enum node_type {
	NODE_ROOT,
	NODE_NAMESPACES, /* the directory `namespaces` */
	NODE_CLUSTER,    /* the directory `cluster` */
	NODE_NAMESPACE,  /* one namespace: ns */
	NODE_RESOURCE,   /* the objects of kind in ns */
	NODE_OBJECT,     /* one object's file */
	NODE_ALIAS,      /* a symlink to a resource directory: kind */
	NODE_SCRATCH,
	NODE_ERRORS,     /* .errors */
};

/* What a node stands for, copied out from under the lock. */
struct place {
	enum node_type type;
	enum form form;
	const struct kind *kind; /* a storage row */
	uint64_t ino, uid_hash;
	uint64_t revision;      /* OBJECT: whose attributes came with it; 0: none did */
	bool counted, gone;     /* see struct node */
	char ns[256];
	char name[512];
	char uid[64];           /* OBJECT, by view_lookup */
};

/* A rendering of an object, shared by the handles that show it. */
struct text {
	unsigned refs;          /* lock */
	struct node *node;      /* that remembers it; NULL: none does */
	uint64_t revision;
	size_t len;
	char bytes[];
};

/* Text on its way to an object: one for each file that is open for writing. */
struct draft {
	unsigned refs;          /* open handles */
	struct buf text;
	size_t charged;         /* of fs->draft_bytes */
	bool dirty;             /* not committed: it is what the file shows */
	bool busy;              /* being committed: wait for fs->settled */
	bool orphan;            /* its name was removed: nothing will be committed */
	uint64_t writes;        /* counts changes, to see one during a commit */
	int error;              /* of the last commit, until the next write: positive errno */
	uint64_t base;          /* revision of the object that it was made from; 0: there was none */
	struct timespec mtime;
};

struct node {
	struct node *next_ino, *next_scratch;
	uint64_t ino;
	uint64_t nlookup;       /* references of the kernel */
	enum node_type type;
	enum form form;         /* OBJECT */
	bool counted;           /* the ino is no hash: a scratch file, or the draft of a new object */
	bool gone;              /* its name was removed */
	bool listed;            /* among fs->scratches */
	const struct kind *kind;
	uint64_t parent;        /* ino of the directory: SCRATCH and OBJECT */
	char *ns;               /* NAMESPACE and below; "" in cluster. Owns name too */
	char *name;             /* OBJECT: the object's; SCRATCH: the file's */
	struct timespec mtime;  /* SCRATCH, directories */

	/* OBJECT */
	uint64_t uid_hash;      /* 0: it does not exist yet */
	uint64_t told;          /* revision whose attributes the kernel has; 0: it will ask */
	uint64_t paged;         /* revision whose text it may have pages of; 0: unknown */
	uint64_t newest;        /* newest revision we know of */
	uint64_t stale_open;    /* revision for which an open was sent back to look again */
	struct text *text;      /* the last rendering while a handle has it; not counted */
	struct draft *draft;    /* while a handle has it; not counted */

	/* SCRATCH */
	struct buf content;
	mode_t mode;
};

/* What the kernel has open: known here too, so that what an unmount leaves open is freed. lock */
struct handle {
	struct handle *next, **at;
	void (*free)(struct handle *h);
};

/* An open file. */
struct file {
	struct handle handle;   /* first */
	struct node *node;      /* the kernel's reference keeps it */
	struct draft *draft;    /* opened for writing an object; NULL otherwise */
	struct text *text;      /* what reads get; lock */
	bool direct;            /* does not go through the page cache */
	pid_t tgid;             /* who opened it */
};

struct refusal {
	time_t time;
	char path[1200], who[80], why[STATUS_MESSAGE_MAX];
};

/* Who last saved an object through the mount, see save.c. */
struct saved {
	uint64_t key;           /* hash of kind, namespace and name; 0: free */
	pid_t tgid;
	uint64_t from, to;      /* the revisions between are all this process's */
};

struct pending;
struct notify;

struct fs {
	struct store *store;
	char *mountpoint;
	bool read_only;
	uid_t uid;
	gid_t gid;
	struct timespec started;
	struct fuse_session *session;
	void (*on_gone)(void *arg);
	void *arg;

	pthread_t *workers;
	unsigned nworkers;      /* running */
	int stop_event;         /* eventfd, readable when the workers shall end; -1: none */
	atomic_bool stopping, gone;
	pid_t guard;            /* guard.c; 0: none */

	pthread_mutex_t lock;   /* guards everything down to the blank line, all nodes, drafts, texts */
	pthread_cond_t settled; /* a commit or a pending delete has ended */
	struct node **nodes;    /* hash by ino */
	size_t nbuckets, nnodes;
	struct node *scratches; /* nodes that have a name only here: scratch files, new objects */
	size_t scratch_files, scratch_bytes, draft_bytes;
	uint64_t next_ino;      /* for counted nodes */
	struct refusal *refusals[REFUSALS_MAX];
	unsigned nrefusals;     /* ever */
	struct handle *handles;
	struct saved saves[SAVES_MAX];
	unsigned next_save;
	struct pending *pending[PENDING_BUCKETS];
	pthread_cond_t pending_due; /* for the reaper: CLOCK_MONOTONIC */

	atomic_uint npending;
	pthread_t reaper;
	bool reaping;

	/* Held for reading from the snapshot to the reply, taken once for writing before invalidations: what
	 * is invalidated has been told. */
	pthread_rwlock_t telling;
	struct notify *notify;
};

/* --- node.c: all with the lock held unless they say otherwise */

struct node *node_find(struct fs *fs, uint64_t ino);
/* Without the lock. A node that is not there gives a SCRATCH that is gone. */
void node_place(struct fs *fs, uint64_t ino, struct place *ret);
/* Without the lock. Gives the kernel one reference to the node of this place (made when absent); its ino, 0
 * when out of memory. cached: the kernel will keep the attributes that go with it. */
uint64_t node_tell(struct fs *fs, const struct place *p, uint64_t parent, bool cached);
void node_forget(struct fs *fs, uint64_t ino, uint64_t n); /* without the lock */
/* At the end: what is still open, and all nodes. */
void handles_free(struct fs *fs);
void nodes_free(struct fs *fs);
void handle_add(struct fs *fs, struct handle *h, void (*free_it)(struct handle *h)); /* without the lock */
void handle_remove(struct fs *fs, struct handle *h);                               /* without the lock */
/* ino 0: the next counted one. NULL when out of memory. */
struct node *node_add(struct fs *fs, enum node_type type, uint64_t ino, const struct kind *k, struct str ns,
		      struct str name);
/* Moves a scratch file. 0 or ENOMEM. */
int node_rename(struct node *n, const struct place *dir, struct str name);
/* Remembers t in place of what it remembered. */
void node_show(struct node *n, struct text *t);
void text_unref(struct text *t); /* takes NULL */
/* Frees a node that nobody knows any more. */
void node_release(struct fs *fs, struct node *n);
uint64_t ino_of_uid(struct str uid, enum form form);
uint64_t ino_of_dir(enum node_type type, const struct kind *k, struct str ns);
void place_set(struct place *p, enum node_type type, const struct kind *k, struct str ns, struct str name);
/* The file's name of an OBJECT or SCRATCH place, NUL-terminated. */
void place_file(const struct place *p, char out[FILE_NAME_MAX + 1]);
struct str file_name(const struct node *n, char out[FILE_NAME_MAX + 1]);

/* --- scratch.c: with the lock held; positive errnos */

/* The file of that name that exists only here, or NULL. */
struct node *scratch_find(struct fs *fs, uint64_t parent, struct str file);
/* A new one; *ret_err when NULL. type OBJECT: the draft of a new object. */
struct node *scratch_add(struct fs *fs, const struct place *dir, struct str file, mode_t mode, int *ret_err);
/* Loses its name; the content lives on for those who have it open. */
void scratch_drop(struct fs *fs, struct node *n);
int scratch_write(struct fs *fs, struct node *n, const char *bytes, size_t size, size_t off);
int scratch_resize(struct fs *fs, struct node *n, size_t size);
/* Takes content over (emptying *content). */
int scratch_fill(struct fs *fs, struct node *n, struct buf *content);
/* Puts bytes at off, zeros in a gap before it. */
int text_put(struct buf *text, const char *bytes, size_t size, size_t off);
int text_resize(struct buf *text, size_t size);

/* --- view.c: positive errnos */

/* The directory's child (name is NUL-terminated): 0 with *ret and *ret_attr, *ret_cached says whether the kernel may
 * keep them. */
int view_lookup(struct fs *fs, const struct place *dir, struct str name, struct place *ret, struct stat *ret_attr,
		bool *ret_cached);
/* Notes in p->revision whose attributes they are. */
int view_attr(struct fs *fs, struct place *p, struct stat *ret, bool *ret_cached);
/* The attributes of an object's draft, where that is what its file shows. */
bool view_draft_attr(struct fs *fs, const struct place *p, struct stat *ret);
/* Those of a deleted object that is still being read. */
bool view_open_attr(struct fs *fs, const struct place *p, struct stat *ret);
void view_object_attr(struct fs *fs, const struct kind *k, const struct object *o, uint64_t ino, struct stat *ret);
mode_t scratch_mode(const struct fs *fs, const struct kind *k, mode_t mode);
/* Finds the object that p names and, if p says which, is the same. ENOENT, or ESTALE: it is another one. */
int view_object(struct read *r, const struct place *p, struct object *ret);
/* The object's text in a form. False: out of memory. */
bool view_text(const struct kind *k, const struct object *o, enum form form, struct buf *out);
/* A copy of what a file holds: a scratch file's bytes, a draft's or an object's text (then *ret_revision is not 0). */
int view_file(struct fs *fs, const struct place *p, struct buf *out, uint64_t *ret_revision);
/* Nothing in the namespace (only: of that kind) but what every namespace gets by itself? */
bool view_is_bare(struct fs *fs, const struct kind *only, const char *ns);
bool view_has_namespace(struct fs *fs, const char *name);
const struct kind *namespaces_kind(struct fs *fs);

/* --- draft.c: positive errnos */

/* Is the draft what the file shows? lock */
static inline bool draft_shows(const struct node *n)
{
	return n->draft && (n->draft->dirty || n->listed);
}
/* Takes part in the file's draft, starting one from what is stored. */
int draft_join(struct fs *fs, const struct place *p, struct file *f, bool truncate);
/* The file loses its name: what was not committed never will be. lock */
void draft_orphan(struct node *n);
/* Ends f's part: the last one commits what is left. */
void draft_leave(struct fs *fs, struct file *f);
int draft_write(struct fs *fs, struct file *f, const char *bytes, size_t size, off_t off, bool append);
int draft_resize(struct fs *fs, struct node *n, size_t size); /* lock; n has a draft */
/* Commits what is there to commit. pid: who asks. */
int draft_commit(struct fs *fs, struct file *f, pid_t pid);

/* --- save.c, refuse.c: positive errnos */

/* Sends text down the write path as the object p; *ret_revision (may be NULL) is then its revision. What is refused is
 * noted in .errors and kept in NAME.yaml.rej. base: the revision it was made from, 0 unknown. pid: who saves.
 * renaming: the errno shall be fit for rename. */
int save_text(struct fs *fs, const struct place *p, struct str text, uint64_t base, pid_t pid, bool renaming,
	      uint64_t *ret_revision);
/* Deletes an object at once. */
int save_delete(struct fs *fs, const struct place *p, pid_t pid);
void refuse(struct fs *fs, const struct place *p, pid_t pid, const struct status *st);
/* `NAME.yaml.rej`: the reason as comments, then the text as it was. */
void refuse_keep(struct fs *fs, const struct place *p, struct str text, const struct status *st);
void errors_text(struct fs *fs, struct buf *out);
/* Never one that the kernel reads a meaning of its own into. */
int errno_of(const struct status *st, bool renaming);

/* --- pending.c */

int pending_start(struct fs *fs, struct status *st);
/* Carries out what waits and ends the thread. */
void pending_stop(struct fs *fs);
/* Takes over deleting the object; false: do it yourself. */
bool pending_add(struct fs *fs, const struct place *p, pid_t tgid);
/* The process moved the file away, the object stays: its name is free for the process to create it anew. */
void pending_shadow(struct fs *fs, const struct place *p, pid_t tgid);
/* Takes back a delete of this object by this process: true when there was one. */
bool pending_cancel(struct fs *fs, const struct place *p, pid_t tgid);
/* Is the object that is shown by this stem gone for the process? Carries out another's delete first. */
bool pending_hides(struct fs *fs, const struct place *dir, struct str stem, pid_t pid);
/* The same for a listing: looks only. */
bool pending_hides_from(struct fs *fs, const struct kind *k, struct str ns, struct str name, pid_t tgid);
/* Carries out what waits in a namespace (only: of that kind). */
void pending_flush(struct fs *fs, const struct kind *only, const char *ns);

/* --- notify.c */

int notify_start(struct fs *fs, struct status *st);
void notify_stop(struct fs *fs);
/* Asks the notifier to drop a name, and the directory's listing. Never waits. */
void notify_entry(struct fs *fs, uint64_t parent, const char *name);

/* --- guard.c */

void guard_start(struct fs *fs, dev_t dev);
void guard_stop(struct fs *fs);

/* --- caller.c: who asks */

pid_t tgid_of(pid_t tid);
/* The process's short name; "?" when it is gone. */
void comm_of(pid_t pid, char *out, size_t room);

/* --- ops.c, dir.c, file.c, change.c, rename.c: handlers */

extern const struct fuse_lowlevel_ops fs_operations;
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi);
void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t off, struct fuse_file_info *fi);
void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi);
void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rename(fuse_req_t req, fuse_ino_t from, const char *name, fuse_ino_t to, const char *newname, unsigned flags);
/* Answers with an entry, taking a reference. */
void reply_entry(fuse_req_t req, const struct place *p, uint64_t parent, const struct stat *attr, bool cached);

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static inline pid_t caller_of(fuse_req_t req)
{
	return fuse_req_ctx(req)->pid;
}

#endif
