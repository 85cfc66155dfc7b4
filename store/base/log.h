/* SPDX-License-Identifier: Apache-2.0 */
/* One line on standard error, logfmt: `level=warn msg="..." key=value`. Never object bodies. */
#ifndef HOLDFS_LOG_H
#define HOLDFS_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* The one mutable global of the project besides the signal pipe; set once at start. */
void log_set_level(enum log_level level);

/* Any thread. store/ does not log: api/ and fs/ log where a request ends, main.c what starts and stops. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
