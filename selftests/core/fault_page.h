/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of memory that is not there until the test provides it: whoever
 * accesses it, even the kernel, waits.
 */
#ifndef SELFTESTS_FAULT_PAGE_H
#define SELFTESTS_FAULT_PAGE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/helpers.h"

struct fault_page {
	int fd;
	char *memory;	/* a page that is there, and then it */
};

/* 0 or -errno. */
static inline int fault_page_open(struct fault_page *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register missing = {
		.range.len = getpagesize(),
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	page->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	page->memory = mmap(NULL, 2 * getpagesize(), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page->fd < 0 || page->memory == MAP_FAILED)
		return -errno;
	missing.range.start = (unsigned long)page->memory + getpagesize();
	if (ioctl(page->fd, UFFDIO_API, &api) ||
	    ioctl(page->fd, UFFDIO_REGISTER, &missing))
		return -errno;
	return 0;
}

/* Where it begins. */
static inline char *fault_page_start(const struct fault_page *page)
{
	return page->memory + getpagesize();
}

/* Waits until a task waits for it; 0 or -errno. */
static inline int fault_page_await(const struct fault_page *page)
{
	struct uffd_msg message;

	if (!await(poll_now(page->fd, POLLIN)))
		return -ETIMEDOUT;
	return read(page->fd, &message, sizeof(message)) == sizeof(message) ?
	       0 : -errno;
}

/* Provides it, zeroed; 0 or -errno. */
static inline int fault_page_provide(const struct fault_page *page)
{
	struct uffdio_zeropage zero = {
		.range.start = (unsigned long)fault_page_start(page),
		.range.len = getpagesize(),
	};

	return ioctl(page->fd, UFFDIO_ZEROPAGE, &zero) ? -errno : 0;
}

static inline void fault_page_close(struct fault_page *page)
{
	close(page->fd);
	munmap(page->memory, 2 * getpagesize());
}

#endif /* SELFTESTS_FAULT_PAGE_H */
