/* SPDX-License-Identifier: GPL-2.0 */
/* The kinds of files that can be polled, and what can happen to each. */
#ifndef SELFTESTS_FILETYPE_H
#define SELFTESTS_FILETYPE_H

#include <poll.h>
#include <sys/types.h>

/* A file of some kind, and what is needed to make things happen to it. */
struct probe {
	int fd;			/* watched */
	int peer;		/* its other end, or where it is driven from */
	int twin;		/* the fd given to poll(2): usually fd */
	int port;
	pid_t children[2];
	char path[128];
	void *rings[2];
};

struct happening {
	const char *what;
	int (*make)(struct probe *probe);	/* 0 or -errno */
	short events;	/* at least these events follow */
};

struct filetype {
	/*
	 * 0 or -errno; -EOPNOTSUPP if the kernel was built without it.  Members
	 * that are not set are -1 and 0.
	 */
	int (*open)(struct probe *probe);
	void (*close)(struct probe *probe);	/* beyond the three fds */
	struct happening happenings[5];
	/* ends what would make the first of them happen again, if anything does */
	void (*calm)(struct probe *probe);
	/* events that poll(2) shows but no wake-up announces */
	short unannounced;
};

#define READABLE	(POLLIN | POLLRDNORM)
#define WRITABLE	(POLLOUT | POLLWRNORM)
#define CHANGED		(POLLERR | POLLPRI)

extern const struct filetype
	filetype_pipe_read, filetype_pipe_write, filetype_fifo_read,
	filetype_fifo_both, filetype_eventfd, filetype_timerfd,
	filetype_signalfd, filetype_pidfd, filetype_mqueue, filetype_io_uring,
	filetype_tcp_data, filetype_tcp_room, filetype_tcp_reset,
	filetype_tcp_connect, filetype_tcp_refused, filetype_tcp_listener,
	filetype_udp, filetype_udp_error, filetype_unix_stream,
	filetype_unix_stream_room, filetype_unix_dgram,
	filetype_unix_dgram_room, filetype_unix_dgram_server,
	filetype_unix_listener, filetype_netlink,
	filetype_packet, filetype_pty_master, filetype_pty_slave,
	filetype_inotify, filetype_fanotify, filetype_mounts,
	filetype_sysfs_attribute, filetype_cgroup_events, filetype_pressure,
	filetype_cgroup_pressure,
	filetype_kmsg, filetype_hostname, filetype_sysctl, filetype_perf,
	filetype_trace, filetype_userfaultfd;

/* Happenings that many kinds have in common. */
int make_peer_write(struct probe *probe);
int make_peer_drain(struct probe *probe);
int make_peer_close(struct probe *probe);
int make_peer_shutdown(struct probe *probe);

/* What several kinds are made of. */
int make_folder(struct probe *probe);
void remove_folder(struct probe *probe);
/* The hierarchy of all cgroups, in such a folder; remove_folder() unmounts. */
int mount_cgroups(struct probe *probe);
/* Polling it consumes the news, so poll(2) is called on a second open. */
int open_twice(struct probe *probe, const char *path, int flags);
int new_socket(int family, int type);

#endif /* SELFTESTS_FILETYPE_H */
