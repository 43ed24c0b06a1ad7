/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An open of the device, the items of its interest set, and how all objects of
 * the module live, are locked and die.
 *
 * Overview
 * ========
 *
 * Each open of the node makes an instance.  Its interest set maps fd numbers
 * to items; an item is one fd: the file it named when it was added and the
 * events asked for.  All items of one file, whichever instance they belong to,
 * hang on one watch, which has an entry in each wait queue of the file.  When
 * the file wakes us, the watch walks its items, and each gives what it was
 * asked for to the sink of its instance (pages.c: the page sets of 2001).
 *
 *	file --wake--> watch --> item, item, item
 *	                          |     |     |
 *	                         instance  instance --> sink, then a harvester
 *
 * A wake-up without a key, or with a key that is known to lie, says only that
 * something changed: such an item goes to the instance's list of asks, and the
 * next harvester calls ->poll() (ready.c).
 *
 * Locking
 * =======
 *
 * From the outermost to the innermost:
 *
 *  1. dep_instance.mtx (mutex).  Adding, changing, removing, asking: who holds
 *     it may rely on no item being added.  Items may still be removed, by the
 *     close of their file.  Held across ->poll() of members.
 *  2. dep_instance.map_lock (mutex).  The page sets against mmap.  Also taken
 *     under mmap_lock, so nothing that may wait for mtx, for user memory or
 *     for a driver is done while it is held.
 *     dep_watch.arm (mutex), under mtx and whatever ->poll() of the watched
 *     file holds when it calls us, never together with map_lock.
 *  3. dep_bucket.lock (spin lock), process context only.
 *  4. The wait-queue head of the watched file (spin lock, interrupts off),
 *     taken by remove_wait_queue under 3, and by the kernel before it calls
 *     dep_watch_wake.
 *  5. dep_watch.lock (spin lock, interrupts off).
 *  6. dep_instance.lock (spin lock, interrupts off).
 *  7. The scheduler's locks of the harvester that is woken.
 *
 * Never held when ->poll() is called: 3 to 7.  The wake function takes 5 and
 * 6; the release hook 3 to 7, and no mutex.
 *
 * Field protection
 * ================
 *
 *	const	set before the object can be seen by others, never changed
 *	M	dep_instance.mtx
 *	P	dep_instance.map_lock
 *	B	dep_bucket.lock
 *	A	dep_watch.arm, or nobody else can see the watch, yet or any more
 *	W	dep_watch.lock
 *	L	dep_instance.lock
 *	+	both to write, either to read
 *
 * The letters stand at the fields.  dep_fdmap (fdmap.h) and dep_watch
 * (watch.c) use them too.
 *
 * States
 * ======
 *
 * An item:
 *	new		allocated, charged to the user; its writer owns it
 *	hooked		in the interest set (L).  Events are posted for it once
 *			it is on a watch
 *	unhooked	out of the interest set, slot and ask gone (L); owned by
 *			whoever unhooked it, who takes it off its watch (B, W)
 *			and frees it
 *
 * A watch lives from its first item to its last: it is armed before anyone can
 * find it, put into the table under B, found under B, stays there while its
 * file is open, and is freed when its last item has left.
 *
 * Removal paths
 * =============
 *
 * An item is unhooked exactly once, because dep_item.hooked is tested and
 * cleared under L, by
 *  - the program: POLLREMOVE, a number that names another file now, an add
 *    that failed half-way, EP_FREE (holding M);
 *  - the close of the instance (nobody else can reach it but by its items);
 *  - the last close of the file: the release hook, under B (holding no M).
 * POLLFREE removes no item: it takes one wait-queue entry of the watch away.
 *
 * Who unhooked the item goes on to dep_watch_detach (or is the hook, which has
 * B already).  The last item to leave a watch that is still in the table tears
 * it down under B: wait-queue entries first, then the table.  So the hook,
 * which looks at the bucket without a lock, either sees the watch and waits
 * for B, or sees that nothing of ours is on the file's wait queues any more.
 *
 * The hook runs before the file's ->release, and the file's memory and wait
 * queues live until it returns.  It leaves items that somebody else unhooked
 * on the watch: their owner frees the watch with the last of them.
 *
 * The instance dies in its ->release.  It takes all items off first, and a
 * hook that still handles one of them holds L while it touches the instance;
 * so when the interest set is seen empty under L, only the irq_work may be
 * left, and irq_work_sync waits for it.
 *
 * Nothing here is walked under RCU, so nothing is freed by it.
 *
 * Handshakes with the outside
 * ===========================
 *
 *  - POLLFREE: the owner of a wait-queue head is about to free it after a
 *    grace period.  dep_watch_wake takes the entry off and stores NULL to
 *    dep_wait.head with release; wait_disarm loads it with acquire under
 *    rcu_read_lock.  After that store the waker touches neither entry nor
 *    watch.
 *  - The bucket's first pointer: watch_disarm, smp_mb, removal from the
 *    table; the hook loads the pointer with acquire.
 *  - Temporary references for ->poll(): taken under B while the watch is in
 *    the table, which keeps the hook, and so the freeing of the file, out.
 *    Afterwards the item is looked up again by its number, which M makes
 *    unambiguous.
 *  - Waking poll(2) of the device: from irq_work, never from the wake
 *    function; in-tree epoll and AIO hold locks of their own there.
 */
#ifndef DEVEPOLL_INSTANCE_H
#define DEVEPOLL_INSTANCE_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "fdmap.h"

struct dep_instance;
struct dep_watch;
struct file;
struct user_struct;

/**
 * struct dep_item - one fd of an interest set
 * @link: B+W: in dep_watch.items
 * @ask: L: in dep_instance.asks, or empty
 * @inst: const: the instance whose set this is
 * @watch: B: the watch of the file, from attach to detach
 * @file: const: the file that the number named; a key, to be dereferenced by
 *	nobody who has no reference of his own
 * @snapshot: L: the sink's: the snapshot in which @slot holds
 * @slot: L: the sink's: where the item's event stands
 * @fd: const: the number
 * @events: L (written under M+L): the poll events asked for
 * @revents: L: the sink's: the events of the slot
 * @hooked: L: in the interest set
 * @leaf: the owner's, once unhooked: what to free with the item, or NULL
 */
struct dep_item {
	struct list_head link;
	struct list_head ask;
	struct dep_instance *inst;
	struct dep_watch *watch;
	struct file *file;
	u64 snapshot;
	u32 slot;
	int fd;
	u16 events;
	u16 revents;
	bool hooked;
	struct dep_leaf *leaf;
};

/**
 * struct dep_sink - where the events of an instance go
 * @post: add events to the item's; L is held, interrupts are off, must not
 *	fail.  Keeps dep_instance.pending
 * @forget: drop what is pending for the item; L is held.  Keeps
 *	dep_instance.pending
 */
struct dep_sink {
	void (*post)(struct dep_instance *inst, struct dep_item *item,
		     u16 events);
	void (*forget)(struct dep_instance *inst, struct dep_item *item);
};

/**
 * struct dep_pages - the two page sets, and the index of the one being filled
 * @set: L: the sets, in the kernel's address space
 * @index: L: the item of each slot of the set being filled
 * @snapshot: L: number of the set being filled; its parity picks the set
 * @per_set: M+P: pages of one set
 * @pages: M+P: all pages: the first set, the second, the index
 * @base: M: where @pages are mapped for the kernel
 */
struct dep_pages {
	struct pollfd *set[2];
	struct dep_item **index;
	u64 snapshot;
	u32 per_set;
	struct page **pages;
	void *base;
};

/**
 * struct dep_instance - one open of the device
 * @lock: lock number 6: all that a wake-up touches
 * @interest: L for removal, M+L for adding: items by fd number
 * @sink: const: where events go
 * @asks: L: items whose file has to be asked
 * @pending: L: events that wait in the sink; read without a lock as a hint
 * @nr_items: L: items hooked; with M held it can only shrink
 * @room: M+L: how many items there may be; 0 when nothing is allocated
 * @asking: M: a file is being asked, its item is on no list; read without a
 *	lock as a hint
 * @polled: L: somebody may sleep on @poll_queue
 * @poll_wake: L: extra poll bits for the next wake-up of @poll_queue
 * @waiters: L: sleeping harvesters, in the order in which they came
 * @turn: L: how many times events were handed out
 * @turn_open: L: the last turn after which a harvest is known to have begun
 * @reader: L: who was given events at the last turn, in the first namespace
 * @reader_start: L: when it began, since thread numbers come again
 * @reader_mm: L: its address space, to compare, never to look into
 * @pages: the sink of the classic interface; see there
 * @mappings: how many mappings of the pages exist; from 0 under P only
 * @freeing: P: the pages are about to go, none may be mapped
 * @mtx: lock number 1
 * @map_lock: lock number 2
 * @poll_queue: who polls the device itself
 * @poll_work: wakes @poll_queue
 * @user: const: who pays: the opener, whose credentials the file holds
 */
struct dep_instance {
	/* L: what a wake-up touches; nests the scheduler's locks. */
	spinlock_t lock;
	struct dep_fdmap interest;
	const struct dep_sink *sink;
	struct list_head asks;
	u32 pending;
	u32 nr_items;
	u32 room;
	bool asking;
	bool polled;
	__poll_t poll_wake;
	struct list_head waiters;
	u64 turn;
	u64 turn_open;
	pid_t reader;
	u64 reader_start;
	const void *reader_mm;
	struct dep_pages pages;

	atomic_t mappings;
	bool freeing;
	/* M: adding and asking; nests map_lock, arm, B, L and ->poll(). */
	struct mutex mtx;
	/* P: the pages against mmap; nests L. */
	struct mutex map_lock;
	wait_queue_head_t poll_queue;
	struct irq_work poll_work;
	struct user_struct *user;
};

/**
 * struct dep_waiter - a sleeping harvester, on its own stack
 * @link: L: in dep_instance.waiters; empty once it has been woken
 * @task: const: itself
 */
struct dep_waiter {
	struct list_head link;
	struct task_struct *task;
};

/* Bits that keys claim though the file does not have them: ask. */
#define DEP_UNSURE_EVENTS \
	((__force u16)(EPOLLPRI | EPOLLRDBAND | EPOLLWRBAND | EPOLLMSG))

extern unsigned long dep_max_user_watches;

/**
 * dep_instance_has_work() - is there anything for a harvester to do?
 * @inst: the instance, locked for a true answer, not locked for a hint
 *
 * Return: true if events are pending or files have to be asked.
 */
static inline bool dep_instance_has_work(const struct dep_instance *inst)
{
	return READ_ONCE(inst->pending) ||
	       READ_ONCE(inst->asks.next) != &inst->asks;
}

/**
 * dep_instance_wake_pollers() - wake who polls the device itself
 * @inst: the instance, locked and polled
 * @key: what the watched file's waker said
 */
static inline void dep_instance_wake_pollers(struct dep_instance *inst,
					     __poll_t key)
{
	/* io_uring ends a loop of rings that wake each other by this bit. */
	inst->poll_wake |= key & EPOLL_URING_WAKE;
	irq_work_queue(&inst->poll_work);
}

struct dep_instance *dep_instance_new(const struct dep_sink *sink,
				      struct user_struct *user);
void dep_instance_free(struct dep_instance *inst);

struct dep_item *dep_item_new(struct dep_instance *inst, struct file *file,
			      int fd, u16 events);
int dep_item_hook(struct dep_item *item);
void dep_item_free(struct dep_item *item);
bool dep_item_unhook(struct dep_item *item);
void dep_item_post(struct dep_item *item, u16 events, bool harvesting);

void dep_instance_wake(struct dep_instance *inst);

int __init dep_item_cache_init(void);
void dep_item_cache_exit(void);

#endif /* DEVEPOLL_INSTANCE_H */
