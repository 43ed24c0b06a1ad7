/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels in the commands of an io_uring; read
 * core/compat.h first.
 */
#ifndef DEVEPOLL_URING_COMPAT_H
#define DEVEPOLL_URING_COMPAT_H

#ifdef DEP_HAVE_URING_CANCEL
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#include <linux/devepoll.h>

/* by 6.12: a command's bytes are in its entry; since 6.19: with a type */
static inline const __u64 *dep_uring_words(const struct io_uring_cmd *cmd)
{
#if defined(io_uring_sqe_cmd)
	return io_uring_sqe_cmd(cmd->sqe, __u64);
#elif defined(DEP_HAVE_URING_CANCEL)
	return io_uring_sqe_cmd(cmd->sqe);
#else
	return cmd->cmd;
#endif
}

static inline unsigned long dep_uring_arg(const struct io_uring_cmd *cmd)
{
	return READ_ONCE(*dep_uring_words(cmd));
}

/* Behind it, in a wait: see struct devepoll_command. */
static inline __u64 dep_uring_cookie(const struct io_uring_cmd *cmd)
{
	return READ_ONCE(dep_uring_words(cmd)[1]);
}

/* the same for a command that holds its argument itself */
static inline const struct devepoll_event *
dep_uring_event(const struct io_uring_cmd *cmd)
{
	return (const void *)dep_uring_words(cmd);
}

/* by 6.12: a mask of the flags that a program may set */
#ifndef IORING_URING_CMD_MASK
#define IORING_URING_CMD_MASK IORING_URING_CMD_FIXED
#endif

/* since 6.18: no second result */
static inline void dep_uring_done(struct io_uring_cmd *cmd, int ret,
				  unsigned int flags)
{
#ifdef DEP_HAVE_URING_DONE32
	io_uring_cmd_done(cmd, ret, flags);
#else
	io_uring_cmd_done(cmd, ret, 0, flags);
#endif
}

/* since 6.19: task work of a ring gets the request */
#if defined(DEP_HAVE_URING_TW_REQ)
#define DEP_URING_WORK(name, function)					\
static void name(struct io_tw_req tw_req, io_tw_token_t tw)		\
{									\
	function(io_uring_cmd_from_tw(tw_req),				\
		 IO_URING_CMD_TASK_WORK_ISSUE_FLAGS, tw.cancel);	\
}
#elif defined(DEP_HAVE_URING_CANCEL)
#define DEP_URING_WORK(name, function)					\
static void name(struct io_uring_cmd *cmd, unsigned int flags)		\
{									\
	function(cmd, flags, flags & IO_URING_F_TASK_DEAD);		\
}
#endif

/* since 6.7: a ring that is closed cancels its commands */
#define DEP_URING_CAN_CANCEL	__is_defined(DEP_HAVE_URING_CANCEL)
#ifndef DEP_HAVE_URING_CANCEL
#define IO_URING_F_CANCEL 0
#endif

static inline bool dep_uring_is_multishot(const struct io_uring_cmd *cmd)
{
#ifdef DEP_HAVE_URING_MULTISHOT
	return cmd->flags & IORING_URING_CMD_MULTISHOT;
#else
	return false;
#endif
}

/* Sets the buffer that a completion reports, while it is not flushed yet. */
static inline void dep_uring_set_cflags(struct io_uring_cmd *cmd, u32 cflags)
{
#ifdef DEP_HAVE_URING_MULTISHOT
	cmd_to_io_kiocb(cmd)->cqe.flags = cflags;
#endif
}

static inline u16 dep_uring_group(const struct io_uring_cmd *cmd)
{
#ifdef DEP_HAVE_URING_MULTISHOT
	return READ_ONCE(cmd->sqe->buf_index);
#else
	return 0;
#endif
}

/*
 * by 6.12: the entry can be seen.  Fields of a command that the kernel itself
 * reads or refuses are not checked here.
 */
static inline bool dep_uring_says_more(const struct io_uring_cmd *cmd)
{
#ifdef DEP_HAVE_URING_CANCEL
	const struct io_uring_sqe *sqe = cmd->sqe;

	return READ_ONCE(sqe->addr) || READ_ONCE(sqe->len) ||
	       READ_ONCE(sqe->splice_fd_in) ||
	       (!dep_uring_is_multishot(cmd) && READ_ONCE(sqe->buf_index));
#else
	return false;
#endif
}

#endif /* DEVEPOLL_URING_COMPAT_H */
