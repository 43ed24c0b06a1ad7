// SPDX-License-Identifier: GPL-2.0
/*
 * The readers of a set: how they are made and freed, and which of them have
 * ended.  Read the banner of holds.c first.
 */
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "core/readers.h"
#include "core/relay.h"
#include "core/waiter.h"

/* Has the thread ended, or called execve(2)? */
static bool reader_has_ended(const struct dep_reader *reader)
{
	struct task_struct *task;
	bool ended;

	rcu_read_lock();
	task = pid_task(reader->pid, PIDTYPE_PID);
	ended = !task || READ_ONCE(task->flags) & PF_EXITING ||
		READ_ONCE(task->self_exec_id) != reader->program;
	rcu_read_unlock();
	return ended;
}

/* Lists closed items that no longer wait for the reader that held them. */
static bool readers_list(struct dep_instance *inst, struct list_head *held,
			 u32 *nr)
{
	lockdep_assert_held(&inst->lock);
	if (!*nr)
		return false;
	list_splice_tail_init(held, &inst->ready);
	inst->nr_ready += *nr;
	inst->readers->nr_held -= *nr;
	*nr = 0;
	if (inst->sink->listed)
		inst->sink->listed(inst);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
	return true;
}

/**
 * dep_reader_leave() - a thread is no reader any more
 * @readers: the readers of an instance that is locked
 * @reader: one of them; the caller frees it, with nothing held
 * @listed: set to true if closed items came to the ready list
 */
void dep_reader_leave(struct dep_readers *readers, struct dep_reader *reader,
		      bool *listed)
{
	struct dep_hold *hold = &reader->hold;

	rb_erase(&hold->node, &readers->out);
	rb_erase(&reader->by_pid, &readers->threads);
	list_del(&reader->entry);
	readers->nr--;
	*listed |= readers_list(readers->inst, &hold->held, &hold->nr_held);
}

static void reader_free(struct dep_reader *reader)
{
	put_pid(reader->pid);
	kfree(reader);
}

/**
 * dep_readers_look() - look for threads that have ended
 * @readers: the readers of an instance that is locked
 * @left: how many threads to look at, the least recently checked ones first
 * @ended: out: those that have ended, for dep_readers_free_ended()
 *
 * Return: true if closed items came to the ready list.
 */
bool dep_readers_look(struct dep_readers *readers, u32 left,
		      struct list_head *ended)
{
	struct dep_reader *reader;
	bool listed = false;

	lockdep_assert_held(&readers->inst->lock);
	for (left = min(left, readers->nr); left; left--) {
		reader = list_first_entry(&readers->all, struct dep_reader,
					  entry);
		list_move_tail(&reader->entry, &readers->all);
		if (!reader_has_ended(reader))
			continue;
		dep_reader_leave(readers, reader, &listed);
		list_add(&reader->entry, ended);
	}
	return listed;
}

/**
 * dep_readers_free_ended() - free readers that have left
 * @ended: the readers, linked by dep_reader.entry
 *
 * Context: process, with nothing held.
 */
void dep_readers_free_ended(struct list_head *ended)
{
	struct dep_reader *reader, *next;

	list_for_each_entry_safe(reader, next, ended, entry)
		reader_free(reader);
}

/*
 * Checks whether readers have ended, while they hold something back and the set
 * is open: the less often, the longer this takes.
 */
static void readers_check(struct work_struct *work)
{
	struct dep_readers *readers = container_of(to_delayed_work(work),
						   struct dep_readers, check);
	struct dep_instance *inst = readers->inst;
	LIST_HEAD(ended);

	spin_lock_irq(&inst->lock);
	/* Makes a consumer that never sleeps show what it has given back. */
	if (readers->nr_held && readers->sets)
		inst->sink->listed(inst);
	if (dep_readers_look(readers, DEP_READERS_LOOKED, &ended))
		dep_instance_wake(inst);
	if (readers->nr_held) {
		readers->pause = min(2 * readers->pause, DEP_READERS_PAUSE);
		queue_delayed_work(system_percpu_wq, &readers->check,
				   readers->pause);
	} else {
		readers->pause = 0;
	}
	spin_unlock_irq(&inst->lock);
	dep_readers_free_ended(&ended);
}

/**
 * dep_readers_watch() - something is held back from now on
 * @readers: the readers of an instance that is locked
 *
 * Context: any.
 */
void dep_readers_watch(struct dep_readers *readers)
{
	if (readers->pause == DEP_READERS_SOON)
		return;
	readers->pause = DEP_READERS_SOON;
	mod_delayed_work(system_percpu_wq, &readers->check, readers->pause);
}

static int readers_make_sets(struct dep_readers *readers)
{
	struct dep_instance *inst = readers->inst;
	struct dep_hold *sets;
	u32 i;

	sets = kvcalloc(inst->ring->nr_sets, sizeof(*sets), GFP_KERNEL_ACCOUNT);
	if (!sets)
		return -ENOMEM;
	for (i = 0; i < inst->ring->nr_sets; i++)
		dep_hold_init(&sets[i]);
	spin_lock_irq(&inst->lock);
	readers->sets = sets;
	readers->filling = ++readers->clock;
	/* So that dep_ring_switch() comes to dep_reader_switch(). */
	WRITE_ONCE(inst->ring->plain_sets, 0);
	spin_unlock_irq(&inst->lock);
	return 0;
}

/**
 * dep_readers_make() - get ready for an fd that reports its close
 * @inst: the instance, of the extended interface
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0, or -ENOMEM.
 */
int dep_readers_make(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;

	lockdep_assert_held(&inst->mtx);
	if (!readers) {
		readers = kzalloc(sizeof(*readers), GFP_KERNEL_ACCOUNT);
		if (!readers)
			return -ENOMEM;
		readers->inst = inst;
		readers->out = RB_ROOT;
		readers->threads = RB_ROOT;
		INIT_LIST_HEAD(&readers->all);
		INIT_LIST_HEAD(&readers->freed);
		INIT_DELAYED_WORK(&readers->check, readers_check);
		spin_lock_irq(&inst->lock);
		WRITE_ONCE(inst->readers, readers);
		WRITE_ONCE(inst->plain, false);
		spin_unlock_irq(&inst->lock);
	}
	return dep_instance_has_ring(inst) && !readers->sets ?
		       readers_make_sets(readers) : 0;
}

/* Takes some readers out; false if there are none. */
static bool readers_drain_some(struct dep_readers *readers)
{
	struct dep_instance *inst = readers->inst;
	u32 left = DEP_LOOK_BATCH;
	LIST_HEAD(ended);
	bool listed = false;

	spin_lock_irq(&inst->lock);
	while (left-- && !list_empty(&readers->all)) {
		struct dep_reader *reader;

		reader = list_first_entry(&readers->all, struct dep_reader,
					  entry);
		dep_reader_leave(readers, reader, &listed);
		list_add(&reader->entry, &ended);
	}
	spin_unlock_irq(&inst->lock);
	if (list_empty(&ended))
		return false;
	dep_readers_free_ended(&ended);
	cond_resched();
	return true;
}

/**
 * dep_readers_drain() - list all closed items that are held back
 * @inst: the instance, which is being closed and has no item any more
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_readers_drain(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;
	u32 i;

	if (!readers)
		return;
	while (readers_drain_some(readers))
		;
	for (i = 0; readers->sets && i < inst->ring->nr_sets; i++) {
		spin_lock_irq(&inst->lock);
		readers_list(inst, &readers->sets[i].held,
			     &readers->sets[i].nr_held);
		spin_unlock_irq(&inst->lock);
		cond_resched();
	}
	spin_lock_irq(&inst->lock);
	dep_readers_list_freed(inst);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_readers_free() - free what dep_readers_make() has made
 * @inst: the instance; nothing is held back, and nobody else can reach it
 *
 * Context: process; sleeps.
 */
void dep_readers_free(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;

	if (!readers)
		return;
	cancel_delayed_work_sync(&readers->check);
	WARN_ON_ONCE(readers->nr || readers->nr_held);
	kfree(readers->spare);
	kfree(readers->idle);
	kvfree(readers->sets);
	kfree(readers);
	inst->readers = NULL;
}

/**
 * dep_readers_list_freed() - list items that slot sets no longer hold back
 * @inst: the instance, locked, with readers; nobody is taking items off its
 *	ready list
 *
 * Context: any.
 */
void dep_readers_list_freed(struct dep_instance *inst)
{
	struct dep_readers *readers = inst->readers;

	readers_list(inst, &readers->freed, &readers->nr_freed);
}

/* What is shown of a reader; copied while L is held. */
struct reader_line {
	pid_t pid;
	u32 nr_held;
};

/**
 * dep_readers_show() - show which readers hold something back
 * @inst: the instance
 * @seq: /proc/PID/fdinfo/FD of the set
 *
 * Threads are shown by their number in the namespace of this /proc, which is 0
 * for one that has ended; the first DEP_READERS_SHOWN of them.
 */
void dep_readers_show(struct dep_instance *inst, struct seq_file *seq)
{
	struct dep_readers *readers = READ_ONCE(inst->readers);
	struct reader_line lines[DEP_READERS_SHOWN];
	struct dep_reader *reader;
	u32 i, looked = 0, nr = 0, nr_threads, nr_held;

	if (!readers)
		return;
	spin_lock_irq(&inst->lock);
	nr_threads = readers->nr;
	nr_held = readers->nr_held;
	list_for_each_entry(reader, &readers->all, entry) {
		if (nr == DEP_READERS_SHOWN || ++looked > DEP_READERS_LOOKED)
			break;
		if (!reader->hold.nr_held)
			continue;
		lines[nr++] = (struct reader_line) {
			.pid = pid_nr_ns(reader->pid,
					 proc_pid_ns(file_inode(seq->file)->i_sb)),
			.nr_held = reader->hold.nr_held,
		};
	}
	spin_unlock_irq(&inst->lock);
	seq_printf(seq, "readers:\t%u\nheld:\t%u\n", nr_threads, nr_held);
	for (i = 0; i < nr; i++)
		seq_printf(seq, "reader:\t%d holds %u\n", lines[i].pid,
			   lines[i].nr_held);
}
