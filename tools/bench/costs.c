// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the costs of /dev/epoll and, in the same run, of sys_epoll.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/random.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../examples/number.h"
#include "../pin.h"
#include "files.h"
#include "measure.h"
#include "sample.h"

#define NFDS_MAX	10000
#define ARRAY_SIZE(a)	((int)(sizeof(a) / sizeof((a)[0])))

static const int ready[] = { 0, 1, 2, 4, 16, 256 };
static const int ready_brief[] = { 1, 16, 256 };
static const int batches[] = { 1, 10, 1000 };
static const int sizes[] = { 10, 100, 1000, NFDS_MAX };
/* With -n, up to the limit of open files that no kernel forbids. */
static const int sizes_large[] = { 100000, 1000000 };
#define SPARE		100

static const struct subject subjects[] = {
	{ &backend_devepoll, COL_DEVEPOLL },
	{ &backend_sysepoll, COL_SYSEPOLL },
	{ &backend_fadvise, COL_FADVISE },
	{ &backend_trusted, COL_TRUSTED },
	{ &backend_fadvise_level, COL_FADVISE_LEVEL },
	{ &backend_sysepoll_level, COL_SYSEPOLL_LEVEL },
};

static void measure_brief(const struct subject *sub)
{
	double unwatched = measure_unwatched_write();
	int i;

	for (i = 0; i < ARRAY_SIZE(ready_brief); i++)
		measure_wait(sub, ready_brief[i]);
	measure_producer(sub, unwatched);
	measure_add(sub, 1000);
	measure_remove(sub, 1000);
	measure_close(sub);
}

/*
 * What a program can do by io_uring alone.  Its polls hold the files and are
 * dropped late, so nothing is measured that ends with a close.
 */
static void measure_uring(void)
{
	static const struct subject sub = { &backend_uring, COL_URING };
	double unwatched = measure_unwatched_write();
	int i;

	for (i = 0; i < ARRAY_SIZE(ready); i++)
		measure_wait(&sub, ready[i]);
	measure_producer(&sub, unwatched);
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		measure_add(&sub, batches[i]);
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		measure_modify(&sub, batches[i]);
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		measure_remove(&sub, batches[i]);
	measure_cycle(&sub);
}

/* Files that are more expensive to poll than an eventfd. */
static const struct {
	enum kind kind;
	const char *prefix, *title;
} kinds[] = {
	{ PIPES, "pipe_", "Pipes: " },
	{ UNIX_SOCKETS, "unix_", "Unix sockets: " },
	{ TCP_SOCKETS, "tcp_", "TCP sockets: " },
};

static void measure_kinds(const struct subject *sub)
{
	int i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		files_choose(kinds[k].kind);
		report_section(kinds[k].prefix, kinds[k].title);
		for (i = 0; i < ARRAY_SIZE(ready_brief); i++)
			measure_wait(sub, ready_brief[i]);
		measure_add(sub, 1000);
		measure_remove(sub, 1000);
		measure_cycle(sub);
	}
	files_choose(EVENTFDS);
	report_section("", "");
}

/* What allocates memory costs more where it is charged to somebody. */
static void measure_in_cgroup(const struct subject *sub)
{
	report_section("cgroup_", "In a memory cgroup: ");
	measure_add(sub, 1);
	measure_first_add(sub);
	measure_add(sub, 1000);
	measure_remove(sub, 1);
	measure_remove(sub, 1000);
	measure_close(sub);
	measure_set_close(sub);
	measure_memory(sub, NFDS_MAX);
	report_section("", "");
}

static void measure_all(const struct subject *sub)
{
	double unwatched = measure_unwatched_write();
	int i;

	for (i = 0; i < ARRAY_SIZE(ready); i++)
		measure_wait(sub, ready[i]);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		measure_one_of(sub, sizes[i]);
	measure_producer(sub, unwatched);
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		measure_add(sub, batches[i]);
	measure_first_add(sub);
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		measure_modify(sub, batches[i]);
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		measure_remove(sub, batches[i]);
	measure_close(sub);
	measure_set_close(sub);
	measure_cycle(sub);
	measure_pingpong(sub);
	measure_in_sets(sub, unwatched);
	measure_memory(sub, NFDS_MAX);
	measure_kinds(sub);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) ==
		  (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* What the kernel, epoll and the device allow one user to have. */
static void raise_limits(void)
{
	if (!write_text("/proc/sys/fs/file-max", "2000000") ||
	    !write_text("/proc/sys/fs/epoll/max_user_watches", "2000000"))
		err(1, "the limits of files and watches");
	/* Without the module there is none. */
	write_text("/sys/module/devepoll/parameters/max_user_watches",
		   "2000000");
}

/* A wait must cost the same, however many fds are watched. */
static void measure_large(void)
{
	int i, k;

	raise_limits();
	for (i = 0; i < ARRAY_SIZE(subjects); i++)
		for (k = 0; k < ARRAY_SIZE(sizes_large); k++)
			if (subjects[i].col == COL_FADVISE ||
			    subjects[i].col == COL_SYSEPOLL)
				measure_one_of(&subjects[i], sizes_large[k]);
}

static const struct subject ring_subjects[] = {
	{ &backend_ring, COL_RING },
	{ &backend_preload_ring, COL_PRELOAD_RING },
};

static void measure_ring(const struct subject *sub)
{
	static const int changes[] = { 1, 1000 };
	double unwatched = measure_unwatched_write();
	int i;

	for (i = 0; i < ARRAY_SIZE(ready); i++)
		measure_wait(sub, ready[i]);
	measure_producer(sub, unwatched);
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		measure_add(sub, changes[i]);
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		measure_remove(sub, changes[i]);
	measure_cycle(sub);
	measure_pingpong(sub);
}

/* Only the waits differ from those of COL_DEVEPOLL. */
static void measure_library(bool brief)
{
	static const struct subject sub = { &backend_library, COL_LIBRARY };
	int i;

	if (!brief) {
		for (i = 0; i < ARRAY_SIZE(ready); i++)
			measure_wait(&sub, ready[i]);
		measure_cycle(&sub);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(ready_brief); i++)
		measure_wait(&sub, ready_brief[i]);
}

/*
 * What DEVEPOLL_TELL_CLOSED costs, beside what the same costs without it; last,
 * so that the memory that its events take changes no other figure.
 */
static void measure_told(void)
{
	static const struct subject told[] = {
		{ &backend_told, COL_TOLD },
		{ &backend_ring_told, COL_RING_TOLD },
	}, all[] = {
		{ &backend_told, COL_TOLD },
		{ &backend_ring_told, COL_RING_TOLD },
		{ &backend_trusted, COL_TRUSTED },
		{ &backend_ring, COL_RING },
		{ &backend_sysepoll, COL_SYSEPOLL },
	};
	double unwatched = measure_unwatched_write();
	int i, k;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		for (k = 0; k < ARRAY_SIZE(ready); k++)
			measure_wait(&told[i], ready[k]);
		measure_producer(&told[i], unwatched);
		measure_add(&told[i], 1);
		measure_add(&told[i], 1000);
		measure_remove(&told[i], 1);
		measure_remove(&told[i], 1000);
		measure_cycle(&told[i]);
	}
	measure_close(&told[0]);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		measure_life(&all[i]);
}

static bool is_native(const struct subject *sub)
{
	return sub->col == COL_SYSEPOLL || sub->col == COL_SYSEPOLL_LEVEL;
}

/* A program on sys_epoll runs without the module, and so without its hook. */
static void report_unwatched(double bare)
{
	const char *id = "close_unwatched";
	const char *name = "an unwatched one, module loaded or not";

	report_value("Closing", id, name, 0, COL_DEVEPOLL,
		     measure_unwatched_close());
	report_value("Closing", id, name, 0, COL_SYSEPOLL, bare);
}

/*
 * A kernel whose random generator is not ready tries to make it so whenever the
 * allocator shuffles its free objects.  That is not what shall be measured.
 */
static void seed(void)
{
	struct {
		struct rand_pool_info info;
		char bytes[256];
	} entropy = { .info = { .entropy_count = 2048, .buf_size = 256 } };
	int fd = open("/dev/random", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &entropy))
		warn("the random generator is not seeded");
	close(fd);
}

/* One CPU, no page faults, and enough fds. */
static void prepare(rlim_t nfds)
{
	struct rlimit lim = { nfds + SPARE, nfds + SPARE };

	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "the limit of open files is too low");
	pin(sched_getcpu());
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	seed();
	counter_calibrate();
}

/* Moves this process to a memory cgroup of its own. */
static void enter_cgroup(void)
{
	mkdir("/cgroup", 0700);
	if (mount("cgroup", "/cgroup", "cgroup2", 0, NULL) ||
	    !write_text("/cgroup/cgroup.subtree_control", "+memory") ||
	    mkdir("/cgroup/bench", 0700) ||
	    !write_text("/cgroup/bench/cgroup.procs", "0"))
		err(1, "a memory cgroup");
}

static void write_json(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		err(1, "%s", path);
	report_json(out);
	if (fclose(out))
		err(1, "%s", path);
}

static void usage(void)
{
	errx(2, "usage: costs [-bces] [-j FILE] [-u COST] | -n | -U\n"
	     "-b       measure only the most important figures\n"
	     "-c       also measure in a memory cgroup, which is made in /cgroup\n"
	     "-e       fail if the counter does not count instructions\n"
	     "-j FILE  also write the figures to FILE, as JSON\n"
	     "-n       measure only waits with up to a million fds\n"
	     "-s       measure only sys_epoll\n"
	     "-u COST  the cost of closing an unwatched eventfd without the module\n"
	     "-U       print only this cost");
}

int main(int argc, char **argv)
{
	bool brief = false, cgroup = false, exact = false, large = false;
	bool native = false, only_bare = false;
	const char *json = NULL;
	long bare = -1;
	int i, opt;

	while ((opt = getopt(argc, argv, "bcej:nsu:U")) != -1) {
		switch (opt) {
		case 'b':
			brief = true;
			break;
		case 'c':
			cgroup = true;
			break;
		case 'e':
			exact = true;
			break;
		case 'j':
			json = optarg;
			break;
		case 'n':
			large = true;
			break;
		case 's':
			native = true;
			break;
		case 'u':
			bare = number_of("-u", optarg, 0, 1 << 30);
			break;
		case 'U':
			only_bare = true;
			break;
		default:
			usage();
		}
	}
	if (optind != argc)
		usage();

	/* measure_memory() has twice as many. */
	prepare(large ? sizes_large[ARRAY_SIZE(sizes_large) - 1] :
			2 * NFDS_MAX);
	if (only_bare) {
		printf("%.0f\n", measure_unwatched_close());
		return 0;
	}
	if (exact && !counter_is_exact())
		errx(1, "the time stamp counter does not count instructions");
	if (large) {
		measure_large();
		report_table(stdout);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(subjects); i++) {
		if (native && !is_native(&subjects[i]))
			continue;
		if (brief)
			measure_brief(&subjects[i]);
		else
			measure_all(&subjects[i]);
	}
	for (i = 0; !native && i < ARRAY_SIZE(ring_subjects); i++)
		measure_ring(&ring_subjects[i]);
	if (!native)
		measure_library(brief);
	for (i = 0; !brief && i < ARRAY_SIZE(sizes); i++)
		measure_poll_one_of(sizes[i]);
	if (!brief)
		measure_uring();
	if (!brief && !native)
		measure_told();
	if (bare >= 0)
		report_unwatched(bare);
	if (cgroup) {
		enter_cgroup();
		for (i = 0; i < ARRAY_SIZE(subjects); i++)
			measure_in_cgroup(&subjects[i]);
	}
	report_table(stdout);
	if (json)
		write_json(json);
	return 0;
}
