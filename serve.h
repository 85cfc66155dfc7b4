/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of main.c. Each returns an exit code. */
#ifndef HOLDFS_SERVE_H
#define HOLDFS_SERVE_H

struct options;

int command_serve(const struct options *o);

#endif
