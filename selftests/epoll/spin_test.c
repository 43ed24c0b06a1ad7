// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_SPIN: waits that look for an event for a while before they sleep.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/request.h"
#include "core/ring.h"

#define SIZED(size)	_IOC(_IOC_READ | _IOC_WRITE, EP_IOC_MAGIC, 0x1e, size)
#define MS		1000000LL

/* The time of an instance, or -errno. */
static int spin_us(int set)
{
	struct devepoll_spin args = { .usecs = DEVEPOLL_SPIN_ASK };

	return dep_request(set, DEVEPOLL_SPIN, &args) ?: args.usecs;
}

static int set_spin(int set, int usecs)
{
	struct devepoll_spin args = { .usecs = usecs };

	return dep_request(set, DEVEPOLL_SPIN, &args);
}

static struct devepoll_spin spin_of(int set)
{
	struct devepoll_spin args = { .usecs = DEVEPOLL_SPIN_ASK };

	if (dep_request(set, DEVEPOLL_SPIN, &args))
		args.looks = -1;
	return args;
}

FIXTURE(request) {
	int set;
};

REQUEST_VARIANTS(request);

FIXTURE_SETUP(request)
{
	self->set = dep_open();
	ASSERT_LE(0, self->set) TH_LOG("no /dev/epoll here");
}

FIXTURE_TEARDOWN(request)
{
	close(self->set);
}

#define SPIN(...) ({							\
	struct devepoll_spin __arg = { __VA_ARGS__ };			\
									\
	variant->request(self->set, DEVEPOLL_SPIN, &__arg);		\
})

TEST_F(request, tells_what_was_set)
{
	struct devepoll_spin args = { .usecs = DEVEPOLL_SPIN_ASK };

	ASSERT_EQ(0, variant->request(self->set, DEVEPOLL_SPIN, &args));
	EXPECT_EQ(0, args.usecs);
	args.usecs = 77;
	ASSERT_EQ(0, variant->request(self->set, DEVEPOLL_SPIN, &args));
	EXPECT_EQ(77, args.usecs);
	EXPECT_EQ(77, spin_us(self->set));
	EXPECT_EQ(0, SPIN(.usecs = DEVEPOLL_SPIN_MAX));
	EXPECT_EQ(DEVEPOLL_SPIN_MAX, spin_us(self->set));
	EXPECT_EQ(0, SPIN(.usecs = 0));
	EXPECT_EQ(0, spin_us(self->set));
}

TEST_F(request, refuses_what_is_out_of_range)
{
	EXPECT_EQ(-EINVAL, SPIN(.usecs = DEVEPOLL_SPIN_MAX + 1));
	EXPECT_EQ(-EINVAL, SPIN(.usecs = INT32_MAX));
	EXPECT_EQ(-EINVAL, SPIN(.usecs = -2));
	EXPECT_EQ(-EINVAL, SPIN(.usecs = INT32_MIN));
	EXPECT_EQ(-EINVAL, SPIN(.usecs = 1, .reserved = 1));
	EXPECT_EQ(0, spin_us(self->set));
	/* What was returned may stand there. */
	EXPECT_EQ(0, SPIN(.usecs = 1, .looks = 1, .hits = 2, .ns = 3));
	EXPECT_EQ(1, spin_us(self->set));
}

TEST_F(request, refuses_memory_that_can_not_be_used)
{
	struct devepoll_spin *args;

	EXPECT_EQ(-EFAULT, variant->request(self->set, DEVEPOLL_SPIN,
					    (void *)4096));
	args = mmap(NULL, getpagesize(), PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, args);
	EXPECT_EQ(-EFAULT, variant->request(self->set, DEVEPOLL_SPIN, args));
	EXPECT_EQ(0, munmap(args, getpagesize()));
}

TEST_F(request, takes_structs_that_say_no_more)
{
	struct {
		struct devepoll_spin args;
		uint64_t more;
	} large = { { .usecs = 5 }, 0 };

	EXPECT_EQ(0, variant->request(self->set, SIZED(sizeof(large)),
				      &large));
	EXPECT_EQ(5, spin_us(self->set));
	large.args.usecs = 6;
	large.more = 1;
	EXPECT_EQ(-E2BIG, variant->request(self->set, SIZED(sizeof(large)),
					   &large));
	EXPECT_EQ(-ENOTTY, variant->request(self->set,
					    SIZED(sizeof(large.args) - 8),
					    &large));
	EXPECT_EQ(5, spin_us(self->set));
}

TEST_F(request, needs_write_access_to_change_something)
{
	int reader = dep_request(self->set, DEVEPOLL_REOPEN,
				 (void *)(uintptr_t)O_RDONLY);
	int writer = dep_request(self->set, DEVEPOLL_REOPEN,
				 (void *)(uintptr_t)O_WRONLY);
	struct devepoll_spin args = { .usecs = 9 };

	ASSERT_LE(0, reader);
	ASSERT_LE(0, writer);
	EXPECT_EQ(-EBADF, variant->request(reader, DEVEPOLL_SPIN, &args));
	EXPECT_EQ(-EBADF, variant->request(writer, DEVEPOLL_SPIN, &args));
	EXPECT_EQ(0, SPIN(.usecs = 8));
	EXPECT_EQ(8, spin_us(reader));
	EXPECT_EQ(-EBADF, spin_us(writer));
	close(writer);
	close(reader);
}

/* The first use of a set decides its interface; this is none. */
TEST_F(request, decides_no_interface)
{
	EXPECT_EQ(0, SPIN(.usecs = 8));
	EXPECT_EQ(0, ioctl(self->set, EP_ALLOC, 8));
	EXPECT_EQ(8, spin_us(self->set));
}

TEST_F(request, is_none_of_dev_poll)
{
	struct devepoll_spin args = { .usecs = 8 };
	int poll = open("/dev/poll", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, poll);
	EXPECT_NE(0, variant->request(poll, DEVEPOLL_SPIN, &args));
	close(poll);
}

/* The ways to wait; each for a millisecond, in which nothing comes. */

static int wait_by_call(int set)
{
	struct devepoll_event out[1];

	return dep_wait(set, out, 1, 1);
}

static int wait_as_epoll(int set)
{
	struct epoll_event out[2];

	return dep_fadvise(set, address_of(out), DEVEPOLL_EPOLL_WAIT_LEN(2, 1),
			   DEVEPOLL_EPOLL_WAIT);
}

static int wait_mapped(int set)
{
	return dep_fadvise(set, 0, DEVEPOLL_EPOLL_WAIT_LEN(2, 1),
			   DEVEPOLL_TAKE);
}

static int wait_for_ring(int set)
{
	struct devepoll_ring_wait_args args = { .timeout = MS };

	return dep_request(set, DEVEPOLL_RING_WAIT, &args);
}

static int wait_as_2001(int set)
{
	struct evpoll args = { .ep_timeout = 1 };

	return dep_request(set, EP_POLL, &args);
}

static int prepare_none(int set)
{
	return 0;
}

static int prepare_mapping(int set)
{
	return mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
		    set, DEVEPOLL_MAP_EVENTS) == MAP_FAILED ? -errno : 0;
}

static int prepare_ring(int set)
{
	return ring_request(set, 1, 16);
}

static int prepare_2001(int set)
{
	if (ioctl(set, EP_ALLOC, 8))
		return -errno;
	return mmap(NULL, EP_MAP_SIZE(8), PROT_READ | PROT_WRITE, MAP_SHARED,
		    set, 0) == MAP_FAILED ? -errno : 0;
}

FIXTURE(spin) {
	int set;
	int event;
};

FIXTURE_VARIANT(spin) {
	int (*prepare)(int set);
	int (*wait)(int set);
};

#define SPIN_VARIANT(name, _prepare, _wait)				\
	FIXTURE_VARIANT_ADD(spin, name) {				\
		.prepare = _prepare,					\
		.wait = _wait,						\
	}

SPIN_VARIANT(by_call, prepare_none, wait_by_call);
SPIN_VARIANT(as_epoll, prepare_none, wait_as_epoll);
SPIN_VARIANT(mapped, prepare_mapping, wait_mapped);
SPIN_VARIANT(ring, prepare_ring, wait_for_ring);
SPIN_VARIANT(as_2001, prepare_2001, wait_as_2001);

FIXTURE_SETUP(spin)
{
	self->set = dep_open();
	ASSERT_LE(0, self->set) TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, variant->prepare(self->set));
}

FIXTURE_TEARDOWN(spin)
{
	close(self->set);
}

TEST_F(spin, sleeps_at_once_unless_asked)
{
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, variant->wait(self->set));
	EXPECT_EQ(0, spin_of(self->set).looks);
	ASSERT_EQ(0, set_spin(self->set, 100));
	/* If the emulator is held up, a wait may be over before it sleeps. */
	for (i = 0; i < 100 && !spin_of(self->set).looks; i++)
		ASSERT_EQ(0, variant->wait(self->set));
	EXPECT_EQ(1, spin_of(self->set).looks);
	ASSERT_EQ(0, set_spin(self->set, 0));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, variant->wait(self->set));
	EXPECT_EQ(1, spin_of(self->set).looks);
}

/*
 * The first wait, and those after 1, 3, 7, 15, 31 and 63 sleeps: seven.  On a busy
 * machine a wait may be over before it sleeps, and a look that another task ends
 * is followed by the next one.
 */
TEST_F(spin, looks_more_rarely_if_it_brings_nothing)
{
	int i;

	ASSERT_EQ(0, set_spin(self->set, 100));
	for (i = 0; i < 1 + 2 + 4 + 8 + 16 + 32 + 64; i++)
		ASSERT_EQ(0, variant->wait(self->set));
	TH_LOG("%llu looks",
	       (unsigned long long)spin_of(self->set).looks);
	EXPECT_GE(64, spin_of(self->set).looks);
	EXPECT_LE(1, spin_of(self->set).looks);
	EXPECT_EQ(0, spin_of(self->set).hits);
	EXPECT_LT(0, spin_of(self->set).ns);
}

/*
 * Not even for the time of the set.  If the emulator is held up meanwhile, it
 * seems longer; so one of several counts.
 */
TEST_F(spin, looks_no_longer_than_the_call_may_wait)
{
	uint64_t ns, least = UINT64_MAX;
	int i, set;

	for (i = 0; i < 20 && least > 8 * MS; i++) {
		set = dep_open();
		ASSERT_LE(0, set);
		ASSERT_EQ(0, variant->prepare(set));
		ASSERT_EQ(0, set_spin(set, DEVEPOLL_SPIN_MAX));
		ASSERT_EQ(0, variant->wait(set));
		ns = spin_of(set).ns;
		if (spin_of(set).looks && ns < least)
			least = ns;
		close(set);
	}
	EXPECT_GE(8 * MS, least);
}

FIXTURE(exchange) {
	int set;
	int event;
	int back;
};

FIXTURE_SETUP(exchange)
{
	struct devepoll_change add = CHANGE(ADD, -1, EPOLLIN | EPOLLET);

	self->set = dep_open();
	ASSERT_LE(0, self->set) TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	self->back = eventfd_new();
	add.fd = self->event;
	add.data = self->event;
	ASSERT_EQ(0, dep_change(self->set, &add));
	ASSERT_EQ(0, set_spin(self->set, DEVEPOLL_SPIN_MAX));
}

FIXTURE_TEARDOWN(exchange)
{
	close(self->back);
	close(self->event);
	close(self->set);
}

#define ROUNDS	200

struct partner {
	int event;
	int back;
	int cpu;
};

/* Posts, and waits for the answer by looking at it all the time. */
static long post_each(void *arg)
{
	const struct partner *partner = arg;
	int i, err;

	if (partner->cpu >= 0)
		pin_to_cpu(partner->cpu);
	for (i = 0; i < ROUNDS; i++) {
		err = eventfd_post(partner->event);
		if (err)
			return err;
		if (!await(eventfd_take(partner->back) == 0))
			return -ETIMEDOUT;
	}
	return 0;
}

/* Takes and answers each; 0 or -errno. */
static int answer_each(int set, int event, int back)
{
	struct devepoll_event out[2];
	int i, n;

	for (i = 0; i < ROUNDS; i++) {
		n = dep_wait(set, out, 2, 20000);
		if (n != 1 || out[0].data != (uint64_t)event)
			return n < 0 ? n : -EPROTO;
		if (eventfd_take(event) || eventfd_post(back))
			return -EIO;
	}
	return 0;
}

static int exchange(int set, int event, int back, int cpu)
{
	struct partner partner = { event, back, cpu };
	struct task task;
	int ret;

	pin_to_cpu(0);
	ret = task_start(&task, post_each, &partner);
	if (ret)
		return ret;
	ret = answer_each(set, event, back);
	return task_join(&task) ?: ret;
}

/*
 * The interrupt of the timer comes while the call looks, however slow the
 * emulator is; or before it looks, and then it does not.  It often comes before
 * on a busy machine, where a millisecond is short: that takes more rounds.
 */
TEST_F(exchange, sees_what_comes_meanwhile)
{
	const struct itimerspec soon = { .it_value.tv_nsec = MS };
	struct devepoll_change add = CHANGE(ADD, -1, EPOLLIN | EPOLLET);
	int i, timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct devepoll_event out[2];
	struct devepoll_spin spin = {};

	ASSERT_LE(0, timer);
	add.fd = timer;
	ASSERT_EQ(0, dep_change(self->set, &add));
	for (i = 0; i < 50 || (i < 1000 && spin.hits <= 5); i++) {
		ASSERT_EQ(0, timerfd_settime(timer, 0, &soon, NULL));
		ASSERT_EQ(1, dep_wait(self->set, out, 2, -1));
		spin = spin_of(self->set);
	}
	TH_LOG("%llu of %llu looks saw the event",
	       (unsigned long long)spin.hits, (unsigned long long)spin.looks);
	/* One of a set that then rests for ever would be one. */
	EXPECT_LT(5, spin.hits);
	EXPECT_GE(spin.looks, spin.hits);
	close(timer);
}

/* How often this thread has gone to sleep. */
static long sleeps_of_ours(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

TEST_F(exchange, takes_events_of_another_processor)
{
	struct devepoll_spin spin;
	long slept, looked;

	if (cpus_online() < 2)
		SKIP(return, "one processor");
	ASSERT_EQ(0, set_spin(self->set, 0));
	slept = sleeps_of_ours();
	EXPECT_EQ(0, exchange(self->set, self->event, self->back, 1));
	slept = sleeps_of_ours() - slept;
	EXPECT_EQ(0, spin_of(self->set).looks);

	ASSERT_EQ(0, set_spin(self->set, DEVEPOLL_SPIN_MAX));
	looked = sleeps_of_ours();
	EXPECT_EQ(0, exchange(self->set, self->event, self->back, 1));
	looked = sleeps_of_ours() - looked;
	spin = spin_of(self->set);
	TH_LOG("%llu of %llu looks saw an event, in %llu us; "
	       "%ld sleeps of %d exchanges, and %ld without looking",
	       (unsigned long long)spin.hits, (unsigned long long)spin.looks,
	       (unsigned long long)spin.ns / 1000, looked, ROUNDS, slept);
	EXPECT_GE(spin.looks, spin.hits);
	EXPECT_GE(ROUNDS + 1, spin.looks);
}

/* How long a look took since @before, in ns, or 0 if there was none. */
static uint64_t look_since(int set, struct devepoll_spin before)
{
	struct devepoll_spin now = spin_of(set);

	return now.looks > before.looks ?
	       (now.ns - before.ns) / (now.looks - before.looks) : 0;
}

/*
 * Whoever could make the event needs this processor.  Looks seem longer while
 * the emulator is held up, so one of several tries counts.
 */
TEST_F(exchange, leaves_the_processor_to_others)
{
	const uint64_t few = DEVEPOLL_SPIN_MAX * 1000 / 5;
	struct devepoll_spin before;
	uint64_t look = UINT64_MAX;
	int i;

	for (i = 0; i < 5 && look > few * slowness(); i++) {
		before = spin_of(self->set);
		EXPECT_EQ(0, exchange(self->set, self->event, self->back, 0));
		look = look_since(self->set, before);
	}
	TH_LOG("a look takes %llu us", (unsigned long long)look / 1000);
	EXPECT_GE(few * slowness(), look);
}

static void ignore(int signo)
{
}

TEST_F(exchange, ends_with_a_signal)
{
	const struct itimerval soon = {
		.it_value.tv_usec = 2000, .it_interval.tv_usec = 2000,
	};
	const struct itimerval never = {};
	struct sigaction action = { .sa_handler = ignore };
	const uint64_t few = DEVEPOLL_SPIN_MAX * 1000 / 2;
	struct devepoll_spin before;
	struct devepoll_event out[1];
	uint64_t look = UINT64_MAX;
	int i;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &soon, NULL));
	for (i = 0; i < 100 && look > few; i++) {
		before = spin_of(self->set);
		EXPECT_EQ(-EINTR, dep_wait(self->set, out, 1, -1));
		look = look_since(self->set, before) ?: look;
	}
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_GE(few, look);
}

static long wait_long(void *arg)
{
	struct devepoll_event out[1];

	return dep_wait(*(int *)arg, out, 1, -1);
}

/* The first sleeps, and an event would be its. */
TEST_F(exchange, does_not_look_behind_one_who_sleeps)
{
	struct devepoll_spin before;
	struct devepoll_event out[1];
	struct task task;
	int i;

	ASSERT_EQ(0, set_spin(self->set, 0));
	ASSERT_EQ(0, task_start(&task, wait_long, &self->set));
	ASSERT_EQ(0, await_sleep(atomic_load(&task.tid), SYS_ioctl));
	ASSERT_EQ(0, set_spin(self->set, DEVEPOLL_SPIN_MAX));
	before = spin_of(self->set);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, dep_wait(self->set, out, 1, 1));
	EXPECT_EQ(before.looks, spin_of(self->set).looks);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&task));
}

TEST_F(exchange, wakes_each_of_several_threads)
{
	struct devepoll_change add = CHANGE(ADD, -1, EPOLLIN | EPOLLET);
	struct task tasks[4];
	int i, fds[4];

	for (i = 0; i < 4; i++) {
		fds[i] = eventfd_new();
		add.fd = fds[i];
		ASSERT_EQ(0, dep_change(self->set, &add));
		ASSERT_EQ(0, task_start(&tasks[i], wait_long, &self->set));
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, eventfd_post(fds[i]));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(1, task_join(&tasks[i]));
		close(fds[i]);
	}
}

TEST_HARNESS_MAIN
