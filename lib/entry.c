// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The calls of epoll on the device, for the library and the preload library.
 *
 * A call that succeeds makes one system call.  After an error, the functions
 * find out whether the file is the device at all, whether a system call filter
 * refused the fadvise entry, and which of two errors epoll would have reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "entry.h"

/* The smallest size of a page. */
#define PAGE_LEAST	4096

/* The bits of an event that have a meaning. */
#define EPOLL_BITS	(EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP | \
			 POLLNVAL | EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | \
			 EPOLLWRBAND | EPOLLMSG | EPOLLRDHUP | \
			 EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET)

/* Errors of a system call filter.  The device also fails files with EPERM. */
static bool is_refused(long ret)
{
	return ret == -EPERM || ret == -EACCES || ret == -ENOSYS;
}

static bool has_device_number(int fd)
{
	struct statx st;

	return raw_call(SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_TYPE,
			(long)&st, 0) == 0 &&
	       S_ISCHR(st.stx_mode) && st.stx_rdev_major == EVENTPOLL_MAJOR &&
	       st.stx_rdev_minor == EVENTPOLL_MINOR;
}

/*
 * The parameter of the module had disabled the fadvise entry when this was last
 * checked.  This is a guess that saves a check: if the entry has been enabled
 * again, a request through ioctl(2) has the same result.
 */
static atomic_bool fadvise_is_off;

/*
 * A request that succeeds for any instance of the device, by either way, and
 * that other files fail with ENOTTY by ioctl(2).  Returns 0 if it succeeds, and
 * else what ioctl(2) returned.
 */
static long query_features(int fd)
{
	struct devepoll_features known;
	long ret;

	ret = raw_call(SYS_ioctl, fd, DEVEPOLL_FEATURES, (long)&known, 0, 0,
		       0);
	if (is_refused(ret) &&
	    !fadvise_entry(fd, &known, 0, DEVEPOLL_FEATURES))
		ret = 0;
	if (!ret)
		atomic_store_explicit(&fadvise_is_off,
				      !(known.features &
					DEVEPOLL_FEATURE_FADVISE),
				      memory_order_relaxed);
	return ret;
}

/**
 * devepoll_entry_find_out() - find out whether an fd is the device
 * @fd: the fd
 *
 * If a system call filter refuses all requests, the device number decides.
 *
 * Return: 0 if it is, or
 * -ENOTTY: it is another file;
 * -EBADF: it is not open;
 * -EPERM, -EACCES, -ENOSYS: a filter makes it impossible to find out.
 */
long devepoll_entry_find_out(int fd)
{
	long ret = query_features(fd);

	if (is_refused(ret))
		return has_device_number(fd) ? 0 : ret;
	return ret && ret != -EBADF ? -ENOTTY : ret;
}

static bool is_off_by_guess(void)
{
	return atomic_load_explicit(&fadvise_is_off, memory_order_relaxed);
}

/*
 * Does EINVAL only mean that the fadvise entry is disabled?  If the guess is
 * wrong, the request through ioctl(2) reveals it.
 */
static bool is_shut(int fd, long ret)
{
	return ret == -EINVAL &&
	       (is_off_by_guess() ||
		(devepoll_entry_is_device(fd) && is_off_by_guess()));
}

/*
 * The kernel reads the signal mask before it checks the operation, which is
 * invalid here.
 */
static bool word_is_readable(uintptr_t address)
{
	/* The kernel would take NULL for no signal mask. */
	return address && raw_call(SYS_rt_sigprocmask, -1, address, 0,
				   KERNEL_SIGSET_SIZE, 0, 0) != -EFAULT;
}

/**
 * devepoll_entry_readable() - check whether memory of the caller can be read
 * @object: the memory
 * @size: its size, between 8 and 4096 bytes
 *
 * If epoll would fail with EFAULT, the program must not be killed only because
 * this library reads the memory instead of the kernel.  The check makes no
 * system call if the object is in the same page as the stack frame of this
 * function.
 *
 * Return: true if it can.
 */
bool devepoll_entry_readable(const void *object, size_t size)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t first = (uintptr_t)object;
	uintptr_t last = first + size - 1;

	if (first / PAGE_LEAST == here / PAGE_LEAST &&
	    last / PAGE_LEAST == here / PAGE_LEAST)
		return true;

	return word_is_readable(first) &&
	       (first / PAGE_LEAST == last / PAGE_LEAST ||
		word_is_readable(last + 1 - KERNEL_SIGSET_SIZE));
}

/*
 * fadvise64(2) fails with these errors for other files, and so does ioctl(2)
 * for some files, such as epoll instances.  The device, too, fails with EINVAL.
 */
static bool is_foreign(int fd, long ret)
{
	return (ret == -EINVAL || ret == -ESPIPE) &&
	       !devepoll_entry_is_device(fd);
}

void (*devepoll_entry_shut)(int err);

/*
 * The error is that of a filter, and says nothing about the file: the number
 * may be an instance of epoll by now, which needs none of the two calls.
 */
static long request_refused(int fd, long ret)
{
	long err = query_features(fd);
	bool shut = is_refused(err);

	if (shut ? !has_device_number(fd) : err)
		return -ENOTTY;
	if (shut && devepoll_entry_shut)
		devepoll_entry_shut(-ret);
	return ret;
}

/**
 * devepoll_entry_request() - make a request of the device
 * @fd: the device
 * @request: DEVEPOLL_*
 * @arg: its argument
 *
 * Return: the result of the request, or
 * -ENOTTY: the fd is not the device.
 */
long devepoll_entry_request(int fd, unsigned int request, void *arg)
{
	long ret = -EPERM;

	if (!is_off_by_guess())
		ret = fadvise_entry(fd, arg, 0, request);
	if (is_refused(ret))
		ret = raw_call(SYS_ioctl, fd, request, (long)arg, 0, 0, 0);
	if (is_foreign(fd, ret))
		return -ENOTTY;
	if (is_refused(ret))
		return request_refused(fd, ret);
	/* This was the first request that found the entry disabled. */
	if (ret == -EINVAL && is_off_by_guess())
		ret = raw_call(SYS_ioctl, fd, request, (long)arg, 0, 0, 0);
	return ret;
}

/* No cancellation point, and no wait: the node can be any file. */
static int open_path(const char *path, int flags)
{
	return raw_call(SYS_openat, AT_FDCWD, (long)path,
			flags | O_RDWR | O_NOCTTY | O_NONBLOCK, 0, 0, 0);
}

/**
 * devepoll_entry_open() - open the device
 * @flags: O_CLOEXEC, ENTRY_AS_EPOLL, both or 0
 * @node: out, unless NULL: the path that decided
 *
 * Return: the fd, or
 * -ENOTTY: the node is another device, or the module has no extended interface;
 * -EPERM, -EACCES, -ENOSYS: a system call filter refuses every request;
 * or an error of open(2) for DEVEPOLL_NODE or, if that does not exist, for
 * DEVEPOLL_NODE_MISC.
 */
int devepoll_entry_open(int flags, const char **node)
{
	const char *path = DEVEPOLL_NODE;
	int fd = open_path(path, flags);
	long ret;

	if (fd == -ENOENT) {
		fd = open_path(DEVEPOLL_NODE_MISC, flags);
		/* If neither is there, the first one is missed. */
		if (fd != -ENOENT)
			path = DEVEPOLL_NODE_MISC;
	}
	if (node)
		*node = path;
	if (fd < 0)
		return fd;
	ret = query_features(fd);
	if (!ret) {
		/* The fds of epoll_create1(2) don't have O_NONBLOCK. */
		raw_call(SYS_fcntl, fd, F_SETFL, 0, 0, 0, 0);
		return fd;
	}
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return is_refused(ret) ? ret : -ENOTTY;
}

static long make_by_ctl(int epfd, struct devepoll_change *change)
{
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)change,
		.nr = 1,
		.change_size = sizeof(*change),
	};
	long ret = devepoll_entry_request(epfd, DEVEPOLL_CTL, &ctl);

	return ret < 0 ? ret : change->result;
}

/* Errors of a change that only an instance of the device has. */
static bool is_result(long ret)
{
	return ret >= 0 || ret == -EEXIST || ret == -ENOENT || ret == -EINTR ||
	       ret == -ENOMEM || ret == -ENOSPC || ret == -ELOOP ||
	       ret == -EBUSY;
}

/**
 * devepoll_entry_make() - make one change of the extended interface
 * @epfd: the device
 * @change: the change, with a valid operation
 *
 * Tries DEVEPOLL_CHANGE() first.  If its error may come from the entry or from
 * another kind of file, makes the change by DEVEPOLL_CTL.
 *
 * Return: 0, or an error of either.
 */
long devepoll_entry_make(int epfd, struct devepoll_change *change)
{
	const struct epoll_event event = {
		.events = change->events,
		.data.u64 = change->data,
	};
	long ret;

	if (is_off_by_guess())
		return make_by_ctl(epfd, change);
	ret = fadvise_entry(epfd, change->op == DEVEPOLL_DEL ? NULL : &event,
			    DEVEPOLL_CHANGE_LEN(change->fd, change->flags),
			    DEVEPOLL_CHANGE(change->op));
	return is_result(ret) ? ret : make_by_ctl(epfd, change);
}

/* A change of epoll; 0 or -EFAULT. */
static int change_from_epoll(struct devepoll_change *change,
			     const struct epoll_event *event)
{
	if (change->op == EPOLL_CTL_DEL)
		return 0;
	if (!devepoll_entry_readable(event, sizeof(*event)))
		return -EFAULT;
	change->events = event->events;
	change->data = event->data.u64;
	/* epoll ignores other bits, except with EPOLLEXCLUSIVE. */
	if (!(change->events & EPOLLEXCLUSIVE))
		change->events &= EPOLL_BITS;
	return 0;
}

/**
 * devepoll_entry_change() - epoll_ctl(2) with flags of the extended interface
 * @epfd: the device
 * @op: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL
 * @fd: the number
 * @event: as for epoll_ctl(2)
 * @flags: DEVEPOLL_TRUST or 0
 *
 * Return: as entry_ctl().
 */
long devepoll_entry_change(int epfd, int op, int fd,
			   const struct epoll_event *event, unsigned int flags)
{
	struct devepoll_change change = { .op = op, .flags = flags, .fd = fd };

	return change_from_epoll(&change, event) ?:
	       devepoll_entry_make(epfd, &change);
}

/* The same where the fadvise entry was refused. */
static long change_by_ctl(int epfd, int op, int fd,
			  const struct epoll_event *event)
{
	struct devepoll_change change = { .op = op, .fd = fd };

	return change_from_epoll(&change, event) ?:
	       make_by_ctl(epfd, &change);
}

/**
 * devepoll_entry_ctl_error() - find out why a change failed
 * @ret: the result of the change; if @op is none of epoll's, there was none
 * @epfd: as for entry_ctl()
 * @op: as for entry_ctl()
 * @fd: as for entry_ctl()
 * @event: as for entry_ctl()
 *
 * If a system call filter refuses the fadvise entry, or the module has disabled
 * it, this function makes the change in another way.
 *
 * Return: as entry_ctl().
 */
long devepoll_entry_ctl_error(long ret, int epfd, int op, int fd,
			      struct epoll_event *event)
{
	/*
	 * Other numbers would make other requests.  epoll refuses them for any
	 * file, after all its other checks.
	 */
	if (!is_epoll_op(op))
		return raw_call(SYS_epoll_ctl, epfd, op, fd, (long)event, 0, 0);
	if (is_refused(ret) || is_shut(epfd, ret))
		return change_by_ctl(epfd, op, fd, event);
	/* epoll reads the event before it looks up the instance. */
	if (ret == -EBADF && op != EPOLL_CTL_DEL &&
	    !devepoll_entry_readable(event, sizeof(*event)))
		return -EFAULT;
	return is_foreign(epfd, ret) ? -ENOTTY : ret;
}

/*
 * The error of a wait: @ret, unless epoll would have reported another error
 * first.  epoll checks the signal mask, and on some kernels the number of
 * events and whether the array is in user space, before it looks up the
 * instance.  A call without an instance therefore shows whether these checks
 * fail.
 */
static long wait_error(const struct entry_wait *wait, long ret)
{
	long err = raw_call(SYS_epoll_pwait, -1, (long)wait->events,
			    wait->maxevents, 0, (long)wait->sigmask,
			    wait->sigsetsize);

	return err == -EBADF ? ret : err;
}

/**
 * devepoll_entry_wait_error() - find out why a wait through the entry failed
 * @ret: the result of the wait
 * @epfd: as for entry_wait()
 * @events: as for entry_wait()
 * @maxevents: as for entry_wait()
 * @timeout: as for entry_wait()
 *
 * If a system call filter refuses the fadvise entry, or the module has disabled
 * it, this function makes the wait in another way.
 *
 * Return: as entry_wait().
 */
long devepoll_entry_wait_error(long ret, int epfd, struct epoll_event *events,
			       int maxevents, int timeout)
{
	const struct entry_wait wait = {
		.events = events,
		.maxevents = maxevents,
		.timeout = ns_of_ms(timeout),
	};

	if (is_refused(ret) || is_shut(epfd, ret))
		return devepoll_entry_pwait(epfd, &wait);
	if (is_foreign(epfd, ret))
		return -ENOTTY;
	return ret == -EBADF ? wait_error(&wait, ret) : ret;
}

/**
 * devepoll_entry_pwait() - epoll_pwait(2) on the device
 * @epfd: the device
 * @wait: the arguments
 *
 * Return: as entry_wait().
 */
long devepoll_entry_pwait(int epfd, const struct entry_wait *wait)
{
	struct devepoll_wait_args args = {
		.events = (uintptr_t)wait->events,
		.timeout = wait->timeout,
		.sigmask = (uintptr_t)wait->sigmask,
		.flags = DEVEPOLL_WAIT_EPOLL,
	};
	long ret;

	/*
	 * Other sizes, including those of more than 32 bits, are passed as 0,
	 * which fails in the same way.  epoll ignores the size if there is no
	 * signal mask.
	 */
	if (wait->sigmask && wait->sigsetsize == KERNEL_SIGSET_SIZE)
		args.sigsetsize = KERNEL_SIGSET_SIZE;
	/* 0 fails.  The maximum of epoll is larger than that of the device. */
	if (wait->maxevents > 0 && wait->maxevents <= ENTRY_MAX_EVENTS)
		args.max_events = wait->maxevents;
	if (args.max_events > DEVEPOLL_MAX_EVENTS)
		args.max_events = DEVEPOLL_MAX_EVENTS;

	ret = devepoll_entry_request(epfd, DEVEPOLL_WAIT, &args);
	return ret == -EBADF || ret == -EINVAL ? wait_error(wait, ret) : ret;
}

/**
 * devepoll_entry_timeout() - read the timeout of epoll_pwait2(2)
 * @timeout: the timeout, or NULL for none
 * @ns: out: the timeout in nanoseconds
 *
 * Return: 0, or
 * -EFAULT: the timeout can't be read;
 * -EINVAL: it is negative, or its nanoseconds are one second or more.
 */
long devepoll_entry_timeout(const struct __kernel_timespec *timeout,
			    int64_t *ns)
{
	long nsec;

	*ns = DEVEPOLL_FOREVER;
	if (!timeout)
		return 0;
	if (!devepoll_entry_readable(timeout, sizeof(*timeout)))
		return -EFAULT;
	/* If a long has 32 bits, the upper half is padding. */
	nsec = timeout->tv_nsec;
	if (timeout->tv_sec < 0 || nsec < 0 || nsec >= 1000000000)
		return -EINVAL;

	if (__builtin_mul_overflow(timeout->tv_sec, 1000000000, ns) ||
	    __builtin_add_overflow(*ns, nsec, ns))
		*ns = INT64_MAX;
	return 0;
}
