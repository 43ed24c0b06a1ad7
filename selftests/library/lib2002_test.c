// SPDX-License-Identifier: GPL-2.0
/*
 * devepoll_2002.h: the two forms that epoll had before its calls settled.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "devepoll_2002.h"
#include "core/helpers.h"
#include "library/lib2002.h"

#define MAXFDS	100

FIXTURE(form)
{
	const struct form *form;
	int set;
	struct pollfd out[MAXFDS];
};

FIXTURE_VARIANT(form)
{
	const struct form *form;
};

FIXTURE_VARIANT_ADD(form, first) {
	.form = &first_form,
};

FIXTURE_VARIANT_ADD(form, second) {
	.form = &second_form,
};

FIXTURE_SETUP(form)
{
	self->form = variant->form;
	self->set = self->form->create(MAXFDS);
	ASSERT_LE(0, self->set);
	memset(self->out, 0x5a, sizeof(self->out));
}

FIXTURE_TEARDOWN(form)
{
	EXPECT_EQ(0, close(self->set));
}

#define result_of(call) ({						\
	int __ret;							\
									\
	errno = 0;							\
	__ret = (call);							\
	__ret == -1 ? -errno : __ret;					\
})

static int ctl(const struct form *form, int set, int op, int fd)
{
	return result_of(form->ctl(set, op, fd, POLLIN));
}

TEST_F(form, event_has_the_fd_and_what_was_asked_for)
{
	int fd = eventfd_new();

	ASSERT_EQ(0, self->form->ctl(self->set, EP_CTL_ADD, fd,
				     POLLIN | POLLOUT));
	/* It can be written. */
	EXPECT_EQ(1, self->form->wait(self->set, self->out, MAXFDS, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(1, self->form->wait(self->set, self->out, MAXFDS, -1));
	EXPECT_EQ(fd, self->out[0].fd);
	EXPECT_EQ(POLLIN | POLLOUT, self->out[0].events);
	EXPECT_EQ(POLLIN, self->out[0].revents & POLLIN);
	EXPECT_EQ(0x5a5a5a5a, self->out[1].fd);
}

TEST_F(form, arrival_is_reported_once)
{
	int fd = eventfd_new();

	ASSERT_EQ(0, ctl(self->form, self->set, EP_CTL_ADD, fd));
	EXPECT_EQ(0, self->form->wait(self->set, self->out, MAXFDS, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, self->form->wait(self->set, self->out, MAXFDS, 0));
	EXPECT_EQ(0, self->form->wait(self->set, self->out, MAXFDS, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, self->form->wait(self->set, self->out, MAXFDS, 0));
}

TEST_F(form, what_is_ready_when_it_is_added_is_reported)
{
	int fd = eventfd_new();

	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(0, ctl(self->form, self->set, EP_CTL_ADD, fd));
	EXPECT_EQ(1, self->form->wait(self->set, self->out, MAXFDS, 0));
}

TEST_F(form, ctl_has_the_errors_of_then)
{
	const struct form *form = self->form;
	int regular = open("/proc/self/exe", O_RDONLY);
	int fd = eventfd_new();
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	EXPECT_EQ(-ENOENT, ctl(form, self->set, EP_CTL_DEL, fd));
	EXPECT_EQ(-ENOENT, ctl(form, self->set, EP_CTL_MOD, fd));
	EXPECT_EQ(0, ctl(form, self->set, EP_CTL_ADD, fd));
	EXPECT_EQ(-EEXIST, ctl(form, self->set, EP_CTL_ADD, fd));
	EXPECT_EQ(0, ctl(form, self->set, EP_CTL_MOD, fd));
	EXPECT_EQ(-EINVAL, ctl(form, self->set, 4, fd));
	EXPECT_EQ(0, ctl(form, self->set, EP_CTL_DEL, fd));
	/* The device took such a file, and the first form is made of it. */
	EXPECT_EQ(form == &first_form ? 0 : -EPERM,
		  ctl(form, self->set, EP_CTL_ADD, regular));
	EXPECT_EQ(-EBADF, ctl(form, self->set, EP_CTL_ADD, 777));
	EXPECT_EQ(-EBADF, ctl(form, -1, EP_CTL_ADD, fd));
	EXPECT_EQ(-EBADF, ctl(form, 777, EP_CTL_ADD, fd));
	EXPECT_EQ(-EINVAL, ctl(form, fds[0], EP_CTL_ADD, fd));
	EXPECT_EQ(-EINVAL, ctl(form, epoll_create1(0), EP_CTL_ADD, fd));
}

TEST_F(form, changed_events_are_those_that_come)
{
	int fd = eventfd_new();

	ASSERT_EQ(0, self->form->ctl(self->set, EP_CTL_ADD, fd, POLLPRI));
	ASSERT_EQ(0, self->form->ctl(self->set, EP_CTL_MOD, fd, POLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, self->form->wait(self->set, self->out, MAXFDS, 0));
	EXPECT_EQ(POLLIN, self->out[0].events);
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(0, self->form->ctl(self->set, EP_CTL_DEL, fd, 0));
	EXPECT_EQ(0, self->form->wait(self->set, self->out, MAXFDS, 0));
}

TEST_F(form, wait_refuses_what_is_no_set)
{
	struct pollfd *out = self->out;
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	EXPECT_EQ(-EBADF, result_of(self->form->wait(-1, out, 1, 0)));
	EXPECT_EQ(-EBADF, result_of(self->form->wait(777, out, 1, 0)));
	EXPECT_EQ(-EINVAL, result_of(self->form->wait(fds[0], out, 1, 0)));
	/* The number of a set that was closed. */
	fds[1] = self->form->create(1);
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(-EBADF, result_of(self->form->wait(fds[1], out, 1, 0)));
	ASSERT_EQ(fds[1], dup2(fds[0], fds[1]));
	EXPECT_EQ(-EINVAL, result_of(self->form->wait(fds[1], out, 1, 0)));
	EXPECT_EQ(-EINVAL, ctl(self->form, fds[1], EP_CTL_ADD, fds[0]));
}

TEST_F(form, wait_is_never_over_early)
{
	uint64_t begin = now_ns();

	EXPECT_EQ(0, self->form->wait(self->set, self->out, MAXFDS, 5));
	EXPECT_LE(5 * NSEC_PER_MSEC, now_ns() - begin);
}

TEST_F(form, create_wants_a_number_of_fds)
{
	EXPECT_EQ(-EINVAL, result_of(self->form->create(0)));
	EXPECT_EQ(-EINVAL, result_of(self->form->create(-1)));
}

TEST_F(form, sets_come_and_go_under_one_number)
{
	int fd = eventfd_new();
	long size = 0;
	int i, set;

	for (i = 0; i < 100; i++) {
		set = self->form->create(131072);
		ASSERT_LE(0, set);
		ASSERT_EQ(0, ctl(self->form, set, EP_CTL_ADD, fd));
		ASSERT_EQ(0, eventfd_post(fd));
		EXPECT_EQ(1, self->form->wait(set, self->out, MAXFDS, 0));
		ASSERT_EQ(0, close(set));
		if (i == 0)
			size = status_field(getpid(), "VmSize");
	}
	ASSERT_LT(0, size);
	EXPECT_GT(size + 2048, status_field(getpid(), "VmSize"));
}

TEST_F(form, child_goes_on_with_the_set)
{
	int fd = eventfd_new();
	pid_t child;

	ASSERT_EQ(0, ctl(self->form, self->set, EP_CTL_ADD, fd));
	ASSERT_EQ(0, eventfd_post(fd));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(self->form->wait(self->set, self->out, MAXFDS, 0) != 1 ||
		      self->out[0].fd != fd);
	EXPECT_EQ(0, reap(child));
}

TEST(first_form_leaves_events_in_place_until_the_next_wait)
{
	const struct pollfd *events = NULL, *later = NULL;
	int set = first_form.create(MAXFDS);
	int fds[2] = { eventfd_new(), eventfd_new() };
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, ctl(&first_form, set, EP_CTL_ADD, fds[i]));
	EXPECT_EQ(-EFAULT, result_of(first_form.wait_in_place(set, NULL, 0)));
	ASSERT_EQ(0, eventfd_post(fds[0]));
	ASSERT_EQ(1, first_form.wait_in_place(set, &events, -1));
	ASSERT_EQ(0, eventfd_post(fds[1]));
	EXPECT_EQ(fds[0], events->fd);
	ASSERT_EQ(1, first_form.wait_in_place(set, &later, -1));
	EXPECT_EQ(fds[1], later->fd);
	EXPECT_TRUE(events != later);
	EXPECT_EQ(0, close(set));
}

TEST(first_form_gives_no_number_beyond_its_table)
{
	int fds = count_fds();

	ASSERT_LT(0, fds);
	ASSERT_EQ(0, raise_fd_limit(2 * DEVEPOLL_2002_MAX_SETS));
	while (next_fd() < DEVEPOLL_2002_MAX_SETS)
		ASSERT_LE(0, dup(0));
	EXPECT_EQ(-EMFILE, result_of(first_form.create(1)));
	EXPECT_LE(fds, count_fds());
	EXPECT_EQ(DEVEPOLL_2002_MAX_SETS, next_fd());
}

TEST(second_form_refuses_bad_arrays)
{
	struct pollfd out[2];
	int set = second_form.create(1);
	int fd = eventfd_new();

	ASSERT_EQ(0, ctl(&second_form, set, EP_CTL_ADD, fd));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(-EINVAL, result_of(second_form.wait(set, out, 0, 0)));
	EXPECT_EQ(-EINVAL, result_of(second_form.wait(set, out, -1, 0)));
	EXPECT_EQ(-EFAULT, result_of(second_form.wait(set, NULL, 1, 0)));
	EXPECT_EQ(1, second_form.wait(set, out, 0x7fffffff, 0));
	EXPECT_EQ(0, close(set));
}

TEST(second_form_gives_no_more_than_there_is_room_for)
{
	struct pollfd out[MAXFDS];
	int set = second_form.create(1);
	int i, fd;

	for (i = 0; i < 10; i++) {
		fd = eventfd_new();
		ASSERT_EQ(0, ctl(&second_form, set, EP_CTL_ADD, fd));
		ASSERT_EQ(0, eventfd_post(fd));
	}
	memset(out, 0x5a, sizeof(out));
	EXPECT_EQ(4, second_form.wait(set, out, 4, 0));
	EXPECT_EQ(0x5a5a5a5a, out[4].fd);
	EXPECT_EQ(6, second_form.wait(set, out, MAXFDS, 0));
	EXPECT_EQ(0, close(set));
}

TEST_HARNESS_MAIN
