// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll, epoll's calls under a prefix: what they refuse, and with which
 * error, compared with epoll's own.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include "kselftest_harness.h"

#include "library/lib_calls.h"

CALLS_FIXTURE(epoll)

/* What the arguments of a call stand for. */
enum which {
	SET, MEMBER, OTHER, CLOSED, NEGATIVE, PIPE, SOCKET, REGULAR, PATH,
	NR_FILES,
	GOOD, NIL, BAD, BAD_KERNEL,
};

struct files {
	int fd[NR_FILES];
	char *hole;
	struct epoll_event event;
};

static int files_open(struct files *files, const struct calls *calls, int set)
{
	int pipes[2], sockets[2];

	files->event = (struct epoll_event){ .events = EPOLLIN };
	files->hole = page_before_a_hole();
	files->fd[SET] = set;
	files->fd[MEMBER] = eventfd_new();
	files->fd[OTHER] = eventfd_new();
	files->fd[CLOSED] = 777;
	files->fd[NEGATIVE] = -1;
	files->fd[REGULAR] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	files->fd[PATH] = open("/dev/null", O_PATH | O_CLOEXEC);
	if (!files->hole || files->fd[REGULAR] < 0 || files->fd[PATH] < 0 ||
	    pipe_pair(pipes) || unix_pair(sockets, SOCK_STREAM))
		return -errno;
	files->fd[PIPE] = pipes[0];
	files->fd[SOCKET] = sockets[0];
	if (calls->ctl(set, EPOLL_CTL_ADD, files->fd[MEMBER], &files->event))
		return -errno;
	return eventfd_post(files->fd[MEMBER]);
}

static struct epoll_event *event_for(struct files *files, enum which which)
{
	switch (which) {
	case GOOD:
		return &files->event;
	case BAD:
		return (void *)files->hole;
	case BAD_KERNEL:
		return (void *)(LONG_MIN / 2);
	default:
		return NULL;
	}
}

static const struct ctl_row {
	enum which epfd;
	int op;
	enum which fd;
	enum which event;
	int error;
	uint32_t events;
} ctl_rows[] = {
	{ SET, EPOLL_CTL_ADD, OTHER, NIL, EFAULT },
	{ SET, EPOLL_CTL_ADD, OTHER, BAD, EFAULT },
	{ SET, EPOLL_CTL_ADD, OTHER, BAD_KERNEL, EFAULT },
	{ SET, EPOLL_CTL_ADD, CLOSED, NIL, EFAULT },
	{ SET, EPOLL_CTL_ADD, CLOSED, GOOD, EBADF },
	{ SET, EPOLL_CTL_ADD, NEGATIVE, GOOD, EBADF },
	{ SET, EPOLL_CTL_ADD, PATH, GOOD, EBADF },
	{ SET, EPOLL_CTL_ADD, REGULAR, GOOD, EPERM },
	{ SET, EPOLL_CTL_ADD, SET, GOOD, EINVAL },
	{ SET, EPOLL_CTL_ADD, MEMBER, GOOD, EEXIST },
	{ SET, EPOLL_CTL_ADD, MEMBER, NIL, EFAULT },
	{ SET, EPOLL_CTL_ADD, OTHER, GOOD, EINVAL,
	  EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT },
	{ SET, EPOLL_CTL_ADD, OTHER, GOOD, EINVAL,
	  EPOLLIN | EPOLLEXCLUSIVE | EPOLLRDHUP },
	{ SET, EPOLL_CTL_ADD, OTHER, GOOD, EINVAL,
	  EPOLLIN | EPOLLEXCLUSIVE | 1 << 16 },
	{ SET, EPOLL_CTL_ADD, REGULAR, GOOD, EPERM,
	  EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT },
	{ SET, EPOLL_CTL_MOD, OTHER, NIL, EFAULT },
	{ SET, EPOLL_CTL_MOD, OTHER, GOOD, ENOENT },
	{ SET, EPOLL_CTL_MOD, CLOSED, GOOD, EBADF },
	{ SET, EPOLL_CTL_MOD, REGULAR, GOOD, EPERM },
	{ SET, EPOLL_CTL_MOD, SET, GOOD, EINVAL },
	{ SET, EPOLL_CTL_MOD, MEMBER, GOOD, EINVAL, EPOLLIN | EPOLLEXCLUSIVE },
	{ SET, EPOLL_CTL_DEL, OTHER, NIL, ENOENT },
	{ SET, EPOLL_CTL_DEL, OTHER, BAD, ENOENT },
	{ SET, EPOLL_CTL_DEL, CLOSED, NIL, EBADF },
	{ SET, EPOLL_CTL_DEL, NEGATIVE, NIL, EBADF },
	{ SET, EPOLL_CTL_DEL, PATH, NIL, EBADF },
	{ SET, EPOLL_CTL_DEL, REGULAR, NIL, EPERM },
	{ SET, EPOLL_CTL_DEL, SET, NIL, EINVAL },
	{ SET, 0, MEMBER, GOOD, EINVAL },
	{ SET, -1, MEMBER, GOOD, EINVAL },
	{ SET, 4, MEMBER, GOOD, EINVAL },
	{ SET, 4, MEMBER, NIL, EFAULT },
	{ SET, 4, CLOSED, GOOD, EBADF },
	{ SET, 4, REGULAR, GOOD, EPERM },
	{ SET, INT_MIN, MEMBER, GOOD, EINVAL },
	/* Ops that would give other requests if just added to a number. */
	{ SET, EP_FREE - DEVEPOLL_EPOLL_CTL(0), MEMBER, GOOD, EINVAL },
	{ SET, DEVEPOLL_STATS - DEVEPOLL_EPOLL_CTL(0), MEMBER, GOOD, EINVAL },
	{ CLOSED, EPOLL_CTL_ADD, OTHER, GOOD, EBADF },
	{ CLOSED, EPOLL_CTL_ADD, OTHER, NIL, EFAULT },
	{ CLOSED, EPOLL_CTL_ADD, REGULAR, GOOD, EBADF },
	{ CLOSED, EPOLL_CTL_DEL, OTHER, NIL, EBADF },
	{ CLOSED, 4, OTHER, GOOD, EBADF },
	{ NEGATIVE, EPOLL_CTL_ADD, OTHER, GOOD, EBADF },
	{ PATH, EPOLL_CTL_ADD, OTHER, GOOD, EBADF },
	{ PIPE, EPOLL_CTL_ADD, OTHER, GOOD, EINVAL },
	{ PIPE, EPOLL_CTL_ADD, OTHER, BAD, EFAULT },
	{ PIPE, EPOLL_CTL_ADD, CLOSED, GOOD, EBADF },
	{ PIPE, EPOLL_CTL_ADD, REGULAR, GOOD, EPERM },
	{ PIPE, EPOLL_CTL_DEL, OTHER, NIL, EINVAL },
	{ SOCKET, EPOLL_CTL_ADD, OTHER, GOOD, EINVAL },
	{ SOCKET, EPOLL_CTL_MOD, CLOSED, GOOD, EBADF },
	{ SOCKET, EPOLL_CTL_DEL, OTHER, BAD, EINVAL },
	{ REGULAR, EPOLL_CTL_ADD, OTHER, GOOD, EINVAL },
	{ REGULAR, EPOLL_CTL_ADD, OTHER, NIL, EFAULT },
	{ REGULAR, EPOLL_CTL_ADD, REGULAR, GOOD, EPERM },
	{ MEMBER, EPOLL_CTL_DEL, OTHER, NIL, EINVAL },
};

TEST_F(epoll, ctl_names_the_error_that_epoll_comes_to_first)
{
	const struct calls *calls = variant->calls;
	struct files files;
	unsigned int i;
	long ret;

	ASSERT_EQ(0, files_open(&files, calls, self->set));
	for (i = 0; i < ARRAY_SIZE(ctl_rows); i++) {
		const struct ctl_row *row = &ctl_rows[i];

		files.event.events = row->events ? row->events : EPOLLIN;
		ret = result_of(calls->ctl(files.fd[row->epfd], row->op,
					   files.fd[row->fd],
					   event_for(&files, row->event)));
		EXPECT_EQ(-row->error, ret)
			TH_LOG("row %u", i);
	}

	/* None of them has done anything. */
	files.event.events = 0;
	EXPECT_EQ(1, calls->wait(self->set, &files.event, 1, 0));
	EXPECT_EQ(EPOLLIN, files.event.events);
}

static const struct wait_row {
	enum which epfd;
	int maxevents;
	enum which events;
	int error;
} wait_rows[] = {
	{ SET, 0, GOOD, EINVAL },
	{ SET, -1, GOOD, EINVAL },
	{ SET, INT_MIN, GOOD, EINVAL },
	{ SET, INT_MAX, GOOD, EINVAL },
	{ SET, INT_MAX / (int)sizeof(struct epoll_event) + 1, GOOD, EINVAL },
	{ SET, 0, NIL, EINVAL },
	{ SET, 1, NIL, EFAULT },
	{ SET, 1, BAD, EFAULT },
	{ SET, 1, BAD_KERNEL, EFAULT },
	{ PIPE, 1, GOOD, EINVAL },
	{ SOCKET, 1, GOOD, EINVAL },
	{ REGULAR, 1, GOOD, EINVAL },
	{ MEMBER, 1, GOOD, EINVAL },
	{ PIPE, 0, GOOD, EINVAL },
	{ CLOSED, 1, GOOD, EBADF },
	{ NEGATIVE, 1, GOOD, EBADF },
	{ PATH, 1, GOOD, EBADF },
};

/* Each of the ways to wait, which have these errors in common. */
static long wait_by(const struct calls *calls, int way, int epfd,
		    struct epoll_event *events, int maxevents)
{
	const struct timespec now = { 0 };
	sigset_t mask;

	sigemptyset(&mask);
	switch (way) {
	case 0:
		return result_of(calls->wait(epfd, events, maxevents, 0));
	case 1:
		return result_of(calls->pwait(epfd, events, maxevents, 0,
					      NULL));
	case 2:
		return result_of(calls->pwait(epfd, events, maxevents, 0,
					      &mask));
	case 3:
		return result_of(calls->pwait2(epfd, events, maxevents, &now,
					       NULL));
	default:
		return result_of(calls->pwait2(epfd, events, maxevents, &now,
					       &mask));
	}
}

#define NR_WAYS	5

TEST_F(epoll, waits_name_the_error_that_epoll_comes_to_first)
{
	const struct calls *calls = variant->calls;
	struct epoll_event out[2];
	struct files files;
	unsigned int i;
	int way;

	ASSERT_EQ(0, files_open(&files, calls, self->set));
	for (i = 0; i < ARRAY_SIZE(wait_rows) * NR_WAYS; i++) {
		const struct wait_row *row = &wait_rows[i / NR_WAYS];

		way = i % NR_WAYS;
		EXPECT_EQ(-row->error,
			  wait_by(calls, way, files.fd[row->epfd],
				  event_for(&files, row->events),
				  row->maxevents))
			TH_LOG("row %u, way %d", i / NR_WAYS, way);
	}

	/* No event was lost. */
	for (way = 0; way < NR_WAYS; way++) {
		memset(out, 0x5a, sizeof(out));
		EXPECT_EQ(1, wait_by(calls, way, self->set, out, 2));
		EXPECT_EQ(EPOLLIN, out[0].events);
	}
}

/* Kernels differ here, so ask this one. */
TEST_F(epoll, wait_on_nothing_for_no_events_fails_as_on_this_kernel)
{
	const struct calls *calls = variant->calls;
	struct epoll_event out;
	long expected = result_of(syscall(SYS_epoll_wait, -1, &out, 0, 0,
					  NULL, 8));
	int way;

	for (way = 0; way < NR_WAYS; way++)
		EXPECT_EQ(expected, wait_by(calls, way, -1, &out, 0));
}

TEST_F(epoll, wait_on_nothing_into_the_kernel_fails_as_on_this_kernel)
{
	struct epoll_event *out = (struct epoll_event *)-4096L;
	const struct calls *calls = variant->calls;
	long expected = result_of(syscall(SYS_epoll_wait, -1, out, 1, 0,
					  NULL, 8));
	int way;

	for (way = 0; way < NR_WAYS; way++)
		EXPECT_EQ(expected, wait_by(calls, way, -1, out, 1));
}

TEST_F(epoll, bad_signal_mask_is_efault_before_all_else)
{
	const struct calls *calls = variant->calls;
	const struct timespec now = { 0 };
	struct epoll_event out;
	sigset_t *bad = (void *)page_before_a_hole();
	int maxevents, i;
	int fds[3];
	long ret;

	ASSERT_TRUE(!!bad);
	ASSERT_EQ(0, pipe_pair(fds));
	fds[1] = self->set;
	fds[2] = -1;
	for (i = 0; i < 3; i++) {
		for (maxevents = 0; maxevents <= 1; maxevents++) {
			ret = result_of(calls->pwait(fds[i], &out, maxevents,
						     0, bad));
			EXPECT_EQ(-EFAULT, ret);
			ret = result_of(calls->pwait2(fds[i], &out, maxevents,
						      &now, bad));
			EXPECT_EQ(-EFAULT, ret);
		}
	}
}

TEST_F(epoll, bad_time_is_einval_before_all_else)
{
	const struct calls *calls = variant->calls;
	static const struct timespec bad[] = {
		{ .tv_sec = -1 },
		{ .tv_nsec = -1 },
		{ .tv_nsec = 1000000000 },
		{ .tv_sec = LONG_MIN, .tv_nsec = LONG_MAX },
	};
	struct epoll_event out;
	long ret;
	int i;

	for (i = 0; i < 4; i++) {
		ret = result_of(calls->pwait2(self->set, &out, 1, &bad[i],
					      NULL));
		EXPECT_EQ(-EINVAL, ret);
		ret = result_of(calls->pwait2(-1, &out, 1, &bad[i], NULL));
		EXPECT_EQ(-EINVAL, ret);
	}
}

TEST_F(epoll, time_that_cannot_be_read_is_efault)
{
	const struct calls *calls = variant->calls;
	char *hole = page_before_a_hole();
	const struct {
		const void *address;
		int error;
	} rows[] = {
		{ hole, EFAULT },
		{ hole - sizeof(struct timespec) / 2, EFAULT },
		{ hole - sizeof(struct timespec), 0 },
		{ (void *)8, EFAULT },
	};
	struct epoll_event out;
	unsigned int i;
	long ret;

	if (sizeof(time_t) < sizeof(int64_t))
		SKIP(return, "the C library reads the time itself");
	ASSERT_TRUE(!!hole);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ret = result_of(calls->pwait2(self->set, &out, 1,
					      rows[i].address, NULL));
		EXPECT_EQ(-rows[i].error, ret);
	}
}

TEST_HARNESS_MAIN
