/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels.  The code is written for the newest kernel,
 * and here older ones get its names.  "By 6.12" is for what 6.1 lacks and 6.12
 * has, where it is not known which kernel between the two was the first.
 * uring/compat.h and signal/compat.h have what only these interfaces need.
 */
#ifndef DEVEPOLL_COMPAT_H
#define DEVEPOLL_COMPAT_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <uapi/linux/eventpoll.h>

#include <linux/devepoll.h>

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

/* since 6.18: multishot commands, with buffers of the ring */
#define DEP_URING_CAN_SHOOT						\
	(IS_ENABLED(CONFIG_IO_URING) && __is_defined(DEP_HAVE_URING_MULTISHOT))

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
