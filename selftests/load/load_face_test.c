// SPDX-License-Identifier: GPL-2.0
/*
 * Interfaces that a build leaves out, or that the parameter refuses: their
 * requests, memory, commands and node are not there, and all others work.  Needs
 * root and $DEVEPOLL_KO; $DEVEPOLL_BUILT names the interfaces of that module, if
 * it has not all.  The module is loaded afterwards, whether it was before or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devepoll.h>
#include <linux/devpoll.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/raw_ring.h"
#include "epoll/busy.h"
#include "load/load_module.h"

#define ALL		"ring,uring,signal,devpoll,classic,spin," PARTS
#define PARTS		"closed,mapped,nest,opens,stats"
#define RING_FEATURES	DEVEPOLL_FEATURE_RING
#define SIGNAL_FEATURES	DEVEPOLL_FEATURE_SIGNAL
#define SPIN_FEATURES	DEVEPOLL_FEATURE_SPIN
#define OPENS_FEATURES	(DEVEPOLL_FEATURE_REOPEN | DEVEPOLL_FEATURE_NEW)
#define URING_FEATURES	(DEVEPOLL_FEATURE_URING | DEVEPOLL_FEATURE_CANCEL)

/* What a call gives, by its error. */
#define ERROR_OF(call)	((call) < 0 ? errno : 0)

static bool has_name(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *at;

	for (at = list; (at = strstr(at, name)); at++) {
		if ((at == list || at[-1] == ',') &&
		    (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

static int fadvise(int fd, unsigned int request, void *arg)
{
	return posix_fadvise(fd, (off_t)arg, 0, request);
}

/* The features of this bit mask that the module has. */
static __u64 features_of(__u64 mask)
{
	struct devepoll_features features = { 0 };
	int fd = dep_open();

	ioctl(fd, DEVEPOLL_FEATURES, &features);
	close(fd);
	return features.features & mask;
}

/* Each returns how often something was not as it has to be. */
static int ring_errors(bool there)
{
	struct devepoll_ring ring = { .consumers = 1, .slots = 8 };
	struct devepoll_ring_wait_args wait = { 0 };
	struct devepoll_ring_reclaim reclaim = { 0 };
	struct devepoll_ring_info info;
	int fd = dep_open(), bad;
	void *map;

	bad = features_of(RING_FEATURES) != (there ? RING_FEATURES : 0);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_RING_WAIT, &wait)) !=
	       (there ? EINVAL : ENOTTY);
	bad += fadvise(fd, DEVEPOLL_RING_WAIT, &wait) !=
	       (there ? EINVAL : ENOTTY);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_RING, &ring)) != (there ? 0 : ENOTTY);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_RING_INFO, &info)) !=
	       (there ? 0 : ENOTTY);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_RING_RECLAIM, &reclaim)) !=
	       (there ? 0 : ENOTTY);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_RING_WAIT, NULL)) !=
	       (there ? EFAULT : ENOTTY);
	map = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   DEVEPOLL_MAP_RING);
	bad += there ? map == MAP_FAILED :
		       map != MAP_FAILED || errno != ENODEV;
	if (map != MAP_FAILED)
		munmap(map, getpagesize());
	close(fd);
	return bad;
}

static int signal_errors(bool there)
{
	struct devepoll_signal args = { .signo = SIGRTMIN };
	struct pollfd entry = { .events = POLLIN };
	int fd = dep_open(), bad;

	bad = features_of(SIGNAL_FEATURES) != (there ? SIGNAL_FEATURES : 0);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_SIGNAL, &args)) !=
	       (there ? 0 : ENOTTY);
	entry.fd = eventfd_new();
	bad += there && write(fd, &entry, sizeof(entry)) != sizeof(entry);
	close(entry.fd);
	close(fd);
	return bad;
}

static int spin_errors(bool there)
{
	struct devepoll_spin args = { .usecs = 7 };
	struct busy_params params = { .usecs = 1 };
	int fd = dep_open(), bad;

	bad = features_of(SPIN_FEATURES) != (there ? SPIN_FEATURES : 0);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_SPIN, &args)) !=
	       (there ? 0 : ENOTTY);
	args.usecs = DEVEPOLL_SPIN_ASK;
	bad += fadvise(fd, DEVEPOLL_SPIN, &args) != (there ? 0 : ENOTTY);
	bad += there && args.usecs != 7;
	/* A kernel with PREEMPT_RT does not poll devices. */
	if (!there || features_of(DEVEPOLL_FEATURE_BUSY_POLL)) {
		bad += ERROR_OF(ioctl(fd, SET_BUSY_PARAMS, &params)) !=
		       (there ? 0 : ENOTTY);
		params.usecs = 0;
		bad += ERROR_OF(ioctl(fd, GET_BUSY_PARAMS, &params)) !=
		       (there ? 0 : ENOTTY);
		bad += there && params.usecs != 1;
	}
	close(fd);
	return bad;
}

/*
 * What is no interface, and is there whatever the parameter says.  Fds that
 * report their close:
 */
static int closed_errors(bool there)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.events = EPOLLIN,
	};
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)&change,
		.nr = 1,
		.change_size = sizeof(change),
	};
	int fd = dep_open(), bad;

	change.fd = eventfd_new();
	bad = ioctl(fd, DEVEPOLL_CTL, &ctl) != 1;
	bad += change.result != (there ? 0 : -EINVAL);
	close(change.fd);
	close(fd);
	return bad;
}

/* Results in mapped memory. */
static int mapped_errors(bool there)
{
	const size_t size = getpagesize();
	struct devepoll_wait_args wait = {
		.max_events = 1, .flags = DEVEPOLL_WAIT_MAPPED,
	};
	int fd = dep_open(), bad;
	void *map;

	bad = features_of(DEVEPOLL_FEATURE_TAKE) !=
	      (there ? DEVEPOLL_FEATURE_TAKE : 0);
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, DEVEPOLL_MAP_EVENTS);
	bad += there ? map == MAP_FAILED :
		       map != MAP_FAILED || errno != ENODEV;
	bad += posix_fadvise(fd, 0, (off_t)1 << 32, DEVEPOLL_TAKE) !=
	       (there ? 0 : EINVAL);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_WAIT, &wait)) !=
	       (there ? 0 : EINVAL);
	if (map != MAP_FAILED)
		munmap(map, size);
	close(fd);
	return bad;
}

/* Sets in sets. */
static int nest_errors(bool there)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN,
	};
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)&change,
		.nr = 1,
		.change_size = sizeof(change),
	};
	int fd = dep_open(), bad;

	change.fd = dep_open();
	bad = ioctl(fd, DEVEPOLL_CTL, &ctl) != 1;
	bad += change.result != (there ? 0 : -ELOOP);
	close(change.fd);
	close(fd);
	return bad;
}

/* Does the set's file in /proc/self/fdinfo have a line that begins so? */
static bool fdinfo_has(int fd, const char *word)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		found |= !strncmp(line, word, strlen(word));
	if (file)
		fclose(file);
	return found;
}

/* The counters of a set, and the sums of all. */
static int stats_errors(bool there)
{
	struct devepoll_stats stats;
	int fd = dep_open(), bad;

	bad = ERROR_OF(ioctl(fd, DEVEPOLL_STATS, &stats)) !=
	      (there ? 0 : ENOTTY);
	bad += !fdinfo_has(fd, "interface:");
	bad += fdinfo_has(fd, "items:") != there;
	bad += !access("/sys/kernel/debug/devepoll/stats", F_OK) != there;
	bad += !access("/sys/kernel/tracing/events/devepoll", F_OK) != there;
	close(fd);
	return bad;
}

/* Further opens of a set, and new sets by an old one. */
static int opens_errors(bool there)
{
	int fd = dep_open(), bad, other;

	bad = features_of(OPENS_FEATURES) != (there ? OPENS_FEATURES : 0);
	other = ioctl(fd, DEVEPOLL_REOPEN, O_RDONLY | O_CLOEXEC);
	bad += there ? other < 0 : other != -1 || errno != ENOTTY;
	if (other >= 0)
		close(other);
	other = ioctl(fd, DEVEPOLL_NEW, O_RDWR | O_CLOEXEC);
	bad += there ? other < 0 : other != -1 || errno != ENOTTY;
	if (other >= 0)
		close(other);
	close(fd);
	return bad;
}

static int devpoll_errors(bool there)
{
	struct pollfd entry = { .fd = 0, .events = POLLIN };
	int fd = open("/dev/poll", O_RDWR | O_CLOEXEC), bad;

	bad = (fd >= 0) != there;
	if (fd < 0)
		return bad + (errno != ENOENT);
	bad += write(fd, &entry, sizeof(entry)) != sizeof(entry);
	close(fd);
	return bad;
}

static int classic_errors(bool there)
{
	struct pollfd entry = { .fd = 0, .events = POLLIN };
	struct evpoll wait = { .ep_timeout = 0 };
	int fd = dep_open(), bad = 0;
	void *map;

	bad += ERROR_OF(ioctl(fd, EP_POLL, &wait)) != (there ? EINVAL : ENOTTY);
	bad += ERROR_OF(ioctl(fd, EP_POLL, NULL)) != (there ? EFAULT : ENOTTY);
	bad += fadvise(fd, EP_POLL, &wait) != (there ? EINVAL : ENOTTY);
	bad += ERROR_OF(ioctl(fd, EP_ALLOC, 8)) != (there ? 0 : ENOTTY);
	bad += ERROR_OF(ioctl(fd, EP_ISPOLLED, &entry)) != (there ? 0 : ENOTTY);
	map = mmap(NULL, EP_MAP_SIZE(8), PROT_READ, MAP_SHARED, fd, 0);
	if (there)
		bad += map == MAP_FAILED;
	else
		bad += map != MAP_FAILED || errno != ENODEV;
	bad += write(fd, &entry, sizeof(entry)) != (there ? 8 : -1);
	bad += !there && errno != EINVAL;
	if (map != MAP_FAILED)
		munmap(map, EP_MAP_SIZE(8));
	bad += ERROR_OF(ioctl(fd, EP_FREE)) != (there ? 0 : ENOTTY);
	close(fd);
	return bad;
}

/* A change that is a command of an io_uring: what completes, or -ENOSYS. */
static int uring_change(int set, int member)
{
	struct devepoll_event change = { .events = EPOLLIN, .fd = member };
	struct io_uring_sqe *sqe;
	struct raw_ring ring;
	int ret;

	if (raw_ring_open(&ring, 0, RAW_ENTRIES))
		return -ENOSYS;
	sqe = raw_ring_next(&ring);
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = set;
	/* cmd_op, and the 16 bytes of cmd: older headers have no names for them. */
	sqe->off = DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD);
	memcpy((char *)sqe + 48, &change, sizeof(change));
	raw_ring_push(&ring);
	ret = raw_ring_enter(ring.fd, 1, 1) == 1 ? raw_ring_take(&ring, NULL) :
						   -EIO;
	raw_ring_close(&ring);
	return ret;
}

static int uring_errors(bool there)
{
	struct devepoll_cancel cancel = { .cookie = 1 };
	int fd = dep_open(), event = eventfd_new(), bad;

	bad = features_of(URING_FEATURES) != (there ? URING_FEATURES : 0);
	bad += uring_change(fd, event) != (there ? 0 : -EOPNOTSUPP);
	bad += ERROR_OF(ioctl(fd, DEVEPOLL_CANCEL, &cancel)) !=
	       (there ? ENOENT : ENOTTY);
	close(event);
	close(fd);
	return bad;
}

/* The one that contributing.rst shows: tools/examples/hello. */
static int hello_errors(bool there)
{
	const unsigned int count = _IO(EP_IOC_MAGIC, 0x7f);
	int fd = dep_open(), writer = open("/dev/epoll", O_WRONLY | O_CLOEXEC);
	int bad;

	bad = ERROR_OF(ioctl(fd, count, 0)) != (there ? 0 : ENOTTY);
	bad += ERROR_OF(ioctl(fd, count, 1)) != (there ? EINVAL : ENOTTY);
	bad += ERROR_OF(ioctl(writer, count, 0)) != (there ? EBADF : ENOTTY);
	close(writer);
	close(fd);
	return bad;
}

/*
 * To a set for epoll's calls, what is not there says what it says to epoll; the
 * shortest ways into the module must not tell more.
 */
static int excluded_errors(bool ring, bool classic)
{
	struct devepoll_ring_wait_args ring_wait = { 0 };
	struct evpoll wait = { 0 };
	int fd = open("/dev/epoll", O_RDWR | O_EXCL | O_CLOEXEC), bad = 0;
	int unknown = ERROR_OF(ioctl(fd, _IO(EP_IOC_MAGIC, 0x7e), 0));

	if (!ring) {
		bad += fadvise(fd, DEVEPOLL_RING_WAIT, &ring_wait) != unknown;
		bad += ERROR_OF(ioctl(fd, DEVEPOLL_RING_WAIT, &ring_wait)) !=
		       unknown;
	}
	if (!classic) {
		bad += ERROR_OF(ioctl(fd, EP_POLL, &wait)) != unknown;
		bad += fadvise(fd, EP_POLL, NULL) != unknown;
		bad += ERROR_OF(ioctl(fd, EP_FREE)) != unknown;
	}
	close(fd);
	return bad;
}

/* epoll's calls are always there. */
static int epoll_errors(void)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN, .data = 7,
	};
	struct devepoll_event event = { 0 };
	struct devepoll_wait_args wait = {
		.changes = (uintptr_t)&change, .nr_changes = 1,
		.change_size = sizeof(change),
		.events = (uintptr_t)&event, .max_events = 1,
	};
	int fd = dep_open(), bad;

	change.fd = eventfd_new();
	bad = eventfd_post(change.fd) != 0;
	bad += ioctl(fd, DEVEPOLL_WAIT, &wait) != 1 || event.data != 7;
	bad += features_of(DEVEPOLL_FEATURE_CHANGE) != DEVEPOLL_FEATURE_CHANGE;
	close(change.fd);
	close(fd);
	return bad;
}

static const struct {
	const char *name;
	int (*errors)(bool there);
} faces[] = {
	{ "ring", ring_errors },
	{ "uring", uring_errors },
	{ "signal", signal_errors },
	{ "spin", spin_errors },
	{ "devpoll", devpoll_errors },
	{ "classic", classic_errors },
	{ "hello", hello_errors },
};

#define NR_FACES	(sizeof(faces) / sizeof(faces[0]))

static const struct {
	const char *name;
	int (*errors)(bool there);
} parts[] = {
	{ "closed", closed_errors },
	{ "mapped", mapped_errors },
	{ "nest", nest_errors },
	{ "opens", opens_errors },
	{ "stats", stats_errors },
};

#define NR_PARTS	(sizeof(parts) / sizeof(parts[0]))

FIXTURE(face) {
	bool was_loaded;
	const char *built;
	int log;
};

FIXTURE_SETUP(face)
{
	if (geteuid() || !getenv("DEVEPOLL_KO"))
		SKIP(return, "needs root and $DEVEPOLL_KO");
	self->built = getenv("DEVEPOLL_BUILT") ?: ALL;
	self->was_loaded = module_is_loaded();
	if (self->was_loaded)
		ASSERT_TRUE(module_goes());
	self->log = log_open();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(face)
{
	if (module_is_loaded())
		EXPECT_TRUE(module_goes());
	if (self->was_loaded)
		EXPECT_EQ(0, module_load(""));
}

/* Loads with a parameter, and compares what is there with @names. */
#define EXPECT_FACES(params, names)					\
	do {								\
		size_t __i;						\
									\
		ASSERT_EQ(0, module_load(params)) TH_LOG("%s", params);	\
		EXPECT_EQ(1, log_new_lines(self->log, "interfaces=") % 100);\
		ASSERT_TRUE(await(!access("/dev/epoll", R_OK | W_OK)));	\
		ASSERT_TRUE(await(access("/dev/poll", F_OK) ==		\
				  (has_name(names, "devpoll") ? 0 : -1)));\
		EXPECT_EQ(0, epoll_errors()) TH_LOG("%s", params);	\
		for (__i = 0; __i < NR_PARTS; __i++) {			\
			EXPECT_EQ(0, parts[__i].errors(has_name(	\
					self->built, parts[__i].name)))	\
				TH_LOG("'%s': %s", params, parts[__i].name);\
		}							\
		EXPECT_EQ(0, excluded_errors(has_name(names, "ring"),	\
					     has_name(names, "classic")))\
			TH_LOG("%s", params);				\
		for (__i = 0; __i < NR_FACES; __i++) {			\
			EXPECT_EQ(0, faces[__i].errors(has_name(names,	\
						faces[__i].name)))	\
				TH_LOG("'%s': %s", params, faces[__i].name);\
		}							\
		ASSERT_TRUE(module_goes());				\
	} while (0)

TEST_F(face, of_the_build_are_there_and_no_others)
{
	EXPECT_FACES("", self->built);
}

TEST_F(face, alone_is_there)
{
	char params[64];
	size_t i;

	for (i = 0; i < NR_FACES; i++) {
		if (!has_name(self->built, faces[i].name))
			continue;
		snprintf(params, sizeof(params), "interfaces=%s",
			 faces[i].name);
		EXPECT_FACES(params, faces[i].name);
	}
}

TEST_F(face, can_all_be_refused)
{
	EXPECT_FACES("interfaces=", "");
	EXPECT_FACES("interfaces=,", "");
}

TEST_F(face, may_be_named_in_any_order_and_twice)
{
	if (!has_name(self->built, "ring") || !has_name(self->built, "classic"))
		SKIP(return, "not in this build");
	EXPECT_FACES("interfaces=classic,ring,classic", "ring,classic");
}

TEST_F(face, with_an_unknown_name_is_refused_with_one_line)
{
	static const char *const bad[] = {
		"interfaces=rings", "interfaces=rin", "interfaces=epoll",
		"interfaces=hell", "interfaces=,nothing,",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, module_load(bad[i])) TH_LOG("%s", bad[i]);
		EXPECT_EQ(1, log_new_lines(self->log, "interfaces"))
			TH_LOG("%s", bad[i]);
		EXPECT_FALSE(module_is_loaded());
	}
	for (i = 0; i < NR_FACES; i++) {
		char params[64];

		if (has_name(self->built, faces[i].name))
			continue;
		snprintf(params, sizeof(params), "interfaces=%s",
			 faces[i].name);
		EXPECT_EQ(-EINVAL, module_load(params)) TH_LOG("%s", params);
	}
}

TEST_HARNESS_MAIN
