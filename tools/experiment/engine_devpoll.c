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

#include "deferred.h"
#include "engine.h"
#include "refused.h"

/* Results of one call: the mapping is whole pages of 4096 bytes. */
#define RESULTS		1024
#define MAP_SIZE	(RESULTS * sizeof(struct pollfd))

struct engine_set {
	int fd;
	struct pollfd *results;
	struct deferred deferred;
	struct refused refused;
};

static struct engine_set *open_linux(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));

	(void)maxfds;
	if (!set)
		return engine_give_up(NULL, -1, why, "a set");
	set->fd = open("/dev/poll", O_RDWR | O_CLOEXEC);
	if (set->fd < 0)
		return engine_give_up(set, set->fd, why, "/dev/poll");
	if (ioctl(set->fd, DP_ALLOC, RESULTS))
		return engine_give_up(set, set->fd, why, "DP_ALLOC");
	set->results = mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, set->fd, 0);
	if (set->results == MAP_FAILED)
		return engine_give_up(set, set->fd, why, "mmap of /dev/poll");
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
		return engine_give_up(NULL, -1, why, "a set");
	set->fd = open("/dev/poll", O_RDWR | O_CLOEXEC);
	if (set->fd < 0)
		return engine_give_up(set, set->fd, why, "/dev/poll");
	/* The first request decides the face. */
	if (ioctl(set->fd, DP_SOLARIS_ISPOLLED, &none) < 0)
		return engine_give_up(set, set->fd, why, "DP_ISPOLLED of Solaris");
	set->results = calloc(RESULTS, sizeof(*set->results));
	if (!set->results)
		return engine_give_up(set, set->fd, why, "results");
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

	while (done < set->deferred.nr) {
		ssize_t n = write(set->fd, set->deferred.changes + done,
				  (set->deferred.nr - done) *
				  sizeof(set->deferred.changes[0]));

		if (n > 0) {
			done += n / sizeof(set->deferred.changes[0]);
			continue;
		}
		refused_add(&set->refused, set->deferred.changes[done].fd);
		done++;
	}
	set->deferred.nr = 0;
}

static int keep(struct engine_set *set, int fd, short events)
{
	if (set->deferred.nr == DEFERRED_MAX)
		make_changes(set);
	deferred_keep(&set->deferred, fd, events);
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
