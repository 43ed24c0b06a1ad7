// SPDX-License-Identifier: GPL-2.0
/*
 * Waits by an open that may not change the set: it takes events, and all else
 * stays as it is.  So such a wait does not use the fast paths, which serve
 * opens that may do everything, and have no check for this.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/nest.h"
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/epoll.h"
#include "epoll/reader.h"
#include "set/area.h"
#include "set/results.h"
#include "set/waiting.h"

/**
 * dep_reader_begin() - check a wait by an open without write access
 * @file: the open
 * @results: where the events go
 *
 * Mapped results are read by others, too, and the first use of a set decides
 * to which interface it belongs.
 *
 * Return: 0;
 * -EBADF: it may not use the mapping;
 * -EBUSY: it would be the first use of the set.
 */
int dep_reader_begin(const struct file *file, struct dep_results *results)
{
	results->only_waits = true;
	if (results->kernel && !(dep_instance_rights(file) & DEP_MAY_MAP))
		return -EBADF;
	/* A set whose first open is for reading only stays empty. */
	if (dep_instance_is_reader(file) &&
	    dep_bind_is_fresh(file->private_data))
		return -EBUSY;
	return 0;
}

static int reader_collect(struct file *file, struct dep_results *results,
			  int timeout_ms)
{
	struct dep_instance *inst = file->private_data;
	int err;

	err = dep_reader_begin(file, results);
	if (!err)
		err = dep_bind_for_wait(inst);
	return err ?: dep_collect_ms(results, inst, timeout_ms);
}

/* As dep_epoll_wait(). */
static int reader_wait(struct file *file, u64 address, u64 length)
{
	struct dep_results results = {
		.user = u64_to_user_ptr(address),
		.layout = DEP_LAYOUT_EPOLL,
		.max = length >> 32,
	};

	if (!results.max ||
	    results.max > INT_MAX / sizeof(struct epoll_event))
		return -EINVAL;
	if (!access_ok(results.user,
		       results.max * sizeof(struct epoll_event)))
		return -EFAULT;
	return reader_collect(file, &results, (int)length);
}

/* As dep_extended_take(). */
static int reader_take(struct file *file, u64 offset, u64 length)
{
	struct dep_results results = {
		.layout = DEP_LAYOUT_EVENT,
		.max = length >> 32,
	};

	if (!results.max || results.max > DEVEPOLL_MAX_EVENTS)
		return -EINVAL;
	results.kernel = dep_area_find(file->private_data, offset,
				       results.max);
	if (!results.kernel)
		return -EINVAL;
	return reader_collect(file, &results, (int)length);
}

/**
 * dep_reader_has() - is there another way for a request of the fadvise entry?
 * @request: the request
 *
 * Return: true if dep_reader_request() makes it.
 */
bool dep_reader_has(unsigned int request)
{
	return request == DEVEPOLL_EPOLL_WAIT || request == DEVEPOLL_TAKE ||
	       dep_epoll_is_ctl(request) || dep_changes_is_one(request);
}

/**
 * dep_reader_request() - such a request by a further open for reading
 * @file: the open
 * @offset: the argument
 * @length: the other one
 * @request: the request, for which dep_reader_has() holds
 *
 * Context: process; sleeps.
 * Return: as for other opens;
 * -EBADF: also: it may not change the set, or not use the mapping;
 * -EBUSY: also: no interface has the set yet.
 */
int dep_reader_request(struct file *file, u64 offset, u64 length,
		       unsigned int request)
{
	switch (request) {
	case DEVEPOLL_EPOLL_WAIT:
		return reader_wait(file, offset, length);
	case DEVEPOLL_TAKE:
		return reader_take(file, offset, length);
	}
	if (dep_changes_is_one(request))
		return dep_changes_make_one(file, request, offset, length);
	return dep_epoll_ctl(file, request, offset, length);
}
