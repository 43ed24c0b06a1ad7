// SPDX-License-Identifier: GPL-2.0
/*
 * Makes KCSAN watch devepoll instead of the rest of the kernel: whenever a
 * function of the module begins, one of the next accesses is to be watched.
 * KCSAN counts down to it in a variable of each processor.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>

/* Of so many functions that begin, the accesses of one are watched. */
static unsigned int every = 16;
module_param(every, uint, 0644);

/* How many accesses of it may come before the one that is. */
static unsigned int away = 24;
module_param(away, uint, 0644);

static long __percpu *skip;
static DEFINE_PER_CPU(u32, focus_seed);

static void notrace focus_enter(unsigned long ip, unsigned long parent,
				struct ftrace_ops *ops,
				struct ftrace_regs *regs)
{
	u32 seed = this_cpu_read(focus_seed) * 1664525 + 1013904223;

	this_cpu_write(focus_seed, seed);
	if (!((seed >> 8) % every))
		this_cpu_write(*skip, (seed >> 16) % away);
}

static struct ftrace_ops focus_ops = {
	.func = focus_enter,
};

/* Takes the address of a function, or "." after the last of them. */
static int focus_add(const char *text, const struct kernel_param *param)
{
	unsigned long ip;
	int err;

	if (*text == '.')
		return register_ftrace_function(&focus_ops);
	err = kstrtoul(text, 16, &ip);
	/* What the compiler made of a function may not begin with a call. */
	if (!err)
		ftrace_set_filter_ip(&focus_ops, ip, 0, 0);
	return err;
}

static const struct kernel_param_ops focus_add_ops = {
	.set = focus_add,
};
module_param_cb(function, &focus_add_ops, NULL, 0200);

/* The variable is static, and the function that finds it not exported. */
static unsigned long __init find(const char *name)
{
	unsigned long (*lookup)(const char *name);
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };

	if (register_kprobe(&probe))
		return 0;
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	return lookup(name);
}

static int __init focus_init(void)
{
	skip = (long __percpu *)find("kcsan_skip");
	return skip ? 0 : -ENOENT;
}

static void __exit focus_exit(void)
{
	unregister_ftrace_function(&focus_ops);
}

module_init(focus_init);
module_exit(focus_exit);
MODULE_DESCRIPTION("Makes KCSAN watch devepoll");
MODULE_LICENSE("GPL");
