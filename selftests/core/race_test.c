// SPDX-License-Identifier: GPL-2.0
/*
 * Wake-ups that do not say what happened, so that the file has to be polled,
 * against everything that may happen while it is polled.  shutdown() of a unix
 * socket wakes its peer in this way.  The peer has hung up when both directions
 * are shut; one alone is no event for a watch of POLLHUP.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fault_page.h"
#include "core/helpers.h"

/* Numbers under which a file is added often, so that polling takes long. */
enum { FIRST_NUMBER = 200, NUMBERS = 800, ROOM = FIRST_NUMBER + NUMBERS };

#define RACE_NS	(1200 * NSEC_PER_MSEC)

/* Much longer than anything takes here that is not lost. */
static int lost_ms(void)
{
	return 20000 * slowness();
}

/* The file is in the set under @n numbers, none of which is open any more. */
static int add_often(struct set *set, int fd, short events, int n)
{
	int i, ret = 0;

	for (i = FIRST_NUMBER; !ret && i < FIRST_NUMBER + n; i++) {
		if (dup2(fd, i) != i)
			return -errno;
		ret = set_add(set, i, events);
		close(i);
	}
	return ret;
}

static void spin_until(uint64_t ns)
{
	while (now_ns() < ns)
		;
}

static int shut_first_half(int fd)
{
	return shutdown(fd, SHUT_RD) ? -errno : 0;
}

/*
 * Adds a file that never has an event under @n numbers, and wakes it.  Returns
 * how many nanoseconds it takes to poll it (0 by a coarse clock), or -errno.
 */
static int64_t add_quiet(struct set *set, int fds[2], int n)
{
	uint64_t start, took, least = INT64_MAX;
	int i, ret;

	ret = raise_fd_limit(ROOM + 1);
	if (!ret)
		ret = unix_pair(fds, SOCK_STREAM);
	if (!ret)
		ret = add_often(set, fds[0], POLLPRI, n);
	/* The first times are longer than later ones. */
	for (i = 0; !ret && i < 8; i++) {
		ret = shut_first_half(fds[1]);
		start = now_ns();
		if (!ret && poll_now(set->fd, POLLIN))
			ret = -EBADMSG;
		took = now_ns() - start;
		if (took < least)
			least = took;
	}
	return ret ? ret : least;
}

static void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Hangs up some time after it was told to. */
struct hanger {
	struct task task;
	int fd;
	uint64_t delay;
	atomic_bool go;
};

static long hang_up(void *arg)
{
	struct hanger *hanger = arg;

	pin_to_cpu(1);
	while (!atomic_load(&hanger->go))
		;
	spin_until(now_ns() + hanger->delay);
	return shutdown(hanger->fd, SHUT_WR) ? -errno : 0;
}

SET_FIXTURE(asking, ROOM)

/*
 * poll() of the set polls the first file, then many others for long, while the
 * first one hangs up.  poll(2) looks once more when its time-out passes, so
 * only the time shows that it missed an event.
 */
TEST_F(asking, for_poll_misses_no_hang_up)
{
	enum { ROUNDS = 32 };
	struct pollfd pfd = { .fd = self->set.fd, .events = POLLIN };
	int i, fds[2], quiet[2];
	struct hanger hanger;
	uint64_t start;
	int64_t asking;

	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	pin_to_cpu(0);
	asking = add_quiet(&self->set, quiet, NUMBERS);
	ASSERT_LE(0, asking);
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
		ASSERT_EQ(0, set_add(&self->set, fds[0], POLLHUP));
		hanger = (struct hanger) {
			.fd = fds[1],
			.delay = asking * i / 16,
		};
		ASSERT_EQ(0, task_start(&hanger.task, hang_up, &hanger));
		ASSERT_EQ(0, shut_first_half(fds[1]));
		ASSERT_EQ(0, shut_first_half(quiet[1]));
		start = now_ns();
		atomic_store(&hanger.go, true);
		ASSERT_EQ(1, poll(&pfd, 1, lost_ms()));
		ASSERT_GT(lost_ms() / 2 * NSEC_PER_MSEC, now_ns() - start)
			TH_LOG("round %d", i);
		ASSERT_EQ(0, task_join(&hanger.task));
		EXPECT_EQ(POLLHUP, set_wait_one(&self->set, fds[0], 0));
		close_pair(fds);
	}
	close_pair(quiet);
}

/* Two promises that epoll does not keep in 6.1 and 6.12. */
DEVEPOLL_FIXTURE(asked, ROOM)

struct poller {
	struct task task;
	int fd;
	atomic_bool stop;
};

static long poll_all_the_time(void *arg)
{
	struct poller *poller = arg;

	while (!atomic_load(&poller->stop))
		poll_now(poller->fd, POLLIN);
	return 0;
}

/* Another thread takes the file off the list and has not posted its event. */
TEST_F(asked, by_another_thread_its_event_is_waited_for)
{
	struct poller poller = { .fd = self->set.fd };
	uint64_t end;
	int i, fds[2];

	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, task_start(&poller.task, poll_all_the_time, &poller));
	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLHUP));
	end = now_ns() + RACE_NS;
	for (i = 0; now_ns() < end; i++) {
		/* Wakes each time, though it is shut already. */
		ASSERT_EQ(0, shutdown(fds[1], SHUT_RDWR));
		spin_until(now_ns() + i % 16 * 200);
		ASSERT_EQ(POLLHUP, set_wait_one(&self->set, fds[0], 0))
			TH_LOG("round %d", i);
	}
	atomic_store(&poller.stop, true);
	EXPECT_EQ(0, task_join(&poller.task));
	EXPECT_LT(10, i);
	close_pair(fds);
}

/*
 * The waiter polls the file again and again while its last number is closed.
 * Then it sleeps on: the release must not wait for it.
 */
TEST_F(asked, it_is_released_when_it_is_closed)
{
	enum { ROUNDS = 80, OFTEN = 400 };
	int i, fds[2], quiet[2], event = eventfd_new();
	struct pollfd pfd = { 0 };
	struct waiter waiter;
	uint64_t start;
	int64_t asking;

	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	asking = add_quiet(&self->set, quiet, OFTEN);
	ASSERT_LE(0, asking);
	close_pair(quiet);
	pin_to_cpu(1);
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	pin_to_cpu(0);

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
		ASSERT_EQ(0, add_often(&self->set, fds[0], POLLPRI, OFTEN));
		ASSERT_EQ(0, await_sleep(waiter.task.tid, SYS_ioctl));
		start = now_ns();
		ASSERT_EQ(0, shut_first_half(fds[1]));
		spin_until(start + asking * i / 16);
		close(fds[0]);
		pfd.fd = fds[1];
		ASSERT_EQ(1, poll(&pfd, 1, lost_ms())) TH_LOG("round %d", i);
		EXPECT_NE(0, pfd.revents & POLLHUP);
		close(fds[1]);
	}
	EXPECT_EQ(0, await_sleep(waiter.task.tid, SYS_ioctl));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(1, waiter_join(&waiter));
	close(event);
}

/* A thread in EP_POLL that is held up while it writes the offset. */
FIXTURE(taker) {
	struct set set;
	int event;
	int fds[2];
	struct fault_page page;
	struct evpoll *evp;
	int calls;
	struct task task;
	struct waiter waiter;
};

typedef FIXTURE_DATA(taker) taker_data;

static long take(void *arg)
{
	taker_data *self = arg;
	int ret;

	do
		ret = dep_poll(self->set.fd, self->evp);
	while (--self->calls && ret == 1);
	return ret;
}

/* It writes to a page that is not there until we provide it. */
static int map_argument(taker_data *self)
{
	int err = fault_page_open(&self->page);

	if (err)
		return err;
	self->evp = (struct evpoll *)(fault_page_start(&self->page) -
				      offsetof(struct evpoll, ep_resoff));
	self->evp->ep_timeout = -1;
	return 0;
}

FIXTURE_SETUP(taker)
{
	/* On one CPU, none is given up because its own is held up. */
	ASSERT_EQ(0, pin_to_cpu(0));
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, ROOM));
	ASSERT_EQ(0, map_argument(self)) TH_LOG("no userfaultfd here");
	self->event = eventfd_new();
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, self->fds[0], POLLHUP));
}

FIXTURE_TEARDOWN(taker)
{
	set_close(&self->set);
	close(self->event);
	close_pair(self->fds);
	fault_page_close(&self->page);
}

/*
 * Before it has taken the event another file hangs up: that wakes nobody, since
 * a waiter seems to be awake.
 */
static int start_and_overtake(taker_data *self, int calls)
{
	int ret;

	self->calls = calls;
	ret = task_start(&self->task, take, self);
	if (!ret)
		ret = await_sleep(self->task.tid, SYS_ioctl);
	if (!ret)
		ret = waiter_start(&self->waiter, &self->set, -1);
	if (!ret)
		ret = eventfd_post(self->event);
	if (!ret)
		ret = fault_page_await(&self->page);
	if (ret)
		return ret;
	if (shutdown(self->fds[1], SHUT_RDWR))
		return -errno;
	return fault_page_provide(&self->page);
}

TEST_F(taker, that_exits_wakes_the_next_waiter_for_what_it_left)
{
	ASSERT_EQ(0, start_and_overtake(self, 1));
	EXPECT_EQ(1, task_join(&self->task));
	ASSERT_EQ(1, waiter_join(&self->waiter));
	EXPECT_EQ(self->fds[0], self->waiter.out[0].fd);
	EXPECT_EQ(POLLHUP, self->waiter.out[0].revents);
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(taker, that_waits_again_shares_what_it_left)
{
	ASSERT_EQ(0, start_and_overtake(self, 2));
	/* One of them gets it; the other one gets the next event. */
	ASSERT_TRUE(await(atomic_load(&self->task.done) ||
			  atomic_load(&self->waiter.task.done)));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&self->task));
	EXPECT_EQ(1, waiter_join(&self->waiter));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_HARNESS_MAIN
