// SPDX-License-Identifier: GPL-2.0
/*
 * Lets a module that gcc compiled with -fsanitize-coverage=trace-pc tell which
 * of its basic blocks run, on a kernel without CONFIG_KCOV.  tools/fuzz/run
 * adds this file to a copy of the module.
 *
 * A mapping of /dev/devepoll-fuzz has COVER_BLOCKS counters, one for each
 * block, and reading the node tells how many blocks were reached.  What is
 * written to it is an input: when the kernel panics, it prints the latest ones,
 * so the input that it died of is known.
 */
#include <linux/debug_locks.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/panic_notifier.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "coverage.h"
#include "fuzz_limits.h"

/* Memory may be freed some inputs after the one that is to blame. */
#define INPUTS		8

/* The module's code, in steps of 4 bytes. */
#define PLACES		(1 << 18)

/*
 * Blocks are numbered in the order in which they are first reached; two
 * processors that do so at the same time may use up two numbers.
 */
static u16 *numbers;
static atomic_t last_number;
static atomic_t nr_reached;

static u8 *counters;

static u8 inputs[INPUTS][FUZZ_MOST];
static size_t input_sizes[INPUTS];
static unsigned int nr_inputs;

/* A line of the log, in hexadecimal. */
static char line[2 * FUZZ_MOST + 1];

void __sanitizer_cov_trace_pc(void);

/*
 * Two calls of this function return to places that are five bytes apart at
 * least, and the module is smaller than 4 * PLACES.
 */
static unsigned int cover_counter(unsigned long at)
{
	u16 *number = &numbers[at / 4 % PLACES], new;

	if (READ_ONCE(*number))
		return READ_ONCE(*number);
	new = atomic_inc_return(&last_number);
	if (!cmpxchg(number, 0, new))
		atomic_inc(&nr_reached);
	return READ_ONCE(*number);
}

/* Processors may lose each other's counts. */
void notrace __sanitizer_cov_trace_pc(void)
{
	u8 *counter = READ_ONCE(counters), count;

	if (!counter)
		return;
	counter += cover_counter((unsigned long)__builtin_return_address(0)) %
		   COVER_BLOCKS;
	count = READ_ONCE(*counter);
	if (count != U8_MAX)
		WRITE_ONCE(*counter, count + 1);
}

/* printk() formats 64 bytes at a time. */
static void cover_format(const u8 *input, size_t size)
{
	size_t at = 0, done, part;

	line[0] = '\0';
	for (done = 0; done < size; done += part) {
		part = min_t(size_t, size - done, 64);
		at += scnprintf(line + at, sizeof(line) - at, "%*phN",
				(int)part, input + done);
	}
}

static int cover_tell(struct notifier_block *block, unsigned long event,
		      void *reason)
{
	unsigned int i, nr = min_t(unsigned int, nr_inputs, INPUTS);

	for (i = nr_inputs - nr; i != nr_inputs; i++) {
		cover_format(inputs[i % INPUTS], input_sizes[i % INPUTS]);
		pr_emerg("devepoll-fuzz: input %s\n", line);
	}
	return NOTIFY_DONE;
}

static struct notifier_block cover_panic = {
	.notifier_call = cover_tell,
};

/* A report of lockdep does not stop the kernel by itself. */
static void cover_check_locks(void)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) && !debug_locks)
		panic("devepoll-fuzz: lockdep has found something");
}

static ssize_t cover_write(struct file *file, const char __user *from,
			   size_t size, loff_t *pos)
{
	unsigned int at = nr_inputs % INPUTS;

	cover_check_locks();
	if (size > FUZZ_MOST)
		return -EINVAL;
	if (copy_from_user(inputs[at], from, size))
		return -EFAULT;
	input_sizes[at] = size;
	nr_inputs++;
	return size;
}

/* How many blocks have been reached since the module was loaded. */
static ssize_t cover_read(struct file *file, char __user *to, size_t size,
			  loff_t *pos)
{
	char text[16];
	int len = scnprintf(text, sizeof(text), "%d\n",
			    atomic_read(&nr_reached));

	return simple_read_from_buffer(to, size, pos, text, len);
}

static int cover_mmap(struct file *file, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, counters, 0);
}

static const struct file_operations cover_fops = {
	.owner = THIS_MODULE,
	.read = cover_read,
	.write = cover_write,
	.mmap = cover_mmap,
};

static struct miscdevice cover_node = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "devepoll-fuzz",
	.fops = &cover_fops,
	.mode = 0600,
};

static int __init cover_init(void)
{
	int err;

	numbers = vzalloc(PLACES * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	counters = vmalloc_user(COVER_BLOCKS);
	err = -ENOMEM;
	if (!counters)
		goto err_numbers;
	err = misc_register(&cover_node);
	if (err)
		goto err_counters;
	err = devepoll_init();
	if (err)
		goto err_node;
	atomic_notifier_chain_register(&panic_notifier_list, &cover_panic);
	return 0;

err_node:
	misc_deregister(&cover_node);
err_counters:
	vfree(counters);
err_numbers:
	vfree(numbers);
	return err;
}

static void __exit cover_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &cover_panic);
	devepoll_exit();
	misc_deregister(&cover_node);
	vfree(counters);
	vfree(numbers);
}

module_init(cover_init);
module_exit(cover_exit);
