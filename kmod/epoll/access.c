// SPDX-License-Identifier: GPL-2.0
/*
 * What an open of a node may do: one for writing can change the set, one for
 * reading can wait and query it.  As with read(2) and write(2), a request
 * through an open of the other mode fails with EBADF.
 */
#include <linux/poll.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/face.h"
#include "epoll/access.h"

bool dep_access_fadvise = true;

/* Requests whose argument may have another size in another version. */
static fmode_t request_mode_sized(unsigned int cmd)
{
	switch (cmd & ~IOCSIZE_MASK) {
	case DEVEPOLL_CTL & ~IOCSIZE_MASK:
		return FMODE_WRITE;
	case DEVEPOLL_WAIT & ~IOCSIZE_MASK:
	/* To change something, it asks for write access itself. */
	case DEVEPOLL_SPIN & ~IOCSIZE_MASK:
		return FMODE_READ;
	}
	return 0;
}

/* Those of other interfaces. */
static fmode_t request_mode_face(unsigned int cmd)
{
	struct dep_face *face;
	fmode_t mode = 0;

	dep_face_for_each(face) {
		if (face->mode)
			mode |= face->mode(cmd);
	}
	return mode;
}

/* The mode that a request needs; 0 if there is no such request. */
static fmode_t request_mode(unsigned int cmd)
{
	switch (cmd) {
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD):
	case DEVEPOLL_CHANGE(DEVEPOLL_ADD):
	case DEVEPOLL_CHANGE(DEVEPOLL_DEL):
	case DEVEPOLL_CHANGE(DEVEPOLL_MOD):
	case EPIOCSPARAMS:
		return FMODE_WRITE;
	case DEVEPOLL_EPOLL_WAIT:
	case EPIOCGPARAMS:
	case DEVEPOLL_STEP_BACK:
		return FMODE_READ;
	}
	return request_mode_sized(cmd) ?: request_mode_face(cmd);
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
	return dep_access_has(file, request_mode(cmd));
}
