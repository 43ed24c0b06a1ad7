/* SPDX-License-Identifier: GPL-2.0 */
/* A /dev of the calling process alone, with another node or none. */
#ifndef SELFTESTS_OTHER_NODE_H
#define SELFTESTS_OTHER_NODE_H

#include <errno.h>
#include <linux/devepoll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define NODE		"/dev/epoll"
#define NODE_MINOR	124

/* Leaves /dev with this node alone; a minor below 0 makes none. */
static inline int other_node(int minor, mode_t mode)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		return -errno;
	if (minor < 0)
		return 0;
	return mknod(NODE, S_IFCHR | mode, makedev(EVENTPOLL_MAJOR, minor)) ?
		-errno : 0;
}

#endif /* SELFTESTS_OTHER_NODE_H */
