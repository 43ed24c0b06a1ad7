/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An open of the device, the items of its interest list, and how all objects of
 * the module live, are locked and die.
 *
 * Read "Overview" first, and then the structs: below, in parts.h, item.h,
 * waiter.h and watch.h, where a letter at each field names its lock.  The
 * rest is for changes.  Which lock may be taken now: "Locking".  What a letter
 * means: "Field protection".  Who owns an object and frees it: "States" and
 * "Removal paths".  Why a barrier or an order is there that nothing in the
 * module needs: "Handshakes with the outside".
 *
 * Overview
 * ========
 *
 * Each open of the node makes an instance.  Its interest list maps fd numbers
 * to items; an item is one fd: the file that it named when it was added and the
 * events asked for.  It belongs to the process that added it (owner.c): in a
 * set that several processes share, one number may name a file of each, and has
 * an item for each of these files.  All items of one file, whichever instance
 * they belong to, are on one watch, which has an entry in each wait queue of
 * the file.  When the file wakes us, the watch walks its items, and each posts
 * the events asked for to the sink of its instance: the page sets of 2001
 * (pages.c) or, in a set of the extended interface, the ready list (ready.c).
 *
 *	file --wake--> watch --> item, item, item
 *	                          |     |     |
 *	                         instance  instance --> sink, then a waiter
 *
 * A wake-up without a key, or with a key that is known to lie, says only that
 * something changed: such an item goes to the ready list of its instance, and
 * the next waiter calls ->poll() (ready.c).  In a set of the extended interface
 * every wake-up does this, unless the program trusts the key.
 *
 * In a signal set (onesig.c) the sink is a list of siginfos that are due
 * (siginfo.c).  In the place of a sleeping task there is a waiter that is woken
 * like one and sends them to the set's recipient (siginfo.c), from irq_work
 * or a worker.
 *
 * A set of the extended interface may have a ring (ring/ring.c): edges that
 * trusted keys tell go to memory that the program reads, and takes events from
 * by one atomic instruction, without a call.  All else goes to the ready list,
 * and so does what waits in the ring when somebody waits by another request:
 * each pass over the list begins with what the program has not taken.
 *
 * Pollers of the device, and io_uring commands, are woken by the relay
 * (relay.c, service.c) of the processor on which the event happened.
 *
 * Locking
 * =======
 *
 * From the outermost to the innermost:
 *
 *  1. dep_instance.mtx (mutex).  Adding, changing, removing, polling members:
 *     its holder may rely on no item being added.  Items may still be removed,
 *     by the close of their file.  Held across ->poll() of members.
 *  2. dep_instance.map_lock (mutex).  The page sets against mmap.  Also taken
 *     under mmap_lock, so its holder does nothing that may wait for mtx, for
 *     user memory or for a driver.
 *  3. dep_bucket.lock (spin lock), process context only; also under the
 *     mutexes that ->poll() of a watched file holds when it queues us.
 *     The siglock of a signal's recipient (spin lock, interrupts off), from
 *     irq_work too, with none of 3 to 7 held: the kernel wakes signalfds
 *     under it, so 4 to 7 nest in it.  siginfo.c and person.c have a lock
 *     each for their tables, under which nothing is taken; person.c's may be
 *     taken with any other lock held.
 *     onesig.c has a mutex for the queues of all persons, taken with
 *     nothing held.
 *  4. The wait-queue head of the watched file (spin lock, interrupts off),
 *     taken by remove_wait_queue under 3, and by the kernel before it calls
 *     dep_watch_wake.
 *  5. dep_watch.lock (spin lock, interrupts off).
 *  6. dep_instance.lock (spin lock, interrupts off).
 *  7. The scheduler's locks of the waiter that is woken, and those of timers;
 *     the lock of nest.c, and those of the relays (relay.c), under which
 *     nothing is taken (spin locks, interrupts off).
 *
 * Never held when ->poll() is called: 3 to 7.  The wake function takes 5 to 7;
 * the release hook 3 to 7, and no mutex.
 *
 * Sets nest (nest.c): with 1 of the outer set held, ->poll() of the inner set
 * takes 1 of the inner set.  No cycle of sets exists at any moment, so this
 * ends; lockdep is told the depth.
 *
 * Field protection
 * ================
 *
 *	const	set before the object can be seen by others, never changed
 *	M	dep_instance.mtx
 *	P	dep_instance.map_lock
 *	B	dep_bucket.lock
 *	W	dep_watch.lock
 *	L	dep_instance.lock
 *	R	dep_relay.lock
 *	S	the siglock of the recipient
 *	+	both to write, either to read
 *
 * The fields have these letters.  dep_fdmap (fdmap.h), dep_watch (watch.h) and
 * the structs of siginfo.h and onesig.c use them too.
 *
 * States
 * ======
 *
 * An item:
 *	new		allocated, charged to the user; its writer owns it
 *	hooked		in the interest list (L).  Events are posted for it once
 *			it is on a watch
 *	unhooked	out of the interest list, slot and place on the ready
 *			list gone (L); owned by whoever unhooked it, who takes
 *			it off its watch (B, W) and frees it
 *	buried		in the interest list of /dev/poll (L), off its watch, on
 *			the ready list again after each report; M keeps it,
 *			since no close of its file can remove it any more
 *	closed		off its watch, on the ready list for its last event, or
 *			held back for a reader (holds.c); the instance owns it,
 *			and whoever takes it off the ready list (L) frees it: a
 *			waiter, or the close of the instance
 *
 * The siginfo of an item:
 *	idle		in no list
 *	due		in dep_onesig.due (L), its item hooked
 *	queued		in the queue of the recipient (S); may be due again, to
 *			be added to
 *	retired		its item has gone; in no list and never again (S), or
 *			in the queue of an exiting task, which takes it apart
 * A sender takes it from due to idle or queued.  The kernel takes it from
 * queued to idle and tells nobody, so a sender checks whether it is in a list.
 *
 * A recipient is shared by all sets that send the same signal to the same
 * process or thread, and lives as long as one of them or one of their siginfos.
 * It knows which of these were queued, so when one is taken back, it is known
 * at once whether another one is queued.  Once the task has gone nobody looks
 * there any more, and siginfos are freed without leaving.
 *
 * A person (person.h) is found or made, by uid and namespace, when a set is
 * opened or a worker has to release a file, and lives as long as a set, a
 * siginfo, an entry in a wait queue beyond the first of a watch, or a pending
 * release has a reference; whoever drops the last one, in any context, takes it
 * out of the table and frees it.  The lanes of a person hold sets, so they are
 * empty by then: a set has left all relays before it drops its reference.
 *
 * A signal set polls its files in the queue of its person (onesig.c),
 * which lives from the first to the last signal set of the person.  The set's
 * own work is over, or cancelled, before the set lets go of the queue; and no
 * worker in it drops a last reference, or the queue would wait for itself.
 *
 * The memory of an item is one of its own (struct dep_lone), or a host
 * (host.h), which has room for the watch of its file, too.  An item gets a host
 * if it needs nothing that only the other has, and its file seems to have no
 * watch, which is a guess.  If the file has got one meanwhile, the room stays
 * empty, but for a pointer to it; if it has lost one, the watch gets a host
 * whose item is not used.  A host is
 *	unshared	its item is the only one that its watch has had: whoever
 *			frees the item, which is after it has left the watch,
 *			frees the host
 *	shared		another item has come to the watch, or the item is about
 *			to be closed or buried by the hook, which still uses the
 *			watch: dep_watch.users counts the item and the watch,
 *			and whoever ends the last of the two frees the host
 * It becomes shared under B, and stays so.  If its item leaves before others,
 * it stays where it is, with a watch and no item, until the last of these
 * leaves: wake functions and the table lead to the watch, so it can't move.
 *
 * The free list of an instance (M) owns hosts that were allocated ahead, and
 * dep_instance.returned (L) those that removed items have left; an add takes
 * them out.  What is too much, for the items that the set still has, is freed
 * at once, and the rest by the close of the instance, or EP_FREE.  No grace
 * period has to pass before a host is used again: nobody walks anything under
 * RCU here, and whoever frees an item or ends a watch has waited for the wake
 * functions that may have it ("Handshakes with the outside").
 *
 * A watch lives from its first item to its last: it is armed before anyone can
 * find it, put into the table under B, found under B, stays there while its
 * file is open, and is freed when its last item has left.
 *
 * A wait that is a command of an io_uring (struct dep_uring_wait) is owned by
 * whoever took it off the lists of the instance (L) last, and dies only in
 * uring_complete().  Before that it leaves dep_instance.cookies and the command
 * (L), through which a cancellation finds it.  A cancellation that finds it on
 * no list marks it and touches it no more once L is dropped: its owner sees the
 * mark, under L, before it puts the wait on a list again.
 *
 * Removal paths
 * =============
 *
 * An item is unhooked exactly once, because dep_item.hooked is tested and
 * cleared under L, by
 *  - the program: POLLREMOVE, an add that failed half-way, EP_FREE; a change by
 *    its owner that finds that the number names another file now (holding M);
 *  - a waiter, its owner, that finds, by an open for writing, that the number
 *    no longer names the file (holding M);
 *  - the close of the instance (only its items can still lead to it);
 *  - the last close of the file: the release hook, under B (holding no M).
 * POLLFREE removes no item: it takes one wait-queue entry of the watch away.
 *
 * Whoever unhooked the item then calls dep_watch_detach (or is the hook, which
 * has B already); M is not needed.  The last item to leave a watch that is
 * still in the table tears it down under B: wait-queue entries first, then the
 * table.  So the hook, which looks at the bucket without a lock, either sees
 * the watch and waits for B, or sees that none of our entries is on a wait
 * queue of the file.
 *
 * The hook does not unhook an item that stays (DEP_MODE_STAY, in sets of
 * /dev/poll), but buries it, under B and L: the item forgets its file, and its
 * number is reported until the program removes it.
 *
 * The hook runs before the file's ->release, and the file's memory and wait
 * queues live until it returns.  It leaves items that somebody else unhooked on
 * the watch: their owner frees the watch with the last of them.  The hook ends
 * the watch before it frees the items, since the watch may lie in one of them.
 *
 * dep_item_free() takes a siginfo back from the queue, with nothing held: after
 * a removal or a close has returned, no signal of the fd is pending.  A task
 * that is just sending it has a reference of its own, and finds it retired.  It
 * is freed after a grace period, and not before its queue has let it go.
 *
 * A further open of a set (DEVEPOLL_REOPEN) is a file of its own, and keeps the
 * one that the node made, dep_instance.file, until its own ->release.  This is
 * the one reference on a file that may be watched; no set keeps a file by it,
 * so there can't be a circle.
 *
 * The instance dies in the ->release of that file.  It takes all items off
 * first, and a hook that still handles one of them holds L while it touches the
 * instance; so once the interest list has been seen empty under L, only a relay
 * may still have the instance.  It takes itself out there (L, R), or waits for
 * the relay that serves it: dep_instance.serving counts the relays that do,
 * since there may be several.
 *
 * What an interface (interface.h) has made for a set dies there, too, in two
 * steps: dep_interface.stop comes before the set leaves its relay, and ends
 * what may still add it to one, as the work of a signal set; dep_interface.free
 * comes after that and after the readers are gone, since a relay reads the word
 * of a ring, and the readers know its slot sets.
 *
 * The readers of a set (readers.h) are made with its first fd that reports its
 * close, and freed in that ->release, after the work that looks for those that
 * have ended was cancelled; no item is left then, so none is held back.  A
 * struct dep_reader is owned by the tree that it is in (L) or, in none, by
 * dep_readers.spare or .idle, or by whoever took it out.
 *
 * What a set's calls know of looking before they sleep (spin/spin.h) is made by
 * the first request for it, which puts it there by one exchange, and freed in
 * that ->release: whoever looks is in the set by an open of it.
 *
 * Nothing here is walked under RCU.  Only siginfos are freed by it, for the
 * reason given below.
 *
 * The memory of a ring lives from the request that makes it to the release of
 * the instance, which every mapping of it keeps.
 *
 * Handshakes with the outside
 * ===========================
 *
 *  - A level-triggered event of an exclusive item that a waiter has taken
 *    (dep_item.chosen, DEP_CHOSEN_TAKEN): the pass of the same task that finds
 *    it again tells another set, with M held and 5 only tried for, after
 *    ->poll() and before it gives the file back.  So the item is on its watch,
 *    and the watch stays.  An item that leaves tells under 5, in
 *    dep_watch_detach.
 *  - The only item of a file: the wake function finds it as dep_watch.first
 *    under the lock of the wait queue alone, and uses it and its instance,
 *    which is dep_watch.sole, without 5 if there is the latter.  An item that
 *    joins clears that before it polls the file.  An item that leaves while
 *    others stay may be the one that was found, so dep_watch_detach takes and
 *    drops the lock of each wait queue (B held) before the item is freed, and
 *    before it makes the other one the only one: so nobody finds an item with
 *    the instance of another.  With the last item the entries leave the wait
 *    queues, under the same locks.  It takes 6 without turning interrupts off,
 *    since whoever wakes us has done so; where a driver has not, it goes by 5.
 *  - An event that nobody wants or that is pending already: the wake function
 *    returns before any lock when no bit of the key is in dep_item.events; or
 *    when dep_item.snapshot is that of the instance, all bits of the key that
 *    the item wants are in dep_item.pending, and nobody waits or polls.  It is
 *    as if the event had come before those that are pending.  Whoever clears
 *    pending bits, replaces the snapshot of either, or asks for more events
 *    therefore executes smp_mb() before it polls the file or goes back to the
 *    program; it pairs with smp_mb() in dep_watch_wake(), after which the bits
 *    are read: so either the wake function sees the bits gone, or what it was
 *    called for is seen by that poll, or by the program.
 *  - The word of a ring, which the program may write at any moment: see
 *    ring/ring.c, also for the early return of the wake function there.
 *  - The end of an owner: its process counts as dead before it closes its
 *    descriptors of the set, and ->flush then forgets, under L, that it was
 *    found alive (owner.c).  So no later pass takes it for alive.
 *  - POLLFREE: the owner of a wait-queue head is about to free it after a
 *    grace period.  dep_watch_wake takes the entry off and stores NULL to
 *    dep_wait.head with release; wait_lock_head loads it with acquire
 *    under rcu_read_lock, or under a spin lock.  After that store the waker
 *    touches neither entry nor watch.
 *  - A file whose watch is in the wait queue already: whoever joins the watch
 *    is on its list before the file is polled, and then reads dep_wait.head
 *    with acquire and without B.  It is set, with release, under the lock of
 *    the wait queue, after the entry was put there.  So whoever reads it is
 *    later than that: a wake-up that did not find the entry is older, and the
 *    poll sees what it was for; if the file looks for pollers without that
 *    lock, by the full barrier of poll_wait().  It stays there: the joined
 *    item, which M keeps, keeps the watch from being disarmed by others that
 *    leave, the caller's reference keeps the hook out, and POLLFREE can't come
 *    while ->poll() names the queue, whose address is used for no other before
 *    dep_wait.head is NULL.  Only the first entry is looked at, whose memory is
 *    that of the watch; the list of entries belongs to B.
 *  - The bucket's first pointer: dep_watch_disarm, smp_mb, removal from the
 *    table; the hook loads the pointer with acquire.
 *  - The mark in f_mode, where the kernel has a hook of its own
 *    (release_call.c): set by an exchange under the file's f_lock, with M held
 *    and nothing nested in it, before the watch is in the table.  The caller's
 *    reference makes it visible to whoever drops the last one.  It is never
 *    taken off.  The kernel loads the hook with acquire, and so sees the table.
 *  - Temporary references for ->poll(): taken under L while the item is
 *    hooked, which keeps the hook from finishing, and so the file's memory from
 *    being freed; a count that is 0 already stays so.  The reference then keeps
 *    the hook out and M the program, so the item stays as long.  A waiter has
 *    one at a time, only while it polls; then it finds the item by its number
 *    (dep_item_is_open()), since M keeps others from its place.  A last
 *    reference stays in dep_instance.last until M is released.
 *  - A file that the caller's table names needs no reference if nobody shares
 *    that table, which is checked first: nobody can close it before the call
 *    returns, so M alone keeps the item (dep_owner_table_keeps()).
 *  - Busy polling (busy.c) takes such a reference without M, to see which queue
 *    of which device feeds the file: the item may leave at once, and is not
 *    touched again.  While a call polls, it holds no lock and no reference: the
 *    descriptor by which it was made keeps the instance, and RCU the queue,
 *    which is looked up by its number.
 *  - A task that is about to sleep: it queues its waiter under L, may poll a
 *    network device or look whether it is woken, sets its state, and then reads
 *    dep_waiter.queued.  Who wakes it clears that (L) before
 *    wake_up_process().  So it either sees that it was woken, or is woken.  It
 *    may go on while its waker is still at work: before it takes L, it may
 *    sleep only where a wake-up that is not meant for that sleep does no harm,
 *    as in M, and it takes L before its waiter goes.
 *  - The queue of signals: entries are flagged SIGQUEUE_PREALLOC, so whoever
 *    takes one unlinks it, copies it and leaves it alone, all with S held.  But
 *    what a thread or a process leaves behind is taken apart without S: after
 *    dep_recipient's task has no sighand any more, and, on 7.2 and 7.3, after
 *    it has PF_EXITING, which is set with S held, and before its exit_state.
 *    Then we don't touch the queue.  Up to 7.1 a thread keeps its queue until
 *    it is reaped, so what it still has then is taken back with S held.
 *    Up to 6.12 this happens with interrupts off, so a grace period waits for
 *    it; since 6.13 the entry counts references (compat.h), and is free when
 *    ours is the only one.
 *  - Waking poll(2) of the device: from the relay, never from the wake
 *    function; in-tree epoll and AIO hold locks of their own there.  One event
 *    may wake thousands of sets, and each of these hundreds around it, so all
 *    sets share the time of the processor's relay: DEP_RELAY_NS in an
 *    interrupt, and then a worker of normal priority, or one of any processor
 *    if that one gets none.  Before a set is served it is taken out of the
 *    relay (L); after that its queue is tested (L).  So a later event adds it
 *    anew, and a later poller sets dep_instance.polled (L) after queueing.  A
 *    person owes the time of relays (lane.h), and who owes too much waits (R),
 *    until the timer of the relay has them served again.
 *  - A waiter that was woken may get no processor for long, or be an io_uring
 *    command whose task does not enter.  So while others sleep, a timer of the
 *    relay (service.c) checks on those that were woken: one that has not come
 *    at the second check is given up (L), and another one is woken.
 *  - Processors that go offline: the kernel runs their irq_work before (with
 *    PREEMPT_RT: when they are back), and lets their works run elsewhere.  A
 *    relay is never freed, and its worker does not care where it runs.
 *  - With PREEMPT_RT a task may sleep on B, W or L in the release hook.  It is
 *    in an SRCU section then, for which the unload waits before it takes the
 *    hook out (files/detour.c).
 */
#ifndef DEVEPOLL_INSTANCE_H
#define DEVEPOLL_INSTANCE_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/wait.h>

#include "core/fdmap.h"
#include "core/interface.h"
#include "core/parts.h"
#include "core/person.h"

/**
 * struct dep_instance - one open of the device
 * @lock: lock number 6: all that a wake-up touches
 * @interest: L for removal, M+L for adding: items by fd number
 * @sink: L (another one only under M+L, when there is no item or while pages.c
 *	moves slots): where events go
 * @ready: L: the ready list: items that need poll; in a set of the extended
 *	interface all items that may be ready
 * @nr_ready: L: how many these are, and how many wait in the ring; read without
 *	a lock as a hint
 * @pending: L: events that wait in the sink; read without a lock as a hint
 * @ring: L, once it is there const: where the program takes events without a
 *	call, or NULL; read without a lock, with acquire
 * @nr_items: L: how many items are hooked; with M held it can only shrink
 * @room: M+L: how many items there may be; 0 when nothing is allocated
 * @free_hosts: M: items that are allocated and not used yet, linked by
 *	dep_item.next_free; each in a host
 * @returned: more of them, which items that were removed have left
 * @snapshot: L: in a set of 2001 the number of the page set being filled, whose
 *	lowest bit selects the set; 2 in others; read without a lock as a hint
 * @wakes: L: how many wake-ups named events of an item
 * @ask_seq: M: odd while files are polled and their items are on no list; read
 *	without a lock
 * @polled: L: a task may sleep on @poll_queue
 * @polled_oddly: L, once it is set const: a poller asked for other events than
 *	EPOLLIN; also read without a lock by the relay, after @polled with L
 * @poll_wake: L: extra poll bits for the next wake-up of @poll_queue
 * @prompt: L: sleeping waiters that come when they are woken
 * @deferred: L: those that may not come for long: see dep_waiter.comes
 * @woken: L: io_uring commands that the relay has to wake
 * @nr_waiters: L: how many are in @prompt and @deferred
 * @nr_special: L: how many of these are not in the list of @prompt
 * @owed: L: the relay has to wake one of them
 * @awaited: L: how many woken waiters have not come, without those given up
 * @awaited_old: L: how many of them were woken before the last check
 * @looks: L: how often was checked whether they have come
 * @coming: L: sum of dep_waiter.room of those awaited
 * @coming_old: L: the same, of those woken before the last check
 * @ticket: L: the number of the next waiter
 * @turns: how far a set of 2001 is
 * @extended: M+L: a set of the extended interface or of /dev/poll; while M is
 *	held for its first use, it may become none again; read without a lock
 * @settled: M: a set of the extended interface, now and for ever; read without
 *	a lock, with acquire
 * @plain: M: @settled, and there are no @readers; read without a lock, with
 *	acquire
 * @devpoll: M, but for 0, a set of /dev/epoll, which is const: enum
 *	dep_devpoll of its face; read without a lock
 * @classic: M: a set of 2001, now and for ever; read without a lock
 * @onesig: M+L: what makes it a signal set, now and for ever, or NULL; read
 *	without a lock, with acquire
 * @own_owners: L: room for two of @owners
 * @owner_files: L: dep_owner.files of the only one of @owners; NULL if there
 *	are several
 * @owners: L (the first: M+L): the owners of the items, the last that added one
 *	first; see item.c
 * @spare_owners: L: allocated ones without items, as room for further ones
 * @has_spare_owners: L, read without it: some are there that had items
 * @wants_owner: L, read with M: there is no room for a further one
 * @living: an owner of items that was found alive
 * @readers: M+L, once it is there const: who may have events of fds that report
 *	their close, or NULL without such fds; read without a lock
 * @cookies: L: pending waits of io_urings that DEVEPOLL_CANCEL can find; see
 *	uring/uring.c
 * @nr_cookies: L: how many these are; read without a lock as a hint
 * @look: once it is there const: what calls do before they sleep, or NULL if
 *	the program never asked for it; read without a lock, with acquire
 * @stats: the counters of the set
 * @file: const: the open that made it, and whose ->release ends it
 * @in_all: lock of stats.c: in the list of all sets
 * @pages: the sink of the classic interface; see struct dep_pages
 * @mappings: how many mappings of the pages exist, or of the area of /dev/poll,
 *	including calls that write to it; leaves 0 under P only
 * @freeing: P: the pages are about to be freed, so they can't be mapped
 * @area: mapped results of the extended interface, or of /dev/poll
 * @arming: the call of ->poll() for an item
 * @pass: M: number of the last pass over the ready list
 * @nesting: the sets in this set, and around it
 * @last: M: a file that the program has closed while it was polled, so that the
 *	last reference is ours: whoever drops M releases it
 * @mtx: lock number 1
 * @map_lock: lock number 2
 * @poll_queue: the pollers of the device itself
 * @relay: L: the relay that has to wake @poll_queue and @woken, or NULL
 * @in_relay: R: its place there, or empty while it is served
 * @late: L: the relay that checks whether woken waiters have come, or NULL
 * @in_late: R: its place there, or empty while it is checked
 * @late_at: R, while it has a place there: when it is due, ns
 * @serving: how many relays are serving or checking it; grows under R
 * @opens: how many further opens there are
 * @user: const: who pays: the opener, whose credentials @file holds
 * @person: const: who is accountable for resources that all users share, and
 *	for the time of relays
 */
struct dep_instance {
	/*
	 * L: one line, all that a wake-up touches of a set for an item that is
	 * trusted or polled, while nobody sleeps; nests the scheduler's locks.
	 */
	spinlock_t lock;
	u32 nr_waiters;
	struct list_head ready;
	u32 nr_ready;
	u32 pending;
	struct dep_ring *ring;
	u64 snapshot;
	u64 wakes;
	bool polled;
	bool polled_oddly;
	bool extended;
	bool settled;
	u32 nr_items;
	/* What a wait writes that finds events. */
	/* M: adding and polling; nests map_lock, B, L and ->poll(). */
	struct mutex mtx;
	u32 ask_seq;
	u32 pass;
	struct file *last;
	const void *owner_files;
	struct dep_stats stats;
	struct dep_readers *readers;
	bool plain;
	bool classic;
	u8 devpoll;
	bool owed;
	u32 room;
	struct dep_item *free_hosts;
	struct dep_returned returned;
	u64 coming_old;
	__poll_t poll_wake;
	u32 nr_cookies;
	/*
	 * L: one more line, up to the list of @prompt, which is all that a
	 * wake-up needs besides while tasks sleep for one event each.
	 */
	const struct dep_sink *sink ____cacheline_aligned;
	u32 nr_special;
	u32 awaited;
	u32 awaited_old;
	u32 looks;
	u64 coming;
	struct dep_relay *late;
	u64 ticket;
	struct dep_waiters prompt;
	struct dep_waiters deferred;
	struct dep_fdmap interest;
	struct list_head woken;
	struct dep_turns turns;
	struct dep_onesig *onesig;
	struct dep_owner own_owners[2];
	struct list_head owners;
	struct list_head spare_owners;
	bool has_spare_owners;
	bool wants_owner;
	struct dep_living living;
	struct rb_root cookies;
	struct dep_look *look;
	struct file *file;
	struct list_head in_all;
	struct dep_pages pages;
	atomic_t mappings;
	bool freeing;
	struct dep_area area;
	struct dep_arming arming;
	struct dep_nesting nesting;
	/* P: the pages against mmap; nests L. */
	struct mutex map_lock;
	wait_queue_head_t poll_queue;
	struct dep_relay *relay;
	struct list_head in_relay;
	struct list_head in_late;
	u64 late_at;
	atomic_t serving;
	atomic_t opens;
	struct user_struct *user;
	struct dep_person *person;
};

/* Where locks are not larger than they have to be. */
static_assert(sizeof(spinlock_t) > 4 ||
	      offsetofend(struct dep_instance, nr_items) <= 64);
static_assert(offsetofend(struct dep_instance, prompt.waiters) -
	      offsetof(struct dep_instance, sink) == 64);
/* One byte more would double what the allocator takes for a set. */
static_assert(sizeof(spinlock_t) > 4 || sizeof(struct dep_instance) <= 1024);

struct dep_instance *dep_instance_new(const struct dep_sink *sink,
				      const struct cred *cred);
void dep_instance_free(struct dep_instance *inst);

/**
 * dep_instance_nr_items() - how many items the interest list has
 * @inst: the instance, not locked
 *
 * Whoever has L changes the number by one plain instruction, so this is a value
 * that it had.  With dep_instance.mtx held it can only shrink.
 *
 * Return: the number.
 */
static inline u32 dep_instance_nr_items(const struct dep_instance *inst)
{
	/* One plain instruction, see above. */
	return data_race(READ_ONCE(inst->nr_items));
}

/**
 * dep_instance_nr_ready() - how many items are listed, or in the ring
 * @inst: the instance, not locked
 *
 * Changed as dep_instance_nr_items().
 *
 * Return: the number.
 */
static inline u32 dep_instance_nr_ready(const struct dep_instance *inst)
{
	/* One plain instruction, see above. */
	return data_race(READ_ONCE(inst->nr_ready));
}

/**
 * dep_instance_ring() - the ring of a set
 * @inst: the instance; not locked
 *
 * Return: the ring, which stays as long as the instance, or NULL.
 */
static inline struct dep_ring *
dep_instance_ring(const struct dep_instance *inst)
{
	/* Pairs with dep_ring_make(). */
	return DEP_HAS_RING ? smp_load_acquire(&inst->ring) : NULL;
}

/**
 * dep_instance_has_ring() - does the program take events without a call?
 * @inst: the instance; locked, or dep_instance.mtx is held
 *
 * Return: true if it may: then the sink has all operations.
 */
static inline bool dep_instance_has_ring(const struct dep_instance *inst)
{
	return DEP_HAS_RING && inst->ring;
}

/**
 * dep_instance_readers() - who may have events of fds that report their close
 * @inst: the instance; not locked for a hint
 *
 * Return: the readers, which stay as long as the instance; NULL without such
 * fds.
 */
static __always_inline struct dep_readers *
dep_instance_readers(const struct dep_instance *inst)
{
	return DEP_HAS_CLOSED ? READ_ONCE(inst->readers) : NULL;
}

/**
 * dep_instance_has_events() - do events wait in the sink?
 * @inst: the instance, locked for a true answer, not locked for a hint
 *
 * Return: true if so; false if the program has taken them out of the ring.
 */
static inline bool dep_instance_has_events(const struct dep_instance *inst)
{
	const struct dep_ring *ring;

	if (likely(!READ_ONCE(inst->pending)))
		return false;
	ring = dep_instance_ring(inst);
	/* A post changes the word first, and then what is expected there. */
	return !ring || atomic64_read(ring->word) & DEVEPOLL_RING_COUNT;
}

/**
 * dep_instance_has_work() - is there anything for a waiter to do?
 * @inst: the instance; the answer is exact if it is locked, or else a hint
 *
 * Return: true if events are pending or files have to be polled.
 */
static inline bool dep_instance_has_work(const struct dep_instance *inst)
{
	return dep_instance_has_events(inst) ||
	       READ_ONCE(inst->ready.next) != &inst->ready;
}

#endif /* DEVEPOLL_INSTANCE_H */
