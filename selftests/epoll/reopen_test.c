// SPDX-License-Identifier: GPL-2.0
/*
 * Further opens of a set, with less access: who may make them, what they may
 * do, and that the set lives as long as one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/reopen.h"

#define OPENS_MOST	8

TEST_F(reopen, gives_no_more_access_than_there_is)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	unsigned int from, to;
	int first, second, third;

	for (from = 0; from < ARRAY_SIZE(modes); from++) {
		first = open("/dev/epoll", modes[from] | O_CLOEXEC);
		ASSERT_LE(0, first);
		second = REOPEN(first, modes[from] |
				       (modes[from] == O_RDONLY ?
					DEVEPOLL_REOPEN_OPEN : 0));
		ASSERT_LE(0, second);
		for (to = 0; to < ARRAY_SIZE(modes); to++) {
			bool may = modes[from] == O_RDWR || from == to;

			/* Of a further open as of the first. */
			third = REOPEN(second, modes[to] | O_CLOEXEC);
			EXPECT_EQ(may ? 1 : -EBADF, third < 0 ? third : 1);
			EXPECT_EQ(may ? modes[to] : -1, fcntl(third, F_GETFL));
			EXPECT_EQ(may ? FD_CLOEXEC : -1,
				  fcntl(third, F_GETFD));
			close(third);
			third = REOPEN(first, modes[to]);
			EXPECT_EQ(may, third >= 0);
			if (may)
				EXPECT_EQ(0, fcntl(third, F_GETFD));
			close(third);
		}
		EXPECT_EQ(0, close(first));
		EXPECT_EQ(0, close(second));
	}
}

TEST_F(reopen, refuses_other_flags)
{
	static const unsigned long bad[] = {
		3, O_RDONLY | O_NONBLOCK, O_RDWR | O_CREAT, O_RDWR | O_PATH,
		O_RDWR | O_APPEND, -1, 1UL << 31, 1UL << 32, 1UL << 27,
		O_RDWR | DEVEPOLL_REOPEN_NEST, O_WRONLY | DEVEPOLL_REOPEN_MAP,
		O_RDWR | DEVEPOLL_REOPEN_OPEN,
	};
	int next = next_fd();
	size_t i;

	ASSERT_LE(0, next);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, REOPEN(self->set, bad[i]))
			TH_LOG("flags %lx", bad[i]);
	EXPECT_EQ(next, next_fd());
	EXPECT_EQ(0, items(self->set));
}

TEST_F(reopen, fails_alone_if_no_number_is_free)
{
	struct rlimit limit, less;
	int i, second;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	less = limit;
	less.rlim_cur = next_fd();
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &less));
	for (i = 0; i < 2 * OPENS_MOST; i++)
		EXPECT_EQ(-EMFILE, REOPEN(self->set, O_RDWR));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	second = REOPEN(self->set, O_RDWR);
	ASSERT_LE(0, second);
	ASSERT_EQ(0, add(second, self->member, EPOLLOUT));
	EXPECT_EQ(1, items(self->set));
	EXPECT_EQ(0, close(second));
}

TEST_F(reopen, for_reading_waits_for_the_same_set)
{
	int reader = REOPEN(self->set, O_RDONLY);
	struct devepoll_event out[2];

	ASSERT_LE(0, reader);
	ASSERT_EQ(0, add(self->set, self->member, EPOLLIN));
	EXPECT_EQ(1, items(reader));
	EXPECT_EQ(-EBADF, add(reader, self->member, EPOLLIN));
	EXPECT_EQ(-EBADF, remove_fd(reader, self->member));
	EXPECT_EQ(-EBADF, variant->request(reader, EP_ALLOC, (void *)10));
	EXPECT_EQ(-1, write(reader, "", 0));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(0, dep_wait(reader, out, 2, 0));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(1, dep_wait(reader, out, 2, -1));
	EXPECT_EQ(42, out[0].data);
	EXPECT_EQ(self->member, out[0].fd);
}

TEST_F(reopen, for_writing_changes_the_same_set)
{
	int writer = REOPEN(self->set, O_WRONLY);
	struct devepoll_event out[2];

	ASSERT_LE(0, writer);
	EXPECT_EQ(0, add(writer, self->member, EPOLLOUT));
	EXPECT_EQ(-EEXIST, add(self->set, self->member, EPOLLOUT));
	EXPECT_EQ(-EBADF, dep_wait(writer, out, 2, 0));
	EXPECT_EQ(POLLERR, poll_now(writer, POLLIN));
	EXPECT_EQ(1, dep_wait(self->set, out, 2, 0));
	EXPECT_EQ(0, remove_fd(writer, self->member));
	EXPECT_EQ(0, items(self->set));
}

TEST_F(reopen, shares_a_set_of_2001_and_its_memory)
{
	struct evpoll evp = { .ep_timeout = -1 };
	int reader;
	char *map;

	ASSERT_EQ(0, dep_alloc(self->set, 10));
	reader = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_MAP);
	ASSERT_LE(0, reader);
	ASSERT_EQ(8, dep_write_one(self->set, self->member, POLLIN));
	map = dep_map(reader, EP_MAP_SIZE(10));
	ASSERT_NE(MAP_FAILED, (void *)map);
	/* The mapping keeps the set as well as an fd does. */
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(-EBUSY, dep_free(self->set));
	EXPECT_EQ(1, variant->request(reader, EP_POLL, &evp));
	EXPECT_EQ(self->member,
		  ((struct pollfd *)(map + evp.ep_resoff))->fd);
	EXPECT_EQ(0, close(self->set));
	EXPECT_EQ(0, close(reader));
	EXPECT_EQ(0, munmap(map, EP_MAP_SIZE(10)));
}

/* Whichever of them goes first. */
TEST_F(reopen, keeps_the_set_until_the_last_has_gone)
{
	struct devepoll_event out[2];
	int order, second;

	for (order = 0; order < 2; order++) {
		int set = dep_open(), left;

		second = REOPEN(set, O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, second);
		ASSERT_EQ(0, add(set, self->member,
				 EPOLLIN | EPOLLOUT | EPOLLET));
		EXPECT_EQ(0, close(order ? set : second));
		left = order ? second : set;
		EXPECT_EQ(1, items(left));
		EXPECT_EQ(1, dep_wait(left, out, 2, 0));
		EXPECT_EQ(0, dep_wait(left, out, 2, 0));
		ASSERT_EQ(0, eventfd_post(self->member));
		EXPECT_EQ(1, dep_wait(left, out, 2, -1));
		/* A file of its own, though it is not the first one. */
		second = REOPEN(left, O_RDONLY | O_CLOEXEC);
		ASSERT_LE(0, second);
		EXPECT_EQ(0, close(left));
		EXPECT_EQ(1, items(second));
		EXPECT_EQ(0, close(second));
	}
}

static int is_selected(int fd)
{
	struct timeval none = {};
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	return select(fd + 1, &fds, NULL, NULL, &none);
}

TEST_F(reopen, can_be_polled_like_the_first)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), outer = dep_open();
	struct epoll_event event = { .events = EPOLLIN }, out;
	struct devepoll_event gone;
	int reader = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_NEST);

	ASSERT_LE(0, reader);
	ASSERT_EQ(0, add(self->set, self->member, EPOLLIN));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, reader, &event));
	ASSERT_EQ(0, add(outer, reader, EPOLLIN));
	ASSERT_EQ(0, add(outer, self->set, EPOLLIN));
	EXPECT_EQ(0, poll_now(reader, POLLIN));
	EXPECT_EQ(0, is_selected(reader));
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 0));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(1, epoll_wait(epoll, &out, 1, -1));
	EXPECT_EQ(POLLIN, poll_now(reader, POLLIN));
	EXPECT_EQ(1, is_selected(reader));
	EXPECT_EQ(1, dep_wait(outer, &gone, 1, -1));
	EXPECT_EQ(2, items(outer));
	/* It leaves the sets that it is in; the first one does not. */
	EXPECT_EQ(0, close(reader));
	EXPECT_EQ(1, items(outer));
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 0));
	EXPECT_EQ(1, dep_wait(outer, &gone, 1, 0));
	EXPECT_EQ(self->set, gone.fd);
}

TEST_F(reopen, wakes_who_polls_it)
{
	int reader = REOPEN(self->set, O_RDONLY);
	struct eset set;
	struct ewaiter waiter;

	ASSERT_LE(0, reader);
	ASSERT_EQ(0, eset_adopt(&set, &eset_devepoll, reader));
	ASSERT_EQ(0, add(self->set, self->member, EPOLLIN));
	ASSERT_EQ(0, ewaiter_start(&waiter, &set, -1));
	EXPECT_EQ(0, close(self->set));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	eset_close(&set);
}

TEST_F(reopen, is_no_way_round_to_a_cycle)
{
	int reader = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_NEST);
	int outer = dep_open();
	int outer_reader = REOPEN(outer, O_RDWR);

	ASSERT_LE(0, reader);
	ASSERT_LE(0, outer_reader);
	EXPECT_EQ(-EINVAL, add(self->set, reader, EPOLLIN));
	EXPECT_EQ(0, add(outer, reader, EPOLLIN));
	EXPECT_EQ(-ELOOP, add(self->set, outer_reader, EPOLLIN));
	EXPECT_EQ(-ELOOP, add(self->set, outer, EPOLLIN));
	EXPECT_EQ(-EINVAL, add(outer_reader, outer, EPOLLIN));
	EXPECT_EQ(0, remove_fd(outer_reader, reader));
	EXPECT_EQ(0, add(self->set, outer_reader, EPOLLIN));
	EXPECT_EQ(0, close(outer));
	EXPECT_EQ(1, items(self->set));
	EXPECT_EQ(0, close(outer_reader));
	EXPECT_EQ(0, items(self->set));
}

/* Whichever thread is the last, while another one opens it again. */
struct racer {
	int fd;
	atomic_bool *go;
	struct task task;
};

static long race(void *arg)
{
	struct racer *racer = arg;
	struct devepoll_event out;
	int fd;

	while (!atomic_load(racer->go))
		;
	fd = dep_request(racer->fd, DEVEPOLL_REOPEN, (void *)O_RDONLY);
	close(racer->fd);
	if (fd < 0)
		return fd;
	if (dep_wait(fd, &out, 1, 0) != 1)
		return -EPROTO;
	return close(fd);
}

TEST_F(reopen, and_close_may_come_at_any_moment)
{
	enum { ROUNDS = 100, THREADS = 3 };
	struct racer racers[THREADS];
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		atomic_bool go = false;
		int set = dep_open();

		ASSERT_EQ(0, add(set, self->member, EPOLLOUT));
		for (i = 0; i < THREADS; i++) {
			racers[i] = (struct racer){
				.fd = REOPEN(set, O_RDONLY |
						  DEVEPOLL_REOPEN_OPEN),
				.go = &go,
			};
			ASSERT_EQ(0, task_start(&racers[i].task, race,
						&racers[i]));
		}
		close(set);
		atomic_store(&go, true);
		for (i = 0; i < THREADS; i++)
			EXPECT_EQ(0, task_join(&racers[i].task));
	}
}

/* Each is a file of its own for the limit of a file's watches. */
TEST_F(reopen, has_no_more_than_a_few_opens)
{
	int fds[OPENS_MOST], i;

	for (i = 0; i < OPENS_MOST; i++) {
		fds[i] = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_OPEN);
		ASSERT_LE(0, fds[i]);
	}
	EXPECT_EQ(-ENOSPC, REOPEN(self->set, O_RDONLY));
	EXPECT_EQ(-ENOSPC, REOPEN(fds[0], O_RDONLY));
	ASSERT_EQ(0, close(fds[1]));
	fds[1] = REOPEN(fds[0], O_RDONLY);
	EXPECT_LE(0, fds[1]);
	EXPECT_EQ(-ENOSPC, REOPEN(self->set, O_RDONLY));
	for (i = 0; i < OPENS_MOST; i++)
		close(fds[i]);
}

/* How many sets may be around one. */
#define AROUND		4096

TEST_F(reopen, has_no_more_sets_around_it_than_one_open)
{
	int i, opens[2], outer = dep_open();

	ASSERT_LE(0, outer);
	if (raise_fd_limit(AROUND + 100))
		SKIP(return, "no %d open files", AROUND + 100);
	opens[0] = self->set;
	opens[1] = REOPEN(self->set, O_RDONLY | DEVEPOLL_REOPEN_NEST);
	ASSERT_LE(0, opens[1]);
	for (i = 0; i < AROUND; i++)
		ASSERT_EQ(0, add(outer, dup(opens[i % 2]), EPOLLIN));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-ENOSPC, add(outer, opens[i], EPOLLIN));
	ASSERT_EQ(0, close(outer));
	outer = dep_open();
	ASSERT_LE(0, outer);
	EXPECT_EQ(0, add(outer, opens[0], EPOLLIN));
}

TEST_F(reopen, can_not_be_opened_by_its_path)
{
	char path[40];
	int fd = REOPEN(self->set, O_RDWR);

	ASSERT_LE(0, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Root may do what the mode forbids, but there is nothing to open. */
	EXPECT_EQ(-1, open(path, O_RDONLY));
	EXPECT_EQ(ENXIO, errno);
	ASSERT_EQ(0, become(65534));
	EXPECT_EQ(-1, open(path, O_RDONLY));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(reopen, is_unknown_to_other_files)
{
	EXPECT_EQ(-ENOTTY, dep_request(self->member, DEVEPOLL_REOPEN,
				       (void *)O_RDONLY));
	EXPECT_EQ(-ENOTTY, dep_request(self->set, _IOR('P', 0x15, int),
				       (void *)O_RDONLY));
}

TEST_HARNESS_MAIN
