// SPDX-License-Identifier: GPL-2.0
/*
 * Kinds of files that watch programs at work: perf events, a trace, and the
 * page faults of others.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/filetype.h"
#include "core/helpers.h"

#define PERF_BUFFER	(3 * (size_t)getpagesize())

/*
 * At the first perf event and after the last, the kernel patches its code in
 * the page faults and in the scheduler, which an emulator may get wrong: so
 * make it do this only once.
 */
static __attribute__((constructor)) void keep_perf_on(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.disabled = 1,
	};

	syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A sample for each page fault of this thread, while it is enabled. */
static int open_faults(void **ring)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.wakeup_events = 1,
		.disabled = 1,
		.sample_type = PERF_SAMPLE_TID,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	*ring = mmap(NULL, PERF_BUFFER, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     0);
	return *ring == MAP_FAILED ? -errno : fd;
}

/* Polling it consumes the news: the twin counts the same faults. */
static int open_perf(struct probe *probe)
{
	probe->fd = open_faults(&probe->rings[0]);
	if (probe->fd < 0)
		return probe->fd;
	probe->twin = open_faults(&probe->rings[1]);
	return probe->twin < 0 ? probe->twin : 0;
}

static int make_fault(struct probe *probe)
{
	char *page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED ||
	    ioctl(probe->fd, PERF_EVENT_IOC_ENABLE, 0) ||
	    ioctl(probe->twin, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	*(volatile char *)page = 1;
	if (ioctl(probe->fd, PERF_EVENT_IOC_DISABLE, 0) ||
	    ioctl(probe->twin, PERF_EVENT_IOC_DISABLE, 0))
		return -errno;
	return munmap(page, getpagesize()) ? -errno : 0;
}

static void close_perf(struct probe *probe)
{
	int i;

	for (i = 0; i < 2; i++)
		if (probe->rings[i])
			munmap(probe->rings[i], PERF_BUFFER);
}

const struct filetype filetype_perf = {
	.open = open_perf,
	.close = close_perf,
	.happenings = {
		{ "there is a sample", make_fault, POLLIN },
		{ "there is another sample", make_fault, POLLIN },
	},
};

static int write_file(const char *folder, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return write_text(path, text);
}

/* A trace of our own that reports the first event, not a page of them. */
static int open_trace(struct probe *probe)
{
	char path[256];

	mount("devepoll", "/sys/kernel/tracing", "tracefs", 0, NULL);
	snprintf(probe->path, sizeof(probe->path),
		 "/sys/kernel/tracing/instances/devepoll-%d", getpid());
	if (mkdir(probe->path, 0700)) {
		probe->path[0] = 0;
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	}
	write_file(probe->path, "buffer_percent", "0\n");
	snprintf(path, sizeof(path), "%s/trace_pipe", probe->path);
	probe->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return probe->fd < 0 ? -errno : 0;
}

static int make_mark(struct probe *probe)
{
	return write_file(probe->path, "trace_marker", "devepoll\n");
}

static void close_trace(struct probe *probe)
{
	close(probe->fd);
	probe->fd = -1;
	if (probe->path[0])
		rmdir(probe->path);
}

const struct filetype filetype_trace = {
	.open = open_trace,
	.close = close_trace,
	.happenings = {
		{ "a line comes", make_mark, READABLE },
	},
};

/* Its page is not there until the test provides it, or lets it go. */
static int open_userfaultfd(struct probe *probe)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = {
		.range.len = getpagesize(),
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	probe->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (probe->fd < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	probe->rings[0] = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	area.range.start = (unsigned long)probe->rings[0];
	if (ioctl(probe->fd, UFFDIO_API, &api) ||
	    ioctl(probe->fd, UFFDIO_REGISTER, &area))
		return -errno;
	return 0;
}

static void *touch(void *page)
{
	*(volatile char *)page = 1;
	return NULL;
}

static int make_missing(struct probe *probe)
{
	pthread_t thread;

	/* It goes on when the file is closed. */
	return -pthread_create(&thread, NULL, touch, probe->rings[0]);
}

const struct filetype filetype_userfaultfd = {
	.open = open_userfaultfd,
	.happenings = {
		{ "a page is missing", make_missing, POLLIN },
	},
};
