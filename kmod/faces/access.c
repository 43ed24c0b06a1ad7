// SPDX-License-Identifier: GPL-2.0
/*
 * What an open of a node may do: who has it for writing changes the set, who
 * has it for reading waits, and asks what is in it.  As with read(2) and
 * write(2), an open of the other mode gives EBADF.
 */
#include <linux/poll.h>

#include <linux/devepoll.h>
#include <linux/devpoll.h>

#include "faces/access.h"

bool dep_access_fadvise = true;

static fmode_t request_mode(unsigned int cmd)
{
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(EP_ALLOC):
	case _IOC_NR(EP_FREE):
	case _IOC_NR(DEVEPOLL_CTL):
	case _IOC_NR(DEVEPOLL_SIGNAL):
	case _IOC_NR(DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD)):
	case _IOC_NR(DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL)):
	case _IOC_NR(DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD)):
		return FMODE_WRITE;
	case _IOC_NR(EP_POLL):
	case _IOC_NR(EP_ISPOLLED):
	case _IOC_NR(DEVEPOLL_WAIT):
	case _IOC_NR(DEVEPOLL_EPOLL_WAIT):
		return FMODE_READ;
	}
	return 0;
}

/*
 * The Linux face of /dev/poll has the numbers of 2001; in that of Solaris all
 * requests wait or ask.
 */
static_assert(_IOC_NR(DP_ALLOC) == _IOC_NR(EP_ALLOC));
static_assert(_IOC_NR(DP_POLL) == _IOC_NR(EP_POLL));
static_assert(_IOC_NR(DP_FREE) == _IOC_NR(EP_FREE));
static_assert(_IOC_NR(DP_ISPOLLED) == _IOC_NR(EP_ISPOLLED));

/**
 * dep_access_allows_part() - dep_access_allows() for an open that may not all
 * @file: the open
 * @cmd: the request
 *
 * Return: as there.
 */
bool dep_access_allows_part(const struct file *file, unsigned int cmd)
{
	fmode_t mode = _IOC_TYPE(cmd) == EP_IOC_MAGIC ? request_mode(cmd) :
		       FMODE_READ;

	return (file->f_mode & mode) == mode;
}
