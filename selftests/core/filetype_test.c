// SPDX-License-Identifier: GPL-2.0
/*
 * Every kind of file that can be polled: the set reports of it what poll(2)
 * reports, when it is added and whenever something happens to it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/filetype.h"
#include "core/helpers.h"

#define ALL	(READABLE | WRITABLE | CHANGED | POLLHUP | POLLRDHUP |	\
		 POLLRDBAND | POLLWRBAND | POLLMSG)

FIXTURE(filetype) {
	struct set set;
	struct probe probe;
};

FIXTURE_VARIANT(filetype) {
	const struct backend *ops;
	const struct filetype *type;
};

#define FILETYPE(name)							\
	FIXTURE_VARIANT_ADD(filetype, name##_by_devepoll) {		\
		.ops = &backend_devepoll, .type = &filetype_##name,	\
	};								\
	FIXTURE_VARIANT_ADD(filetype, name##_by_sysepoll) {		\
		.ops = &backend_sysepoll, .type = &filetype_##name,	\
	}

FILETYPE(pipe_read);
FILETYPE(pipe_write);
FILETYPE(fifo_read);
FILETYPE(fifo_both);
FILETYPE(eventfd);
FILETYPE(timerfd);
FILETYPE(signalfd);
FILETYPE(pidfd);
FILETYPE(mqueue);
FILETYPE(io_uring);
FILETYPE(tcp_data);
FILETYPE(tcp_room);
FILETYPE(tcp_reset);
FILETYPE(tcp_connect);
FILETYPE(tcp_refused);
FILETYPE(tcp_listener);
FILETYPE(udp);
FILETYPE(udp_error);
FILETYPE(unix_stream);
FILETYPE(unix_stream_room);
FILETYPE(unix_dgram);
FILETYPE(unix_dgram_room);
FILETYPE(unix_dgram_server);
FILETYPE(unix_listener);
FILETYPE(netlink);
FILETYPE(packet);
FILETYPE(pty_master);
FILETYPE(pty_slave);
FILETYPE(inotify);
FILETYPE(fanotify);
FILETYPE(mounts);
FILETYPE(sysfs_attribute);
FILETYPE(cgroup_events);
FILETYPE(pressure);
FILETYPE(kmsg);
FILETYPE(hostname);
FILETYPE(sysctl);
FILETYPE(perf);
FILETYPE(trace);
FILETYPE(userfaultfd);

static void probe_init(struct probe *probe)
{
	*probe = (struct probe) { .fd = -1, .peer = -1, .twin = -1 };
}

static void probe_close(struct probe *probe, const struct filetype *type)
{
	if (type->close)
		type->close(probe);
	if (probe->fd >= 0)
		close(probe->fd);
	if (probe->peer >= 0)
		close(probe->peer);
	if (probe->twin >= 0)
		close(probe->twin);
	probe_init(probe);
}

/* What a test mounts, and host names that it sets, stay in its namespaces. */
FIXTURE_SETUP(filetype)
{
	signal(SIGPIPE, SIG_IGN);
	probe_init(&self->probe);
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 10));
	ASSERT_EQ(0, unshare(CLONE_NEWNS | CLONE_NEWUTS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

FIXTURE_TEARDOWN(filetype)
{
	probe_close(&self->probe, variant->type);
	set_close(&self->set);
}

static int twin_of(const struct probe *probe)
{
	return probe->twin >= 0 ? probe->twin : probe->fd;
}

/*
 * An event of the one file, 0 for none.  An io_uring that was closed may
 * interrupt this task while it is taken down.
 */
static int take(struct set *set, const struct probe *probe, int ms)
{
	int events;

	do
		events = set_wait_one(set, probe->fd, ms);
	while (events == -EINTR);
	return events == -ENOMSG ? 0 : events;
}

/*
 * Makes something happen and collects events until everything was reported that
 * poll(2) newly shows and that is in @mask.
 */
static void check_happening(struct __test_metadata *_metadata,
			    struct set *set, struct probe *probe,
			    const struct happening *happening, int mask,
			    int unannounced)
{
	int before = poll_now(twin_of(probe), ALL) & ALL;
	uint64_t end = now_ns() + 15000 * NSEC_PER_MSEC * slowness();
	int allowed, now = 0, got = 0, want, events;

	ASSERT_EQ(0, happening->make(probe)) TH_LOG("%s", happening->what);
	do {
		now |= poll_now(twin_of(probe), ALL) & ALL;
		want = (happening->events | (now & ~before)) & mask &
		       ~unannounced;
		events = take(set, probe, want & ~got ? 10 : 0);
		ASSERT_LE(0, events);
		got |= events;
	} while ((want & ~got || happening->events & ~now) && now_ns() < end);

	/* What happened is what the table says. */
	EXPECT_EQ(happening->events, happening->events & now)
		TH_LOG("%s: poll() said %#x, then %#x", happening->what,
		       before, now);
	EXPECT_EQ(want, want & got)
		TH_LOG("%s: poll() said %#x, then %#x; got %#x",
		       happening->what, before, now, got);
	allowed = mask;
	if (has_trait(set, ADDS_ERR_AND_HUP))
		allowed |= POLLERR | POLLHUP;
	EXPECT_EQ(0, got & ~((now | before) & allowed))
		TH_LOG("%s: poll() said %#x, then %#x; got %#x of %#x",
		       happening->what, before, now, got, mask);
}

static void check_type(struct __test_metadata *_metadata, struct set *set,
		       struct probe *probe, const struct filetype *type,
		       int mask)
{
	const struct happening *happening = type->happenings;
	int added = has_trait(set, ADDS_ERR_AND_HUP) ? POLLERR | POLLHUP : 0;
	int ready;

	ready = poll_now(twin_of(probe), ALL) & (mask | added);
	ASSERT_EQ(0, set_add(set, probe->fd, mask));
	EXPECT_EQ(ready, take(set, probe, 0));
	EXPECT_EQ(0, take(set, probe, 0));
	for (; happening->make; happening++)
		check_happening(_metadata, set, probe, happening, mask,
				type->unannounced);
	ASSERT_EQ(0, set_remove(set, probe->fd));
	EXPECT_EQ(0, take(set, probe, 0));
}

TEST_F(filetype, reports_what_poll_reports)
{
	int ret = variant->type->open(&self->probe);

	if (ret == -EOPNOTSUPP)
		SKIP(return, "this kernel has no such files");
	ASSERT_EQ(0, ret);
	check_type(_metadata, &self->set, &self->probe, variant->type, ALL);
}

TEST_F(filetype, reports_no_more_than_was_asked)
{
	static const int masks[] = {
		POLLIN, POLLOUT, POLLPRI, POLLHUP | POLLERR, POLLRDHUP,
		POLLRDNORM | POLLWRNORM,
	};
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		ret = variant->type->open(&self->probe);
		if (ret == -EOPNOTSUPP)
			SKIP(return, "this kernel has no such files");
		ASSERT_EQ(0, ret);
		check_type(_metadata, &self->set, &self->probe, variant->type,
			   masks[i]);
		probe_close(&self->probe, variant->type);
	}
}

TEST_HARNESS_MAIN
