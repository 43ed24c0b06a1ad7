// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen of a set from outside: its counters, and its fds in
 * /proc/PID/fdinfo.  The file devepoll/stats in debugfs shows the sums over all
 * sets, including those that have been closed.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/readers.h"
#include "core/stats.h"

/* The list of all sets; nests L. */
static DEFINE_MUTEX(stats_lock);
static LIST_HEAD(stats_sets);

/* The sums over the sets that have been closed. */
static struct dep_stats stats_gone;
static u64 wakes_gone;

static struct dentry *stats_dir;

static void stats_add(struct dep_stats *to, const struct dep_stats *from)
{
	to->adds += from->adds;
	to->mods += from->mods;
	to->dels += from->dels;
	to->closes += from->closes;
	to->asks += from->asks;
	to->waits += from->waits;
	to->handed += from->handed;
	to->takes += from->takes;
	to->taken += from->taken;
}

static struct dep_stats stats_of(const struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	/* Some are counted with M and without L: the last may be missed. */
	return data_race(inst->stats);
}

/**
 * dep_stats_join() - count a new set
 * @inst: the instance
 */
void dep_stats_join(struct dep_instance *inst)
{
	mutex_lock(&stats_lock);
	list_add_tail(&inst->in_all, &stats_sets);
	mutex_unlock(&stats_lock);
}

/**
 * dep_stats_leave() - take a set that is closed out of the list
 * @inst: the instance; nothing counts in it any more
 */
void dep_stats_leave(struct dep_instance *inst)
{
	mutex_lock(&stats_lock);
	list_del(&inst->in_all);
	stats_add(&stats_gone, &inst->stats);
	wakes_gone += inst->wakes;
	mutex_unlock(&stats_lock);
}

static int stats_show(struct seq_file *seq, void *unused)
{
	struct dep_instance *inst;
	struct dep_stats sum, one;
	u64 sets = 0, items = 0, wakes;

	mutex_lock(&stats_lock);
	sum = stats_gone;
	wakes = wakes_gone;
	list_for_each_entry(inst, &stats_sets, in_all) {
		spin_lock_irq(&inst->lock);
		one = stats_of(inst);
		stats_add(&sum, &one);
		wakes += inst->wakes;
		items += inst->nr_items;
		spin_unlock_irq(&inst->lock);
		sets++;
		cond_resched();
	}
	mutex_unlock(&stats_lock);

	seq_printf(seq, "sets %llu\nitems %llu\nadds %llu\nmods %llu\n", sets,
		   items, sum.adds, sum.mods);
	seq_printf(seq, "dels %llu\ncloses %llu\nwakes %llu\nasks %llu\n",
		   sum.dels, sum.closes, wakes, sum.asks);
	seq_printf(seq, "harvests %llu\nevents %llu\n",
		   sum.waits + sum.takes, sum.handed + sum.taken);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(stats);

/**
 * dep_stats_init() - make the file in debugfs, if there is a debugfs
 */
void __init dep_stats_init(void)
{
	stats_dir = debugfs_create_dir("devepoll", NULL);
	debugfs_create_file("stats", 0444, stats_dir, NULL, &stats_fops);
}

/**
 * dep_stats_exit() - remove the file in debugfs
 */
void dep_stats_exit(void)
{
	debugfs_remove(stats_dir);
}

static void stats_read(struct dep_instance *inst, struct devepoll_stats *stats)
{
	struct dep_stats now;

	spin_lock_irq(&inst->lock);
	now = stats_of(inst);
	*stats = (struct devepoll_stats) {
		.items = inst->nr_items,
		.ready = inst->extended ? inst->nr_ready :
					  inst->pending + inst->nr_ready,
		.adds = now.adds,
		.mods = now.mods,
		.dels = now.dels,
		.closes = now.closes,
		.wakes = inst->wakes,
		.asks = now.asks,
		.harvests = now.waits + now.takes,
		.events = now.handed + now.taken,
	};
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_stats_get() - copy the counters to the program
 * @inst: the instance
 * @arg: address to write to
 * @size: how many bytes the program expects
 *
 * Context: process; sleeps.
 * Return: 0;
 * -EFAULT: the address can't be written to.
 */
long dep_stats_get(struct dep_instance *inst, void __user *arg, size_t size)
{
	struct devepoll_stats stats;

	stats_read(inst, &stats);
	return copy_struct_to_user(arg, size, &stats, sizeof(stats), NULL);
}

/**
 * struct stats_line - one fd, as fdinfo shows it
 * @fd: the number
 * @events: the events asked for
 * @revents: the events that wait, as far as they are known
 * @mode: DEP_MODE_*
 * @data: the user data
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

/**
 * struct stats_place - how far fdinfo has got
 * @fd: the number
 * @nr: how many items of this number have been shown
 */
struct stats_place {
	unsigned int fd;
	u32 nr;
};

/* The item at a place, or else the first item of the next number. */
static struct dep_item *stats_find(struct dep_instance *inst,
				   struct stats_place *place)
{
	struct dep_item *item = dep_fdmap_find(&inst->interest, place->fd);
	u32 i;

	for (i = 0; item && i < place->nr; i++)
		item = dep_item_peer(item);
	if (!item) {
		if (place->nr)
			place->fd++;
		place->nr = 0;
		item = dep_fdmap_next(&inst->interest, &place->fd);
	}
	place->nr++;
	return item;
}

/* Copies the next item of the set; false if there is none. */
static bool stats_next(struct dep_instance *inst, struct stats_place *place,
		       struct stats_line *line)
{
	struct dep_item *item;
	struct inode *inode;

	spin_lock_irq(&inst->lock);
	item = stats_find(inst, place);
	if (item) {
		/* The hook has not let the file go yet: the item is hooked. */
		inode = item->file ? file_inode(item->file) : NULL;
		*line = (struct stats_line) {
			.fd = item->fd,
			.events = item->events,
			.revents = item->revents,
			.mode = item->mode,
			.data = item->data,
			.ready = !list_empty(&item->ready),
			.ino = inode ? inode->i_ino : 0,
			.dev = inode ? inode->i_sb->s_dev : 0,
		};
	}
	spin_unlock_irq(&inst->lock);
	return item;
}

/*
 * The set is named as the trace events name it.  All fds of a set, in every
 * process, show the same name.
 */
static void stats_show_counters(struct dep_instance *inst, struct seq_file *seq)
{
	struct devepoll_stats stats;

	stats_read(inst, &stats);
	seq_printf(seq, "set:\t%p\nitems:\t%llu\nready:\t%llu\n", inst,
		   stats.items, stats.ready);
	seq_printf(seq, "wakes:\t%llu\nasks:\t%llu\nharvests:\t%llu\nevents:\t%llu\n",
		   stats.wakes, stats.asks, stats.harvests, stats.events);
}

/**
 * dep_stats_show() - show the counters of a set, and list its fds
 * @inst: the instance
 * @seq: /proc/PID/fdinfo/FD of the set
 *
 * Fds that are added or removed meanwhile may or may not be listed.
 */
void dep_stats_show(struct dep_instance *inst, struct seq_file *seq)
{
	struct stats_place place = {};
	struct stats_line line;

	if (DEP_HAS_CLOSED)
		dep_readers_show(inst, seq);
	stats_show_counters(inst, seq);
	while (stats_next(inst, &place, &line)) {
		seq_printf(seq,
			   "tfd: %8d events: %8x data: %16llx ino:%lx sdev:%x ready:%d revents:%x%s%s\n",
			   line.fd,
			   line.events | (line.mode & ~DEP_MODE_OWN),
			   line.data, line.ino, line.dev, line.ready,
			   line.revents,
			   line.mode & DEP_MODE_TRUST ? " trust" : "",
			   line.mode & DEP_MODE_TELL_CLOSED ? " closed" : "");
		if (seq_has_overflowed(seq))
			break;
		cond_resched();
	}
}
