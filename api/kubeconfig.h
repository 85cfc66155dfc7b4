/* SPDX-License-Identifier: Apache-2.0 */
/* The file that tells kubectl where the server is. */
#ifndef HOLDFS_API_KUBECONFIG_H
#define HOLDFS_API_KUBECONFIG_H

#include "store/base/status.h"
#include "store/base/str.h"

/* Writes a kubeconfig (0600, replaced as a whole) with one cluster, user and context named holdfs. ca_pem and
 * token may be empty: plain HTTP. REASON_UNAVAILABLE when it cannot be written. */
int kubeconfig_write(const char *path, const char *url, struct str ca_pem, struct str token, struct status *st);

#endif
