// SPDX-License-Identifier: GPL-2.0
/* The hook's work where its locks sleep: see detour.h. */
#include <linux/srcu.h>

#include "files/detour.h"

unsigned long dep_detour_back __ro_after_init;

DEFINE_STATIC_SRCU(detour_srcu);

/**
 * dep_detour_file_gone() - the hook's work
 * @file: the file that is released
 *
 * unregister_ftrace_function() does not wait for a task that has slept in the
 * hook.  dep_detour_flush() waits for those, which are in this SRCU section; a
 * task that comes later finds nothing watched, and does not sleep.
 *
 * Context: process; sleeps.
 */
void dep_detour_file_gone(struct file *file)
{
	int idx = srcu_read_lock(&detour_srcu);

	if (dep_watch_maybe(file))
		dep_watch_file_gone(file);
	srcu_read_unlock(&detour_srcu, idx);
}

/**
 * dep_detour_flush() - wait until no task sleeps in the hook
 *
 * The caller makes sure that no file is watched any more.
 *
 * Context: process; sleeps.
 */
void dep_detour_flush(void)
{
	synchronize_srcu(&detour_srcu);
}
