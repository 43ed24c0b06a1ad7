// SPDX-License-Identifier: GPL-2.0
/*
 * The interface of looking before sleeping: DEVEPOLL_SPIN, and the parameters
 * of busy polling that epoll's files have.  Neither decides which interface a
 * set belongs to.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/interface.h"
#include "epoll/request.h"
#include "spin/spin.h"

/* The dep_spin of a set, or NULL. */
static struct dep_spin *spin_of(const struct dep_instance *inst)
{
	/* Pairs with spin_make(). */
	struct dep_look *look = smp_load_acquire(&inst->look);

	return look ? container_of(look, struct dep_spin, look) : NULL;
}

/* The same, made if there is none; NULL only without memory. */
static struct dep_spin *spin_make(struct dep_instance *inst)
{
	struct dep_spin *spin = spin_of(inst);

	if (spin)
		return spin;
	spin = kzalloc(sizeof(*spin), GFP_KERNEL_ACCOUNT);
	if (!spin)
		return NULL;
	spin->look.look = dep_spin_look;
	/* A full barrier; the loads pair with it. */
	if (!cmpxchg(&inst->look, NULL, &spin->look))
		return spin;
	/* Another thread was first. */
	kfree(spin);
	return spin_of(inst);
}

static void spin_free(struct dep_instance *inst)
{
	kfree(spin_of(inst));
}

static_assert(sizeof(struct epoll_params) == 8);
static_assert(EPIOCSPARAMS == 0x40088A01);
static_assert(EPIOCGPARAMS == 0x80088A02);

static long busy_params_set(struct dep_instance *inst, const void __user *arg)
{
	struct epoll_params params;
	struct dep_spin *spin;
	bool zero;

	if (copy_from_user(&params, arg, sizeof(params)))
		return -EFAULT;
	if (params.__pad || params.busy_poll_usecs > S32_MAX ||
	    params.prefer_busy_poll > 1)
		return -EINVAL;
	if (params.busy_poll_budget > NAPI_POLL_WEIGHT &&
	    !capable(CAP_NET_ADMIN))
		return -EPERM;
	/* A set without a dep_spin has zeros already. */
	zero = !memchr_inv(&params, 0, sizeof(params));
	spin = zero ? spin_of(inst) : spin_make(inst);
	if (!spin)
		return zero ? 0 : -ENOMEM;
	WRITE_ONCE(spin->busy.budget, params.busy_poll_budget);
	WRITE_ONCE(spin->busy.prefer, params.prefer_busy_poll);
	WRITE_ONCE(spin->busy.usecs, params.busy_poll_usecs);
	return 0;
}

static long busy_params_get(const struct dep_instance *inst, void __user *arg)
{
	const struct dep_spin *spin = spin_of(inst);
	struct epoll_params params = {};

	if (spin) {
		params.busy_poll_usecs = READ_ONCE(spin->busy.usecs);
		params.busy_poll_budget = READ_ONCE(spin->busy.budget);
		params.prefer_busy_poll = READ_ONCE(spin->busy.prefer);
	}
	return copy_to_user(arg, &params, sizeof(params)) ? -EFAULT : 0;
}

static_assert(sizeof(struct devepoll_spin) == 32);
static_assert(DEVEPOLL_SPIN == 0xC020501E);

static int spin_set(struct file *file, s32 usecs)
{
	struct dep_spin *spin;

	if (usecs > DEVEPOLL_SPIN_MAX || usecs < DEVEPOLL_SPIN_ASK)
		return -EINVAL;
	if (usecs == DEVEPOLL_SPIN_ASK)
		return 0;
	/* The setting affects the waits of every open. */
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	spin = usecs ? spin_make(file->private_data) :
		       spin_of(file->private_data);
	if (spin)
		WRITE_ONCE(spin->usecs, usecs);
	return spin || !usecs ? 0 : -ENOMEM;
}

static void spin_get(const struct dep_instance *inst,
		     struct devepoll_spin *args)
{
	const struct dep_spin *spin = spin_of(inst);

	*args = (struct devepoll_spin) {};
	if (!spin)
		return;
	args->usecs = READ_ONCE(spin->usecs);
	args->looks = READ_ONCE(spin->looks);
	args->hits = READ_ONCE(spin->hits);
	args->ns = READ_ONCE(spin->ns);
}

/*
 * DEVEPOLL_SPIN: for how long a wait looks for an event before it sleeps, and
 * what that has brought.
 */
static long spin_request(struct file *file, void __user *user, size_t size)
{
	struct devepoll_spin args;
	int err;

	if (size < sizeof(args))
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

/*
 * The parameters of busy polling have the numbers, the struct and the errors of
 * epoll's files since Linux 6.9: -EFAULT if the argument can't be read or
 * written; -EINVAL if a member that has no meaning is not 0, or a value is out
 * of range; -EPERM if more packets at once than NAPI_POLL_WEIGHT are asked for
 * without CAP_NET_ADMIN.  Beyond epoll's: -ENOMEM without memory for them.
 */
static long spin_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	if (dep_request_is(cmd, DEVEPOLL_SPIN))
		return spin_request(file, user, _IOC_SIZE(cmd));
	if (!IS_ENABLED(CONFIG_NET_RX_BUSY_POLL))
		return -ENOTTY;
	switch (cmd) {
	case EPIOCSPARAMS:
		return busy_params_set(file->private_data, user);
	case EPIOCGPARAMS:
		return busy_params_get(file->private_data, user);
	}
	return -ENOTTY;
}

static fmode_t spin_mode(unsigned int cmd)
{
	if (cmd == EPIOCSPARAMS)
		return FMODE_WRITE;
	/* spin_set() checks for write access where it changes something. */
	return cmd == EPIOCGPARAMS || dep_request_is(cmd, DEVEPOLL_SPIN) ?
		       FMODE_READ : 0;
}

DEP_INTERFACE_TABLE(spin) = {
	.name = "spin",
	.features = DEVEPOLL_FEATURE_SPIN |
		    (IS_ENABLED(CONFIG_NET_RX_BUSY_POLL) ?
			     DEVEPOLL_FEATURE_BUSY_POLL : 0),
	.mode = spin_mode,
	.ioctl = spin_ioctl,
	.free = spin_free,
};
