// SPDX-License-Identifier: GPL-2.0
/*
 * The engines on /dev/poll: the Linux face with mapped results, and the Solaris
 * face.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devpoll.h>

#include "engine.h"
#include "refused.h"

/* At most so many changes are deferred until the next wait. */
#define BATCH		1024
/* Results of one call: the mapping is whole pages of 4096 bytes. */
#define RESULTS		1024
#define MAP_SIZE	(RESULTS * sizeof(struct pollfd))

struct engine_set {
	int fd;
	struct pollfd *results;
	int nr_changes;
	struct pollfd changes[BATCH];
	struct refused refused;
};

static struct engine_set *give_up(struct engine_set *set, char *why,
				  const char *what)
{
	engine_why(why, errno, what);
	if (set && set->fd >= 0)
		close(set->fd);
	free(set);
	return NULL;
}

static struct engine_set *open_linux(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));

	(void)maxfds;
	if (!set)
		return give_up(NULL, why, "a set");
	set->fd = open("/dev/poll", O_RDWR | O_CLOEXEC);
	if (set->fd < 0)
		return give_up(set, why, "/dev/poll");
	if (ioctl(set->fd, DP_ALLOC, RESULTS))
		return give_up(set, why, "DP_ALLOC");
	set->results = mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, set->fd, 0);
	if (set->results == MAP_FAILED)
		return give_up(set, why, "mmap of /dev/poll");
	return set;
}

static void close_linux(struct engine_set *set)
{
	munmap(set->results, MAP_SIZE);
	close(set->fd);
	free(set);
}

static struct engine_set *open_solaris(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));
	struct pollfd none = { .fd = 0 };

	(void)maxfds;
	if (!set)
		return give_up(NULL, why, "a set");
	set->fd = open("/dev/poll", O_RDWR | O_CLOEXEC);
	if (set->fd < 0)
		return give_up(set, why, "/dev/poll");
	/* The first request decides the face. */
	if (ioctl(set->fd, DP_SOLARIS_ISPOLLED, &none) < 0)
		return give_up(set, why, "DP_ISPOLLED of Solaris");
	set->results = calloc(RESULTS, sizeof(*set->results));
	if (!set->results)
		return give_up(set, why, "results");
	return set;
}

static void close_solaris(struct engine_set *set)
{
	free(set->results);
	close(set->fd);
	free(set);
}

/* A write ends before the first entry that fails: step over it. */
static void make_changes(struct engine_set *set)
{
	int done = 0;

	while (done < set->nr_changes) {
		ssize_t n = write(set->fd, set->changes + done,
				  (set->nr_changes - done) *
				  sizeof(set->changes[0]));

		if (n > 0) {
			done += n / sizeof(set->changes[0]);
			continue;
		}
		refused_add(&set->refused, set->changes[done].fd);
		done++;
	}
	set->nr_changes = 0;
}

static int keep(struct engine_set *set, int fd, short events)
{
	if (set->nr_changes == BATCH)
		make_changes(set);
	set->changes[set->nr_changes++] = (struct pollfd){
		.fd = fd,
		.events = events,
	};
	return 0;
}

static int add(struct engine_set *set, int fd, short events)
{
	return keep(set, fd, events);
}

static int remove_linux(struct engine_set *set, int fd)
{
	refused_forget(&set->refused, fd);
	return keep(set, fd, POLLREMOVE);
}

static int remove_solaris(struct engine_set *set, int fd)
{
	refused_forget(&set->refused, fd);
	return keep(set, fd, DP_SOLARIS_POLLREMOVE);
}

/* Its events would be added to the old ones. */
static int change_solaris(struct engine_set *set, int fd, short events)
{
	keep(set, fd, DP_SOLARIS_POLLREMOVE);
	return keep(set, fd, events);
}

static int wait_linux(struct engine_set *set, const struct pollfd **events,
		      int timeout)
{
	struct dvpoll arg = { .dp_nfds = RESULTS, .dp_timeout = timeout };
	int nr;

	make_changes(set);
	if (set->refused.nr)
		return refused_tell(&set->refused, events);
	nr = ioctl(set->fd, DP_POLL, &arg);
	*events = set->results;
	return nr < 0 ? -errno : nr;
}

static int wait_solaris(struct engine_set *set, const struct pollfd **events,
			int timeout)
{
	struct dvpoll_solaris arg = {
		.dp_fds = (unsigned long)set->results,
		.dp_nfds = RESULTS,
		.dp_timeout = timeout,
	};
	int nr;

	make_changes(set);
	if (set->refused.nr)
		return refused_tell(&set->refused, events);
	nr = ioctl(set->fd, DP_SOLARIS_POLL, &arg);
	*events = set->results;
	return nr < 0 ? -errno : nr;
}

const struct engine engine_devpoll = {
	.name = "devpoll",
	.what = "/dev/poll of Provos and Lever, mapped results",
	.level = true,
	.open = open_linux,
	.close = close_linux,
	.add = add,
	.change = add,
	.remove = remove_linux,
	.wait = wait_linux,
};

const struct engine engine_solaris = {
	.name = "solaris",
	.what = "/dev/poll of Solaris",
	.level = true,
	.open = open_solaris,
	.close = close_solaris,
	.add = add,
	.change = change_solaris,
	.remove = remove_solaris,
	.wait = wait_solaris,
};
