// SPDX-License-Identifier: GPL-2.0
/*
 * The part of /dev/epoll that is always in the kernel: whom __fput() calls for
 * a file with the mark of devepoll_release.h.
 */
#include <linux/devepoll_release.h>
#include <linux/export.h>
#include <linux/rcupdate.h>

static void (*release_hook)(struct file *file);

/**
 * devepoll_release_register() - be called for each marked file
 * @hook: the function; it runs in process context, as an RCU reader, before
 *	the file's ->release
 *
 * Return: 0, or -EBUSY if there is a hook.
 */
int devepoll_release_register(void (*hook)(struct file *file))
{
	/* Whoever sees the hook sees what was set up before. */
	return cmpxchg(&release_hook, NULL, hook) ? -EBUSY : 0;
}
EXPORT_SYMBOL_GPL(devepoll_release_register);

/**
 * devepoll_release_unregister() - end that
 *
 * When this returns, no hook runs.
 *
 * Context: process; sleeps.
 */
void devepoll_release_unregister(void)
{
	WRITE_ONCE(release_hook, NULL);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(devepoll_release_unregister);

/* Not in line, since few files have the mark. */
void devepoll_release_marked(struct file *file)
{
	void (*hook)(struct file *file);

	rcu_read_lock();
	/* Pairs with the exchange: the hook's tables are there. */
	hook = smp_load_acquire(&release_hook);
	if (hook)
		hook(file);
	rcu_read_unlock();
}
