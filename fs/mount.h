/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/: the running mount, its nodes, drafts and scratch files.
 *
 * Three kinds of truth meet here. The store knows objects. The kernel caches names, attributes and pages without
 * time limit, so whatever it was told must stay true or be invalidated: notify.c follows the feed and does that. In between stand
 * drafts (text being written to an object's file, not yet committed) and scratch files (every name in a
 * resource directory that is no object: editor swap, backup and temporary files); both live in memory only,
 * and the kernel caches nothing of them: their replies carry no time-outs and their files use direct I/O.
 *
 * Inode numbers are node ids. An object's comes from its uid, so it is stable for the object's life and a new object of the
 * same name gets another one; a directory's from its path; those of scratch files and of drafts of new objects are
 * counted. A handler that finds the object of a node gone answers ESTALE, upon which the kernel looks
 * the path up again: that heals the moment between a change and its invalidation.
 *
 * One mutex guards nodes, drafts, scratch files, pending deletes and the list of refusals. It is never held
 * across a store call or a reply that can block. */
#ifndef HOLDFS_FS_MOUNT_H
#define HOLDFS_FS_MOUNT_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdio.h>
#include <stdatomic.h>

#include "fs/fs.h"
#include "fs/names.h"
#include "store/store.h"

enum {
	SCRATCH_FILES_MAX = 256,
	SCRATCH_BYTES_MAX = 16 << 20,
	DRAFT_MAX = 3 << 20,
	REFUSALS_MAX = 64,
	PENDING_MAX = 1024,
	PENDING_MS = 50,
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

/* Text on its way to an object. Shared by the handles that write to the same file. */
struct draft {
	unsigned refs;
	struct buf text;
	bool dirty;             /* has text that was not committed */
	int error;              /* of the last commit, until the next write: positive errno */
	uint64_t base_revision; /* of the object when it was opened; 0: there was none */
};

struct node {
	struct node *next_ino, *next_scratch;
	uint64_t ino;
	uint64_t nlookup;       /* references of the kernel */
	enum node_type type;
	enum form form;         /* OBJECT */
	bool counted;           /* the ino is no hash of a uid: the draft of a new object */
	bool gone;              /* unlinked or renamed away: SCRATCH, or a refused new OBJECT */
	const struct kind *kind;
	uint64_t uid_hash;      /* OBJECT that exists */
	uint64_t cached_revision; /* whose text the kernel may have pages of; 0: none */
	struct draft *draft;
	struct buf text;        /* SCRATCH */
	mode_t mode;            /* SCRATCH */
	struct timespec mtime;  /* SCRATCH, directories */
	uint64_t parent;        /* ino of the directory: SCRATCH and OBJECT */
	char *ns;               /* NAMESPACE and below; "" in cluster */
	char *name;             /* OBJECT: the object's; SCRATCH: the file's */
};

/* What a node stands for, copied out from under the lock. */
struct place {
	enum node_type type;
	enum form form;
	const struct kind *kind;
	uint64_t ino, uid_hash;
	bool counted, gone;
	char ns[256];
	char name[512];
};

/* An open file. */
struct file {
	atomic_uint refs;       /* the kernel's, and one for each read being answered */
	struct node *node;      /* the kernel's reference keeps it */
	struct draft *draft;    /* opened for writing an object; NULL otherwise */
	pid_t tgid;             /* who opened it */
	bool scratch;
	char *text;             /* what reads get, rendered at open */
	size_t len;
};

struct dir_entry {
	uint64_t ino;
	mode_t mode;
	size_t name_at;         /* in names */
	struct place place;
};

struct pending {
	bool used;
	const struct kind *kind;
	char ns[256], name[512];
	pid_t tgid;
	int64_t due;            /* monotonic ms */
};

struct refusal {
	time_t time;
	char path[1200], who[80], why[STATUS_MESSAGE_MAX];
};

enum { NODE_BUCKETS = 1 << 14 };

struct fs {
	struct store *store;
	char *mountpoint;
	bool read_only;
	uid_t uid;
	gid_t gid;
	struct timespec started;
	struct fuse_session *session;
	pthread_t loop;
	bool looping;
	unsigned threads;

	pthread_mutex_t lock;
	struct node **nodes;    /* hash by ino */
	size_t nbuckets, nnodes;
	struct node *scratches; /* scratch files and new objects that are not gone */
	size_t scratch_files, scratch_bytes;
	uint64_t next_ino;      /* for counted nodes */
	struct pending pending[PENDING_MAX];
	struct refusal *refusals[REFUSALS_MAX];
	unsigned nrefusals;     /* ever */

	/* Held for reading from the snapshot to the reply, taken once for writing before invalidations: what
	 * is invalidated has been told. */
	pthread_rwlock_t telling;
	struct notify *notify;
};

/* node.c */
struct node *node_find(struct fs *fs, uint64_t ino); /* lock held */
void node_place(struct fs *fs, uint64_t ino, struct place *ret);
/* Gives the kernel one reference to the node of this place (made when absent); its ino, 0 when out of memory. */
uint64_t node_tell(struct fs *fs, const struct place *p, uint64_t parent);
void node_forget(struct fs *fs, uint64_t ino, uint64_t n);
void nodes_free(struct fs *fs);
uint64_t ino_of_uid(struct str uid, enum form form);
uint64_t ino_of_dir(enum node_type type, const struct kind *k, struct str ns);
struct node *node_add(struct fs *fs, enum node_type type, uint64_t ino, const struct kind *k, struct str ns, struct str name); /* lock held */
struct node *scratch_find(struct fs *fs, uint64_t parent, struct str name); /* lock held */
/* The node of a new object that has only a draft yet; lock held. */
struct node *new_find(struct fs *fs, const struct place *p);
/* Its name is gone: a scratch file's or a new object's; lock held. */
void scratch_drop(struct fs *fs, struct node *n);
struct draft *draft_new(void);
void draft_unref(struct draft *d); /* lock held; takes NULL */

/* view.c */
/* The directory's child: 0 with *ret and *ret_attr, *ret_cached says whether the kernel may keep it; or a positive errno. */
int view_lookup(struct fs *fs, const struct place *dir, struct str name, struct place *ret, struct stat *ret_attr, bool *ret_cached);
int view_attr(struct fs *fs, const struct place *p, struct stat *ret, bool *ret_cached);
void view_object_attr(struct fs *fs, const struct kind *k, const struct object *o, uint64_t ino, struct stat *ret);
void place_set(struct place *p, enum node_type type, const struct kind *k, struct str ns, struct str name);
mode_t scratch_mode(const struct fs *fs, const struct kind *k, mode_t mode);
/* The object's text in a form. False: out of memory. */
bool view_text(const struct kind *k, const struct object *o, enum form form, struct buf *out);
/* Nothing but what every namespace gets by itself? */
bool view_is_bare(struct fs *fs, const struct kind *k, const char *ns);
const struct kind *namespaces_kind(struct fs *fs);

/* dir.c, file.c, change.c: handlers */
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
void reply_entry(fuse_req_t req, struct fs *fs, const struct place *p, uint64_t parent, const struct stat *attr, bool cached);
pid_t tgid_of(pid_t tid);

/* save.c */
/* Sends text down the write path as the object p. 0, or a positive errno: then it is noted in .errors and, unless
 * keep is false, kept in NAME.yaml.rej. pid: who saves. renaming: errno fit for rename. */
int save_text(struct fs *fs, const struct place *p, struct str text, uint64_t base_revision, pid_t pid, bool renaming);
/* Deletes an object at once. A positive errno. */
int save_delete(struct fs *fs, const struct kind *k, struct str ns, struct str name, pid_t pid);
void errors_text(struct fs *fs, struct buf *out);
void refuse(struct fs *fs, const struct place *p, pid_t pid, const struct status *st);

/* pending.c */
bool pending_add(struct fs *fs, const struct place *p, pid_t tgid);
/* Takes back a delete of this object by this process: true when there was one. */
bool pending_cancel(struct fs *fs, const struct place *p, pid_t tgid);
bool pending_is(struct fs *fs, const struct kind *k, struct str ns, struct str name, pid_t tgid);
/* Carries out what is due; all of it when `all`. The time in ms until the next is due, -1 for none. */
int pending_run(struct fs *fs, bool all);

/* notify.c */
int notify_start(struct fs *fs, struct status *st);
void notify_stop(struct fs *fs);
/* Asks the notify thread to drop a name that a rename left pointing at another inode. */
void notify_entry(struct fs *fs, uint64_t parent, const char *name);
void notify_kick(struct fs *fs);

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

#endif
