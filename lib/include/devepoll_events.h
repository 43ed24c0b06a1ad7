/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the parts of the extended interface that epoll does not have.
 */
#ifndef DEVEPOLL_EVENTS_H
#define DEVEPOLL_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/devepoll.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: events
 *
 * In this header, an instance is a plain descriptor, returned by
 * devepoll_events_open() or by devepoll_epoll_create1().  The functions of both
 * headers work on it, side by side, even if the descriptor was inherited,
 * duplicated or received.  close(2) closes it.
 *
 * The structures are those of linux/devepoll.h, and events are the EPOLL* bits
 * of sys/epoll.h.  Every request except EPIOCSPARAMS and EPIOCGPARAMS uses the
 * fadvise entry.
 *
 * On error, all functions return a negative errno, and the value of errno
 * itself is undefined.  All of them may be called from any thread at any time.
 * Any number of threads may wait on one instance; each event goes to one of
 * them.  The functions are not cancellation points, because events that a
 * thread has already taken would be lost if it were canceled.
 *
 * All functions fail with -EBADF if the descriptor is not open, with -ENOTTY if
 * it is not the device, and with -EBUSY if the instance has the 2001 interface.
 */

/* Flag of devepoll_events_open(): keep the descriptor open across execve(2). */
#ifndef DEVEPOLL_NO_CLOEXEC
#define DEVEPOLL_NO_CLOEXEC	0x1U
#endif

/**
 * devepoll_events_open() - create an instance
 * @flags: 0 or DEVEPOLL_NO_CLOEXEC
 *
 * Return: its descriptor, or
 * -EINVAL: @flags has an unknown bit;
 * -ENOENT: the node does not exist;
 * -EACCES: the mode of the node forbids reading or writing;
 * -ENODEV, -ENXIO: the node exists, but the module is not loaded;
 * -ENOTTY: the node is not the device, or the module is too old;
 * -EPERM, -EACCES, -ENOSYS: a system call filter refuses every request;
 * -EMFILE, -ENFILE: no descriptor is available;
 * -ENOMEM: there is not enough memory.
 */
int devepoll_events_open(unsigned int flags);

/**
 * devepoll_events_request() - make any request of the device
 * @fd: the instance
 * @request: DEVEPOLL_CTL, DEVEPOLL_WAIT, DEVEPOLL_STATS, DEVEPOLL_SIGNAL,
 *	EP_POLL...
 * @arg: its argument
 *
 * This function is for what the other functions have no parameter for.  The
 * size of the argument is part of the request, so a program that was built with
 * newer headers than the library gets what it requests.
 *
 * Return: the result of the request, as in linux/devepoll.h, with errors as a
 * negative errno.
 */
int devepoll_events_request(int fd, unsigned int request, void *arg);

/**
 * devepoll_events_update() - add, change and remove many fds at once
 * @fd: the instance
 * @changes: the changes, made in order; the result of each is filled in
 * @nr_changes: number of changes
 * @nr_failed: out: number of changes that have a result other than 0 or were
 *	not tried; or NULL
 *
 * Return: the number of changes that were tried, which is all of them unless
 * the memory of the next one can't be read and written; or, if none was tried,
 * -EFAULT: the first change can't be read and written;
 * -EINVAL: @nr_changes is 0 or greater than DEVEPOLL_MAX_CHANGES.
 */
int devepoll_events_update(int fd, struct devepoll_change *changes,
			   unsigned int nr_changes, unsigned int *nr_failed);

/**
 * devepoll_events_change() - add, change or remove one fd
 * @fd: the instance
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL
 * @target: the fd
 * @events: the requested events and the mode, EPOLL* bits; ignored for
 *	DEVEPOLL_DEL
 * @flags: DEVEPOLL_TELL_CLOSED, DEVEPOLL_TRUST; 0 for DEVEPOLL_DEL
 * @data: returned with each event of the fd; ignored for DEVEPOLL_DEL
 *
 * Makes one change, at less cost than devepoll_events_update().
 *
 * Return: 0; a result of struct devepoll_change; or an error of
 * devepoll_events_update(), among them
 * -EINVAL: also: @op or a bit of @flags is unknown.
 */
int devepoll_events_change(int fd, unsigned int op, int target, uint32_t events,
			   unsigned int flags, uint64_t data);

/**
 * devepoll_events_wait() - wait for events
 * @fd: the instance
 * @events: out: the events
 * @max_events: number of events that fit in @events, at least 1
 * @timeout: minimum number of nanoseconds to wait; with 0 the call does not
 *	sleep, with a negative number it waits indefinitely
 *
 * Return: the number of events; 0 if the call timed out; or
 * -EFAULT: @events can't be written (no event is lost);
 * -EINVAL: @max_events is 0 or greater than DEVEPOLL_MAX_EVENTS;
 * -EINTR: a signal arrived before an event did; the call is never restarted.
 */
int devepoll_events_wait(int fd, struct devepoll_event *events,
			 unsigned int max_events, int64_t timeout);

/**
 * devepoll_events_update_wait() - make changes, then wait, in one call
 * @fd: the instance
 * @changes: as for devepoll_events_update()
 * @nr_changes: number of changes; with 0 the call is devepoll_events_wait()
 * @nr_failed: as for devepoll_events_update(), also after an error
 * @events: as for devepoll_events_wait()
 * @max_events: as for devepoll_events_wait()
 * @timeout: as for devepoll_events_wait()
 *
 * If not all changes take effect, the call returns the events that are ready,
 * without waiting.
 *
 * Return: as devepoll_events_wait(), or
 * -EINVAL: also if @nr_changes is greater than DEVEPOLL_MAX_CHANGES.
 */
int devepoll_events_update_wait(int fd, struct devepoll_change *changes,
				unsigned int nr_changes,
				unsigned int *nr_failed,
				struct devepoll_event *events,
				unsigned int max_events, int64_t timeout);

/**
 * devepoll_events_harvest() - wait with all options
 * @fd: the instance
 * @args: in and out: see linux/devepoll.h.  The options are a minimum number of
 *	events, an absolute timeout, a signal mask, changes, and events as
 *	struct epoll_event or in the mapping
 *
 * Return: the number of events, or a negative errno, as in linux/devepoll.h.
 */
static inline int devepoll_events_harvest(int fd,
					  struct devepoll_wait_args *args)
{
	return devepoll_events_request(fd, DEVEPOLL_WAIT, args);
}

/**
 * devepoll_events_step_back() - have no event of the instance in use
 * @fd: the instance
 *
 * The calling thread has dealt with all events that it has taken, and does not
 * wait for the instance for some time: DEVEPOLL_CLOSED is not held back because
 * of it.  Each wait says the same.
 *
 * Return: 0, or
 * -ENOTTY: also if the module has no such request.
 */
static inline int devepoll_events_step_back(int fd)
{
	return devepoll_events_request(fd, DEVEPOLL_STEP_BACK, (void *)0);
}

/**
 * struct devepoll_part - a part of the mapping of an instance, for one thread
 * @events: the events of devepoll_events_take(), read-only
 * @max_events: number of events that fit
 * @fd: the instance
 * @offset: offset of the part in the mapping, in bytes, to be used as events in
 *	struct devepoll_wait_args with DEVEPOLL_WAIT_MAPPED
 * @reserved: 0
 */
struct devepoll_part {
	const struct devepoll_event *events;
	unsigned int max_events;
	int fd;
	uint64_t offset;
	uint64_t reserved[2];
};

/**
 * devepoll_events_map() - map the events of an instance, a part for each thread
 * @fd: the instance
 * @parts: out: the parts, of equal size
 * @nr_parts: number of parts, at least 1
 * @max_events: number of events in each part, at least 1
 *
 * The memory belongs to the device, so waits write to it without page faults.
 * All processes that map the instance see the same memory.  The first mapping
 * determines its size: later ones must request the same total number of events,
 * rounded up to whole pages.
 *
 * Return: 0, or
 * -EINVAL: @nr_parts or @max_events is 0, or their total is too large or
 * differs from that of the first mapping of the instance;
 * -ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK or the cgroup forbids
 * the allocation;
 * -EFAULT: @parts is NULL.
 */
int devepoll_events_map(int fd, struct devepoll_part *parts,
			unsigned int nr_parts, unsigned int max_events);

/**
 * devepoll_events_unmap() - undo devepoll_events_map()
 * @parts: from devepoll_events_map(), not in use by any thread; for NULL, the
 *	function does nothing
 * @nr_parts: as passed to devepoll_events_map()
 *
 * This function may be called before or after the instance is closed.
 */
void devepoll_events_unmap(struct devepoll_part *parts, unsigned int nr_parts);

/**
 * devepoll_events_take() - wait for events in mapped memory
 * @part: the part of the caller, which holds the events until the next call
 *	with this part
 * @timeout: as for devepoll_events_wait()
 *
 * Return: as devepoll_events_wait(), or
 * -EINVAL: @part is NULL, or the instance has no such part.
 */
int devepoll_events_take(const struct devepoll_part *part, int64_t timeout);

/**
 * struct devepoll_consumer - a thread's part in the ring of an instance
 * @next: the next event of devepoll_events_next()
 * @end: the end of the events
 * @page: the page with the word of the ring
 * @sets: its slot sets
 * @size: number of bytes from one slot set to the next
 * @mapped: number of bytes of all slot sets
 * @spare: the slot set that this consumer owns
 * @fd: the instance
 * @reserved: 0
 *
 * The members are private, except that a program may read @spare for
 * devepoll_events_ring_join().
 */
struct devepoll_consumer {
	const struct devepoll_event *next;
	const struct devepoll_event *end;
	struct devepoll_ring_page *page;
	const char *sets;
	size_t size;
	size_t mapped;
	uint32_t spare;
	int fd;
	uint64_t reserved;
};

/**
 * devepoll_events_ring() - give an instance a ring, and map it
 * @fd: the instance, which has no fds
 * @consumers: out: the consumers, one for each thread that takes events
 * @nr_consumers: number of consumers, at least 1
 * @slots: number of events that can be taken at once, at least 1; it may be
 *	smaller than the number of fds
 *
 * The events of fds with EPOLLET and DEVEPOLL_TRUST then go to memory as they
 * happen, and devepoll_events_consume() takes them without entering the kernel.
 * The instance has the ring for good.  The other functions work as before.
 *
 * A child of fork(2) does not have the memory, so it must not use the
 * consumers; it can wait with the other functions.
 *
 * Return: 0, or
 * -EFAULT: @consumers is NULL;
 * -EINVAL: @nr_consumers or @slots is 0, or their product is too large;
 * -EBUSY: the instance has fds or has a ring already, or is a signal instance;
 * -ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK or the cgroup forbids
 * the allocation (if the memory could only not be mapped, the instance has the
 * ring nevertheless);
 * -EINTR: the caller is being killed;
 * -ENOTTY: also if the module has no rings.
 */
int devepoll_events_ring(int fd, struct devepoll_consumer *consumers,
			 unsigned int nr_consumers, unsigned int slots);

/**
 * devepoll_events_ring_join() - become a consumer where another has ended
 * @fd: the instance, which has a ring that somebody has made
 * @consumer: out: the consumer, with a mapping of its own
 * @owned: devepoll_consumer.spare of each consumer that lives, in any process
 * @nr_owned: number of elements, less than the ring has consumers; with a
 *	single consumer, 0
 *
 * No consumer may take events during the call.  The events that the one that
 * has ended had taken and not dealt with are lost with it.
 *
 * Return: 0, or
 * -EFAULT: @consumer is NULL, or @owned can't be read;
 * -EINVAL: the instance has no ring, @nr_owned is too large, or an element is
 * the number of no slot set;
 * -EBUSY: @owned has a number twice, or is out of date;
 * -EACCES: @fd lacks read or write access;
 * -EBADF: @fd lacks write access;
 * -ENOMEM: there is not enough memory;
 * -ENOTTY: also if the module has no such request.
 */
int devepoll_events_ring_join(int fd, struct devepoll_consumer *consumer,
			      const uint32_t *owned, unsigned int nr_owned);

/**
 * devepoll_events_ring_unmap() - unmap a ring
 * @consumers: from devepoll_events_ring() or devepoll_events_ring_join(), not
 *	in use by any thread; for NULL, the function does nothing
 * @nr_consumers: as passed to devepoll_events_ring(); 1 for a consumer of
 *	devepoll_events_ring_join()
 *
 * The function may be called before or after the instance is closed.  As long
 * as the ring is mapped, the instance lives on, even if it is closed.
 */
void devepoll_events_ring_unmap(struct devepoll_consumer *consumers,
				unsigned int nr_consumers);

/**
 * devepoll_events_refill() - the part of devepoll_events_consume() with a call
 * @consumer: as for devepoll_events_consume()
 * @timeout: as for devepoll_events_consume()
 *
 * A program has no reason to call this function.
 *
 * Return: as devepoll_events_consume().
 */
int devepoll_events_refill(struct devepoll_consumer *consumer, int64_t timeout);

/**
 * devepoll_events_barrier() - make an exchange of the word a full barrier
 *
 * This is for programs that exchange the word of a ring themselves, right
 * behind the exchange with __ATOMIC_SEQ_CST.  On x86 it is no instruction.
 */
static inline void devepoll_events_barrier(void)
{
#if defined(__x86_64__)
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#elif defined(__i386__)
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/**
 * devepoll_events_exchange() - take what is in the ring now
 * @consumer: as for devepoll_events_consume()
 *
 * This is the part of devepoll_events_consume() that both halves of it share.
 *
 * Return: the number of slots that were taken, which can be 0.
 */
static inline int devepoll_events_exchange(struct devepoll_consumer *consumer)
{
	uint64_t give = (uint64_t)consumer->spare << DEVEPOLL_RING_SET_SHIFT;
	uint64_t old = __atomic_exchange_n(&consumer->page->word, give,
					   __ATOMIC_SEQ_CST);
	uint32_t nr = old;

	devepoll_events_barrier();
	/* Whoever comes next makes the request, and this may be late. */
	if (__builtin_expect(nr & DEVEPOLL_RING_ASK, 0)) {
		nr &= DEVEPOLL_RING_COUNT;
		__atomic_store_n(&consumer->page->ask, DEVEPOLL_RING_ASK,
				 __ATOMIC_RELAXED);
	}
	consumer->spare = old >> DEVEPOLL_RING_SET_SHIFT;
	consumer->next = (const struct devepoll_event *)
		(consumer->sets + consumer->spare * consumer->size);
	consumer->end = consumer->next + nr;
	return nr;
}

/**
 * devepoll_events_consume() - wait for events in the ring, and take all of them
 * @consumer: the consumer of the calling thread
 * @timeout: as for devepoll_events_wait()
 *
 * If there are events in the ring, this is one atomic instruction.  The
 * function makes a request of the kernel only in order to sleep, or if
 * something is not in the ring yet: level-triggered fds, fds without
 * DEVEPOLL_TRUST, wake-ups that did not name their events, events that did not
 * fit, and DEVEPOLL_CLOSED.
 *
 * devepoll_events_next() returns the events.  They stay until the next call
 * with this consumer.
 *
 * Return: the number of events, or a larger one: events of fds that were
 * removed, changed or closed before they were taken are counted, and left out
 * by devepoll_events_next(); 0 if the call timed out; or
 * -EINTR: a signal arrived before an event did; the call is never restarted;
 * -EINVAL: the descriptor refers to another instance by now.
 */
static inline int devepoll_events_consume(struct devepoll_consumer *consumer,
					  int64_t timeout)
{
	const struct devepoll_ring_page *page = consumer->page;
	uint32_t state = __atomic_load_n(&page->word, __ATOMIC_RELAXED) |
			 __atomic_load_n(&page->ask, __ATOMIC_RELAXED);

	if (!state && !timeout) {
		consumer->next = consumer->end;
		return 0;
	}
	if (!state || state & DEVEPOLL_RING_ASK)
		return devepoll_events_refill(consumer, timeout);
	return devepoll_events_exchange(consumer);
}

/**
 * devepoll_events_next() - get the next event that a consumer has taken
 * @consumer: the consumer
 * @event: out: the event
 *
 * Return: 1, or 0 if there is none left.
 */
static inline int devepoll_events_next(struct devepoll_consumer *consumer,
				       struct devepoll_event *event)
{
	const struct devepoll_event *slot, *end = consumer->end;

	for (slot = consumer->next; slot != end; slot++) {
		/* The kernel may withdraw the event this moment. */
		event->events = *(const volatile __u32 *)&slot->events;
		if (!event->events)
			continue;
		event->data = slot->data;
		event->fd = slot->fd;
		consumer->next = slot + 1;
		return 1;
	}
	consumer->next = slot;
	return 0;
}

/**
 * devepoll_events_stats() - get the counters of an instance
 * @fd: the instance, of either interface
 * @stats: out: the counters
 *
 * Return: 0, or
 * -EFAULT: @stats can't be written.
 */
static inline int devepoll_events_stats(int fd, struct devepoll_stats *stats)
{
	return devepoll_events_request(fd, DEVEPOLL_STATS, stats);
}

/**
 * devepoll_events_features() - get what the module supports, and its limits
 * @fd: the instance, with any open mode
 * @features: out: see linux/devepoll.h; members that the module does not know
 *	are 0
 *
 * Return: 0, or
 * -EFAULT: @features can't be written.
 */
int devepoll_events_features(int fd, struct devepoll_features *features);

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_EVENTS_H */
