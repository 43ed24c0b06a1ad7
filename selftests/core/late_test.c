// SPDX-License-Identifier: GPL-2.0
/*
 * A close takes effect before close(2) returns, though a wait of another thread
 * has polled the file and is still at work.
 */
#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/late.h"
#include "core/slow_file.h"

FIXTURE(late) {
	struct eset set;
	struct slow_file slow;
};

ESET_VARIANTS(late);

FIXTURE_SETUP(late)
{
	int err = slow_open(&self->slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ASSERT_EQ(0, eset_add(&self->set, self->slow.fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_drain(&self->set));
}

FIXTURE_TEARDOWN(late)
{
	eset_close(&self->set);
	EXPECT_EQ(0, slow_close(&self->slow));
}

/* What becomes ready, in this order; then a wait polls it. */
enum order { SLOW_COMES_LAST, SLOW_COMES_FIRST };

static int add_others(struct eset *set, int others)
{
	int fd, ret = 0;

	while (!ret && others--) {
		fd = eventfd_new();
		ret = eventfd_post(fd) ?:
		      eset_add(set, fd, EPOLLIN | EPOLLONESHOT);
	}
	return ret;
}

/*
 * The wait stays in the slow file until the other one is closed.  1 if that took
 * effect at once, 0 if not, or -errno.
 */
static int close_meanwhile(struct eset *set, struct slow_file *slow,
			   const struct late_kind *kind, uint32_t events,
			   enum order order, int others)
{
	struct late_file file = { .peer = -1 };
	struct ewaiter waiter;
	int ret = 0, got;

	if (kind->open(&file))
		return -errno;
	slow_hold(slow);
	if (order == SLOW_COMES_FIRST)
		ret = slow_stir(slow);
	ret = ret ?: eset_add(set, file.fd, events) ?: add_others(set, others);
	if (!ret && order == SLOW_COMES_LAST)
		ret = slow_stir(slow);
	ret = ret ?: ewaiter_launch(&waiter, set, 16, 0);
	if (!ret && !slow_is_asked(slow))
		ret = -ETIMEDOUT;
	if (ret)
		return ret;
	close(file.fd);
	ret = kind->is_closed(&file);
	slow_go_on(slow, 0);
	if (file.peer >= 0)
		close(file.peer);
	got = ewaiter_join(&waiter) - others;
	return got == (order == SLOW_COMES_LAST) ? ret : -EBADMSG;
}

TEST_F(late, close_is_not_while_other_files_are_asked)
{
	static const uint32_t modes[] = { EPOLLET, 0, EPOLLONESHOT };
	int i, kind, mode, order, others;

	if (self->set.ops == &eset_sysepoll)
		SKIP(return, "epoll lets close() wait");
	for (i = 0; i < 4 * 3 * 2 * 2; i++) {
		kind = i % 4;
		mode = i / 4 % 3;
		order = i / 12 % 2;
		others = i / 24 * 4;
		EXPECT_EQ(1, close_meanwhile(&self->set, &self->slow,
					     &late_kinds[kind],
					     EPOLLOUT | modes[mode], order,
					     others))
			TH_LOG("kind %d, mode %d, order %d, %d others", kind,
			       mode, order, others);
	}
}

TEST_HARNESS_MAIN
