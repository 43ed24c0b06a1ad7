/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of an instance that other files keep.  All but the ring and what calls
 * do before they sleep stand in the instance itself, not behind pointers, which
 * each wake-up and each wait would follow.  The letters are those of the banner
 * of instance.h.
 */
#ifndef DEVEPOLL_PARTS_H
#define DEVEPOLL_PARTS_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/sched.h>

struct dep_instance;
struct dep_waiter;

/**
 * struct dep_pages - the two page sets, and the index of the one being filled
 * @set: L: the page sets, in the kernel's address space; dep_instance.snapshot
 *	selects one
 * @index: L: the item of each slot of the page set being filled
 * @per_set: M+P+L: pages of EP_PAGE_SIZE of one page set; read without a lock as
 *	a hint
 * @pages: M+P: all pages: both page sets, which may share one, then the index
 * @base: M: where @pages are mapped for the kernel
 */
struct dep_pages {
	struct pollfd *set[2];
	struct dep_item **index;
	u32 per_set;
	struct page **pages;
	void *base;
};

/**
 * struct dep_stats - the counters of a set; see struct devepoll_stats
 * @asks: L
 * @waits: M: calls that polled the files, in a set of the extended interface
 * @handed: M: events that these returned
 * @takes: L: other calls that took events
 * @taken: L: events that these returned
 * @adds: M
 * @mods: M
 * @dels: L
 * @closes: L
 *
 * What a wake-up counts is in dep_instance.wakes.
 */
struct dep_stats {
	u64 asks;
	u64 waits;
	u64 handed;
	u64 takes;
	u64 taken;
	u64 adds;
	u64 mods;
	u64 dels;
	u64 closes;
};

/**
 * struct dep_returned - hosts that removed items gave back, for the next adds
 * @first: L: the item of the first, linked by dep_item.next_free, or NULL
 * @nr: L: how many they are
 */
struct dep_returned {
	struct dep_item *first;
	u32 nr;
};

/**
 * struct dep_area - pages for results of the extended interface or of /dev/poll,
 * or for a ring
 * @pages: const in a ring; P until set, then const; in a set of /dev/poll P, and
 *	not changed while dep_instance.mappings is not 0: the pages
 * @base: as @pages: where they are mapped for the kernel
 * @nr: as @pages: how many; 0 as long as there are none; read without a lock,
 *	with acquire
 * @slots: as @pages: how many results of /dev/poll there is room for
 */
struct dep_area {
	struct page **pages;
	void *base;
	u32 nr;
	u32 slots;
};

/**
 * struct dep_ring - slot sets from which the program takes events without a
 * call; see ring.c
 * @word: const: the word that the program exchanges; only compared
 * @expected: L: its value unless the program has written it since
 * @gen: L: number of the set being filled: incremented each time that the
 *	program is seen to have taken a set
 * @set: L: the set being filled
 * @items: L: the item of each of its slots, or NULL if it was withdrawn
 * @slots: const: all sets, in the kernel's address space
 * @nr_sets: const: how many
 * @plain_sets: L, read without it as a hint: equals @nr_sets, or 0 once fds
 *	report their close
 * @room: const: slots of one set
 * @stride: const: bytes from one set to the next
 * @told: L: closed items whose last event is in a slot, by dep_item.ready
 * @area: const: the word, the slots, @items
 * @slot_pages: const: how many of its pages are for the slots; they follow the
 *	first
 */
struct dep_ring {
	atomic64_t *word;
	u64 expected;
	u64 gen;
	struct devepoll_event *set;
	struct dep_item **items;
	void *slots;
	u32 nr_sets;
	u32 plain_sets;
	u32 room;
	u32 stride;
	struct list_head told;
	struct dep_area area;
	u32 slot_pages;
};

/**
 * struct dep_waiters - the waiters that sleep
 * @waiters: L: in the order in which they came
 * @hungry: L: waiters that want more than one event, by how many they want
 */
struct dep_waiters {
	struct list_head waiters;
	struct rb_root_cached hungry;
};

/**
 * struct dep_turns - the turns of a set of 2001; see classic.c
 * @now: L: how many times events were handed out
 * @open: L: the last turn after which a wait is known to have begun
 * @reader: L: the thread that got the events of the last turn, by its number in
 *	the initial namespace
 * @reader_is_process: L: the events went to an io_uring worker, so @reader
 *	is the first thread of its process, which may end before the others
 * @reader_start: L: when it began, since thread numbers are reused
 * @reader_mm: L: its address space, to compare, never to dereference
 */
struct dep_turns {
	u64 now;
	u64 open;
	pid_t reader;
	bool reader_is_process;
	u64 reader_start;
	const void *reader_mm;
};

/**
 * struct dep_owner - a process that has added items of a set; see set/owner.c
 * @entry: L (the first: M+L): in dep_instance.owners or .spare_owners, or in
 *	no list
 * @files: M+L: its table of files, in which the numbers of the items name their
 *	files; to compare, never to dereference
 * @born: M+L: when it began, since numbers and addresses are reused
 * @pid: M+L: its number in the initial namespace
 * @nr_items: L: how many items in the interest list are its own
 * @allocated: const: it is in no set, but memory of its own
 */
struct dep_owner {
	struct list_head entry;
	const void *files;
	u64 born;
	pid_t pid;
	u32 nr_items;
	bool allocated;
};

/**
 * dep_owner_begin() - the calling process becomes an owner
 * @owner: the owner, which has no items; dep_instance.mtx and its instance are
 *	locked, or nobody else knows the instance
 */
static inline void dep_owner_begin(struct dep_owner *owner)
{
	owner->files = current->files;
	owner->pid = task_tgid_nr(current);
	owner->born = current->group_leader->start_boottime;
}

/**
 * struct dep_living - an owner of items that was found alive since a
 * descriptor of the set was closed last; see owner.c
 * @owner: L: the owner, or NULL
 * @until: L: how long that counts, in jiffies
 */
struct dep_living {
	const struct dep_owner *owner;
	unsigned long until;
};

/**
 * struct dep_look - what a call does before it sleeps, where a program asked for
 * it; see spin/
 * @look: looks for an event for a while, ending when @waiter is woken, which is
 *	the caller and queued, or at @until, KTIME_MAX if never; nothing is held
 */
struct dep_look {
	void (*look)(struct dep_instance *inst, struct dep_look *look,
		     const struct dep_waiter *waiter, ktime_t until);
};

/**
 * struct dep_arming - a call of ->poll() for an item of a set
 *
 * It is here since one on the stack would be guarded by a canary.  A set makes
 * one such call at a time.
 *
 * @table: M: the argument of ->poll(); it queues only in dep_watch_queue()
 * @watch: M: the watch that is to be queued
 * @shared: M: others can see it
 * @answer: M: what ->poll() answered in a call after which @err is set
 * @err: M: why it is not in all of the file's wait queues
 */
struct dep_arming {
	poll_table table;
	struct dep_watch *watch;
	bool shared;
	u16 answer;
	int err;
};

/**
 * struct dep_nesting - the sets in a set, and around it
 * @inner: lock of nest.c: the sets in this set
 * @outer: lock of nest.c: the sets that this set is in
 * @nr_outer: lock of nest.c: how many; read without it as a hint
 * @visited: lock of nest.c: the last search that visited this set
 * @height: lock of nest.c: what that search found
 */
struct dep_nesting {
	struct list_head inner;
	struct list_head outer;
	u32 nr_outer;
	u64 visited;
	u32 height;
};

#endif /* DEVEPOLL_PARTS_H */
