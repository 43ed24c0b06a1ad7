/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels: code is written for the newest, and
 * the older ones get its names here.
 */
#ifndef DEVEPOLL_COMPAT_H
#define DEVEPOLL_COMPAT_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>

/* The release hook may run with preemption off, where its locks would sleep. */
#ifdef CONFIG_PREEMPT_RT
#error "devepoll does not work on PREEMPT_RT"
#endif

/* since 6.2: before, the trampoline saves the arguments in a bare pt_regs */
#ifndef ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/* since 6.10: an accessor in front of the member */
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

/*
 * since 6.13: f_ref instead of f_count.  Either way: a reference, unless the
 * last one is gone already.  The caller sees to it that the struct file can't
 * be freed meanwhile.
 */
#ifdef DEP_HAVE_FILE_REF
static inline bool dep_file_get(struct file *file)
{
	return file_ref_get(&file->f_ref);
}

/* Drops a reference, unless it is the last one: then false. */
static inline bool dep_file_put_not_last(struct file *file)
{
	atomic64_t *count = &file->f_ref.refcnt;
	s64 old = atomic64_read(count);

	do {
		/* One reference counts as 0; who is below that leaves to fput. */
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

/* Drops a reference, unless it is the last one: then false. */
static inline bool dep_file_put_not_last(struct file *file)
{
	return atomic_long_add_unless(&file->f_count, -1, 1);
}
#endif

/* The build of the negative control: see Kbuild. */
#ifdef DEP_TEST_NO_RELEASE_HOOK
#define dep_release_hook_off true
#else
#define dep_release_hook_off false
#endif

#endif /* DEVEPOLL_COMPAT_H */
