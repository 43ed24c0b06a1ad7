/* SPDX-License-Identifier: GPL-2.0 */
/* The readers of a set: see holds.c. */
#ifndef DEVEPOLL_READERS_H
#define DEVEPOLL_READERS_H

#include <linux/workqueue.h>

#include "core/item.h"

struct seq_file;

/**
 * struct dep_hold - events that were handed out together, and may be in use
 * @node: L: in dep_readers.out, by @clock, while they may be in use
 * @clock: L: their number; each of their items has a span that includes it
 * @held: L: closed items that wait for the end of this, by dep_item.ready
 * @nr_held: L: how many
 */
struct dep_hold {
	struct rb_node node;
	u64 clock;
	struct list_head held;
	u32 nr_held;
};

/**
 * struct dep_reader - a thread that has taken events and not come back
 * @hold: its events
 * @by_pid: L: in dep_readers.threads, by @pid
 * @entry: L: in dep_readers.all
 * @pid: const: the thread; we have a reference
 * @program: const: task_struct.self_exec_id: execve(2) changes it
 */
struct dep_reader {
	struct dep_hold hold;
	struct rb_node by_pid;
	struct list_head entry;
	struct pid *pid;
	u64 program;
};

/**
 * struct dep_readers - the readers of a set with fds that report their close
 * @clock: L: number of the last hand-out
 * @out: L: all that is held, by dep_hold.clock
 * @threads: L: the threads among them, by dep_reader.pid
 * @all: L: these threads; checks for ended ones begin at the head
 * @nr: L: how many threads
 * @nr_held: L: how many closed items are held back
 * @spare: M: a reader for the next thread that takes events, or NULL
 * @idle: L (taken under M+L): one of a thread that has come back, to be used
 *	again, or NULL
 * @taker: M+L: the reader of the call that has a pass now, if it is out; else
 *	NULL
 * @taking: M+L: the clock of what that call takes; 0 without such a call
 * @taken: M+L: that call has taken an event that counts
 * @sets: L, once they are there const: what the slot sets of the ring hold,
 *	or NULL
 * @filling: L: the clock of what the slot set being filled gets
 * @posted: L: that slot set got an event that counts
 * @freed: L: closed items that a slot set held back, and nothing does now;
 *	for the relay, which lists them
 * @nr_freed: L: how many
 * @check: looks for threads that have ended
 * @pause: L: the time between two such checks, in jiffies; 0 if none is due
 * @inst: const: the set
 */
struct dep_readers {
	u64 clock;
	struct rb_root out;
	struct rb_root threads;
	struct list_head all;
	u32 nr;
	u32 nr_held;
	struct dep_reader *spare;
	struct dep_reader *idle;
	struct dep_reader *taker;
	u64 taking;
	bool taken;
	struct dep_hold *sets;
	u64 filling;
	bool posted;
	struct list_head freed;
	u32 nr_freed;
	struct delayed_work check;
	unsigned long pause;
	struct dep_instance *inst;
};

int dep_readers_make(struct dep_instance *inst);
void dep_readers_drain(struct dep_instance *inst);
void dep_readers_free(struct dep_instance *inst);
void dep_readers_list_freed(struct dep_instance *inst);
void dep_readers_show(struct dep_instance *inst, struct seq_file *seq);
void dep_reader_leave(struct dep_readers *readers, struct dep_reader *reader,
		      bool *listed);
bool dep_readers_look(struct dep_readers *readers, u32 left,
		      struct list_head *ended);
void dep_readers_free_ended(struct list_head *ended);
void dep_readers_watch(struct dep_readers *readers);

/**
 * dep_hold_init() - nothing is held
 * @hold: not initialized
 */
static inline void dep_hold_init(struct dep_hold *hold)
{
	RB_CLEAR_NODE(&hold->node);
	INIT_LIST_HEAD(&hold->held);
	hold->nr_held = 0;
}

#endif /* DEVEPOLL_READERS_H */
