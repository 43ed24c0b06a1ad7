// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests share: pairs of connected files, waiting for a state instead
 * of for a time, and threads that wait on a set.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"

int driver(const char *options, const char *name)
{
	const char *root = getenv("DEVEPOLL_MODULES");
	struct utsname uts;
	char command[512];

	uname(&uts);
	snprintf(command, sizeof(command),
		 "modprobe -q %s%s -S %s %s %s >/dev/null 2>&1",
		 root ? "-d " : "", root ? root : "", uts.release, options,
		 name);
	return system(command);
}

int slowness(void)
{
	static int factor;

	if (!factor)
		factor = getenv("DEVEPOLL_SLOW") ||
			 !access("/sys/kernel/debug/kmemleak", F_OK) ? 10 : 1;
	return factor;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int cpus_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

int pin_to_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		return -errno;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 3;	/* ".", ".." and the folder's own */
}

int next_fd(void)
{
	int fd = eventfd_new();

	if (fd >= 0)
		close(fd);
	return fd;
}

int raise_fd_limit(unsigned int n)
{
	struct rlimit limit = { .rlim_cur = n, .rlim_max = n };

	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

int pipe_pair(int fds[2])
{
	return pipe2(fds, O_NONBLOCK | O_CLOEXEC) ? -errno : 0;
}

int unix_pair(int fds[2], int type)
{
	type |= SOCK_NONBLOCK | SOCK_CLOEXEC;
	return socketpair(AF_UNIX, type, 0, fds) ? -errno : 0;
}

int tcp_listener(uint16_t *port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len)) {
		int err = errno;

		close(fd);
		return -err;
	}
	*port = ntohs(addr.sin_port);
	return fd;
}

int tcp_pair(int fds[2])
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	uint16_t port;
	int listener = tcp_listener(&port);
	int ret = 0;

	if (listener < 0)
		return listener;
	addr.sin_port = htons(port);
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fds[1] < 0 ||
	    connect(fds[1], (struct sockaddr *)&addr, sizeof(addr)) ||
	    fcntl(fds[1], F_SETFL, O_NONBLOCK) ||
	    !await(poll_now(listener, POLLIN)))
		ret = -errno;
	fds[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fds[0] < 0)
		ret = -errno;
	close(listener);
	return ret;
}

int eventfd_new(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int put_byte(int fd)
{
	return write(fd, "x", 1) == 1 ? 0 : -errno;
}

int take_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? 0 : -errno;
}

int fill(int fd)
{
	char buffer[4096];

	memset(buffer, 'x', sizeof(buffer));
	while (write(fd, buffer, sizeof(buffer)) > 0)
		;
	while (write(fd, buffer, 1) > 0)
		;
	return errno == EAGAIN ? 0 : -errno;
}

int empty(int fd)
{
	char buffer[4096];
	ssize_t n;

	do
		n = read(fd, buffer, sizeof(buffer));
	while (n > 0);
	return n == 0 || errno == EAGAIN ? 0 : -errno;
}

int eventfd_post(int fd)
{
	return eventfd_write(fd, 1) ? -errno : 0;
}

int eventfd_take(int fd)
{
	eventfd_t value;

	return eventfd_read(fd, &value) ? -errno : 0;
}

union fd_message {
	struct cmsghdr align;
	char buffer[CMSG_SPACE(sizeof(int))];
};

int send_fd(int socket, int fd)
{
	union fd_message message = { 0 };
	struct iovec iov = { .iov_base = "f", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = message.buffer,
		.msg_controllen = sizeof(message.buffer),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

int receive_fd(int socket)
{
	union fd_message message = { 0 };
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = message.buffer,
		.msg_controllen = sizeof(message.buffer),
	};
	struct cmsghdr *cmsg;
	int fd;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -ENOMSG;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(int));
	return fd;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n, len = strlen(text);
	int ret = 0;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n != len)
		ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

short poll_now(int fd, short mask)
{
	struct pollfd pfd = { .fd = fd, .events = mask };

	return poll(&pfd, 1, 0) > 0 ? pfd.revents : 0;
}

long status_field(pid_t tid, const char *name)
{
	char path[64], line[256];
	long ret = -ENOENT;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	if (!status)
		return -errno;
	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, name, strlen(name)) &&
		    line[strlen(name)] == ':')
			ret = strtol(line + strlen(name) + 1, NULL, 10);
	fclose(status);
	return ret;
}

static char state_of(pid_t tid)
{
	char path[64], line[512], *end;
	char state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	if (fgets(line, sizeof(line), stat)) {
		end = strrchr(line, ')');
		if (end)
			state = end[2];
	}
	fclose(stat);
	return state;
}

bool sleeps_in(pid_t tid, long syscall)
{
	char path[64], line[256];
	long nr = -1;
	FILE *file;

	if (state_of(tid) != 'S')
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* Reading it waits until the thread has left its CPU. */
	if (!fgets(line, sizeof(line), file) || sscanf(line, "%ld ", &nr) != 1)
		nr = -1;
	fclose(file);
	return nr == syscall;
}

int await_sleep(pid_t tid, long syscall)
{
	return await(sleeps_in(tid, syscall)) ? 0 : -ETIMEDOUT;
}

void pause_briefly(void)
{
	struct timespec ts = { .tv_nsec = 200000 };

	nanosleep(&ts, NULL);
}

bool can_use_threads(void)
{
	int word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1) == 0;
}

static void *task_main(void *arg)
{
	struct task *task = arg;

	atomic_store(&task->tid, syscall(SYS_gettid));
	task->ret = task->call(task->arg);
	atomic_store(&task->done, true);
	return NULL;
}

int task_start(struct task *task, long (*call)(void *arg), void *arg)
{
	int ret;

	*task = (struct task){ .call = call, .arg = arg };
	ret = pthread_create(&task->thread, NULL, task_main, task);
	if (ret)
		return -ret;
	return await(atomic_load(&task->tid)) ? 0 : -ETIMEDOUT;
}

long task_join(struct task *task)
{
	struct timespec end;
	int ret;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10 * slowness();
	ret = pthread_timedjoin_np(task->thread, NULL, &end);
	return ret ? -ret : task->ret;
}

static long waiter_call(void *arg)
{
	struct waiter *w = arg;

	return set_wait(&w->set, w->out, WAITER_ROOM, w->ms);
}

int waiter_launch(struct waiter *w, const struct set *set, int ms)
{
	w->set = *set;
	w->ms = ms;
	memset(w->out, 0x5a, sizeof(w->out));
	return task_start(&w->task, waiter_call, w);
}

int waiter_start(struct waiter *w, const struct set *set, int ms)
{
	int ret = waiter_launch(w, set, ms);

	if (!ret)
		ret = await_sleep(w->task.tid, set->ops->wait_syscall);
	w->switches = status_field(w->task.tid, "voluntary_ctxt_switches");
	return ret;
}

long waiter_join(struct waiter *w)
{
	return task_join(&w->task);
}

bool waiter_undisturbed(struct waiter *w)
{
	return sleeps_in(w->task.tid, w->set.ops->wait_syscall) &&
	       status_field(w->task.tid, "voluntary_ctxt_switches") ==
	       w->switches;
}

int reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

short event_of(const struct pollfd *out, int n, int fd)
{
	int i;

	for (i = 0; i < n; i++)
		if (out[i].fd == fd)
			return out[i].revents;
	return 0;
}

int set_wait_one(struct set *set, int fd, int ms)
{
	struct pollfd out[2];
	int n = set_wait(set, out, 2, ms);

	if (n < 0)
		return n;
	if (n == 0)
		return -ENOMSG;
	return n == 1 && out[0].fd == fd ? (unsigned short)out[0].revents :
					   -EBADMSG;
}

int set_drain(struct set *set)
{
	struct pollfd out[1024];

	return set_wait(set, out, 1024, 0);
}
