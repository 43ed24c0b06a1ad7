// SPDX-License-Identifier: GPL-2.0
/* What /proc/PID/fdinfo shows of a set. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define RACE_NS	(300 * NSEC_PER_MSEC)

/* One line: the fields that epoll has too, and the rest as text. */
struct line {
	int fd;
	unsigned int events;
	unsigned long long data;
	unsigned long ino;
	unsigned int dev;
	char rest[128];
};

static bool parse(struct line *line, const char *text)
{
	const char *ino = strstr(text, "ino:");

	if (sscanf(text, "tfd: %d events: %x data: %llx", &line->fd,
		   &line->events, &line->data) != 3 || !ino ||
	    sscanf(ino, "ino:%lx sdev:%x%127[^\n]", &line->ino, &line->dev,
		   line->rest) < 2)
		return false;
	return true;
}

static FILE *open_info(pid_t pid, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return fopen(path, "re");
}

/* Finds the line of an fd; how many there are of it, or -errno. */
static int find_line(const struct eset *set, int fd, struct line *found)
{
	FILE *info = open_info(getpid(), set->fd);
	char text[256];
	struct line line;
	int n = 0;

	if (!info)
		return -errno;
	while (n >= 0 && fgets(text, sizeof(text), info)) {
		if (strncmp(text, "tfd:", 4))
			continue;
		memset(&line, 0, sizeof(line));
		if (!parse(&line, text)) {
			n = -EBADMSG;
		} else if (line.fd == fd) {
			*found = line;
			n++;
		}
	}
	fclose(info);
	return n;
}

/* How many lines begin in this way, in the fdinfo of the fd in process @pid. */
static int count_lines(pid_t pid, int fd, const char *begin)
{
	FILE *info = open_info(pid, fd);
	char text[256];
	int n = 0;

	if (!info)
		return -errno;
	while (fgets(text, sizeof(text), info))
		n += !strncmp(text, begin, strlen(begin));
	fclose(info);
	return n;
}

FIXTURE(fdinfo) {
	struct eset set;
	int event;
};

ESET_VARIANTS(fdinfo);

FIXTURE_SETUP(fdinfo)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(fdinfo)
{
	eset_close(&self->set);
}

TEST_F(fdinfo, of_an_empty_set_has_no_fd)
{
	EXPECT_EQ(0, count_lines(getpid(), self->set.fd, "tfd:"));
	EXPECT_EQ(1, count_lines(getpid(), self->set.fd, "flags:"));
}

TEST_F(fdinfo, tells_what_was_asked_for)
{
	static const uint32_t asked[] = {
		EPOLLIN, EPOLLIN | EPOLLOUT, EPOLLPRI | EPOLLRDHUP,
		EPOLLIN | EPOLLET, EPOLLOUT | EPOLLONESHOT,
		EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, 0,
	};
	struct line line;
	struct stat st;
	size_t i;

	ASSERT_EQ(0, fstat(self->event, &st));
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, self->event,
				      asked[i], 0xfedcba9876543210 + i));
		ASSERT_EQ(1, find_line(&self->set, self->event, &line));
		EXPECT_EQ(asked[i] | EPOLLERR | EPOLLHUP, line.events);
		EXPECT_EQ(0xfedcba9876543210 + i, line.data);
		EXPECT_EQ(st.st_ino, line.ino);
		ASSERT_EQ(0, eset_del(&self->set, self->event));
	}
}

TEST_F(fdinfo, tells_of_a_change)
{
	struct line line;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_MOD, self->event,
			      EPOLLOUT | EPOLLONESHOT, 4711));
	ASSERT_EQ(1, find_line(&self->set, self->event, &line));
	EXPECT_EQ(EPOLLOUT | EPOLLONESHOT | EPOLLERR | EPOLLHUP, line.events);
	EXPECT_EQ(4711, line.data);
	/* A one-shot that has reported has only its mode left. */
	ASSERT_EQ(EPOLLOUT, eset_wait_one(&self->set, 4711, 0));
	ASSERT_EQ(1, find_line(&self->set, self->event, &line));
	EXPECT_EQ(EPOLLONESHOT, line.events);
}

TEST_F(fdinfo, tells_no_more_of_what_has_left)
{
	struct line line;
	int other = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN));
	EXPECT_EQ(2, count_lines(getpid(), self->set.fd, "tfd:"));
	ASSERT_EQ(0, eset_del(&self->set, self->event));
	EXPECT_EQ(0, find_line(&self->set, self->event, &line));
	EXPECT_EQ(1, find_line(&self->set, other, &line));
	ASSERT_EQ(0, close(other));
	EXPECT_EQ(0, count_lines(getpid(), self->set.fd, "tfd:"));
}

TEST_F(fdinfo, lists_every_fd)
{
	enum { MANY = 700, FIRST = 200 };
	struct line line;
	int i;

	raise_fd_limit(FIRST + MANY);
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(FIRST + i, dup2(self->event, FIRST + i));
		ASSERT_EQ(0, eset_add(&self->set, FIRST + i, EPOLLIN));
	}
	EXPECT_EQ(MANY, count_lines(getpid(), self->set.fd, "tfd:"));
	for (i = 0; i < MANY; i += 23)
		EXPECT_EQ(1, find_line(&self->set, FIRST + i, &line));
}

/* Both show the same of a file, including its device. */
TEST_F(fdinfo, tells_the_file_as_epoll_does)
{
	int i, fds[6], epoll = epoll_create1(EPOLL_CLOEXEC);
	struct eset theirs = { .ops = &eset_sysepoll, .fd = epoll };
	struct line our, their;

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, unix_pair(fds + 2, SOCK_STREAM));
	ASSERT_EQ(0, tcp_pair(fds + 4));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, eset_add(&self->set, fds[i], EPOLLIN));
		ASSERT_EQ(0, eset_add(&theirs, fds[i], EPOLLIN));
		ASSERT_EQ(1, find_line(&self->set, fds[i], &our));
		ASSERT_EQ(1, find_line(&theirs, fds[i], &their));
		EXPECT_EQ(their.events, our.events);
		EXPECT_EQ(their.data, our.data);
		EXPECT_EQ(their.ino, our.ino);
		EXPECT_EQ(their.dev, our.dev);
	}
}

TEST_F(fdinfo, is_told_to_another_process)
{
	pid_t pid;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	pid = fork();
	if (!pid)
		_exit(count_lines(getppid(), self->set.fd, "tfd:"));
	EXPECT_EQ(1, reap(pid));
}

struct reader {
	struct eset set;
	atomic_bool stop;
};

static long read_all_the_time(void *arg)
{
	struct reader *reader = arg;
	struct line line;
	long n, reads = 0;

	do {
		n = find_line(&reader->set, -1, &line);
		if (n < 0)
			return n;
		reads++;
	} while (!atomic_load(&reader->stop));
	return reads;
}

TEST_F(fdinfo, may_be_read_while_fds_come_and_go)
{
	struct reader reader = { .set = self->set };
	struct task task;
	uint64_t end;
	int fds[2];

	ASSERT_EQ(0, task_start(&task, read_all_the_time, &reader));
	end = now_ns() + RACE_NS;
	while (now_ns() < end) {
		ASSERT_EQ(0, pipe_pair(fds));
		ASSERT_EQ(0, eset_add(&self->set, fds[0], EPOLLIN));
		ASSERT_EQ(0, eset_add(&self->set, fds[1], EPOLLOUT));
		ASSERT_EQ(0, eset_del(&self->set, fds[0]));
		ASSERT_EQ(0, close(fds[1]));
		ASSERT_EQ(0, close(fds[0]));
	}
	atomic_store(&reader.stop, true);
	EXPECT_LT(0, task_join(&task));
	EXPECT_EQ(0, count_lines(getpid(), self->set.fd, "tfd:"));
}

/* What epoll does not show. */
FIXTURE(more) {
	struct eset set;
	int event;
};

DEVICE_VARIANTS(more);

FIXTURE_SETUP(more)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(more)
{
	eset_close(&self->set);
}

static bool tells(const struct eset *set, int fd, const char *what)
{
	struct line line;

	return find_line(set, fd, &line) == 1 && strstr(line.rest, what);
}

TEST_F(more, tells_what_is_pending)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	EXPECT_TRUE(tells(&self->set, self->event, "ready:0"));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(tells(&self->set, self->event, "ready:1"));
	ASSERT_EQ(1, eset_drain(&self->set));
	EXPECT_TRUE(tells(&self->set, self->event, "ready:0"));
}

TEST_F(more, tells_flags_of_a_change)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TRUST,
		.fd = self->event,
		.events = EPOLLOUT | EPOLLET,
	};
	struct line line;

	ASSERT_EQ(0, dep_change(self->set.fd, &change));
	/* They are no events that were asked for. */
	ASSERT_EQ(1, find_line(&self->set, self->event, &line));
	EXPECT_EQ(EPOLLOUT | EPOLLET | EPOLLERR | EPOLLHUP, line.events);
	EXPECT_TRUE(tells(&self->set, self->event, "revents:4"));
	EXPECT_TRUE(tells(&self->set, self->event, "trust"));
	EXPECT_FALSE(tells(&self->set, self->event, "closed"));
	ASSERT_EQ(0, eset_del(&self->set, self->event));
	change.flags = DEVEPOLL_TELL_CLOSED;
	ASSERT_EQ(0, dep_change(self->set.fd, &change));
	EXPECT_FALSE(tells(&self->set, self->event, "trust"));
	EXPECT_TRUE(tells(&self->set, self->event, "closed"));
	ASSERT_EQ(1, find_line(&self->set, self->event, &line));
	EXPECT_EQ(EPOLLOUT | EPOLLET | EPOLLERR | EPOLLHUP, line.events);
}

/* The word after a name in the fdinfo of an fd; false if there is none. */
static bool word_of(int fd, const char *name, char word[32])
{
	FILE *info = open_info(getpid(), fd);
	size_t length = strlen(name);
	bool found = false;
	char text[256];

	if (!info)
		return false;
	while (!found && fgets(text, sizeof(text), info))
		found = !strncmp(text, name, length) && text[length] == ':' &&
			sscanf(text + length, ":\t%31s", word) == 1;
	fclose(info);
	return found;
}

static long long number_of(int fd, const char *name)
{
	char word[32];

	return word_of(fd, name, word) ? atoll(word) : -1;
}

TEST_F(more, tells_the_counters)
{
	struct devepoll_stats stats;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, eventfd_new(), EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_drain(&self->set));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(2, number_of(self->set.fd, "items"));
	EXPECT_EQ(1, number_of(self->set.fd, "ready"));
	ASSERT_EQ(1, eset_drain(&self->set));
	EXPECT_EQ(0, number_of(self->set.fd, "ready"));
	ASSERT_EQ(0, dep_request(self->set.fd, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(stats.wakes, number_of(self->set.fd, "wakes"));
	EXPECT_EQ(stats.asks, number_of(self->set.fd, "asks"));
	EXPECT_EQ(1, number_of(self->set.fd, "wakes"));
	EXPECT_EQ(1, number_of(self->set.fd, "harvests"));
	EXPECT_EQ(1, number_of(self->set.fd, "events"));
}

TEST_F(more, names_a_set_alike_by_each_of_its_fds)
{
	char first[32], second[32], other[32];
	int copy = dup(self->set.fd);
	struct eset set;

	ASSERT_LE(0, copy);
	ASSERT_EQ(0, eset_open(&set, variant->ops));
	ASSERT_TRUE(word_of(self->set.fd, "set", first));
	ASSERT_TRUE(word_of(copy, "set", second));
	ASSERT_TRUE(word_of(set.fd, "set", other));
	EXPECT_STREQ(first, second);
	/* Early in a boot, the kernel names all pointers alike. */
	if (first[0] != '(')
		EXPECT_STRNE(first, other);
	eset_close(&set);
	ASSERT_EQ(0, close(copy));
}

TEST_F(more, tells_the_interface)
{
	struct set classic;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(1, count_lines(getpid(), self->set.fd,
				 "interface:\textended"));
	ASSERT_EQ(0, set_open(&classic, &backend_devepoll, 10));
	ASSERT_EQ(0, set_add(&classic, self->event, POLLIN));
	EXPECT_EQ(1, count_lines(getpid(), classic.fd, "interface:\t2001"));
	EXPECT_EQ(1, count_lines(getpid(), classic.fd, "tfd:"));
	set_close(&classic);
}

TEST_HARNESS_MAIN
