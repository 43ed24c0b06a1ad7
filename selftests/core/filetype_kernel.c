// SPDX-License-Identifier: GPL-2.0
/*
 * Kinds of files that report about the system: terminals, notifications about
 * files, and files of /proc, /sys and /dev.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "core/filetype.h"
#include "core/helpers.h"

/* Both ends of a terminal that changes nothing that it is given. */
static int open_pty(int *master, int *slave)
{
	struct termios termios;
	char name[64];

	*master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (*master < 0 || grantpt(*master) || unlockpt(*master) ||
	    ptsname_r(*master, name, sizeof(name)))
		return -errno;
	*slave = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (*slave < 0 || tcgetattr(*slave, &termios))
		return -errno;
	cfmakeraw(&termios);
	return tcsetattr(*slave, TCSANOW, &termios) ? -errno : 0;
}

static int open_pty_master(struct probe *probe)
{
	return open_pty(&probe->fd, &probe->peer);
}

const struct filetype filetype_pty_master = {
	.open = open_pty_master,
	.happenings = {
		{ "output comes", make_peer_write, READABLE },
		{ "the slave closes", make_peer_close, POLLHUP },
	},
};

static int open_pty_slave(struct probe *probe)
{
	return open_pty(&probe->peer, &probe->fd);
}

const struct filetype filetype_pty_slave = {
	.open = open_pty_slave,
	.happenings = {
		{ "input comes", make_peer_write, READABLE },
		{ "the master closes", make_peer_close, POLLHUP },
	},
};

int make_folder(struct probe *probe)
{
	snprintf(probe->path, sizeof(probe->path),
		 "/tmp/devepoll-filetype-XXXXXX");
	return mkdtemp(probe->path) ? 0 : -errno;
}

void remove_folder(struct probe *probe)
{
	char path[160];

	if (!probe->path[0])
		return;
	umount2(probe->path, MNT_DETACH);
	snprintf(path, sizeof(path), "%s/file", probe->path);
	unlink(path);
	rmdir(probe->path);
	probe->path[0] = 0;
}

int mount_cgroups(struct probe *probe)
{
	int ret = make_folder(probe);

	if (ret)
		return ret;
	if (mount("devepoll", probe->path, "cgroup2", 0, NULL))
		return errno == ENODEV ? -EOPNOTSUPP : -errno;
	return 0;
}

static int make_file(struct probe *probe)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/file", probe->path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int open_inotify(struct probe *probe)
{
	int ret = make_folder(probe);

	if (ret)
		return ret;
	probe->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (inotify_add_watch(probe->fd, probe->path, IN_OPEN) < 0)
		return -errno;
	return 0;
}

const struct filetype filetype_inotify = {
	.open = open_inotify,
	.close = remove_folder,
	.happenings = {
		{ "a file is opened", make_file, READABLE },
	},
};

static int open_fanotify(struct probe *probe)
{
	int ret = make_folder(probe);

	if (ret)
		return ret;
	probe->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_CLOEXEC,
				  O_RDONLY | O_CLOEXEC);
	if (probe->fd < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	if (fanotify_mark(probe->fd, FAN_MARK_ADD, FAN_OPEN |
			  FAN_EVENT_ON_CHILD, AT_FDCWD, probe->path))
		return -errno;
	return 0;
}

const struct filetype filetype_fanotify = {
	.open = open_fanotify,
	.close = remove_folder,
	.happenings = {
		{ "a file is opened", make_file, READABLE },
	},
};

int open_twice(struct probe *probe, const char *path, int flags)
{
	probe->fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);
	probe->twin = open(path, flags | O_NONBLOCK | O_CLOEXEC);
	if (probe->fd < 0 || probe->twin < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	return 0;
}

static int open_mounts(struct probe *probe)
{
	int ret = make_folder(probe);

	return ret ?: open_twice(probe, "/proc/self/mounts", O_RDONLY);
}

static int make_mount(struct probe *probe)
{
	return mount("devepoll", probe->path, "tmpfs", 0, NULL) ? -errno : 0;
}

static int make_umount(struct probe *probe)
{
	return umount(probe->path) ? -errno : 0;
}

const struct filetype filetype_mounts = {
	.open = open_mounts,
	.close = remove_folder,
	.happenings = {
		{ "a file system is mounted", make_mount, CHANGED },
		{ "a file system is unmounted", make_umount, CHANGED },
	},
};

static int open_sysfs_attribute(struct probe *probe)
{
	return open_twice(probe, "/sys/class/net/lo/mtu", O_RDONLY);
}

static int make_read(struct probe *probe)
{
	char buffer[256];

	if (pread(probe->fd, buffer, sizeof(buffer), 0) < 0 ||
	    pread(probe->twin, buffer, sizeof(buffer), 0) < 0)
		return -errno;
	return 0;
}

/* It counts as changed until it is read. */
const struct filetype filetype_sysfs_attribute = {
	.open = open_sysfs_attribute,
	.happenings = {
		{ "it is read", make_read, 0 },
	},
};

static int open_cgroup_events(struct probe *probe)
{
	char path[160];
	int ret = mount_cgroups(probe);

	if (ret)
		return ret;
	/* The mount goes with this namespace, the group with remove_group. */
	snprintf(path, sizeof(path), "%s/devepoll-%d", probe->path, getpid());
	if (mkdir(path, 0700))
		return -errno;
	strcat(path, "/cgroup.events");
	ret = open_twice(probe, path, O_RDONLY);
	return ret ?: make_read(probe);
}

static void remove_group(struct probe *probe)
{
	char path[160];

	if (probe->children[0]) {
		kill(probe->children[0], SIGKILL);
		reap(probe->children[0]);
	}
	snprintf(path, sizeof(path), "%s/devepoll-%d", probe->path, getpid());
	await(!rmdir(path) || errno != EBUSY);
	remove_folder(probe);
}

static int make_member(struct probe *probe)
{
	char path[160], line[32];

	probe->children[0] = fork();
	if (!probe->children[0])
		for (;;)
			pause();
	snprintf(path, sizeof(path), "%s/devepoll-%d/cgroup.procs",
		 probe->path, getpid());
	snprintf(line, sizeof(line), "%d", probe->children[0]);
	return write_text(path, line);
}

static int make_member_leave(struct probe *probe)
{
	int ret = make_read(probe);

	kill(probe->children[0], SIGKILL);
	reap(probe->children[0]);
	probe->children[0] = 0;
	return ret;
}

const struct filetype filetype_cgroup_events = {
	.open = open_cgroup_events,
	.close = remove_group,
	.happenings = {
		{ "a process moves in", make_member, CHANGED },
		{ "the last process leaves", make_member_leave, CHANGED },
	},
};

static int open_kmsg(struct probe *probe)
{
	probe->fd = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (probe->fd < 0)
		return -errno;
	return lseek(probe->fd, 0, SEEK_END) < 0 ? -errno : 0;
}

static int make_message(struct probe *probe)
{
	static const char line[] = "<7>devepoll selftest\n";

	return write(probe->fd, line, sizeof(line) - 1) > 0 ? 0 : -errno;
}

const struct filetype filetype_kmsg = {
	.open = open_kmsg,
	.happenings = {
		{ "the kernel says something", make_message, READABLE },
	},
};

static int open_hostname(struct probe *probe)
{
	return open_twice(probe, "/proc/sys/kernel/hostname", O_RDONLY);
}

static int make_name(struct probe *probe)
{
	return sethostname("devepoll", 8) ? -errno : 0;
}

const struct filetype filetype_hostname = {
	.open = open_hostname,
	.happenings = {
		{ "the name is changed", make_name, CHANGED },
		{ "the name is set again", make_name, CHANGED },
	},
};

static int open_sysctl(struct probe *probe)
{
	return open_twice(probe, "/proc/sys/kernel/ostype", O_RDONLY);
}

/* Always ready, and without a wait queue. */
const struct filetype filetype_sysctl = {
	.open = open_sysctl,
	.happenings = {
		{ "it is read", make_read, 0 },
	},
};
