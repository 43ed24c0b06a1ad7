// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The rings of the preload library (DEVEPOLL_RING).  An instance that the
 * program creates gets a ring, its edge-triggered fds are trusted, and a wait
 * takes their events from memory.  The library must not change what a program
 * sees, so it takes events from memory only if all is simple:
 *
 * - The word has no DEVEPOLL_RING_ASK.  Otherwise, the wait is the system call,
 *   which also takes what is in the ring.
 * - The array has room for all events that are there.  The exchange is
 *   therefore a compare-and-exchange.  No event is left over in the memory of
 *   the process, so poll(2), instances around this one, other processes, and
 *   duplicates of the fd, which the library does not know, see all events that
 *   there are.
 * - No other thread takes events from the ring at this moment.  There is only
 *   one consumer, so a thread holds the ring while it takes and copies events.
 *   Nobody waits for it: whoever finds the ring held makes the system call.
 *   The calls therefore work in signal handlers.  If a thread is gone while it
 *   holds the ring, all waits are system calls from then on.
 * - The array lies where memory of programs can be, even if there is no event:
 *   for another one, epoll fails with EFAULT.
 * - The kernel has written to the same array for this thread before, so the
 *   copy does not kill a program for which epoll would fail with EFAULT.
 *
 * A wait that has to sleep is the system call, or DEVEPOLL_RING_WAIT if all of
 * the following is so:
 *
 * - There is nothing in the ring, and the word has no DEVEPOLL_RING_ASK.
 * - The program has a single thread.  Otherwise, another thread may close the
 *   instance, and the sleeper, which takes nothing yet, has lost it when it
 *   wakes up; a second event would not wake another thread if the array of the
 *   first one is small; and the sleeper may be canceled.
 * - The call has no signal mask.  A program that passes one wants a signal to
 *   end the call or to stay pending, and not to be handled in between.
 * - The last such sleep left no events to a system call, as it does if fds that
 *   are level-triggered were ready.  For a while after that, all sleeps are the
 *   system call.
 *
 * If others take the events first (a process that shares the instance, or a
 * signal handler), the wait goes on until the timeout, which is therefore a
 * point in time.
 *
 * The ring belongs to the number of the fd, until the program closes it.  As
 * the mapping keeps the instance alive, the library has to notice this, and so
 * replaces the functions that close fds (close.c).  The addresses of the
 * mapping belong to the ring's place in the table for good.  Dropping the ring
 * maps zeros there, so a thread that reads the word at this moment finds that
 * there is nothing to take.
 *
 * The kernel does not let a child of fork(2) inherit the mappings, and it wipes
 * the table.  A signal handler may have called fork(2) in a wait that reads
 * them, so the child maps zeros there: in the holes that the rings of its
 * parent have left, and in no other place.  A parent that was itself made
 * without the handlers of pthread_atfork(), by a clone(2) of its own, has an
 * empty table, and may have mapped what it likes in the holes that it began
 * with.
 *
 * A child of vfork(2), or of clone(2) with CLONE_VM, shares mappings and table
 * with its parent, but not the fds that it closes.  If the child gives the
 * number of a ring to something else, the ring is dropped: a wait can't tell in
 * which process it is.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "entry.h"
#include "preload/count.h"
#include "preload/ring.h"
#include "preload/settings.h"

/* The smallest size of a page; arm64 has kernels with larger ones. */
#define PAGE		4096L

_Static_assert(sizeof(struct preload_rings) <= PAGE, "the table fits");

_Atomic(struct preload_rings *)devepoll_preload_rings;
__thread struct preload_written devepoll_preload_written;

/* The word's mapping is one page; set before the first ring is made. */
static size_t word_size;

/* Two slot sets: one is being filled, and one belongs to the process. */
static size_t sets_size(void)
{
	return (DEVEPOLL_RING_SIZE(1, RING_SLOTS) + word_size - 1) & -word_size;
}

static size_t ring_size(void)
{
	return word_size + sets_size();
}

/* Zeros, which need no memory unless somebody writes to them. */
static void *map_zeros(void *at, size_t size, int *err)
{
	return raw_map(at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, err);
}

static int getpid_now(void)
{
	return raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static struct preload_rings *known_rings(void)
{
	return atomic_load_explicit(&devepoll_preload_rings,
				    memory_order_acquire);
}

/* The table, in memory that a child of fork(2) finds empty; or NULL. */
static struct preload_rings *make_rings(void)
{
	struct preload_rings *rings = known_rings(), *first = NULL;
	int err;

	if (rings)
		return rings;
	__atomic_store_n(&word_size, sysconf(_SC_PAGESIZE), __ATOMIC_RELAXED);
	rings = map_zeros(NULL, PAGE, &err);
	if (!rings)
		return NULL;
	if (!raw_call(SYS_madvise, (long)rings, PAGE, MADV_WIPEONFORK, 0, 0,
		      0)) {
		atomic_store(&rings->pid, getpid_now());
		if (atomic_compare_exchange_strong(&devepoll_preload_rings,
						   &first, rings))
			return rings;
	}
	raw_unmap(rings, PAGE);
	return first;
}

/**
 * struct place - where a ring is, for a child, which finds the table empty
 * @at: the word, or NULL
 * @mapped: the child has a hole there, rather than zeros
 */
static struct place {
	void *_Atomic at;
	atomic_bool mapped;
} places[MAX_RINGS];

/* Another thread may be giving the ring its place. */
static void *word_of(struct preload_ring *ring)
{
	return (void *)__atomic_load_n(&ring->word, __ATOMIC_RELAXED);
}

/**
 * devepoll_preload_ring_before_fork() - note where the rings are, for a child
 *
 * Several threads may do this at a time.
 */
void devepoll_preload_ring_before_fork(void)
{
	struct preload_rings *rings = known_rings();
	bool ours;
	int i;

	if (!rings)
		return;
	ours = atomic_load(&rings->pid) == getpid_now();
	for (i = 0; i < MAX_RINGS; i++) {
		struct preload_ring *ring = ours ? &rings->ring[i] : NULL;

		places[i].at = ring ? word_of(ring) : NULL;
		places[i].mapped = ring && atomic_load(&ring->mapped);
	}
}

/* Zeros in a hole; fails if something is there. */
static void *fill_hole(void *at, size_t size, int *err)
{
	return raw_map_at(at, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			  -1, 0, err);
}

/*
 * Maps zeros where the parent had a mapped ring or, if another handler of
 * fork(2) has mapped something there, where the kernel likes; or returns NULL.
 */
static void *zeros_for_ring(void *at)
{
	int err;
	void *map = fill_hole(at, ring_size(), &err);

	return map ? map : map_zeros(NULL, ring_size(), &err);
}

/*
 * Fills a place that was noted as zeros, and returns false if that fails.
 * Another thread of the parent may have mapped the word of a ring there since,
 * or its slot sets, or both: then the child has a hole.
 */
static bool zeros_are_whole(char *at)
{
	int err;

	return (fill_hole(at, word_size, &err) || err == -EEXIST) &&
	       (fill_hole(at + word_size, sets_size(), &err) || err == -EEXIST);
}

/**
 * devepoll_preload_ring_in_child() - map zeros where the parent had rings
 *
 * This is for the child of fork(2) or _Fork(3), in which there are holes.
 */
void devepoll_preload_ring_in_child(void)
{
	struct preload_rings *rings = known_rings();
	int i;

	if (!rings)
		return;
	for (i = 0; i < MAX_RINGS; i++) {
		char *at = places[i].at;

		if (at && places[i].mapped)
			at = zeros_for_ring(at);
		else if (at && !zeros_are_whole(at))
			at = NULL;
		if (!at)
			continue;
		rings->ring[i].word = (void *)at;
		rings->ring[i].sets = (void *)(at + word_size);
	}
	/* Or a child of vfork(2) could take the table for its own. */
	atomic_store(&rings->pid, getpid_now());
}

/* Before the program can call vfork(2). */
static __attribute__((constructor)) void begin(void)
{
	if (!devepoll_setting(SETTING_RING))
		return;
	make_rings();
	pthread_atfork(devepoll_preload_ring_before_fork, NULL,
		       devepoll_preload_ring_in_child);
}

/* Do the fds of this process belong to the table? */
static bool is_our_process(struct preload_rings *rings)
{
	int pid = getpid_now(), known = 0;

	/* The child of a fork(2) begins with an empty table. */
	return atomic_compare_exchange_strong(&rings->pid, &known, pid) ||
	       known == pid;
}

/*
 * Let go of the mappings, and so of the instance; the ring is held.  Memory
 * that can't be written needs no commitment of the kernel, and nobody writes
 * there before the ring is mapped again.
 */
static void put_zeros(struct preload_ring *ring)
{
	void *at = word_of(ring);
	int err;

	if (map_zeros(at, ring_size(), &err) ||
	    raw_map(at, ring_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0, &err))
		atomic_store(&ring->mapped, false);
}

/* Let go of instances whose mappings could not be replaced at first. */
static void put_zeros_again(struct preload_rings *rings)
{
	struct preload_ring *ring = rings->ring;

	for (; ring < rings->ring + MAX_RINGS; ring++) {
		if (atomic_load(&ring->mapped) && !atomic_load(&ring->number) &&
		    preload_ring_hold(ring))
			devepoll_preload_ring_drop_held(ring);
	}
}

/**
 * devepoll_preload_ring_drop_held() - drop a ring that this thread holds
 * @ring: the ring, which is not held any more afterwards
 *
 * If the ring has a number again, another instance got its place after the drop
 * had cleared the number.  The mappings are those of this instance, and stay.
 */
void devepoll_preload_ring_drop_held(struct preload_ring *ring)
{
	do {
		/*
		 * It is free only in a child of fork(2) that a signal handler
		 * made: what this thread did to the ring was for the parent.
		 */
		if (atomic_exchange(&ring->state, RING_HELD) == RING_FREE)
			atomic_store(&ring->number, 0);
		/* A drop from now on makes the release fail. */
		if (!atomic_load(&ring->number))
			put_zeros(ring);
	} while (!preload_ring_release(ring));
}

static void release(struct preload_ring *ring)
{
	if (!preload_ring_release(ring))
		devepoll_preload_ring_drop_held(ring);
}

/* Whoever holds the ring drops it, even if that is us. */
static void drop_or_leave(struct preload_ring *ring)
{
	unsigned int state;

	do {
		if (preload_ring_hold(ring)) {
			devepoll_preload_ring_drop_held(ring);
			return;
		}
		state = RING_HELD;
	} while (!atomic_compare_exchange_strong(&ring->state, &state,
						 RING_TO_BE_DROPPED) &&
		 state != RING_TO_BE_DROPPED);
}

/*
 * Drop the ring of this number, unless another instance has it by now.  No
 * handler may leave this by siglongjmp(3): the ring would stay held.
 */
static void drop(struct preload_ring *ring, int number)
{
	const uint64_t signals = entry_block_signals();

	if (atomic_compare_exchange_strong(&ring->number, &number, 0))
		drop_or_leave(ring);
	entry_set_signals(signals);
}

/* Give the instance a ring, and map it where @ring, which is held, says. */
static int fill(struct preload_ring *ring, int epfd)
{
	struct devepoll_ring args = { .consumers = 1, .slots = RING_SLOTS };
	char *at = (char *)ring->word;
	int err;

	if (!at) {
		at = map_zeros(NULL, ring_size(), &err);
		if (!at)
			return err;
		ring->word = (void *)at;
		ring->sets = (void *)(at + word_size);
	}
	err = devepoll_entry_request(epfd, DEVEPOLL_RING, &args);
	if (err)
		return err;
	atomic_store(&ring->mapped, true);
	if (!raw_map(at + word_size, sets_size(), PROT_READ, MAP_SHARED, epfd,
		     DEVEPOLL_MAP_RING_SLOTS, &err) ||
	    !raw_map(at, word_size, PROT_READ | PROT_WRITE, MAP_SHARED, epfd,
		     DEVEPOLL_MAP_RING, &err)) {
		put_zeros(ring);
		return err;
	}
	ring->spare = 1ULL << DEVEPOLL_RING_SET_SHIFT;
	atomic_store_explicit(&ring->by_call, 0, memory_order_relaxed);
	return 0;
}

static int open_ring(int epfd)
{
	struct preload_rings *rings = make_rings();
	struct preload_ring *ring;
	int err;

	if (!rings)
		return -ENOMEM;
	if (!is_our_process(rings))
		return -EPERM;
	put_zeros_again(rings);
	ring = &rings->ring[(unsigned int)epfd % MAX_RINGS];
	if (!preload_ring_hold(ring))
		return -EBUSY;
	err = atomic_load(&ring->number) ? -EBUSY : fill(ring, epfd);
	if (!err)
		/* Pairs with preload_ring_of(). */
		atomic_store_explicit(&ring->number, epfd + 1,
				      memory_order_release);
	release(ring);
	return err;
}

/**
 * devepoll_preload_ring_open() - give a new instance a ring
 * @epfd: the instance
 *
 * If it can't have one, all waits are system calls.
 */
void devepoll_preload_ring_open(int epfd)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	/* As in drop(). */
	const uint64_t signals = entry_block_signals();
	int err = open_ring(epfd);

	entry_set_signals(signals);
	if (REPORTING)
		devepoll_report_ring(-err);
	if (err)
		devepoll_tell_once(&told, "no ring", -err,
				   "using system calls to wait");
}

/**
 * devepoll_preload_ring_renumber() - note that a number names something new
 * @fd: the number
 *
 * The program closed the number without our knowledge; or it is closed only in
 * a process that has our memory and fds of its own, which the next wait can't
 * tell from this one.
 */
void devepoll_preload_ring_renumber(int fd)
{
	struct preload_ring *ring = preload_ring_of(fd);

	if (ring)
		drop(ring, fd + 1);
}

/**
 * devepoll_preload_ring_close() - drop the rings of fds that are being closed
 * @first: the first of them
 * @last: the last of them
 *
 * Events that are in a ring stay in the instance, if that lives on.
 */
void devepoll_preload_ring_close(unsigned int first, unsigned int last)
{
	struct preload_rings *rings = known_rings();
	unsigned int i, number;

	if (!rings)
		return;
	for (i = 0; i < MAX_RINGS; i++) {
		number = atomic_load(&rings->ring[i].number);
		if (number && number - 1 >= first && number - 1 <= last &&
		    is_our_process(rings))
			drop(&rings->ring[i], number);
	}
}

/**
 * devepoll_preload_ring_written() - note that a system call has written events
 * @events: the array
 * @nr: the number of events
 */
void devepoll_preload_ring_written(struct epoll_event *events, long nr)
{
	struct preload_written *written = &devepoll_preload_written;
	uintptr_t begin = (uintptr_t)events & -PAGE;
	uintptr_t end = ((uintptr_t)(events + nr) + PAGE - 1) & -PAGE;

	/* A larger array is written to in parts. */
	if (begin == written->begin && end < written->end)
		return;
	/* A signal handler that waits meanwhile notes its own array. */
	written->end = 0;
	atomic_signal_fence(memory_order_seq_cst);
	written->begin = begin;
	atomic_signal_fence(memory_order_seq_cst);
	written->end = end;
	atomic_signal_fence(memory_order_seq_cst);
	if (written->begin != begin)
		written->end = 0;
}
