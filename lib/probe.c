// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Find out why the device refused an fd, without touching the file of the fd.
 *
 * The device reports how many entries of a write(2) took effect, but not which
 * of them, and not why the others did not.  In-tree epoll refuses the same
 * files and reports the reason, and it does so before it looks for the fd in
 * its interest list.  Removing a file from an epoll instance that does not
 * contain it changes nothing, and does not call the poll operation of the file
 * (which would consume the event of a psi trigger or of /proc/mounts).
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

/* The error of removing fd from the epoll instance epfd, which lacks it. */
static int refusal(int epfd, int fd)
{
	struct epoll_event unused = { 0 };

	return epoll_ctl(epfd, EPOLL_CTL_DEL, fd, &unused) < 0 ? -errno : 0;
}

/* The device number decides, because a node can have any name. */
static bool is_our_device(const struct devepoll *set, int fd)
{
	struct stat ours, theirs;

	return fstat(set->fd, &ours) == 0 && fstat(fd, &theirs) == 0 &&
	       S_ISCHR(theirs.st_mode) && theirs.st_rdev == ours.st_rdev;
}

/* Only an epoll instance fails with ENOENT; other files fail with EINVAL. */
static bool is_epoll(int epfd, int fd)
{
	return refusal(fd, epfd) == -ENOENT;
}

/**
 * devepoll_probe_fd() - check whether an fd can be added at all
 * @probe: between devepoll_probe_begin() and devepoll_probe_end()
 * @fd: the fd, which must not be that of the probe
 *
 * Return: 0 if it can, so that only a lack of room prevents it; or
 * -EBADF: the fd is not open, or was opened with O_PATH;
 * -ELOOP: its file is the device or an epoll instance;
 * or the reason why the probe has no epoll instance.
 */
int devepoll_probe_fd(const struct devepoll_probe *probe, int fd)
{
	int err;

	if (probe->epfd < 0)
		return probe->epfd;

	err = refusal(probe->epfd, fd);
	/* Unlike epoll, the device takes files that do not support polling. */
	if (err && err != -ENOENT && err != -EPERM)
		return err;
	if (is_our_device(probe->set, fd) || is_epoll(probe->epfd, fd))
		return -ELOOP;
	return 0;
}
