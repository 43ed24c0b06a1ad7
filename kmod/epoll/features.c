// SPDX-License-Identifier: GPL-2.0
/*
 * What this module supports on this kernel, and its limits, so that a program
 * can query instead of try.
 */
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/face.h"
#include "core/instance.h"
#include "core/limits.h"
#include "epoll/access.h"
#include "epoll/handlers.h"
#include "epoll/request.h"

static_assert(sizeof(struct devepoll_features) == 40);
static_assert(offsetof(struct devepoll_features, features) == 8);
static_assert(DEVEPOLL_FEATURES == 0x80285014);

static u64 features_now(void)
{
	u64 bits = DEVEPOLL_FEATURE_REOPEN | DEVEPOLL_FEATURE_TAKE |
		   DEVEPOLL_FEATURE_SPIN | DEVEPOLL_FEATURE_CHANGE |
		   DEVEPOLL_FEATURE_NEW;
	struct dep_face *face;

	dep_face_for_each(face)
		bits |= face->features;
	if (dep_access_by_fadvise())
		bits |= DEVEPOLL_FEATURE_FADVISE;
	if (IS_ENABLED(CONFIG_NET_RX_BUSY_POLL))
		bits |= DEVEPOLL_FEATURE_BUSY_POLL;
	return bits;
}

/**
 * dep_features_ioctl() - DEVEPOLL_FEATURES
 * @cmd: the request; its size is the room that the program has
 * @arg: the argument's address
 *
 * Context: process; sleeps.
 * Return: 0;
 * -EFAULT: the argument can't be written;
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
