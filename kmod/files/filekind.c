// SPDX-License-Identifier: GPL-2.0
/*
 * What has to be known about the kind of a file before it is watched.
 *
 * A module can't reach the file_operations of these files, but it can see their
 * file systems and their names.
 */
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <net/sock.h>

#include "core/compat.h"
#include "files/filekind.h"

static unsigned long file_magic(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic;
}

/* @name is a constant: nearly all names have another length. */
static __always_inline bool file_is_named(const struct file *file,
					  const char *name)
{
	const struct qstr *own = &file->f_path.dentry->d_name;

	return own->len == strlen(name) && !memcmp(own->name, name, own->len);
}

/**
 * dep_file_is_epoll() - is this a set of in-tree epoll?
 * @file: a file that the caller has a reference on
 *
 * Sets in sets can form a cycle, and a cycle hangs the machine.  We can't see
 * what an in-tree epoll file watches.
 *
 * Return: true if it is.
 */
bool dep_file_is_epoll(const struct file *file)
{
	return file_magic(file) == ANON_INODE_FS_MAGIC &&
	       file_is_named(file, "[eventpoll]");
}

/**
 * dep_file_is_fuse() - does a program answer ->poll() of this file?
 * @file: a file that the caller has a reference on
 *
 * The program of a FUSE file or a CUSE device may never answer.  A worker can't
 * be killed, so it must not wait for that.
 *
 * Return: true if so.
 */
bool dep_file_is_fuse(const struct file *file)
{
	const struct module *owner = file->f_op->owner;

	return file_magic(file) == FUSE_SUPER_MAGIC ||
	       (owner && !strcmp(owner->name, "cuse"));
}

/**
 * dep_file_consumes() - does ->poll() of this file consume what it reports?
 * @file: a file that the caller has a reference on
 *
 * A second ->poll() of such a file does not repeat the answer of the first.
 * These are the files of procfs that report changes (mounts, swaps, sysctls
 * with a ->poll(), the list of input devices), PSI triggers, there and in a
 * cgroup, and the buffer of a perf event.  /proc/kmsg is not one: repeating
 * that it can be read could make a reader sleep.
 *
 * Return: true if it does.
 */
bool dep_file_consumes(const struct file *file)
{
	switch (file_magic(file)) {
	case ANON_INODE_FS_MAGIC:
		return file_is_named(file, "[perf_event]");
	case PROC_SUPER_MAGIC:
		return !file_is_named(file, "kmsg");
	case CGROUP2_SUPER_MAGIC:
		return strstr(file->f_path.dentry->d_name.name, ".pressure");
	default:
		return false;
	}
}

/*
 * A datagram socket of UNIX is told of room when a datagram of its own is read,
 * even if the queue of the socket that it is connected to is full.
 */
static bool sock_names_truly(const struct socket *sock)
{
	const struct sock *sk = sock->sk;

	switch (sk->sk_family) {
	case AF_UNIX:
		return sock->type != SOCK_DGRAM;
	case AF_INET:
	case AF_INET6:
		return sock->type == SOCK_RAW ||
		       sk->sk_protocol == IPPROTO_TCP ||
		       sk->sk_protocol == IPPROTO_UDP;
	case AF_NETLINK:
		return true;
	default:
		return false;
	}
}

/**
 * dep_file_names_truly() - do the wake-ups of a file name only what is so?
 * @file: a file that the caller has a reference on
 *
 * What a wake-up names is nobody's promise.  Of terminals, for example, it is
 * that input has come, though a read would wait for more.  So these are the
 * files whose code was read, as Documentation/internals/wakeups.rst records;
 * DEVEPOLL_TRUST has no effect on any other, which is polled.
 *
 * Return: true if what their keys name needs no ->poll(), but for the bits of
 * %DEP_NEEDS_POLL.
 */
bool dep_file_names_truly(struct file *file)
{
	const struct socket *sock;

	switch (file_magic(file)) {
	case ANON_INODE_FS_MAGIC:
		return file_is_named(file, "[eventfd]") ||
		       file_is_named(file, "[timerfd]");
	case SOCKFS_MAGIC:
		sock = sock_from_file(file);
		return sock && sock_names_truly(sock);
	default:
		return S_ISFIFO(file_inode(file)->i_mode) &&
		       (DEP_PIPE_WRITERS_KNOW || !(file->f_mode & FMODE_WRITE));
	}
}
