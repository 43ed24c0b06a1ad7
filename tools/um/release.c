// SPDX-License-Identifier: GPL-2.0
/*
 * The release hook on the kernel of tools/um, which has no ftrace: __fput calls
 * a function whose address stands in a variable.  There it takes the place of
 * the module's own release.c.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/rcupdate.h>

#include "files/release.h"
#include "files/table.h"

/* Of the patch of the kernel. */
extern void (*um_fput_hook)(struct file *file);

static void release_hook(struct file *file)
{
	if (unlikely(dep_watch_maybe(file)))
		dep_watch_file_gone(file);
}

int __init dep_release_register(void)
{
	WRITE_ONCE(um_fput_hook, release_hook);
	return 0;
}

/* The hook does not sleep, and nothing preempts it. */
void dep_release_unregister(void)
{
	WRITE_ONCE(um_fput_hook, NULL);
	synchronize_rcu();
}
