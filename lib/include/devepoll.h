/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the events of many files through /dev/epoll.
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
 * A set (struct devepoll) is one open of the device: its interest set and the
 * mapping that its events appear in.  devepoll_update() changes what is
 * watched, devepoll_wait() sleeps until something happened, and a cursor
 * (struct devepoll_cursor) walks over what did, without a copy.
 *
 * Events are edges: each arrival is told once, also those that were there when
 * the fd was added.  Read or write until EAGAIN.
 *
 * All functions that can fail return a negative errno and leave errno itself
 * undefined.
 */

/**
 * DOC: threads
 *
 * devepoll_update(), devepoll_add(), devepoll_change(), devepoll_remove(),
 * devepoll_query(), devepoll_fd() and devepoll_capacity() may be called from
 * any thread at any time, also while others wait.
 *
 * Several threads may be in devepoll_wait(): one of them gets all events that
 * are pending.  What its cursor points to stays as it is until a call of
 * devepoll_wait() that began after it was handed out, by whichever thread.  So
 * threads that share a set finish with, or copy, what they got before any of
 * them waits again; threads that were already waiting do no harm.
 *
 * devepoll_alloc() and devepoll_close() exclude every other call on the set
 * and every use of a cursor of it; the caller sees to that.
 */

/* In the events of an entry given to devepoll_update(): remove the fd. */
#ifndef POLLREMOVE
#define POLLREMOVE		0x1000
#endif

/* Where the device is, and where udev puts a second name for it. */
#define DEVEPOLL_NODE		"/dev/epoll"
#define DEVEPOLL_NODE_MISC	"/dev/misc/eventpoll"

/* Flag of devepoll_open(): let the descriptor survive execve(2). */
#define DEVEPOLL_NO_CLOEXEC	0x1U

/* A set: one open of the device; its fields are private. */
struct devepoll;

/**
 * struct devepoll_failure - an entry that did not take effect
 * @index: which one, counted from 0 in the array given to devepoll_update()
 * @error: why, as a negative errno
 */
struct devepoll_failure {
	size_t index;
	int error;
};

/**
 * struct devepoll_cursor - a place in the events that a wait returned
 * @next: the next event to look at
 * @end: the place behind the last one
 *
 * It owns nothing: it points into the mapping of the set.
 */
struct devepoll_cursor {
	const struct pollfd *next;
	const struct pollfd *end;
};

/**
 * devepoll_open() - open the device, make room, and map the results
 * @setp: out: the new set, to be given to devepoll_close(); NULL after an error
 * @path: the node, or NULL for DEVEPOLL_NODE or, if that is not there,
 *	DEVEPOLL_NODE_MISC
 * @capacity: how many fds there shall be room for, at least 1
 * @flags: 0 or DEVEPOLL_NO_CLOEXEC
 *
 * Return: 0, or
 * -EINVAL: @setp is NULL, @flags has an unknown bit, or @capacity is below 1
 * or above the module's max_fds;
 * -ENOENT: there is no such node;
 * -EACCES: the node's mode forbids reading or writing;
 * -ENODEV, -ENXIO: the node is there, but the module is not loaded;
 * -ENOTTY: the node is not the device;
 * -EMFILE, -ENFILE: no descriptor is free;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it;
 * or whatever else open(2) gives for @path.
 */
int devepoll_open(struct devepoll **setp, const char *path, int capacity,
		  unsigned int flags);

/**
 * devepoll_close() - unmap and close a set, and free it
 * @set: the set, which must not be used afterwards; NULL does nothing
 *
 * What it watched is no longer watched, unless another process shares the set.
 *
 * Return: 0, or
 * -EBADF: the descriptor had been closed by other means (the set is freed).
 */
int devepoll_close(struct devepoll *set);

/**
 * devepoll_detach() - unmap a set and free it, but leave its descriptor alone
 * @set: the set, which must not be used afterwards
 *
 * The descriptor stays open, or closed where it was closed by other means and
 * its number may name another file by now.
 *
 * Return: the descriptor, or
 * -EINVAL: @set is NULL.
 */
int devepoll_detach(struct devepoll *set);

/**
 * devepoll_alloc() - make room for more fds
 * @set: the set
 * @capacity: how many fds there shall be room for
 *
 * The fds in the set and the events that are pending stay.  Cursors become
 * invalid, since the mapping moves.  A @capacity that is not larger than the
 * present one changes nothing.  After an error the set is as it was, unless
 * mapping it again failed: then devepoll_wait() gives -EINVAL until a call of
 * devepoll_alloc() succeeds.
 *
 * Return: 0, or
 * -EINVAL: @set is NULL, or @capacity is below 1 or above the module's max_fds;
 * -EBUSY: someone else has the set mapped (a child of fork(2));
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int devepoll_alloc(struct devepoll *set, int capacity);

/**
 * devepoll_capacity() - tell how many fds there is room for
 * @set: the set
 *
 * Return: the number that was asked for in devepoll_open() or devepoll_alloc(),
 * or
 * -EINVAL: @set is NULL.
 */
int devepoll_capacity(const struct devepoll *set);

/**
 * devepoll_fd() - tell the descriptor of a set
 * @set: the set
 *
 * It can be polled (POLLIN while events are pending), be a member of an
 * in-tree epoll set, and be used for the ioctls.  It still belongs to the set:
 * the caller does not close it.
 *
 * Return: the descriptor, or
 * -EINVAL: @set is NULL.
 */
int devepoll_fd(const struct devepoll *set);

/**
 * devepoll_update() - add, change and remove many fds at once
 * @set: the set
 * @changes: the entries, carried out in order: fd and the events asked for,
 *	or POLLREMOVE in its events; revents is not looked at
 * @nr_changes: how many there are
 * @failures: out: the entries that did not take effect, in ascending order; or
 *	NULL where the caller does not want to know
 * @max_failures: how many of them there is room for
 *
 * An fd that is not in the set is added, and what is ready on it already is
 * told; the events of one that is in the set are replaced.  Removing an fd
 * that is not in the set succeeds.  The file of an added fd is not held: when
 * it is closed, it leaves the set.
 *
 * With @failures NULL the call is one write(2), and the number that it returns
 * is the kernel's: an add of an fd that is not open counts as its removal, and
 * is not seen.
 *
 * With @failures each fd that was to be added is checked.  An entry that the
 * kernel refused is tried once more after all others; if it is refused again,
 * the reason is found out and it is named.  Where an fd occurs more than once,
 * its last entry decides, and only that one can be named.
 *
 * The errors of an entry are
 * -EBADF: the fd is not open, or is one of O_PATH (one fcntl(2) for each add
 * tells); an fd of that number has left the set;
 * -ELOOP: the file is the device itself or an in-tree epoll file;
 * -ENOSPC: there is no room: the set is full, the user's max_user_watches are
 * used up, the file is watched as often as it may be (4096 times, by one user
 * 1920 times or less), or the fd is above 2097151;
 * also where there was no memory for the fd (the cgroup bounds it too), since
 * the device does not tell that apart;
 * -EMFILE, -ENFILE, -ENOMEM: the entry was refused, and there was no
 * descriptor to find out why.
 *
 * Return: how many entries did not take effect: 0 where all did, and possibly
 * more than @max_failures; or, where nothing was done,
 * -EINVAL: @set is NULL, or @nr_changes is above 0x0ffffe00;
 * -EFAULT: @changes can't be read;
 * -EBADF: the set's descriptor was closed by other means;
 * or, after the entries were carried out,
 * -ENOMEM: no memory to find out which of them failed.
 */
int devepoll_update(struct devepoll *set, const struct pollfd *changes,
		    size_t nr_changes, struct devepoll_failure *failures,
		    size_t max_failures);

/**
 * devepoll_add() - watch one fd, or replace the events of one that is watched
 * @set: the set
 * @fd: the fd
 * @events: the events asked for, as in struct pollfd; POLLERR and POLLHUP are
 *	only told where they are among them
 *
 * Return: 0, or
 * -EINVAL: @set is NULL, or @events has POLLREMOVE;
 * or an error of an entry as devepoll_update() gives it.
 */
int devepoll_add(struct devepoll *set, int fd, short events);

/**
 * devepoll_change() - replace the events of an fd that is watched
 * @set: the set
 * @fd: the fd
 * @events: the events asked for
 *
 * No event is told for what is ready already.  The look into the set and the
 * change are two calls: where another thread removes the fd between them, it
 * is added again.
 *
 * Return: 0, or
 * -ENOENT: the fd is not in the set;
 * or an error as devepoll_add() gives it.
 */
int devepoll_change(struct devepoll *set, int fd, short events);

/**
 * devepoll_remove() - no longer watch one fd
 * @set: the set
 * @fd: the fd, open or not, in the set or not
 *
 * An event of it that is pending is dropped.  One that a wait has returned
 * already stays where a cursor finds it.
 *
 * Return: 0, or
 * -EINVAL: @set is NULL;
 * -EBADF: the set's descriptor was closed by other means.
 */
int devepoll_remove(struct devepoll *set, int fd);

/**
 * devepoll_query() - tell which events of an fd are asked for
 * @set: the set
 * @fd: the fd
 *
 * Return: the events (0 or more), or
 * -ENOENT: the fd is not in the set;
 * -EINVAL: @set is NULL;
 * -EBADF: the set's descriptor was closed by other means.
 */
int devepoll_query(const struct devepoll *set, int fd);

/**
 * devepoll_wait() - sleep until there are events, and take all of them
 * @set: the set
 * @cursor: out: where the events are; without any after 0 or an error
 * @timeout: milliseconds to wait at least for; 0 does not sleep, a negative
 *	one waits without limit
 *
 * There is one event for each fd that something happened on.  They stay until
 * the next call of devepoll_wait() on this set.  An event may be for an fd
 * that the caller has removed or closed since it was taken.
 *
 * Return: the number of events; 0 where the time was over before there was
 * one; or
 * -EINTR: a signal came before an event did (the call is never restarted);
 * -EINVAL: @set or @cursor is NULL, or the set is not mapped;
 * -EBADF: the set's descriptor was closed by other means.
 */
int devepoll_wait(struct devepoll *set, struct devepoll_cursor *cursor,
		  int timeout);

/**
 * devepoll_next() - take the next event
 * @cursor: from devepoll_wait()
 *
 * Return: the event: fd, the events asked for, and in revents those that
 * happened; it belongs to the set.  NULL where there is none left.
 */
static inline const struct pollfd *devepoll_next(struct devepoll_cursor *cursor)
{
	return cursor->next == cursor->end ? NULL : cursor->next++;
}

/**
 * devepoll_version() - tell the version of the library
 *
 * Return: a constant string such as "0.2.0".
 */
const char *devepoll_version(void);

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_H */
