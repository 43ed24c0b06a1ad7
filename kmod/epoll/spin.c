// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_SPIN: for how long a wait looks for an event before it sleeps, and
 * what that has brought.
 */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "epoll/handlers.h"
#include "epoll/request.h"
#include "set/spin.h"

static_assert(sizeof(struct devepoll_spin) == 32);
static_assert(DEVEPOLL_SPIN == 0xC020501E);

static int spin_set(struct file *file, s32 usecs)
{
	if (usecs > DEVEPOLL_SPIN_MAX || usecs < DEVEPOLL_SPIN_ASK)
		return -EINVAL;
	if (usecs == DEVEPOLL_SPIN_ASK)
		return 0;
	/* The setting affects the waits of every open. */
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	return dep_spin_set(file->private_data, usecs);
}

static void spin_get(const struct dep_instance *inst,
		     struct devepoll_spin *args)
{
	/* Pairs with dep_spin_set(); once it is there, it stays. */
	const struct dep_spin *spin = smp_load_acquire(&inst->spin);

	*args = (struct devepoll_spin) {};
	if (!spin)
		return;
	args->usecs = READ_ONCE(spin->usecs);
	args->looks = READ_ONCE(spin->looks);
	args->hits = READ_ONCE(spin->hits);
	args->ns = READ_ONCE(spin->ns);
}

/**
 * dep_spin_ioctl() - DEVEPOLL_SPIN
 * @file: the set
 * @cmd: the request; its size is the argument's size as the program knows it
 * @arg: the argument's address
 *
 * It does not decide which interface a set belongs to.
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h;
 * -ENOTTY: no such request.
 */
long dep_spin_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);
	struct devepoll_spin args;
	int err;

	if (!dep_request_is(cmd, DEVEPOLL_SPIN) || size < sizeof(args))
		return -ENOTTY;
	err = dep_words_from_user((u64 *)&args, sizeof(args), user, size);
	if (err)
		return err;
	if (args.reserved)
		return -EINVAL;
	err = spin_set(file, args.usecs);
	if (err)
		return err;
	spin_get(file->private_data, &args);
	return copy_struct_to_user(user, size, &args, sizeof(args), NULL);
}
