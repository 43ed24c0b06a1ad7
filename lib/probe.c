// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Why the device refused an fd, found out without touching the fd's file.
 *
 * The device tells how many entries of a write(2) took effect, not which, nor
 * why the others did not.  In-tree epoll refuses the same files and says why,
 * and it does so before it looks for the fd in its set: removing a file from
 * an epoll set that it was never in changes nothing, and does not call the
 * file's poll operation (which would use up the event of a psi trigger or of
 * /proc/mounts).
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

void devepoll_probe_begin(struct devepoll_probe *probe,
			  const struct devepoll *set)
{
	probe->set = set;
	probe->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (probe->epfd < 0)
		probe->epfd = -errno;
}

void devepoll_probe_end(struct devepoll_probe *probe)
{
	if (probe->epfd >= 0)
		close(probe->epfd);
}

/* What removing fd from the epoll set epfd, where it is not, gives. */
static int refusal(int epfd, int fd)
{
	struct epoll_event unused = { 0 };

	return epoll_ctl(epfd, EPOLL_CTL_DEL, fd, &unused) < 0 ? -errno : 0;
}

/* Known by its device number, since a node can have any name. */
static bool is_our_device(const struct devepoll *set, int fd)
{
	struct stat ours, theirs;

	return fstat(set->fd, &ours) == 0 && fstat(fd, &theirs) == 0 &&
	       S_ISCHR(theirs.st_mode) && theirs.st_rdev == ours.st_rdev;
}

/* Only an epoll file can say that it lacks a member; the others: EINVAL. */
static bool is_epoll(int epfd, int fd)
{
	return refusal(fd, epfd) == -ENOENT;
}

/**
 * devepoll_probe_fd() - tell whether an fd can be a member at all
 * @probe: between devepoll_probe_begin() and devepoll_probe_end()
 * @fd: the fd; not the probe's own
 *
 * Return: 0 where it can, so that only want of room keeps it out; or
 * -EBADF: it is not open, or O_PATH;
 * -ELOOP: its file is the device or an epoll file;
 * or why there is no epoll set to ask with.
 */
int devepoll_probe_fd(const struct devepoll_probe *probe, int fd)
{
	int err;

	if (probe->epfd < 0)
		return probe->epfd;

	err = refusal(probe->epfd, fd);
	/* The device takes a file that can't be polled, epoll does not. */
	if (err && err != -ENOENT && err != -EPERM)
		return err;
	if (is_our_device(probe->set, fd) || is_epoll(probe->epfd, fd))
		return -ELOOP;
	return 0;
}
