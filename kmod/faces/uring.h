/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests of the extended interface as io_uring commands.  Kbuild takes
 * uring_wait.c if the kernel can cancel commands, or else uring_inline.c; and
 * uring_shot.c if it has multishot commands.
 */
#ifndef DEVEPOLL_URING_H
#define DEVEPOLL_URING_H

#include <linux/hrtimer.h>

#include "core/instance.h"
#include "core/waiter.h"
#include "faces/extended.h"

struct io_uring_cmd;

/**
 * struct dep_uring_wait - a wait that is an io_uring command
 * @waiter: its place in the instance's list
 * @timer: the timeout; runs if @timed
 * @cmd: const: the command
 * @inst: const: the set
 * @wait: the call, continued each time
 * @timed: const: there is a timeout
 * @multishot: const: continues after events, which go to buffers of the ring
 * @expired: L: the timeout has passed
 * @cancelled: L: the ring is being closed
 * @group: const: the group of buffers
 * @max: const: the most events of one buffer
 * @bytes: bytes that the last completion reports, if it has a buffer
 * @cflags: its flags, with the buffer's number
 */
struct dep_uring_wait {
	struct dep_waiter waiter;
	struct hrtimer timer;
	struct io_uring_cmd *cmd;
	struct dep_instance *inst;
	struct dep_wait_call wait;
	bool timed;
	bool multishot;
	bool expired;
	bool cancelled;
	u16 group;
	u32 max;
	u32 bytes;
	u32 cflags;
};

int dep_uring_cmd(struct io_uring_cmd *cmd, unsigned int flags);
int dep_uring_wait(struct dep_instance *inst, struct io_uring_cmd *cmd,
		   unsigned int flags);
int dep_uring_cancel(struct io_uring_cmd *cmd, unsigned int flags);
int dep_uring_take(struct dep_uring_wait *wait);

#ifdef DEP_HAVE_URING_MULTISHOT
int dep_uring_shoot(struct dep_uring_wait *wait, unsigned int flags);
#else
static inline int dep_uring_shoot(struct dep_uring_wait *wait,
				  unsigned int flags)
{
	return -EOPNOTSUPP;
}
#endif

#endif /* DEVEPOLL_URING_H */
