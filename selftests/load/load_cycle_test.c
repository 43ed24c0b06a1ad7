// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads the module while processes open, use and close its nodes.
 * Needs root and $DEVEPOLL_KO.  $DEVEPOLL_LOAD_CYCLES is how often; 10 times
 * without it.  The module is loaded afterwards, whether it was before or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/onesig.h"
#include "core/ring.h"
#include "load/load_module.h"

#define CYCLES		10
#define SET_FDS		512
/* How long a user leaves the module alone at most, so that it can go. */
#define AWAY_USEC	3000
/* Of each cycle at least, while the module is held. */
#define USES_LEAST	10

/* Uses a set that was opened by open(2); true if all was as it must be. */
struct use {
	const char *name;
	const char *node;
	bool (*works)(int fd);
};

/* What all processes see. */
struct shared {
	atomic_bool stop;
	atomic_ulong uses;
	atomic_ulong absences;	/* opens that found no module */
	atomic_ulong failures;
};

static bool classic_works(int fd)
{
	struct evpoll evp = { .ep_timeout = -1 };
	int event = eventfd_new();
	struct pollfd *map;
	bool works;

	if (dep_alloc(fd, SET_FDS))
		return false;
	map = (void *)dep_map(fd, EP_MAP_SIZE(SET_FDS));
	if (map == MAP_FAILED)
		return false;
	works = dep_write_one(fd, event, POLLIN) == sizeof(struct pollfd) &&
		!eventfd_post(event) && dep_poll(fd, &evp) == 1 &&
		map[evp.ep_resoff / sizeof(*map)].fd == event;
	close(event);
	munmap(map, EP_MAP_SIZE(SET_FDS));
	return works;
}

/* The close of a watched file is told, which only the release hook can. */
static bool extended_works(int fd)
{
	struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .flags = DEVEPOLL_TELL_CLOSED,
		.events = EPOLLIN | EPOLLET, .data = 7,
	};
	struct devepoll_event out;

	add.fd = eventfd_new();
	if (dep_change(fd, &add) || eventfd_post(add.fd) ||
	    dep_wait(fd, &out, 1, -1) != 1 || out.events != EPOLLIN)
		return false;
	close(add.fd);
	return dep_wait(fd, &out, 1, -1) == 1 &&
	       out.events == DEVEPOLL_CLOSED && out.data == 7;
}

static bool devpoll_works(int fd)
{
	int event = eventfd_new();
	bool works;

	works = dp_set(fd, event, POLLIN) == sizeof(struct pollfd) &&
		!eventfd_post(event) &&
		dp_wait_one(DP_LINUX, fd, event, -1) == POLLIN;
	close(event);
	return works;
}

static bool signals_work(int fd)
{
	int event = eventfd_new();
	bool works;

	works = !onesig_begin(fd, ONESIG_SIGNAL, 0) &&
		dep_write_one(fd, event, POLLIN) == sizeof(struct pollfd) &&
		!eventfd_post(event) &&
		onesig_band(ONESIG_SIGNAL, event) == POLLIN;
	close(event);
	return works;
}

/* The wait of a thread that the last close of the set must not disturb. */
static bool polled_works(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN, .data = 7,
	};
	bool works;

	add.fd = eventfd_new();
	works = !dep_change(fd, &add) && !eventfd_post(add.fd) &&
		poll(&polled, 1, -1) == 1;
	close(add.fd);
	return works;
}

static const struct use uses[] = {
	{ "2001", "/dev/epoll", classic_works },
	{ "extended", "/dev/epoll", extended_works },
	{ "/dev/poll", DP_NODE, devpoll_works },
	{ "signals", "/dev/epoll", signals_work },
	{ "poll of a set", "/dev/epoll", polled_works },
};

#define USES	((int)(sizeof(uses) / sizeof(uses[0])))

static bool means_no_module(int error)
{
	return error == ENOENT || error == ENXIO || error == ENODEV;
}

static void use_once(const struct use *use, struct shared *shared)
{
	int fd = open(use->node, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		atomic_fetch_add(means_no_module(errno) ? &shared->absences :
				 &shared->failures, 1);
		return;
	}
	if (use->works(fd)) {
		atomic_fetch_add(&shared->uses, 1);
	} else {
		fprintf(stderr, "# %s: %s\n", use->name, strerror(errno));
		atomic_fetch_add(&shared->failures, 1);
	}
	close(fd);
}

static void use_all_the_time(struct shared *shared, unsigned int seed)
{
	sigset_t mask;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&mask);
	sigaddset(&mask, ONESIG_SIGNAL);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	while (!atomic_load(&shared->stop)) {
		use_once(&uses[rand_r(&seed) % USES], shared);
		usleep(rand_r(&seed) % AWAY_USEC);
	}
	_exit(0);
}

#define USERS	3

FIXTURE(load_cycle) {
	struct shared *shared;
	pid_t users[USERS];
	int log;
};

FIXTURE_SETUP(load_cycle)
{
	int i;

	if (geteuid() || !getenv("DEVEPOLL_KO"))
		SKIP(return, "needs root and $DEVEPOLL_KO");
	if (module_is_loaded())
		ASSERT_TRUE(module_goes());
	self->log = log_open();
	ASSERT_LE(0, self->log);
	self->shared = mmap(NULL, sizeof(*self->shared),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	for (i = 0; i < USERS; i++) {
		self->users[i] = fork();
		ASSERT_LE(0, self->users[i]);
		if (!self->users[i])
			use_all_the_time(self->shared, i + 1);
	}
}

FIXTURE_TEARDOWN(load_cycle)
{
	if (!module_is_loaded())
		EXPECT_EQ(0, module_load(""));
}

static int cycles(void)
{
	const char *text = getenv("DEVEPOLL_LOAD_CYCLES");

	return text ? atoi(text) : CYCLES;
}

/* Tries until no user holds it this moment; counts the refusals. */
static bool unload_between_users(unsigned long *refusals)
{
	uint64_t end = now_ns() + 20000 * NSEC_PER_MSEC * slowness();
	int err;

	while ((err = module_unload()) == -EWOULDBLOCK) {
		++*refusals;
		if (now_ns() > end)
			return false;
		sched_yield();
	}
	return !err;
}

TEST_F_TIMEOUT(load_cycle, goes_between_users_and_never_under_one, 3600)
{
	struct shared *shared = self->shared;
	unsigned long refusals = 0, before;
	int i, held, lines, n = cycles();

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, module_load("")) TH_LOG("cycle %d", i);
		/* Under one, whatever the others do. */
		held = dep_open();
		ASSERT_LE(0, held);
		ASSERT_EQ(-EWOULDBLOCK, module_unload());
		before = atomic_load(&shared->uses);
		ASSERT_TRUE(await(atomic_load(&shared->uses) >=
				  before + USES_LEAST));
		ASSERT_EQ(-EWOULDBLOCK, module_unload());
		close(held);
		ASSERT_TRUE(unload_between_users(&refusals))
			TH_LOG("cycle %d", i);
		ASSERT_FALSE(has_slab_caches()) TH_LOG("cycle %d", i);
		/* One line, and no report of the kernel. */
		lines = log_new_lines(self->log, "loaded");
		ASSERT_EQ(1, lines % 100);
		ASSERT_GT(1000, lines);
		ASSERT_EQ(0, atomic_load(&shared->failures));
	}
	atomic_store(&shared->stop, true);
	for (i = 0; i < USERS; i++)
		EXPECT_EQ(0, reap(self->users[i]));
	EXPECT_EQ(0, atomic_load(&shared->failures));
	TH_LOG("%d cycles, %lu uses, %lu opens while it was away, %lu refusals",
	       n, atomic_load(&shared->uses), atomic_load(&shared->absences),
	       refusals);
}

TEST_HARNESS_MAIN
