// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_NEW: another set from an open of the node, where its path can't be
 * reached, and all that open(2) of the path would refuse.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/other_node.h"
#include "core/request.h"

#define NOBODY		65534
/* Nobody else has locked pages of this one. */
#define USER		54321
/* Those that EP_ALLOC of a few fds takes. */
#define PAGES_OF_A_SET	3
#define CGROUP		"/sys/fs/cgroup/devepoll-new-test"

FIXTURE(new_set) {
	int fd;
	int member;
};

REQUEST_VARIANTS(new_set);

FIXTURE_SETUP(new_set)
{
	self->fd = dep_open();
	ASSERT_LE(0, self->fd) TH_LOG("no /dev/epoll here");
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
}

FIXTURE_TEARDOWN(new_set)
{
}

#define NEW(fd, flags)							\
	variant->request(fd, DEVEPOLL_NEW, (void *)(uintptr_t)(flags))

/* The error, or 0: then the set is closed again. */
#define TRY(fd, flags) ({						\
	int new_fd_ = NEW(fd, flags);					\
	new_fd_ < 0 ? new_fd_ : close(new_fd_);				\
})

static int add(int set, int fd)
{
	const struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .fd = fd, .events = EPOLLOUT, .data = 42,
	};

	return dep_change(set, &change);
}

static bool works(int set, int member)
{
	struct devepoll_event out;

	return !add(set, member) && dep_wait(set, &out, 1, 0) == 1 &&
	       out.data == 42;
}

static long items(int set)
{
	struct devepoll_stats stats;

	return dep_request(set, DEVEPOLL_STATS, &stats) ?: (long)stats.items;
}

TEST_F(new_set, has_nothing_of_the_other)
{
	int fd = NEW(self->fd, O_RDWR), classic, third;

	ASSERT_LE(0, fd);
	ASSERT_TRUE(works(fd, self->member));
	EXPECT_EQ(0, items(self->fd));
	/* Neither decides the interface of another. */
	EXPECT_EQ(0, dep_alloc(self->fd, 10));
	classic = NEW(fd, O_RDWR);
	ASSERT_LE(0, classic);
	EXPECT_EQ(0, dep_alloc(classic, 10));
	/* Whichever is closed first; it is as good a source as its own. */
	EXPECT_EQ(0, close(self->fd));
	EXPECT_EQ(1, items(fd));
	third = NEW(fd, O_RDWR);
	ASSERT_LE(0, third);
	EXPECT_EQ(0, close(fd));
	EXPECT_TRUE(works(third, self->member));
}

TEST_F(new_set, is_a_file_of_the_node)
{
	int fd = NEW(self->fd, O_RDWR);
	struct stat first, second;

	ASSERT_EQ(0, fstat(self->fd, &first));
	ASSERT_EQ(0, fstat(fd, &second));
	EXPECT_EQ(first.st_rdev, second.st_rdev);
	EXPECT_EQ(first.st_ino, second.st_ino);
	EXPECT_EQ(first.st_dev, second.st_dev);
}

TEST_F(new_set, is_one_for_epolls_calls_if_asked)
{
	int fd = NEW(self->fd, O_RDWR | O_EXCL), second;
	const struct pollfd none = { .fd = -1 };

	ASSERT_LE(0, fd);
	EXPECT_EQ(O_RDWR, fcntl(fd, F_GETFL));
	EXPECT_EQ(-1, write(fd, &none, sizeof(none)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(works(fd, self->member));
	/* The next one is what its own flags say. */
	second = NEW(fd, O_RDWR);
	ASSERT_LE(0, second);
	EXPECT_EQ(0, dep_alloc(second, 10));
}

/* Whatever that of the fd is: it stands for the path alone. */
TEST_F(new_set, gives_the_access_that_is_asked_for)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	unsigned int from, to;
	int first, second;

	for (from = 0; from < ARRAY_SIZE(modes); from++) {
		first = open("/dev/epoll", modes[from] | O_CLOEXEC);
		ASSERT_LE(0, first);
		for (to = 0; to < ARRAY_SIZE(modes); to++) {
			second = NEW(first, modes[to] | O_CLOEXEC);
			ASSERT_LE(0, second);
			EXPECT_EQ(modes[to], fcntl(second, F_GETFL));
			EXPECT_EQ(FD_CLOEXEC, fcntl(second, F_GETFD));
			close(second);
			second = NEW(first, modes[to]);
			EXPECT_EQ(0, fcntl(second, F_GETFD));
			close(second);
		}
		EXPECT_EQ(0, close(first));
	}
}

TEST_F(new_set, refuses_other_flags)
{
	static const unsigned long bad[] = {
		3, O_RDONLY | O_NONBLOCK, O_RDWR | O_CREAT, O_RDWR | O_PATH,
		O_RDWR | O_APPEND, O_RDWR | O_TRUNC, -1, 1UL << 31, 1UL << 32,
		O_RDONLY | DEVEPOLL_REOPEN_OPEN,
	};
	int next = next_fd();
	size_t i;

	ASSERT_LE(0, next);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, NEW(self->fd, bad[i]))
			TH_LOG("flags %lx", bad[i]);
	EXPECT_EQ(next, next_fd());
}

TEST_F(new_set, is_not_made_by_a_further_open)
{
	const unsigned int all = DEVEPOLL_REOPEN_NEST | DEVEPOLL_REOPEN_MAP |
				 DEVEPOLL_REOPEN_OPEN;
	int full = dep_request(self->fd, DEVEPOLL_REOPEN, (void *)O_RDWR);
	int reader = dep_request(self->fd, DEVEPOLL_REOPEN,
				 (void *)(uintptr_t)(O_RDONLY | all));
	int waiter = dep_request(self->fd, DEVEPOLL_REOPEN, (void *)O_RDONLY);

	ASSERT_LE(0, full);
	ASSERT_LE(0, reader);
	ASSERT_LE(0, waiter);
	EXPECT_EQ(-EPERM, TRY(full, O_RDWR));
	EXPECT_EQ(-EPERM, TRY(full, O_RDONLY));
	EXPECT_EQ(-EPERM, TRY(reader, O_RDONLY));
	EXPECT_EQ(-EPERM, TRY(reader, O_RDWR));
	EXPECT_EQ(-EPERM, TRY(waiter, O_RDONLY));
}

TEST_F(new_set, is_unknown_to_other_files)
{
	int devpoll = open("/dev/poll", O_RDWR | O_CLOEXEC);

	EXPECT_EQ(-ENOTTY, dep_request(self->member, DEVEPOLL_NEW,
				       (void *)O_RDWR));
	EXPECT_EQ(-ENOTTY, dep_request(self->fd, _IOR('P', 0x1f, int),
				       (void *)O_RDWR));
	if (devpoll >= 0)
		EXPECT_GT(0, dep_request(devpoll, DEVEPOLL_NEW,
					 (void *)O_RDWR));
}

TEST_F(new_set, fails_if_no_number_is_free)
{
	struct rlimit limit, less;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	less = limit;
	less.rlim_cur = next_fd();
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &less));
	EXPECT_EQ(-EMFILE, TRY(self->fd, O_RDWR));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(0, TRY(self->fd, O_RDWR));
}

static int leave_the_root(void)
{
	return unshare(CLONE_NEWNS) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", "/mnt", "tmpfs", 0, NULL) || chroot("/mnt") ||
	       chdir("/");
}

TEST_F(new_set, is_made_where_the_node_has_no_path)
{
	int fd;

	ASSERT_EQ(0, leave_the_root());
	ASSERT_EQ(-1, open(NODE, O_RDWR));
	ASSERT_EQ(ENOENT, errno);
	fd = NEW(self->fd, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_TRUE(works(fd, self->member));
	ASSERT_EQ(0, become(NOBODY));
	EXPECT_EQ(0, TRY(self->fd, O_RDWR));
}

/* As open(2) of the node, with a descriptor from before. */
TEST_F(new_set, is_made_for_whom_the_mode_of_the_node_allows)
{
	int fd, child;

	ASSERT_EQ(0, other_node(NODE_MINOR, 0600));
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, TRY(fd, O_RDWR));
	child = fork();
	if (!child) {
		if (become(NOBODY))
			_exit(1);
		_exit(TRY(fd, O_RDWR) != -EACCES ? 2 :
		      TRY(fd, O_RDONLY) != -EACCES ? 3 : 0);
	}
	EXPECT_EQ(0, reap(child));
	ASSERT_EQ(0, chmod(NODE, 0644));
	ASSERT_EQ(0, become(NOBODY));
	EXPECT_EQ(0, TRY(fd, O_RDONLY));
	EXPECT_EQ(-EACCES, TRY(fd, O_WRONLY));
	EXPECT_EQ(-EACCES, TRY(fd, O_RDWR));
}

TEST_F(new_set, is_not_made_on_a_mount_without_devices)
{
	int fd;

	ASSERT_EQ(0, other_node(NODE_MINOR, 0666));
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, TRY(fd, O_RDWR));
	ASSERT_EQ(0, mount(NULL, "/dev", NULL,
			   MS_REMOUNT | MS_BIND | MS_NODEV, NULL));
	EXPECT_EQ(-1, open(NODE, O_RDWR | O_CLOEXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-EACCES, TRY(fd, O_RDWR));
	/* That of another mount is not concerned. */
	EXPECT_EQ(0, TRY(self->fd, O_RDWR));
}

/* A sandbox of the process's own, as an example of a security module. */
static int forbid_reading(void)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE,
	};
	int rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
			    0);

	if (rules < 0)
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_landlock_restrict_self, rules, 0) || close(rules);
}

TEST_F(new_set, is_not_made_against_a_security_module)
{
	int next = next_fd(), err = forbid_reading();

	if (err == -ENOSYS || err == -EOPNOTSUPP)
		SKIP(return, "no Landlock here");
	ASSERT_EQ(0, err);
	EXPECT_EQ(-1, open(NODE, O_RDWR | O_CLOEXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-EACCES, TRY(self->fd, O_RDWR));
	EXPECT_EQ(-EACCES, TRY(self->fd, O_RDONLY));
	EXPECT_EQ(0, TRY(self->fd, O_WRONLY));
	EXPECT_EQ(next, next_fd());
}

/* Attaches a program to a control group that refuses every device. */
static int forbid_devices(int cgroup)
{
	static const char license[] = "GPL";
	static const struct bpf_insn refuse[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
		.insns = (uintptr_t)refuse,
		.insn_cnt = ARRAY_SIZE(refuse),
		.license = (uintptr_t)license,
	};
	int program = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (program < 0)
		return -errno;
	attr = (union bpf_attr){
		.target_fd = cgroup,
		.attach_bpf_fd = program,
		.attach_type = BPF_CGROUP_DEVICE,
	};
	return syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)) ?
		-errno : 0;
}

static int enter_cgroup(int cgroup)
{
	int fd = openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;

	close(fd);
	return ret;
}

TEST_F(new_set, is_not_made_against_a_control_group)
{
	int cgroup, child, err;

	if (mkdir(CGROUP, 0755))
		SKIP(return, "no control groups");
	cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = forbid_devices(cgroup);
	if (err) {
		rmdir(CGROUP);
		SKIP(return, "no programs of control groups: %d", err);
	}
	child = fork();
	if (!child) {
		if (enter_cgroup(cgroup))
			_exit(1);
		if (open(NODE, O_RDWR | O_CLOEXEC) >= 0 || errno != EPERM)
			_exit(2);
		_exit(TRY(self->fd, O_RDWR) == -EPERM ? 0 : 3);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(0, rmdir(CGROUP));
	EXPECT_EQ(0, TRY(self->fd, O_RDWR));
}

/* What it takes counts for the caller, and not for the opener of the other. */
TEST_F(new_set, is_charged_to_who_made_it)
{
	const rlim_t room = PAGES_OF_A_SET * getpagesize();
	const struct rlimit limit = { room, room };
	int first, second;

	ASSERT_EQ(0, become(USER));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	first = NEW(self->fd, O_RDWR);
	second = NEW(self->fd, O_RDWR);
	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	EXPECT_EQ(0, dep_alloc(first, 10));
	EXPECT_EQ(-ENOMEM, dep_alloc(second, 10));
	EXPECT_EQ(0, dep_alloc(self->fd, 10));
}

TEST_HARNESS_MAIN
