// SPDX-License-Identifier: GPL-2.0
/*
 * Disables ftrace for good, for load_dead_test, as the kernel does when it
 * finds a bug in it: by ftrace_kill(), whose address a kprobe tells.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static int __init load_ftrace_kill_init(void)
{
	struct kprobe probe = { .symbol_name = "ftrace_kill" };
	void (*kill)(void);
	int err;

	err = register_kprobe(&probe);
	if (err)
		return err;
	kill = (void *)probe.addr;
	unregister_kprobe(&probe);
	kill();
	return 0;
}

static void __exit load_ftrace_kill_exit(void)
{
}

module_init(load_ftrace_kill_init);
module_exit(load_ftrace_kill_exit);
MODULE_DESCRIPTION("Turns ftrace off for good");
MODULE_LICENSE("GPL");
