// SPDX-License-Identifier: GPL-2.0
/*
 * Which requests an open may make, and what this module offers.
 *
 * An open for writing can change the set, one for reading can wait and query
 * it.  As with read(2) and write(2), a request through an open of the other
 * mode fails with EBADF.
 */
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/limits.h"
#include "epoll/request.h"

bool dep_access_fadvise = true;

/* The mode that a request needs; 0 if there is no such request. */
static fmode_t request_mode(unsigned int cmd)
{
	const struct dep_request *request;

	if (dep_request_is_op(cmd, DEVEPOLL_EPOLL_CTL(0)) ||
	    dep_request_is_op(cmd, DEVEPOLL_CHANGE(0)) ||
	    dep_request_is(cmd, DEVEPOLL_CTL))
		return FMODE_WRITE;
	if (cmd == DEVEPOLL_EPOLL_WAIT || cmd == DEVEPOLL_STEP_BACK ||
	    dep_request_is(cmd, DEVEPOLL_WAIT))
		return FMODE_READ;
	request = dep_interface_request(cmd);
	return request ? request->mode : 0;
}

/**
 * dep_access_allows_part() - dep_access_allows() for an open with one mode only
 * @file: the open
 * @cmd: the request
 *
 * Return: as dep_access_allows().
 */
bool dep_access_allows_part(const struct file *file, unsigned int cmd)
{
	return dep_access_has(file, request_mode(cmd));
}

static_assert(sizeof(struct devepoll_features) == 40);
static_assert(offsetof(struct devepoll_features, features) == 8);
static_assert(DEVEPOLL_FEATURES == 0x80285014);

static u64 features_now(void)
{
	u64 bits = DEVEPOLL_FEATURE_CHANGE;
	struct dep_interface *iface;

	if (DEP_HAS_MAPPED)
		bits |= DEVEPOLL_FEATURE_TAKE;
	if (DEP_HAS_OPENS)
		bits |= DEVEPOLL_FEATURE_REOPEN | DEVEPOLL_FEATURE_NEW;
	dep_interface_for_each(iface)
		bits |= iface->features;
	if (dep_access_by_fadvise())
		bits |= DEVEPOLL_FEATURE_FADVISE;
	return bits;
}

/**
 * dep_features_ioctl() - DEVEPOLL_FEATURES
 * @cmd: the request, whose size is the room that the program has
 * @arg: its argument
 *
 * So a program can query instead of try.
 *
 * Context: process; sleeps.
 * Return: 0;
 * -EFAULT: the argument can't be written to;
 * -ENOTTY: no such request.
 */
long dep_features_ioctl(unsigned int cmd, unsigned long arg)
{
	const struct devepoll_features features = {
		.abi = DEVEPOLL_ABI,
		.max_fds = dep_max_fds,
		.features = features_now(),
		.max_fd = DEP_MAX_FD,
		.max_changes = DEVEPOLL_MAX_CHANGES,
		.max_events = DEVEPOLL_MAX_EVENTS,
		.max_map_pages = DEP_AREA_PAGES_MOST,
		.max_nested = DEP_NEST_MOST,
		.max_per_file = DEP_ITEMS_PER_FILE,
	};
	void __user *to = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	if (!dep_request_is(cmd, DEVEPOLL_FEATURES) || !size)
		return -ENOTTY;
	return copy_struct_to_user(to, size, &features, sizeof(features), NULL);
}
