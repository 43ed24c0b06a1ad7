// SPDX-License-Identifier: GPL-2.0
/* What /proc/PID/fdinfo shows of sets of each kind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/onesig.h"
#include "core/ring.h"

/* The line of the fdinfo of @fd that begins so, without its end; or -errno. */
static int info_line(int fd, const char *begin, char line[256])
{
	char path[64];
	FILE *info;
	int err = -ENOMSG;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	if (!info)
		return -errno;
	while (err && fgets(line, 256, info)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, begin, strlen(begin)))
			err = 0;
	}
	fclose(info);
	return err;
}

static int kind_fresh(void)
{
	return dep_open();
}

static int kind_extended(void)
{
	struct devepoll_change add = { .op = DEVEPOLL_ADD, .events = EPOLLIN };
	int fd = dep_open();

	add.fd = eventfd_new();
	return dep_change(fd, &add) ?: fd;
}

static int kind_ring(void)
{
	int fd = dep_open();

	return ring_request(fd, 1, RING_OUT) ?: fd;
}

static int kind_signal(void)
{
	return onesig_open(ONESIG_SIGNAL, 0);
}

static int kind_poll(void)
{
	return dp_open();
}

/* The first request of either face decides. */
static int kind_poll_face(enum dp_face face)
{
	struct pollfd entry = { .fd = eventfd_new() };
	int fd = dp_open();
	int ret = dp_ispolled(face, fd, &entry);

	return ret < 0 ? ret : fd;
}

static int kind_poll_linux(void)
{
	return kind_poll_face(DP_LINUX);
}

static int kind_poll_solaris(void)
{
	return kind_poll_face(DP_SOLARIS);
}

FIXTURE(kind) {
	int fd;
};

FIXTURE_VARIANT(kind) {
	int (*open)(void);
	const char *line;
};

#define KIND_VARIANT(name, interface)					\
	FIXTURE_VARIANT_ADD(kind, name) {				\
		.open = kind_##name,					\
		.line = "interface:\t" interface,			\
	}

KIND_VARIANT(fresh, "2001");
KIND_VARIANT(extended, "extended");
KIND_VARIANT(ring, "extended, ring");
KIND_VARIANT(signal, "signal");
KIND_VARIANT(poll, "poll");
KIND_VARIANT(poll_linux, "poll, Linux");
KIND_VARIANT(poll_solaris, "poll, Solaris");

FIXTURE_SETUP(kind)
{
	self->fd = variant->open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(kind)
{
	close(self->fd);
}

TEST_F(kind, is_told)
{
	char line[256];

	ASSERT_EQ(0, info_line(self->fd, "interface:", line));
	EXPECT_STREQ(variant->line, line);
}

TEST_HARNESS_MAIN
