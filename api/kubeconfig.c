/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a kubeconfig. */
#include "api/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/buf.h"
#include "store/base/cleanup.h"
#include "store/codec/base64.h"

/* A JSON string is a YAML string, whatever is in it. */
static void add_member(struct buf *b, const char *key, struct str value)
{
	buf_addf(b, "    %s: ", key);
	buf_add_json(b, value);
	buf_addc(b, '\n');
}

static void add_cluster(struct buf *b, const char *url, struct str ca_pem)
{
	buf_adds(b, "clusters:\n- name: holdfs\n  cluster:\n");
	add_member(b, "server", str_of(url));
	if (!ca_pem.len)
		return;
	buf_adds(b, "    certificate-authority-data: ");
	base64_encode(ca_pem, b);
	buf_addc(b, '\n');
}

static void add_user(struct buf *b, struct str token)
{
	buf_adds(b, "users:\n- name: holdfs\n");
	if (!token.len) {
		buf_adds(b, "  user: {}\n");
		return;
	}
	buf_adds(b, "  user:\n");
	add_member(b, "token", token);
}

static bool write_all(int fd, struct str s)
{
	while (s.len) {
		ssize_t n = write(fd, s.ptr, s.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		s = str_skip(s, (size_t)n);
	}
	return true;
}

static int replace_file(const char *path, struct str text, struct status *st)
{
	_cleanup_free_ char *tmp = NULL;

	if (asprintf(&tmp, "%s.XXXXXX", path) < 0) {
		tmp = NULL;
		return status_no_memory(st);
	}
	_cleanup_close_ int fd = mkostemp(tmp, O_CLOEXEC); /* mode 0600 */
	if (fd >= 0 && write_all(fd, text) && fsync(fd) == 0 && rename(tmp, path) == 0)
		return 0;
	int err = errno;
	if (fd >= 0)
		unlink(tmp);
	return status_set(st, REASON_UNAVAILABLE, "cannot write %s: %s", path, strerror(err));
}

int kubeconfig_write(const char *path, const char *url, struct str ca_pem, struct str token, struct status *st)
{
	_cleanup_(buf_done) struct buf b = {0};

	buf_adds(&b, "apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: holdfs\n");
	add_cluster(&b, url, ca_pem);
	add_user(&b, token);
	buf_adds(&b, "contexts:\n- name: holdfs\n  context:\n    cluster: holdfs\n    user: holdfs\n");
	return b.failed ? status_no_memory(st) : replace_file(path, buf_str(&b), st);
}
