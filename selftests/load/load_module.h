/* SPDX-License-Identifier: GPL-2.0 */
/* How the module is loaded and unloaded, and what it leaves. */
#ifndef SELFTESTS_LOAD_MODULE_H
#define SELFTESTS_LOAD_MODULE_H

#include <stdbool.h>

#define MODULE_DIR	"/sys/module/devepoll"

/* 0 or -errno. */
int module_load_file(const char *path, const char *params);
int module_load(const char *params);
int module_unload(void);
/* The last reference may go a moment after the call that dropped it. */
bool module_goes(void);
bool module_is_loaded(void);

bool file_has(const char *path, const char *word);
/* Is there such a path? */
bool matches(const char *pattern);
bool has_slab_caches(void);

/* Makes a set with one eventfd that has fired once: how many are ready. */
int use_set(void);
/* Closes so many files of a set: how many left it. */
#define CLOSES	20
int closed_files_that_left(void);

/* The kernel's log from now on: an fd, or -1. */
int log_open(void);
/*
 * Counts this module's lines in the log since the last call: 1 for each with
 * the word, 100 for each without it, 1000 for a report of the kernel.
 */
int log_new_lines(int log, const char *word);

#endif /* SELFTESTS_LOAD_MODULE_H */
