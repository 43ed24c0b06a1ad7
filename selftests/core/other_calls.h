/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that epoll does not have, and what they say to the fd of a set. */
#ifndef SELFTESTS_OTHER_CALLS_H
#define SELFTESTS_OTHER_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "core/helpers.h"

/* Memory that no program has. */
#define NOWHERE	((void *)-4096UL)

static inline long seek(int set, long offset, long whence)
{
	return lseek(set, offset, whence);
}

static inline long put(int set, long size, long nowhere)
{
	char bytes[64] = "";

	return write(set, nowhere ? NOWHERE : bytes, size);
}

static inline long put_vector(int set, long size, long nr)
{
	char bytes[64] = "";
	struct iovec iov = { .iov_base = bytes, .iov_len = size };

	return writev(set, &iov, nr);
}

static inline long put_at(int set, long size, long offset)
{
	char bytes[64] = "";

	return pwrite(set, bytes, size, offset);
}

static inline long take(int set, long size, long unused)
{
	char bytes[64];

	(void)unused;
	return read(set, bytes, size);
}

static inline long take_at(int set, long size, long offset)
{
	char bytes[64];

	return pread(set, bytes, size, offset);
}

/* What is mapped is a success, wherever it is. */
static inline long map(int set, long prot, long flags)
{
	void *area = mmap(NULL, 4096, prot, flags, set, 0);

	if (area == MAP_FAILED)
		return -1;
	munmap(area, 4096);
	return 0;
}

static inline long map_at(int set, long offset, long size)
{
	void *area = mmap(NULL, size, PROT_READ, MAP_SHARED, set, offset);

	if (area == MAP_FAILED)
		return -1;
	munmap(area, size);
	return 0;
}

static inline long control(int set, long request, long unused)
{
	struct termios argument = { 0 };

	(void)unused;
	return ioctl(set, (unsigned long)request, &argument);
}

static inline long send_to(int set, long size, long unused)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	long ret = sendfile(set, file, NULL, size);
	int err = errno;

	(void)unused;
	close(file);
	errno = err;
	return ret;
}

static inline long shorten(int set, long size, long unused)
{
	(void)unused;
	return ftruncate(set, size);
}

static inline long sync_file(int set, long data, long unused)
{
	(void)unused;
	return data ? fdatasync(set) : fsync(set);
}

/* A call with two of its arguments. */
struct other_call {
	const char *name;
	long (*make)(int set, long a, long b);
	long a;
	long b;
};

static const struct other_call other_calls[] = {
	{ "lseek", seek, 0, SEEK_SET },
	{ "lseek", seek, 0, SEEK_CUR },
	{ "lseek", seek, 8, SEEK_END },
	{ "lseek", seek, -1, SEEK_SET },
	{ "lseek", seek, 0, SEEK_DATA },
	{ "lseek", seek, 0, 99 },
	{ "write", put, 8, 0 },
	{ "write", put, 0, 0 },
	{ "write", put, 7, 0 },
	{ "write", put, 8, 1 },
	{ "writev", put_vector, 8, 1 },
	{ "writev", put_vector, 8, 0 },
	{ "pwrite", put_at, 8, 0 },
	{ "pwrite", put_at, 0, 8 },
	{ "read", take, 8, 0 },
	{ "read", take, 0, 0 },
	{ "pread", take_at, 8, 0 },
	{ "mmap", map, PROT_READ, MAP_SHARED },
	{ "mmap", map, PROT_READ, MAP_PRIVATE },
	{ "mmap", map, PROT_READ | PROT_WRITE, MAP_SHARED },
	{ "mmap", map, PROT_READ | PROT_WRITE, MAP_PRIVATE },
	{ "mmap", map_at, 4096, 4096 },
	{ "mmap", map_at, 4096, 8 * 4096 },
	{ "mmap", map_at, 1, 4096 },
	{ "mmap", map_at, 0, 0 },
	{ "ioctl", control, 0, 0 },
	{ "ioctl", control, -1, 0 },
	{ "ioctl", control, TCGETS, 0 },
	{ "ioctl", control, TIOCGWINSZ, 0 },
	{ "ioctl", control, _IO(EP_IOC_MAGIC, 0), 0 },
	{ "ioctl", control, _IO('p', 3), 0 },
	{ "ioctl", control, 0xd001, 0 },
	{ "sendfile", send_to, 8, 0 },
	{ "ftruncate", shorten, 0, 0 },
	{ "fsync", sync_file, 0, 0 },
	{ "fdatasync", sync_file, 1, 0 },
};

#define NR_OTHER_CALLS	((int)ARRAY_SIZE(other_calls))

/* What it says, or -errno. */
static inline long other_call(const struct other_call *call, int set)
{
	long ret;

	errno = 0;
	ret = call->make(set, call->a, call->b);
	return ret < 0 ? -errno : ret;
}

/* How many of the calls say to a set what they do not say to the other. */
static inline int count_differences(int set, int epoll)
{
	int i, nr = 0;

	for (i = 0; i < NR_OTHER_CALLS; i++) {
		const struct other_call *call = &other_calls[i];
		long ours = other_call(call, set);
		long theirs = other_call(call, epoll);

		if (ours == theirs)
			continue;
		printf("# %s(%ld, %ld): %ld, epoll %ld\n", call->name, call->a,
		       call->b, ours, theirs);
		nr++;
	}
	return nr;
}

#endif /* SELFTESTS_OTHER_CALLS_H */
