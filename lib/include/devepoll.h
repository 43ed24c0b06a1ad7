/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: event notification for many files through /dev/epoll.
 */
#ifndef DEVEPOLL_H
#define DEVEPOLL_H

#include <poll.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: overview
 *
 * A struct devepoll is an instance: one open of the device, with its interest
 * list and the mapping in which its events appear.  devepoll_update() changes
 * the interest list, devepoll_wait() sleeps until there are events, and a
 * cursor (struct devepoll_cursor) iterates over them without a copy.
 *
 * Events are edge-triggered: each arrival is reported once, and so is what an
 * fd is ready for when it is added.  The program should read or write until it
 * gets EAGAIN.
 *
 * On error, all functions return a negative errno, and the value of errno
 * itself is undefined.
 */

/**
 * DOC: threads
 *
 * devepoll_update(), devepoll_add(), devepoll_change(), devepoll_remove(),
 * devepoll_query(), devepoll_fd() and devepoll_capacity() may be called from
 * any thread at any time, even while other threads wait.
 *
 * Several threads may be in devepoll_wait(); one of them gets all pending
 * events.  A result stays unchanged until a call of devepoll_wait(), by any
 * thread, that began after the result was returned.  Threads that share an
 * instance must therefore either finish with a result or copy it before any of
 * them waits again; threads that were already waiting do no harm.
 *
 * devepoll_alloc() and devepoll_close() must not run at the same time as any
 * other call on the instance, or as any use of one of its cursors.  The caller
 * must ensure this.
 */

/* In the events of an entry for devepoll_update(): remove the fd. */
#ifndef POLLREMOVE
#define POLLREMOVE		0x1000
#endif

/* The device node, and the second name that udev adds for it. */
#define DEVEPOLL_NODE		"/dev/epoll"
#define DEVEPOLL_NODE_MISC	"/dev/misc/eventpoll"

/* Flag of devepoll_open(): keep the descriptor open across execve(2). */
#define DEVEPOLL_NO_CLOEXEC	0x1U

/* An instance: one open of the device.  The fields are private. */
struct devepoll;

/**
 * struct devepoll_failure - an entry that did not take effect
 * @index: index of the entry in the array passed to devepoll_update(), from 0
 * @error: the reason, a negative errno
 */
struct devepoll_failure {
	size_t index;
	int error;
};

/**
 * struct devepoll_cursor - a position in the events that a wait returned
 * @next: the next event
 * @end: the end of the events
 *
 * A cursor owns nothing: it points into the mapping of the instance.
 */
struct devepoll_cursor {
	const struct pollfd *next;
	const struct pollfd *end;
};

/**
 * devepoll_open() - open the device, allocate room, and map the results
 * @setp: out: the new instance, for devepoll_close(); NULL after an error
 * @path: the node; NULL stands for DEVEPOLL_NODE or, if that does not exist,
 *	DEVEPOLL_NODE_MISC
 * @capacity: number of fds to allocate room for, at least 1
 * @flags: 0 or DEVEPOLL_NO_CLOEXEC
 *
 * Return: 0, or
 * -EINVAL: @setp is NULL, @flags has an unknown bit, or @capacity is less than
 * 1 or greater than max_fds of the module;
 * -ENOENT: the node does not exist;
 * -EACCES: the mode of the node forbids reading or writing;
 * -ENODEV, -ENXIO: the node exists, but the module is not loaded;
 * -ENOTTY: the node is not the device;
 * -EMFILE, -ENFILE: no descriptor is available;
 * -ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK or the cgroup forbids
 * the allocation;
 * or any other error of open(2) for @path.
 */
int devepoll_open(struct devepoll **setp, const char *path, int capacity,
		  unsigned int flags);

/**
 * devepoll_close() - unmap and close an instance, and free it
 * @set: the instance, which must not be used afterwards; for NULL, the function
 *	does nothing
 *
 * The kernel no longer watches the fds, unless another process shares the
 * instance.
 *
 * Return: 0, or
 * -EBADF: the descriptor had already been closed by other means (the instance
 * is freed).
 */
int devepoll_close(struct devepoll *set);

/**
 * devepoll_detach() - unmap and free an instance, but not close its descriptor
 * @set: the instance, which must not be used afterwards
 *
 * The descriptor stays open.  If it was closed by other means, it stays closed,
 * and its number may refer to another file by now.
 *
 * Return: the descriptor, or
 * -EINVAL: @set is NULL.
 */
int devepoll_detach(struct devepoll *set);

/**
 * devepoll_alloc() - allocate room for more fds
 * @set: the instance
 * @capacity: number of fds to have room for
 *
 * The fds in the instance and the pending events stay.  Cursors become invalid,
 * because the mapping moves.  A @capacity that is not larger than the present
 * one changes nothing.  After an error, the instance is unchanged, unless
 * mapping it again failed: then devepoll_wait() fails with -EINVAL until a call
 * of devepoll_alloc() succeeds.
 *
 * Return: 0, or
 * -EINVAL: @set is NULL, or @capacity is less than 1 or greater than max_fds of
 * the module;
 * -EBUSY: another process has the instance mapped (a child of fork(2));
 * -ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK or the cgroup forbids
 * the allocation.
 */
int devepoll_alloc(struct devepoll *set, int capacity);

/**
 * devepoll_capacity() - get the number of fds that there is room for
 * @set: the instance
 *
 * Return: the number that was requested in devepoll_open() or devepoll_alloc(),
 * or
 * -EINVAL: @set is NULL.
 */
int devepoll_capacity(const struct devepoll *set);

/**
 * devepoll_fd() - get the descriptor of an instance
 * @set: the instance
 *
 * The descriptor can be polled (POLLIN while events are pending), added to an
 * instance of in-tree epoll, and used for the ioctls.  It still belongs to
 * @set: the caller must not close it.
 *
 * Return: the descriptor, or
 * -EINVAL: @set is NULL.
 */
int devepoll_fd(const struct devepoll *set);

/**
 * devepoll_update() - add, change and remove many fds at once
 * @set: the instance
 * @changes: the entries, processed in order: an fd with the requested events,
 *	or with POLLREMOVE; revents is ignored
 * @nr_changes: number of entries
 * @failures: out: the entries that did not take effect, in ascending order; or
 *	NULL
 * @max_failures: number of elements of @failures
 *
 * An fd that is not in the interest list is added, and what it is already ready
 * for is reported.  The events of an fd in the interest list are replaced.
 * Removing an fd that is not in the interest list succeeds.  An instance does
 * not keep a file open: when the file is closed, its fd leaves the interest
 * list.
 *
 * If @failures is NULL, the call is one write(2), and the number that it
 * returns is that of the kernel, which treats adding an fd that is not open
 * like removing it, and does not count it as a failure.
 *
 * If @failures is not NULL, the call checks each fd that was to be added.  It
 * tries an entry that the kernel refused once more after all others.  If the
 * kernel refuses the entry again, the call finds out the reason and stores it
 * with the index of the entry.  If an fd occurs more than once, its last entry
 * decides, and only this entry can be reported.
 *
 * The errors of an entry are
 * -EBADF: the fd is not open, or was opened with O_PATH (this check costs one
 * fcntl(2) for each add); an fd with this number has left the interest list;
 * -ELOOP: the file is the device itself or an instance of in-tree epoll;
 * -ENOSPC: the instance is full, the user watches as many fds as
 * max_user_watches allows, the file is watched as often as it may be (4096
 * times, by one user 1920 times or less), or the fd is greater than 2097151;
 * also if there was not enough memory for the fd (which the cgroup limits as
 * well), because the device does not report this separately;
 * -EMFILE, -ENFILE, -ENOMEM: the entry was refused, and there was no
 * descriptor to find out why.
 *
 * Return: the number of entries that did not take effect, which is 0 if all of
 * them did, and can be greater than @max_failures; or, if nothing was done,
 * -EINVAL: @set is NULL, or @nr_changes is greater than 0x0ffffe00;
 * -EFAULT: @changes can't be read;
 * -EBADF: the descriptor of the instance was closed by other means;
 * or, after the entries were processed,
 * -ENOMEM: there was not enough memory to find out which of them failed.
 */
int devepoll_update(struct devepoll *set, const struct pollfd *changes,
		    size_t nr_changes, struct devepoll_failure *failures,
		    size_t max_failures);

/**
 * devepoll_add() - add one fd, or replace its events
 * @set: the instance
 * @fd: the fd
 * @events: the requested events, as in struct pollfd; POLLERR and POLLHUP are
 *	reported only if they are among them
 *
 * Return: 0, or
 * -EINVAL: @set is NULL, or @events has POLLREMOVE;
 * or an error of an entry of devepoll_update().
 */
int devepoll_add(struct devepoll *set, int fd, short events);

/**
 * devepoll_change() - replace the events of an fd in the interest list
 * @set: the instance
 * @fd: the fd
 * @events: the requested events
 *
 * What the fd is already ready for is not reported.  Looking up the fd and
 * changing it are two calls: if another thread removes the fd between them, it
 * is added again.
 *
 * Return: 0, or
 * -ENOENT: the fd is not in the interest list;
 * or an error of devepoll_add().
 */
int devepoll_change(struct devepoll *set, int fd, short events);

/**
 * devepoll_remove() - remove one fd
 * @set: the instance
 * @fd: the fd, which need not be open or in the interest list
 *
 * A pending event of the fd is dropped.  An event that a wait has already
 * returned stays where a cursor finds it.
 *
 * Return: 0, or
 * -EINVAL: @set is NULL;
 * -EBADF: the descriptor of the instance was closed by other means.
 */
int devepoll_remove(struct devepoll *set, int fd);

/**
 * devepoll_query() - get the requested events of an fd
 * @set: the instance
 * @fd: the fd
 *
 * Return: the events (0 or more), or
 * -ENOENT: the fd is not in the interest list;
 * -EINVAL: @set is NULL;
 * -EBADF: the descriptor of the instance was closed by other means.
 */
int devepoll_query(const struct devepoll *set, int fd);

/**
 * devepoll_wait() - wait for events, and take all pending ones
 * @set: the instance
 * @cursor: out: the events; there are none after 0 or an error
 * @timeout: minimum number of milliseconds to wait; with 0 the call does not
 *	sleep, with a negative number it waits indefinitely
 *
 * There is one event for each fd on which something happened.  The events stay
 * until the next call of devepoll_wait() on this instance.  An event may refer
 * to an fd that the caller has removed or closed since the event was taken.
 *
 * Return: the number of events; 0 if the call timed out; or
 * -EINTR: a signal arrived before an event did (the call is never restarted);
 * -EINVAL: @set or @cursor is NULL, or the instance is not mapped;
 * -EBADF: the descriptor of the instance was closed by other means.
 */
int devepoll_wait(struct devepoll *set, struct devepoll_cursor *cursor,
		  int timeout);

/**
 * devepoll_next() - take the next event
 * @cursor: from devepoll_wait()
 *
 * Return: the event, which belongs to the instance: the fd, the requested
 * events and, in revents, the events that happened; or NULL if there is none
 * left.
 */
static inline const struct pollfd *devepoll_next(struct devepoll_cursor *cursor)
{
	const struct pollfd *event = cursor->next;

	if (event == cursor->end)
		return NULL;
	/* So a loop over the events need not test each of them. */
	if (!event)
		__builtin_unreachable();
	cursor->next = event + 1;
	return event;
}

/**
 * devepoll_version() - get the version of the library
 *
 * Return: a constant string such as "0.2.0".
 */
const char *devepoll_version(void);

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_H */
