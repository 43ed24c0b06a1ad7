// SPDX-License-Identifier: GPL-2.0
/*
 * What an open of a node may do: one for writing can change the set, one for
 * reading can wait and query it.  As with read(2) and write(2), a request
 * through an open of the other mode fails with EBADF.
 */
#include <linux/poll.h>

#include <linux/devepoll.h>
#include <linux/devpoll.h>

#include "core/compat.h"
#include "faces/access.h"

bool dep_access_fadvise = true;

/*
 * The Linux face of /dev/poll has the numbers of 2001; all requests of the
 * Solaris face wait or query.
 */
static_assert(DP_ALLOC == EP_ALLOC);
static_assert(DP_FREE == EP_FREE);
static_assert(DP_ISPOLLED == EP_ISPOLLED);

/* Requests whose argument may have another size in another version. */
static fmode_t request_mode_sized(unsigned int cmd)
{
	switch (cmd & ~IOCSIZE_MASK) {
	case DEVEPOLL_CTL & ~IOCSIZE_MASK:
	case DEVEPOLL_SIGNAL & ~IOCSIZE_MASK:
	case DEVEPOLL_RING & ~IOCSIZE_MASK:
	case DEVEPOLL_RING_RECLAIM & ~IOCSIZE_MASK:
		return FMODE_WRITE;
	case DEVEPOLL_WAIT & ~IOCSIZE_MASK:
	case DEVEPOLL_CANCEL & ~IOCSIZE_MASK:
	/* To change something, it asks for write access itself. */
	case DEVEPOLL_SPIN & ~IOCSIZE_MASK:
	case DEVEPOLL_RING_WAIT & ~IOCSIZE_MASK:
	/* And those of /dev/poll. */
	case EP_POLL & ~IOCSIZE_MASK:
		return FMODE_READ;
	}
	return 0;
}

/* The mode that a request needs; 0 if there is no such request. */
static fmode_t request_mode(unsigned int cmd)
{
	switch (cmd) {
	case EP_ALLOC:
	case EP_FREE:
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD):
	case DEVEPOLL_CHANGE(DEVEPOLL_ADD):
	case DEVEPOLL_CHANGE(DEVEPOLL_DEL):
	case DEVEPOLL_CHANGE(DEVEPOLL_MOD):
	case EPIOCSPARAMS:
		return FMODE_WRITE;
	case EP_ISPOLLED:
	case DEVEPOLL_EPOLL_WAIT:
	case EPIOCGPARAMS:
	case DP_SOLARIS_POLL:
	case DP_SOLARIS_PPOLL:
	case DP_SOLARIS_ISPOLLED:
	case DEVEPOLL_STEP_BACK:
		return FMODE_READ;
	}
	return request_mode_sized(cmd);
}

/**
 * dep_access_allows_part() - dep_access_allows() for an open with one mode only
 * @file: the open
 * @cmd: the request
 *
 * Return: as dep_access_allows().
 */
bool dep_access_allows_part(const struct file *file, unsigned int cmd)
{
	fmode_t mode = request_mode(cmd);

	return (file->f_mode & mode) == mode;
}
