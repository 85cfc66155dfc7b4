/* SPDX-License-Identifier: Apache-2.0 */
/* Files that exist only here: scratch files within a quota, and new objects until their first commit. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fs/mount.h"

struct node *scratch_find(struct fs *fs, uint64_t parent, struct str file)
{
	char name[FILE_NAME_MAX + 1];

	for (struct node *n = fs->scratches; n; n = n->next_scratch)
		if (n->parent == parent && str_eq(file_name(n, name), file))
			return n;
	return NULL;
}

static void enlist(struct fs *fs, struct node *n)
{
	n->next_scratch = fs->scratches;
	fs->scratches = n;
	n->listed = true;
	if (n->type == NODE_SCRATCH)
		fs->scratch_files++;
}

struct node *scratch_add(struct fs *fs, const struct place *dir, struct str file, mode_t mode, int *ret_err)
{
	struct str name = file, stem = {0};
	enum form form = name_parse(file, &stem);
	bool object = form != FORM_NONE && name_for_new(dir->kind, stem);

	if (object)
		name = stem;
	if (file.len > FILE_NAME_MAX) {
		*ret_err = ENAMETOOLONG;
		return NULL;
	}
	if (!object && fs->scratch_files >= SCRATCH_FILES_MAX) {
		*ret_err = ENOSPC;
		return NULL;
	}
	struct node *n = node_add(fs, object ? NODE_OBJECT : NODE_SCRATCH, 0, dir->kind, str_of(dir->ns), name);
	if (!n) {
		*ret_err = ENOMEM;
		return NULL;
	}
	n->form = object ? form : FORM_NONE;
	n->parent = dir->ino;
	n->mode = scratch_mode(fs, dir->kind, mode);
	clock_gettime(CLOCK_REALTIME, &n->mtime);
	enlist(fs, n);
	return n;
}

void scratch_drop(struct fs *fs, struct node *n)
{
	struct node **p = &fs->scratches;

	if (!n->listed)
		return;
	while (*p != n)
		p = &(*p)->next_scratch;
	*p = n->next_scratch;
	if (n->type == NODE_SCRATCH) {
		fs->scratch_files--;
		fs->scratch_bytes -= n->content.len;
	}
	n->listed = false;
	n->gone = true;
	node_release(fs, n);
}

int text_resize(struct buf *text, size_t size)
{
	if (size > text->len) {
		if (!buf_reserve(text, size - text->len)) {
			text->failed = false;
			return ENOMEM;
		}
		memset(text->ptr + text->len, 0, size - text->len);
	}
	text->len = size;
	return 0;
}

int text_put(struct buf *text, const char *bytes, size_t size, size_t off)
{
	int err = off + size > text->len ? text_resize(text, off + size) : 0;

	if (!err && size)
		memcpy(text->ptr + off, bytes, size);
	return err;
}

/* What a file without a name holds is bounded too: by the size of one object. */
static bool fits(const struct fs *fs, const struct node *n, size_t size)
{
	size_t others = fs->scratch_bytes - (n->listed ? n->content.len : 0);

	return n->listed ? size <= SCRATCH_BYTES_MAX - others : size <= DRAFT_MAX;
}

static void changed(struct fs *fs, struct node *n, size_t before)
{
	if (n->listed)
		fs->scratch_bytes += n->content.len - before;
	clock_gettime(CLOCK_REALTIME, &n->mtime);
}

int scratch_write(struct fs *fs, struct node *n, const char *bytes, size_t size, size_t off)
{
	size_t end, before = n->content.len;

	if (__builtin_add_overflow(off, size, &end))
		return EFBIG;
	if (end > before && !fits(fs, n, end))
		return ENOSPC;
	int err = text_put(&n->content, bytes, size, off);
	changed(fs, n, before);
	return err;
}

int scratch_resize(struct fs *fs, struct node *n, size_t size)
{
	size_t before = n->content.len;

	if (size > before && !fits(fs, n, size))
		return ENOSPC;
	int err = text_resize(&n->content, size);
	changed(fs, n, before);
	return err;
}

int scratch_fill(struct fs *fs, struct node *n, struct buf *content)
{
	size_t before = n->content.len;

	if (content->failed)
		return ENOMEM;
	if (!fits(fs, n, content->len))
		return ENOSPC;
	buf_done(&n->content);
	n->content = *content;
	*content = (struct buf){0};
	changed(fs, n, before);
	return 0;
}
