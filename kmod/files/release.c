// SPDX-License-Identifier: GPL-2.0
/*
 * The release hook: an ftrace_ops on a function that the kernel calls for each
 * file whose last reference is gone, before the file's ->release.
 *
 * FTRACE_OPS_FL_PERMANENT: kernel.ftrace_enabled can't be switched off while we
 * are loaded.  No FTRACE_OPS_FL_RECURSION: ftrace would skip a call that looks
 * like a recursion, and nothing that the handler calls releases a file.
 *
 * With PREEMPT_RT the hook may change where the function goes on (detour.h), as
 * a live patch does, and ftrace allows that to one of them only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "files/detour.h"
#include "files/release.h"

/**
 * struct release_probe - what the self-test looks for
 * @file: the file that it releases, or NULL
 * @hits: how often the hook saw the file
 * @ip: the address at which it did
 */
struct release_probe {
	struct file *file;
	unsigned int hits;
	unsigned long ip;
};

static struct release_probe probe;

/*
 * Called for every file that is released, with preemption on or off: must not
 * sleep, but on its locks with PREEMPT_RT (detour.h).  Lean, since every close
 * on the machine pays for it.
 */
static void notrace release_hook(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	struct file *file = (struct file *)ftrace_regs_get_argument(fregs, 0);

	if (unlikely(file == READ_ONCE(probe.file))) {
		probe.hits++;
		probe.ip = ip;
		dep_detour_try(fregs, ip);
	}
	if (likely(!dep_watch_maybe(file)) || DEP_NO_RELEASE_HOOK)
		return;
	/* Another function of the same name is not ours. */
	if (ip == probe.ip)
		dep_detour_take(fregs, file);
}

#define RELEASE_FLAGS (FTRACE_OPS_FL_PERMANENT | DEP_FTRACE_WITH_ARGUMENTS | \
		       DEP_DETOUR_FLAGS)

/*
 * The functions that can be hooked: only __fput calls the first; the second is
 * __fput itself.  Each has an ops, which can't be used again, since the kernel
 * keeps pointers to the filter that it has freed.
 */
static struct release_way {
	const char *symbol;
	struct ftrace_ops ops;
} release_ways[] = {
	{ "locks_remove_file", { .func = release_hook, .flags = RELEASE_FLAGS } },
	{ "__fput", { .func = release_hook, .flags = RELEASE_FLAGS } },
};

/* The one that is registered. */
static struct ftrace_ops *release_in_use;

static const struct file_operations probe_fops = {
	.owner = THIS_MODULE,
};

/* Runs in a worker, where any kernel lets us release a file at once. */
static void release_probe_work(struct work_struct *work)
{
	__fput_sync(probe.file);
	WRITE_ONCE(probe.file, NULL);
}

/* Releases a file of our own: the hook must see it, and once only. */
static int __init release_selftest(void)
{
	struct work_struct work;
	struct file *file;

	file = anon_inode_getfile("[devepoll]", &probe_fops, NULL, O_RDONLY);
	if (IS_ERR(file))
		return PTR_ERR(file);
	probe.hits = 0;
	WRITE_ONCE(probe.file, file);
	INIT_WORK_ONSTACK(&work, release_probe_work);
	schedule_work(&work);
	flush_work(&work);
	destroy_work_on_stack(&work);
	return probe.hits == 1 ? 0 : -ENXIO;
}

static int __init release_register_on(struct release_way *way)
{
	struct ftrace_ops *ops = &way->ops;
	int err;

	/* The kernel takes a writable string, but does not write to it. */
	err = ftrace_set_filter(ops, (unsigned char *)way->symbol,
				strlen(way->symbol), 1);
	if (err)
		return err;
	err = register_ftrace_function(ops);
	if (err) {
		ftrace_free_filter(ops);
		return err;
	}
	release_in_use = ops;
	err = release_selftest();
	if (err)
		dep_release_unregister();
	return err;
}

/**
 * dep_release_register() - hook the release of files, and check that it works
 *
 * Return: 0, or a negative errno after one line in the log that says what the
 * kernel lacks.
 */
int __init dep_release_register(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(release_ways); i++) {
		err = release_register_on(&release_ways[i]);
		if (!err)
			return 0;
		if (err == -EBUSY)
			break;
	}
	if (err == -EBUSY && DEP_LOCKS_SLEEP)
		pr_err("ftrace is off (kernel.ftrace_enabled=0), or a live patch or kprobe redirects %s\n",
		       release_ways[0].symbol);
	else if (err == -EBUSY)
		pr_err("ftrace is off: set kernel.ftrace_enabled=1 and load again\n");
	else
		pr_err("can't trace %s, and so can't notice when files are closed (%d)\n",
		       release_ways[0].symbol, err);
	return err;
}

/**
 * dep_release_unregister() - remove the hook
 *
 * When this returns, no hook runs.
 */
void dep_release_unregister(void)
{
	int err;

	if (DEP_LOCKS_SLEEP)
		dep_detour_flush();
	err = unregister_ftrace_function(release_in_use);
	if (!err) {
		ftrace_free_filter(release_in_use);
		return;
	}
	/*
	 * After a bug in ftrace nothing can be unhooked: the kernel goes on
	 * calling our text, which must never be freed.
	 */
	pr_crit("can't remove the hook (%d): the module stays until a reboot\n",
		err);
	for (;;)
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
}
