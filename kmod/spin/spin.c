// SPDX-License-Identifier: GPL-2.0
/*
 * Looking before sleeping: a call that finds nothing spins on its processor for
 * the time that the program has set, until it is woken.  It is a waiter in the
 * queue like any sleeper.  Because it is still running, waking it needs neither
 * an interrupt of another processor nor a switch of tasks.
 *
 * Only a call that waits alone looks: an event wakes the one that has waited
 * longest, so any later one would spin while the events go to others.  After n
 * looks in a row that timed out, the next 2^n - 1 calls sleep at once; a look
 * that a wake-up ends resets n.
 *
 * The interface is DEVEPOLL_SPIN, and the parameters of busy polling that
 * epoll's files have.  Neither decides which interface a set belongs to.
 */
#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/netdevice.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/interface.h"
#include "core/limits.h"
#include "epoll/request.h"
#include "spin/spin.h"

/* The bit of dep_spin.flags. */
#define SPIN_LOOKS	0

/* Is the caller, which is queued, the only waiter?  A hint. */
static bool spin_is_alone(const struct dep_instance *inst)
{
	return READ_ONCE(inst->nr_waiters) <= 1;
}

/*
 * Spins until the caller is woken, has a signal, or has to leave the processor
 * to another task; false if @until came first.
 */
static bool spin_until(const struct dep_waiter *waiter, ktime_t until, u64 *ns)
{
	ktime_t begin = ktime_get(), now = begin;
	bool early;

	/* The scheduler alone would leave another task waiting for a while. */
	while ((early = ktime_before(now, until)) &&
	       !dep_spin_was_woken(waiter) &&
	       single_task_running() && !need_resched() &&
	       !signal_pending(current)) {
		cpu_relax();
		now = ktime_get();
	}
	*ns = ktime_to_ns(ktime_sub(now, begin));
	return early;
}

/* Under the bit; @over: the look lasted until its time was up. */
static void spin_account(struct dep_spin *spin, bool hit, bool over, u64 ns)
{
	WRITE_ONCE(spin->looks, spin->looks + 1);
	WRITE_ONCE(spin->hits, spin->hits + hit);
	WRITE_ONCE(spin->ns, spin->ns + ns);
	if (hit) {
		spin->misses = 0;
	} else if (over) {
		if (spin->misses < DEP_SPIN_MISSES)
			spin->misses++;
		spin->rest = (1U << spin->misses) - 1;
	}
}

/* Under the bit: should this call look, after the misses so far? */
static bool spin_may_pay(struct dep_spin *spin, u32 usecs)
{
	if (spin->seen != usecs) {
		spin->seen = usecs;
		spin->misses = 0;
		spin->rest = 0;
	}
	if (!spin->rest)
		return true;
	spin->rest--;
	return false;
}

/* Looks without polling a device, for the time that DEVEPOLL_SPIN has set. */
static void spin_look(const struct dep_instance *inst, struct dep_spin *spin,
		      const struct dep_waiter *waiter, ktime_t until)
{
	u32 usecs = READ_ONCE(spin->usecs);
	bool over;
	u64 ns;

	if (!usecs || !spin_is_alone(inst) ||
	    test_and_set_bit_lock(SPIN_LOOKS, &spin->flags))
		return;
	if (spin_may_pay(spin, usecs)) {
		until = min(until, ktime_add_us(ktime_get(), usecs));
		over = !spin_until(waiter, until, &ns);
		spin_account(spin, dep_spin_was_woken(waiter), over, ns);
	}
	clear_bit_unlock(SPIN_LOOKS, &spin->flags);
}

/*
 * dep_look.look of a set.  Polls the network device where the program wants
 * that and a device feeds a socket of the set; otherwise another task that
 * wants the processor ends it, too.
 */
static void spin_or_poll(struct dep_instance *inst, struct dep_look *look,
		       const struct dep_waiter *waiter, ktime_t until)
{
	struct dep_spin *spin = container_of(look, struct dep_spin, look);

	if (!dep_busy_is_on(&spin->busy) ||
	    !dep_busy_poll(inst, &spin->busy, waiter, until))
		spin_look(inst, spin, waiter, until);
}

/* That of a set which has none. */
static const struct dep_spin spin_none;

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
	spin->look.look = spin_or_poll;
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

static_assert(EPIOCSPARAMS == 0x40088A01);
static_assert(EPIOCGPARAMS == 0x80088A02);

/*
 * The parameters of busy polling have the numbers, the struct and the errors of
 * epoll's files since Linux 6.9: -EFAULT if the argument can't be read or
 * written; -EINVAL if a member that has no meaning is not 0, or a value is out
 * of range; -EPERM if more packets at once than NAPI_POLL_WEIGHT are asked for
 * without CAP_NET_ADMIN.  Beyond epoll's: -ENOMEM without memory for them.
 */
static long busy_params_set(struct file *file, unsigned int cmd,
			    void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	struct epoll_params params;
	struct dep_spin *spin;
	bool zero;

	if (!IS_ENABLED(CONFIG_NET_RX_BUSY_POLL))
		return -ENOTTY;
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

static long busy_params_get(struct file *file, unsigned int cmd,
			    void __user *arg)
{
	const struct dep_spin *spin = spin_of(file->private_data) ?: &spin_none;
	const struct epoll_params params = {
		.busy_poll_usecs = READ_ONCE(spin->busy.usecs),
		.busy_poll_budget = READ_ONCE(spin->busy.budget),
		.prefer_busy_poll = READ_ONCE(spin->busy.prefer),
	};

	if (!IS_ENABLED(CONFIG_NET_RX_BUSY_POLL))
		return -ENOTTY;
	return copy_to_user(arg, &params, sizeof(params)) ? -EFAULT : 0;
}

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

/*
 * DEVEPOLL_SPIN: for how long a wait looks for an event before it sleeps, and
 * what that has brought.
 */
static long spin_request(struct file *file, unsigned int cmd, void __user *arg)
{
	const struct dep_spin *spin;
	struct devepoll_spin args;
	int err;

	err = dep_words_from_user((u64 *)&args, sizeof(args), arg,
				  _IOC_SIZE(cmd));
	if (err)
		return err;
	if (args.reserved)
		return -EINVAL;
	err = spin_set(file, args.usecs);
	if (err)
		return err;
	spin = spin_of(file->private_data) ?: &spin_none;
	args = (struct devepoll_spin) {
		.usecs = READ_ONCE(spin->usecs),
		.looks = READ_ONCE(spin->looks),
		.hits = READ_ONCE(spin->hits),
		.ns = READ_ONCE(spin->ns),
	};
	return copy_struct_to_user(arg, _IOC_SIZE(cmd), &args, sizeof(args),
				   NULL);
}

static const struct dep_request spin_requests[] = {
	/* spin_set() checks for write access where it changes something. */
	{ DEVEPOLL_SPIN, true, FMODE_READ, spin_request },
	{ EPIOCSPARAMS, false, FMODE_WRITE, busy_params_set },
	{ EPIOCGPARAMS, false, FMODE_READ, busy_params_get },
	{ },
};

DEP_INTERFACE_TABLE(spin) = {
	.name = "spin",
	.features = DEVEPOLL_FEATURE_SPIN |
		    (IS_ENABLED(CONFIG_NET_RX_BUSY_POLL) ?
			     DEVEPOLL_FEATURE_BUSY_POLL : 0),
	.requests = spin_requests,
	.free = spin_free,
};
