/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates, token and digests, by GnuTLS (the only user of <gnutls/...>). */
#ifndef HOLDFS_API_TLS_H
#define HOLDFS_API_TLS_H

#include "store/base/status.h"
#include "store/base/str.h"

/* PEM texts and the admin's token; memory of its own. */
struct tls_files {
	struct str ca_pem, cert_pem, key_pem;
	struct str token;
};

/* Reads DIR/pki/{ca.crt,ca.key,server.crt,server.key} and DIR/token. What is missing, expires within a month or does
 * not name `host` (may be NULL) is made anew: a CA and a server certificate (ECDSA P-256) for localhost, 127.0.0.1,
 * ::1 and host; 256 random bits of token. Keys and token are 0600. REASON_UNAVAILABLE when that fails. */
int tls_ensure(const char *dir, const char *host, struct tls_files *ret, struct status *st);
/* Wipes and frees. */
void tls_files_done(struct tls_files *f);

enum { DIGEST_HEX = 128 };

/* Writes the SHA-512 of bytes as upper-case hex digits and a NUL. */
int digest_sha512_hex(struct str bytes, char out[DIGEST_HEX + 1], struct status *st);

#endif
