// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out what the module has charged to root, of which no file tells: it
 * looks for the lowest limits at which one more fd, and one more page, are
 * still allowed.  Nobody else may use the device meanwhile.
 *
 * usage: charge	prints "watches N" and "locked N", the latter in pages
 */
#include <err.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <devepoll_events.h>

#define WATCHES	"/sys/module/devepoll/parameters/max_user_watches"
#define MOST	(1L << 30)

static long watches_allowed(void)
{
	FILE *file = fopen(WATCHES, "re");
	long nr;

	if (!file || fscanf(file, "%ld", &nr) != 1)
		err(1, "%s", WATCHES);
	fclose(file);
	return nr;
}

static void allow_watches(long nr)
{
	FILE *file = fopen(WATCHES, "we");

	if (!file || fprintf(file, "%ld\n", nr) < 0 || fclose(file))
		err(1, "%s", WATCHES);
}

static int open_set(void)
{
	int set = devepoll_events_open(0);

	if (set < 0)
		errx(1, "devepoll_events_open: %s", strerror(-set));
	return set;
}

/* May root watch one more fd, if @limit are allowed? */
static bool may_watch(long limit)
{
	int set = open_set(), fd = eventfd(0, EFD_CLOEXEC);
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = fd,
		.events = EPOLLIN,
	};

	allow_watches(limit);
	if (devepoll_events_update(set, &change, 1, NULL) != 1 ||
	    (change.result && change.result != -ENOSPC))
		errx(1, "devepoll_events_update: %d", change.result);
	close(set);
	close(fd);
	return !change.result;
}

static int map_one(int set)
{
	struct devepoll_part part;
	int ret = devepoll_events_map(set, &part, 1, 1);

	if (ret && ret != -ENOMEM)
		errx(1, "devepoll_events_map: %s", strerror(-ret));
	if (!ret)
		devepoll_events_unmap(&part, 1);
	return ret;
}

static void allow_pages(long nr)
{
	struct rlimit memlock = {
		.rlim_cur = nr * sysconf(_SC_PAGESIZE),
		.rlim_max = RLIM_INFINITY,
	};

	if (setrlimit(RLIMIT_MEMLOCK, &memlock))
		err(1, "setrlimit");
}

/* May root have one more mapping, if @limit pages are allowed? */
static bool may_map(long limit)
{
	int set = open_set(), ret;

	allow_pages(limit);
	ret = map_one(set);
	close(set);
	return !ret;
}

/* The lowest limit that allows it. */
static long lowest(bool (*allows)(long limit))
{
	long low = 0, high = MOST, middle;

	if (!allows(high))
		errx(1, "not even %ld are enough", high);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (allows(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The limit of memory does not hold for who has CAP_IPC_LOCK. */
static void drop_ipc_lock(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		err(1, "capget");
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &header, data))
		err(1, "capset");
}

int main(void)
{
	long allowed = watches_allowed(), first;
	int set;

	/* One more than there are must be allowed. */
	printf("watches %ld\n", lowest(may_watch) - 1);
	allow_watches(allowed);

	drop_ipc_lock();
	first = lowest(may_map);
	/* How many pages a mapping has is seen from what one costs the next. */
	allow_pages(MOST);
	set = open_set();
	if (map_one(set))
		errx(1, "no page");
	printf("locked %ld\n", first - (lowest(may_map) - first));
	close(set);
	return 0;
}
