/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests whose arguments may have another size in another version.
 */
#ifndef DEVEPOLL_REQUEST_H
#define DEVEPOLL_REQUEST_H

#include <linux/ioctl.h>
#include <linux/uaccess.h>

/**
 * dep_request_is() - is this the request, whatever the size of its argument?
 * @cmd: what the program passed
 * @request: the request, whose argument may have another size elsewhere
 *
 * Return: true if all but the size is the same.
 */
static inline bool dep_request_is(unsigned int cmd, unsigned int request)
{
	return !((cmd ^ request) & ~IOCSIZE_MASK);
}

/**
 * dep_words_from_user() - read a struct of 64-bit words
 * @to: the struct as we know it
 * @size: its size, bytes
 * @from: its address
 * @from_size: its size as the program knows it
 *
 * The two sizes are nearly always the same, and for so few words single reads
 * are faster than a copy.
 *
 * Return: 0;
 * -E2BIG: the program sets fields that this kernel does not know;
 * -EFAULT: it can't be read.
 */
static __always_inline int dep_words_from_user(u64 *to, size_t size,
					       const void __user *from,
					       size_t from_size)
{
	const u64 __user *word = from;
	size_t i;

	if (unlikely(size != from_size))
		return copy_struct_from_user(to, size, from, from_size);
	might_fault();
	if (!user_read_access_begin(from, size))
		return -EFAULT;
	for (i = 0; i < size / sizeof(u64); i++)
		unsafe_get_user(to[i], &word[i], efault);
	user_read_access_end();
	return 0;

efault:
	user_read_access_end();
	return -EFAULT;
}

#endif /* DEVEPOLL_REQUEST_H */
