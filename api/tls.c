/* SPDX-License-Identifier: Apache-2.0 */
/* A private CA and a server certificate, made at first start; the admin's token; SHA-512. */
#include "api/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/base/buf.h"
#include "store/base/cleanup.h"

enum {
	PEM_MAX = 64 << 10,
	TOKEN_BYTES = 32,
	DAY = 24 * 3600,
	CA_DAYS = 3650,
	LEAF_DAYS = 397,
	RENEW_DAYS = 30, /* a certificate with less left is made anew */
};

static int tls_failed(struct status *st, const char *what, int err)
{
	return status_set(st, REASON_UNAVAILABLE, "cannot %s: %s", what, gnutls_strerror(err));
}

static int file_failed(struct status *st, const char *what, const char *path, int err)
{
	return status_set(st, REASON_UNAVAILABLE, "cannot %s %s: %s", what, path, strerror(err));
}

/* ---- files ---- */

static void cleanup_path(char **p)
{
	free(*p);
}
#define _cleanup_path_ _cleanup_(cleanup_path)

static char *path_of(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* The whole file, NUL-terminated, memory of the caller's; NULL when there is none of a sensible size. */
static char *read_file(const char *path, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = malloc(PEM_MAX + 1);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0 || !text)
		return NULL;
	while (n < PEM_MAX && (got = read(fd, text + n, PEM_MAX - n)) > 0)
		n += (size_t)got;
	if (got < 0 || n == 0 || n == PEM_MAX)
		return NULL;
	text[n] = '\0';
	*ret_len = n;
	return steal(&text);
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

/* Replaces the file as a whole; it is never seen half written, nor by others. */
static int write_file(const char *path, struct str text, struct status *st)
{
	char *tmp;

	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		return status_no_memory(st);
	_cleanup_path_ char *owned = tmp;
	_cleanup_close_ int fd = mkostemp(owned, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return file_failed(st, "write", path, errno);
	if (!write_all(fd, text) || fsync(fd) < 0 || rename(owned, path) < 0) {
		int err = errno;
		unlink(owned);
		return file_failed(st, "write", path, err);
	}
	return 0;
}

/* ---- certificates ---- */

/* A certificate with its private key. */
struct identity {
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
};

static void identity_done(struct identity *id)
{
	if (id->crt)
		gnutls_x509_crt_deinit(id->crt);
	if (id->key)
		gnutls_x509_privkey_deinit(id->key);
	*id = (struct identity){0};
}

static int identity_init(struct identity *id)
{
	*id = (struct identity){0};
	int rc = gnutls_x509_crt_init(&id->crt);
	return rc < 0 ? rc : gnutls_x509_privkey_init(&id->key);
}

static int set_serial(gnutls_x509_crt_t crt)
{
	unsigned char serial[16];
	int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (serial[0] & 0x3f) | 0x40; /* positive, and of full length */
	return rc < 0 ? rc : gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
}

/* A fresh key and the fields that CA and server have in common. */
static int identity_prepare(struct identity *id, const char *name, unsigned days)
{
	time_t now = time(NULL);
	int rc = identity_init(id);

	if (rc >= 0)
		rc = gnutls_x509_privkey_generate(id->key, GNUTLS_PK_ECDSA,
						  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key(id->crt, id->key);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_version(id->crt, 3);
	if (rc >= 0)
		rc = set_serial(id->crt);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_dn_by_oid(id->crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
						   (unsigned)strlen(name));
	/* A little earlier, for clocks that go after. */
	if (rc >= 0)
		rc = gnutls_x509_crt_set_activation_time(id->crt, now - 3600);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_expiration_time(id->crt, now + (time_t)days * DAY);
	return rc;
}

static int set_key_ids(gnutls_x509_crt_t crt, gnutls_x509_crt_t issuer)
{
	unsigned char id[64];
	size_t len = sizeof(id);
	int rc = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA1, id, &len);

	if (rc >= 0)
		rc = gnutls_x509_crt_set_subject_key_id(crt, id, len);
	len = sizeof(id);
	if (rc >= 0)
		rc = gnutls_x509_crt_get_key_id(issuer, GNUTLS_KEYID_USE_SHA1, id, &len);
	return rc < 0 ? rc : gnutls_x509_crt_set_authority_key_id(crt, id, len);
}

static int make_ca(struct identity *ca)
{
	int rc = identity_prepare(ca, "holdfs", CA_DAYS);

	if (rc >= 0)
		rc = gnutls_x509_crt_set_basic_constraints(ca->crt, 1, 0);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key_usage(ca->crt, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN |
								    GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (rc >= 0)
		rc = set_key_ids(ca->crt, ca->crt);
	return rc < 0 ? rc : gnutls_x509_crt_sign2(ca->crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0);
}

/* Adds a name or an address to the certificate. */
static int add_name(gnutls_x509_crt_t crt, const char *name)
{
	unsigned char address[16];
	unsigned len = inet_pton(AF_INET, name, address) == 1 ? 4 : inet_pton(AF_INET6, name, address) == 1 ? 16 : 0;

	if (len)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, address, len,
							    GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name),
						    GNUTLS_FSAN_APPEND);
}

static const char *const own_names[] = {
	"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
	"kubernetes.default.svc.cluster.local",
};

static bool is_own_name(const char *host)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
		if (strcmp(host, own_names[i]) == 0)
			return true;
	return false;
}

static int add_names(gnutls_x509_crt_t crt, const char *host)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < sizeof(own_names) / sizeof(own_names[0]); i++)
		rc = add_name(crt, own_names[i]);
	return rc >= 0 && host && host[0] && !is_own_name(host) ? add_name(crt, host) : rc;
}

static int make_leaf(struct identity *leaf, const struct identity *ca, const char *host)
{
	int rc = identity_prepare(leaf, "holdfs-server", LEAF_DAYS);

	if (rc >= 0)
		rc = add_names(leaf->crt, host);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_basic_constraints(leaf->crt, 0, -1);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key_usage(leaf->crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (rc >= 0)
		rc = gnutls_x509_crt_set_key_purpose_oid(leaf->crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (rc >= 0)
		rc = set_key_ids(leaf->crt, ca->crt);
	return rc < 0 ? rc : gnutls_x509_crt_sign2(leaf->crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0);
}

/* ---- identities on disk ---- */

struct names {
	const char *crt, *key;
};

static const struct names ca_names = {"ca.crt", "ca.key"}, leaf_names = {"server.crt", "server.key"};

static bool load_one(const char *path, int (*import)(void *to, const gnutls_datum_t *pem), void *to)
{
	size_t len;
	char *text = path ? read_file(path, &len) : NULL;

	if (!text)
		return false;
	gnutls_datum_t pem = {(unsigned char *)text, (unsigned)len};
	bool good = import(to, &pem) >= 0;
	gnutls_memset(text, 0, len);
	free(text);
	return good;
}

static int import_crt(void *to, const gnutls_datum_t *pem)
{
	return gnutls_x509_crt_import(to, pem, GNUTLS_X509_FMT_PEM);
}

static int import_key(void *to, const gnutls_datum_t *pem)
{
	return gnutls_x509_privkey_import(to, pem, GNUTLS_X509_FMT_PEM);
}

static bool key_fits(const struct identity *id)
{
	unsigned char a[64], b[64];
	size_t alen = sizeof(a), blen = sizeof(b);

	return gnutls_x509_crt_get_key_id(id->crt, 0, a, &alen) >= 0 &&
	       gnutls_x509_privkey_get_key_id(id->key, 0, b, &blen) >= 0 && alen == blen && memcmp(a, b, alen) == 0;
}

/* Both files are there, belong together and last a while. */
static bool identity_load(struct identity *id, const char *dir, const struct names *n)
{
	_cleanup_path_ char *crt = path_of(dir, n->crt);
	_cleanup_path_ char *key = path_of(dir, n->key);

	return identity_init(id) >= 0 && load_one(crt, import_crt, id->crt) && load_one(key, import_key, id->key) &&
	       key_fits(id) && gnutls_x509_crt_get_expiration_time(id->crt) > time(NULL) + RENEW_DAYS * DAY;
}

static int save_datum(const char *dir, const char *name, gnutls_datum_t *pem, struct status *st)
{
	_cleanup_path_ char *path = path_of(dir, name);
	int rc = path ? write_file(path, str_n((char *)pem->data, pem->size), st) : status_no_memory(st);

	gnutls_memset(pem->data, 0, pem->size);
	gnutls_free(pem->data);
	return rc;
}

/* The key first: a certificate without its key would be made anew, a key without its certificate as well. */
static int identity_save(const struct identity *id, const char *dir, const struct names *n, struct status *st)
{
	gnutls_datum_t pem;
	int rc = gnutls_x509_privkey_export2(id->key, GNUTLS_X509_FMT_PEM, &pem);

	if (rc < 0)
		return tls_failed(st, "export a key", rc);
	rc = save_datum(dir, n->key, &pem, st);
	if (rc < 0)
		return rc;
	rc = gnutls_x509_crt_export2(id->crt, GNUTLS_X509_FMT_PEM, &pem);
	if (rc < 0)
		return tls_failed(st, "export a certificate", rc);
	return save_datum(dir, n->crt, &pem, st);
}

static int ensure_ca(const char *dir, struct identity *ca, struct status *st)
{
	if (identity_load(ca, dir, &ca_names))
		return 0;
	identity_done(ca);
	int rc = make_ca(ca);
	return rc < 0 ? tls_failed(st, "make a CA", rc) : identity_save(ca, dir, &ca_names, st);
}

static bool leaf_good(struct identity *leaf, const struct identity *ca, const char *dir, const char *host)
{
	return identity_load(leaf, dir, &leaf_names) && gnutls_x509_crt_check_issuer(leaf->crt, ca->crt) &&
	       (!host || !host[0] || gnutls_x509_crt_check_hostname(leaf->crt, host));
}

static int ensure_leaf(const char *dir, const char *host, const struct identity *ca, struct status *st)
{
	_cleanup_(identity_done) struct identity leaf = {0};

	if (leaf_good(&leaf, ca, dir, host))
		return 0;
	identity_done(&leaf);
	int rc = make_leaf(&leaf, ca, host);
	return rc < 0 ? tls_failed(st, "make a certificate", rc) : identity_save(&leaf, dir, &leaf_names, st);
}

static int ensure_pki(const char *dir, const char *host, struct status *st)
{
	_cleanup_(identity_done) struct identity ca = {0};

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return file_failed(st, "make", dir, errno);
	int rc = ensure_ca(dir, &ca, st);
	return rc < 0 ? rc : ensure_leaf(dir, host, &ca, st);
}

/* ---- token ---- */

static int ensure_token(const char *path, struct status *st)
{
	unsigned char bytes[TOKEN_BYTES];
	char hex[2 * TOKEN_BYTES + 2];

	if (access(path, R_OK) == 0)
		return 0;
	int rc = gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof(bytes));
	if (rc < 0)
		return tls_failed(st, "get random bytes", rc);
	for (unsigned i = 0; i < TOKEN_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	hex[2 * TOKEN_BYTES] = '\n';
	rc = write_file(path, str_n(hex, 2 * TOKEN_BYTES + 1), st);
	gnutls_memset(hex, 0, sizeof(hex));
	gnutls_memset(bytes, 0, sizeof(bytes));
	return rc;
}

static int load(const char *dir, const char *name, struct str *ret, struct status *st)
{
	_cleanup_path_ char *path = path_of(dir, name);

	if (!path)
		return status_no_memory(st);
	ret->ptr = read_file(path, &ret->len);
	return ret->ptr ? 0 : file_failed(st, "read", path, EIO);
}

static int load_all(const char *dir, struct tls_files *f, struct status *st)
{
	int rc = load(dir, "pki/ca.crt", &f->ca_pem, st);

	if (rc == 0)
		rc = load(dir, "pki/server.crt", &f->cert_pem, st);
	if (rc == 0)
		rc = load(dir, "pki/server.key", &f->key_pem, st);
	if (rc == 0)
		rc = load(dir, "token", &f->token, st);
	while (f->token.len && f->token.ptr[f->token.len - 1] == '\n')
		f->token.len--;
	return rc;
}

int tls_ensure(const char *dir, const char *host, struct tls_files *ret, struct status *st)
{
	_cleanup_path_ char *pki = path_of(dir, "pki");
	_cleanup_path_ char *token = path_of(dir, "token");
	struct tls_files f = {0};

	if (!pki || !token)
		return status_no_memory(st);
	int rc = ensure_pki(pki, host, st);
	if (rc == 0)
		rc = ensure_token(token, st);
	if (rc == 0)
		rc = load_all(dir, &f, st);
	if (rc == 0 && !f.token.len)
		rc = status_set(st, REASON_UNAVAILABLE, "%s is empty", token);
	if (rc < 0) {
		tls_files_done(&f);
		return rc;
	}
	*ret = f;
	return 0;
}

static void wipe(struct str *s)
{
	if (s->ptr)
		gnutls_memset((char *)s->ptr, 0, s->len);
	free((char *)s->ptr);
	*s = (struct str){0};
}

void tls_files_done(struct tls_files *f)
{
	wipe(&f->ca_pem);
	wipe(&f->cert_pem);
	wipe(&f->key_pem);
	wipe(&f->token);
}

int digest_sha512_hex(struct str bytes, char out[DIGEST_HEX + 1], struct status *st)
{
	unsigned char digest[DIGEST_HEX / 2];
	int rc = gnutls_hash_fast(GNUTLS_DIG_SHA512, bytes.ptr ? bytes.ptr : "", bytes.len, digest);

	if (rc < 0)
		return tls_failed(st, "compute a digest", rc);
	for (unsigned i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02X", digest[i]);
	return 0;
}
