/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between kernels.  The code is written for the newest kernel,
 * and here older ones get its names.  "By 6.12" is for what 6.1 lacks and 6.12
 * has, where it is not known which kernel between the two was the first.
 */
#ifndef DEVEPOLL_COMPAT_H
#define DEVEPOLL_COMPAT_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#ifdef DEP_HAVE_URING_CANCEL
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/signal_types.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <uapi/linux/eventpoll.h>
#ifdef DEP_HAVE_SIGQUEUE_REF
#include <linux/posix-timers.h>
#endif

#include <linux/devepoll.h>

/* Without it nothing drops the queue's reference on a siginfo of ours. */
#if defined(DEP_HAVE_SIGQUEUE_REF) && !defined(CONFIG_POSIX_TIMERS)
#error "devepoll needs CONFIG_POSIX_TIMERS"
#endif

/*
 * since 6.2; before, the trampoline saves the arguments in a bare pt_regs.
 * Some architectures have a function of this name.
 */
#ifndef DEP_HAVE_FTRACE_ARGUMENT
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#define ftrace_regs_set_instruction_pointer(fregs, ip) \
	ftrace_instruction_pointer_set(fregs, ip)
#endif

/*
 * Since 6.2, the trampoline of arm64 saves the arguments, too; before, it saves
 * all registers for those that ask.
 */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#define DEP_FTRACE_WITH_ARGUMENTS	0
#else
#define DEP_FTRACE_WITH_ARGUMENTS	FTRACE_OPS_FL_SAVE_REGS
#endif

/* with tools/intree: a hook of the kernel's own sees files that carry a mark */
#ifdef CONFIG_DEVEPOLL_RELEASE
#include <linux/devepoll_release.h>
#define dep_release_mark devepoll_mark
#else
static inline void dep_release_mark(struct file *file) { }
#endif

/*
 * since 6.14: the end of a pipe that is written to is woken when a page has
 * become free; before, when a part of a page has been read from a full pipe
 */
#ifdef DEP_HAVE_PIPE_INDEX
#define DEP_PIPE_WRITERS_KNOW	true
#else
#define DEP_PIPE_WRITERS_KNOW	false
#endif

/* by 6.12: a stack variable that the compiler does not clear */
#ifndef __uninitialized
#define __uninitialized
#endif

/* since 6.17: names for a queue without WQ_UNBOUND, and its flag */
#ifndef DEP_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#define system_percpu_wq system_wq
#endif

/* by 6.12: an accessor for the member */
#ifndef fd_file
#define fd_file(f) ((f).file)
#endif

/* since 6.3: vm_flags is written through helpers that check its lock */
#ifndef DEP_HAVE_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				vm_flags_t clear)
{
	lockdep_assert_held_write(&vma->vm_mm->mmap_lock);
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* since 6.13: for a struct that grows from version to version */
#ifndef DEP_HAVE_COPY_STRUCT_TO_USER
static inline __must_check int
copy_struct_to_user(void __user *dst, size_t usize, const void *src,
		    size_t ksize, bool *ignored_trailing)
{
	size_t known = min(usize, ksize);

	WARN_ON_ONCE(ignored_trailing);
	if (clear_user(dst + known, usize - known) ||
	    copy_to_user(dst, src, known))
		return -EFAULT;
	return 0;
}
#endif

/*
 * since 6.13: f_ref instead of f_count.  dep_file_get() takes a reference
 * unless the last one has gone already.  The caller makes sure that the struct
 * file can't be freed meanwhile.
 */
#ifdef DEP_HAVE_FILE_REF
static inline bool dep_file_get(struct file *file)
{
	return file_ref_get(&file->f_ref);
}

/* Drops a reference; false, and nothing dropped, if it is the last one. */
static inline bool dep_file_put_not_last(struct file *file)
{
	atomic64_t *count = &file->f_ref.refcnt;
	s64 old = atomic64_read(count);

	do {
		/* The counter of a single reference is 0. */
		if (unlikely(old <= (s64)FILE_REF_ONEREF))
			return false;
	} while (!atomic64_try_cmpxchg_release(count, &old, old - 1));
	return true;
}
#else
static inline bool dep_file_get(struct file *file)
{
	return atomic_long_inc_not_zero(&file->f_count);
}

/* Drops a reference; false, and nothing dropped, if it is the last one. */
static inline bool dep_file_put_not_last(struct file *file)
{
	return atomic_long_add_unless(&file->f_count, -1, 1);
}
#endif

/* since 6.6: __fput_sync() is for every task; close(2) calls it */
#define DEP_FPUT_AT_ONCE (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0))

/* since 6.13: one call sets up a timer */
#ifdef DEP_HAVE_HRTIMER_SETUP
#define dep_hrtimer_setup hrtimer_setup
#else
static inline void
dep_hrtimer_setup(struct hrtimer *timer,
		  enum hrtimer_restart (*function)(struct hrtimer *),
		  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

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

/* since 6.18: multishot commands, with buffers of the ring */
#define DEP_URING_CAN_SHOOT						\
	(IS_ENABLED(CONFIG_IO_URING) && __is_defined(DEP_HAVE_URING_MULTISHOT))

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

/*
 * An entry in a queue of signals that, like those of POSIX timers, is not freed
 * by the kernel.  Since 6.13 the queue has a reference on it, which lies where
 * struct k_itimer has it, and on 7.2 and 7.3 an exiting thread empties its
 * queue with no lock held.  Up to 6.12 the entry is just unlinked, with siglock
 * held or interrupts off.
 */
#ifdef DEP_HAVE_SIGQUEUE_REF
#define DEP_SIGQUEUE_IS_COUNTED true
struct dep_sigqueue {
	struct sigqueue queue;
	rcuref_t refs;
};

static_assert(offsetof(struct dep_sigqueue, refs) -
	      offsetof(struct dep_sigqueue, queue) ==
	      offsetof(struct k_itimer, rcuref) -
	      offsetof(struct k_itimer, sigq));

static inline void dep_sigqueue_init_refs(struct dep_sigqueue *entry)
{
	rcuref_init(&entry->refs, 1);
}

/* Called when we put the entry into a queue. */
static inline void dep_sigqueue_enter(struct dep_sigqueue *entry)
{
	WARN_ON_ONCE(!rcuref_get(&entry->refs));
}

/* Called when we take the entry off, instead of the kernel. */
static inline void dep_sigqueue_leave(struct dep_sigqueue *entry)
{
	/* The first reference is always ours, so the kernel frees nothing. */
	WARN_ON_ONCE(rcuref_put(&entry->refs));
}

/* Has every queue let it go?  The caller puts it into none any more. */
static inline bool dep_sigqueue_is_free(struct dep_sigqueue *entry)
{
	if (rcuref_read(&entry->refs) != 1)
		return false;
	/* Pairs with the release in rcuref_put(). */
	smp_acquire__after_ctrl_dep();
	return true;
}
#else
#define DEP_SIGQUEUE_IS_COUNTED false
struct dep_sigqueue {
	struct sigqueue queue;
};

static inline void dep_sigqueue_init_refs(struct dep_sigqueue *entry) { }
static inline void dep_sigqueue_enter(struct dep_sigqueue *entry) { }
static inline void dep_sigqueue_leave(struct dep_sigqueue *entry) { }

static inline bool dep_sigqueue_is_free(struct dep_sigqueue *entry)
{
	return true;
}
#endif

static inline void dep_sigqueue_init(struct dep_sigqueue *entry)
{
	INIT_LIST_HEAD(&entry->queue.list);
	entry->queue.flags = SIGQUEUE_PREALLOC;
	entry->queue.ucounts = NULL;
	dep_sigqueue_init_refs(entry);
}

/* Has the task made an io_uring, whose commands may poll files at any moment? */
static inline bool dep_task_has_uring(void)
{
#ifdef CONFIG_IO_URING
	return current->io_uring;
#else
	return false;
#endif
}

/* since 6.9: the parameters of busy polling, and another error without them */
#ifdef EPIOCSPARAMS
#define DEP_EPOLL_NO_IOCTL	EINVAL
#else
#define DEP_EPOLL_NO_IOCTL	ENOTTY

struct epoll_params {
	__u32 busy_poll_usecs;
	__u16 busy_poll_budget;
	__u8 prefer_busy_poll;
	__u8 __pad;
};

#define EPIOCSPARAMS _IOW(0x8A, 0x01, struct epoll_params)
#define EPIOCGPARAMS _IOR(0x8A, 0x02, struct epoll_params)
#endif

/* In words, for modinfo and the log. */
#if !defined(CONFIG_IO_URING)
#define DEP_KERNEL_LACKS	"io_uring"
#elif !defined(DEP_HAVE_URING_CANCEL)
#define DEP_KERNEL_LACKS	"io_uring commands that stay pending or are multishot"
#elif !defined(DEP_HAVE_URING_MULTISHOT)
#define DEP_KERNEL_LACKS	"multishot io_uring commands"
#else
#define DEP_KERNEL_LACKS	"nothing"
#endif

/* The newest kernel that all tests have run on: Documentation/kernels.rst. */
#ifndef DEP_TESTED_MAJOR
#define DEP_TESTED_MAJOR 7
#endif
#define DEP_TESTED_MINOR 3

/* Newer in its first two numbers; the third does not count. */
#define DEP_KERNEL_IS_UNTESTED						\
	(LINUX_VERSION_CODE >= KERNEL_VERSION(DEP_TESTED_MAJOR,		\
					      DEP_TESTED_MINOR + 1, 0))

/* The build for tests: see Kbuild. */
#define DEP_NO_RELEASE_HOOK	__is_defined(DEP_TEST_NO_RELEASE_HOOK)

#endif /* DEVEPOLL_COMPAT_H */
