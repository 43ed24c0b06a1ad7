// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen of a set from outside: its counters, and its fds in
 * /proc/PID/fdinfo.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "instance.h"
#include "stats.h"

/**
 * dep_stats_get() - give the program the counters
 * @inst: the instance
 * @arg: where to
 * @size: how many bytes the program has for them
 *
 * Return: 0;
 * -EFAULT: they can't be written there.
 */
long dep_stats_get(struct dep_instance *inst, void __user *arg, size_t size)
{
	struct devepoll_stats stats;
	size_t known = min(size, sizeof(stats));

	spin_lock_irq(&inst->lock);
	stats = (struct devepoll_stats) {
		.items = inst->nr_items,
		.ready = inst->extended ? inst->nr_asks :
					  inst->pending + inst->nr_asks,
		.adds = inst->stats.adds,
		.mods = inst->stats.mods,
		.dels = inst->stats.dels,
		.closes = inst->stats.closes,
		.wakes = inst->stats.wakes,
		.asks = inst->stats.asks,
		.harvests = inst->stats.harvests,
		.events = inst->stats.events,
	};
	spin_unlock_irq(&inst->lock);

	if (copy_to_user(arg, &stats, known) ||
	    clear_user(arg + known, size - known))
		return -EFAULT;
	return 0;
}

/**
 * struct stats_line - one fd, as fdinfo shows it
 * @fd: the number
 * @events: the events asked for
 * @revents: those that wait, as far as they are known
 * @mode: DEP_MODE_*
 * @data: what the program gets back
 * @ready: it may be ready
 * @ino: inode number of its file
 * @dev: device of its file
 */
struct stats_line {
	int fd;
	u16 events;
	u16 revents;
	u32 mode;
	u64 data;
	bool ready;
	unsigned long ino;
	dev_t dev;
};

/* The next item from a number on; false if there is none. */
static bool stats_next(struct dep_instance *inst, unsigned int *fd,
		       struct stats_line *line)
{
	struct dep_item *item;
	struct inode *inode;

	spin_lock_irq(&inst->lock);
	item = dep_fdmap_next(&inst->interest, fd);
	if (item) {
		/* Hooked, so the hook has not let the file go yet. */
		inode = file_inode(item->file);
		*line = (struct stats_line) {
			.fd = item->fd,
			.events = item->events,
			.revents = item->revents,
			.mode = item->mode,
			.data = item->data,
			.ready = !list_empty(&item->ask),
			.ino = inode->i_ino,
			.dev = inode->i_sb->s_dev,
		};
	}
	spin_unlock_irq(&inst->lock);
	return item;
}

/**
 * dep_stats_show() - list the fds of a set
 * @inst: the instance
 * @seq: /proc/PID/fdinfo/FD of the set
 *
 * Fds that come or go meanwhile are listed or not.
 */
void dep_stats_show(struct dep_instance *inst, struct seq_file *seq)
{
	struct stats_line line;
	unsigned int fd = 0;

	seq_printf(seq, "interface:\t%s\n",
		   READ_ONCE(inst->extended) ? "extended" : "2001");
	for (; stats_next(inst, &fd, &line); fd++) {
		seq_printf(seq,
			   "tfd: %8d events: %8x data: %16llx ino:%lx sdev:%x ready:%d revents:%x%s%s\n",
			   line.fd,
			   line.events | (line.mode & ~(DEP_MODE_TRUST |
							DEP_MODE_TELL_CLOSED)),
			   line.data, line.ino, line.dev, line.ready,
			   line.revents,
			   line.mode & DEP_MODE_TRUST ? " trust" : "",
			   line.mode & DEP_MODE_TELL_CLOSED ? " closed" : "");
		if (seq_has_overflowed(seq))
			break;
		cond_resched();
	}
}
