// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libdevepoll-preload.so: creates instances on the device or, if it can't be
 * opened, on epoll.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "entry.h"
#include "preload/call.h"
#include "preload/count.h"
#include "preload/guess.h"
#include "preload/keep.h"
#include "preload/ring.h"
#include "preload/settings.h"
#include "preload/spin.h"

static long open_device(int flags, const char **node)
{
	long fd = devepoll_entry_open(flags, node);

	return fd < 0 ? devepoll_preload_keep_create(flags, fd) : fd;
}

/**
 * devepoll_preload_create() - epoll_create(2) or epoll_create1(2)
 * @nr: the number of the system call
 * @arg: its argument
 *
 * Without the device, epoll gets the same call: a filter may allow only that.
 *
 * Return: as the call, with a negative errno, or an error of open(2).
 */
long devepoll_preload_create(long nr, int arg)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	const int flags = nr == SYS_epoll_create1 ? arg : 0;
	const char *node;
	long err, fd;

	if (flags & ~EPOLL_CLOEXEC || (nr == SYS_epoll_create && arg <= 0))
		return -EINVAL;
	fd = open_device((flags & EPOLL_CLOEXEC ? O_CLOEXEC : 0) |
			 ENTRY_AS_EPOLL, &node);
	if (fd >= 0) {
		preload_found_device(fd);
		devepoll_preload_ring_renumber(fd);
		if (REPORTING)
			devepoll_report_create(0, node);
		if (devepoll_setting(SETTING_RING))
			devepoll_preload_ring_open(fd);
		devepoll_preload_spin(fd);
		return fd;
	}
	err = fd;
	if (!devepoll_setting(SETTING_NO_FALLBACK))
		fd = raw_call(nr, arg, 0, 0, 0, 0, 0);
	if (fd < 0) {
		if (REPORTING)
			devepoll_report_refused(-fd, node);
		return fd;
	}
	preload_set_guess(fd, FOUND_EPOLL);
	devepoll_preload_ring_renumber(fd);
	if (REPORTING)
		devepoll_report_create(-err, node);
	devepoll_tell_once(&told, node, -err, "using epoll instead");
	return fd;
}

int epoll_create(int size)
{
	return syscall_result(devepoll_preload_create(SYS_epoll_create, size));
}

int epoll_create1(int flags)
{
	return syscall_result(devepoll_preload_create(SYS_epoll_create1,
						      flags));
}
