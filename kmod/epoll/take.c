// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_TAKE: a wait whose events go to the memory that the program has
 * mapped (set/area.c).
 */
#include <linux/errno.h>
#include <linux/fs.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/interface.h"
#include "epoll/bind.h"
#include "epoll/take.h"
#include "fast/fast.h"
#include "set/area.h"
#include "set/results.h"
#include "set/waiting.h"

static_assert(DEVEPOLL_TAKE == 0x5024);

static __always_inline int take_settled(struct dep_instance *inst,
					struct devepoll_event *to, u32 max,
					int timeout_ms)
{
	struct dep_results results = {
		.kernel = to,
		.layout = DEP_LAYOUT_EVENT,
		.max = max,
	};

	return DEP_HAS_FAST ? dep_fast_take(inst, to, max, timeout_ms) :
			      dep_collect_ms(&results, inst, timeout_ms);
}

/* The first use of a set, or fds report their close. */
static noinline int take_unsettled(struct dep_instance *inst,
				   struct devepoll_event *to, u32 max,
				   int timeout_ms)
{
	int err = dep_bind_for_wait(inst);

	return err ?: take_settled(inst, to, max, timeout_ms);
}

/**
 * dep_take_events() - DEVEPOLL_TAKE
 * @file: the set
 * @offset: where the events go in the mapping, in bytes
 * @length: a value of DEVEPOLL_EPOLL_WAIT_LEN()
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h.
 */
int dep_take_events(struct file *file, u64 offset, u64 length)
{
	struct dep_instance *inst = file->private_data;
	u32 max = length >> 32;
	struct devepoll_event *to;

	if (unlikely(!(file->f_mode & FMODE_READ)))
		return -EBADF;
	if (unlikely(!max || max > DEVEPOLL_MAX_EVENTS))
		return -EINVAL;
	to = dep_area_find(inst, offset, max);
	if (unlikely(!to))
		return -EINVAL;
	if (unlikely(!dep_bind_is_plain(inst)))
		return take_unsettled(inst, to, max, (int)length);
	return take_settled(inst, to, max, (int)length);
}
