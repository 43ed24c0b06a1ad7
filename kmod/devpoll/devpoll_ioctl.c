// SPDX-License-Identifier: GPL-2.0
/*
 * The requests of /dev/poll: DP_POLL and its companions, in both faces and both
 * layouts.
 */
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include <linux/devpoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "devpoll/devpoll.h"
#include "devpoll/slots.h"
#include "epoll/sigmask.h"
#include "set/collect.h"
#include "set/lookup.h"
#include "set/results.h"
#include "set/waiting.h"

static_assert(sizeof(struct dvpoll) == 16);
static_assert(offsetof(struct dvpoll, dp_nfds) == 8);
static_assert(offsetof(struct dvpoll, dp_timeout) == 12);
static_assert(sizeof(struct dvpoll32) == 12);
static_assert(sizeof(struct dvpoll_solaris) == 32);
static_assert(offsetof(struct dvpoll_solaris, dp_timeout) == 16);
static_assert(offsetof(struct dvpoll_solaris, dp_setp) == 24);
static_assert(sizeof(struct dvpoll_solaris32) == 16);
static_assert(DP_ALLOC == 0x80045001);
static_assert(DP_POLL == 0xC0105002);
static_assert(DP_POLL32 == 0xC00C5002);
static_assert(DP_FREE == 0x5003);
static_assert(DP_ISPOLLED == 0xC0085004);

/**
 * struct devpoll_wait - a DP_POLL of either face and layout
 * @fds: address of the results
 * @nfds: how many results there is room for
 * @timeout_ms: how long to wait
 * @setp: address of a signal mask, or 0
 */
struct devpoll_wait {
	u64 fds;
	s64 nfds;
	int timeout_ms;
	u64 setp;
};

static long devpoll_alloc(struct dep_instance *inst, int nr)
{
	int err;

	if (nr < 1 || nr > dep_max_fds)
		return -EINVAL;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_devpoll_is_of_other(inst, DEP_DEVPOLL_LINUX) ? -EBUSY :
	      dep_slots_alloc(inst, nr);
	if (!err)
		dep_devpoll_settle(inst, DEP_DEVPOLL_LINUX);
	mutex_unlock(&inst->mtx);
	return err;
}

static long devpoll_free(struct dep_instance *inst)
{
	if (dep_devpoll_is_of_other(inst, DEP_DEVPOLL_LINUX))
		return -EBUSY;
	/* A set without a face has no buffer, and the error chooses no face. */
	return dep_slots_retire(inst);
}

/*
 * A request that would choose the face checks first that it can write its
 * results.  In a set that has its face, the write itself finds out.
 */
static bool devpoll_can_write(const struct dep_instance *inst,
			      enum dep_devpoll face, void __user *results,
			      size_t size)
{
	return READ_ONCE(inst->devpoll) == face ||
	       !fault_in_safe_writeable(results, size);
}

static long devpoll_ispolled(struct dep_instance *inst,
			     struct pollfd __user *arg, enum dep_devpoll face)
{
	struct pollfd entry;
	u16 events;
	u64 data;
	int err;

	if (dep_devpoll_is_of_other(inst, face))
		return -EBUSY;
	if (copy_from_user(&entry, arg, sizeof(entry)) ||
	    !devpoll_can_write(inst, face, arg, sizeof(entry)))
		return -EFAULT;
	err = dep_devpoll_choose(inst, face);
	if (err)
		return err;
	if (!dep_interest_query(inst, entry.fd, &events, &data))
		return 0;
	entry.events = face == DEP_DEVPOLL_LINUX ? (u16)data : 0;
	entry.revents = face == DEP_DEVPOLL_LINUX ? 0 : (u16)data;
	return copy_to_user(arg, &entry, sizeof(entry)) ? -EFAULT : 1;
}

static int devpoll_collect(struct dep_instance *inst,
			   const struct devpoll_wait *wait,
			   struct dep_results *results, enum dep_devpoll face)
{
	struct dep_waiting waiting = {
		.timeout = wait->timeout_ms < 0 ? -1 :
			   wait->timeout_ms * NSEC_PER_MSEC,
	};
	sigset_t set;
	int ret;

	if (wait->setp &&
	    copy_from_user(&set, u64_to_user_ptr(wait->setp), sizeof(set)))
		return -EFAULT;
	ret = dep_devpoll_choose(inst, face);
	if (ret)
		return ret;
	if (!wait->setp)
		return dep_collect_wait(&waiting, inst, results);
	dep_sigmask_begin(&set);
	ret = dep_collect_wait(&waiting, inst, results);
	dep_sigmask_end(ret);
	return ret;
}

static long devpoll_poll(struct dep_instance *inst,
			 const struct devpoll_wait *wait, enum dep_devpoll face)
{
	struct dep_results results = {
		.user = u64_to_user_ptr(wait->fds),
		.layout = DEP_LAYOUT_POLLFD,
		.max = clamp_t(s64, wait->nfds, 0, dep_max_fds),
	};
	long ret;

	if (dep_devpoll_is_of_other(inst, face))
		return -EBUSY;
	if (wait->nfds <= 0)
		return -EINVAL;
	if (wait->fds) {
		if (!access_ok(results.user,
			       results.max * sizeof(struct pollfd)) ||
		    !devpoll_can_write(inst, face, results.user,
				       sizeof(struct pollfd)))
			return -EFAULT;
		return devpoll_collect(inst, wait, &results, face);
	}
	if (face == DEP_DEVPOLL_SOLARIS)
		return -EFAULT;
	if (!dep_slots_pin(inst, &results))
		return -EINVAL;
	ret = devpoll_collect(inst, wait, &results, face);
	dep_slots_unpin(inst);
	return ret;
}

static long linux_poll(struct dep_instance *inst, const void __user *arg)
{
	struct dvpoll dvp;

	if (copy_from_user(&dvp, arg, sizeof(dvp)))
		return -EFAULT;
	return devpoll_poll(inst, &(struct devpoll_wait) {
		.fds = (uintptr_t)dvp.dp_fds,
		.nfds = dvp.dp_nfds,
		.timeout_ms = dvp.dp_timeout,
	}, DEP_DEVPOLL_LINUX);
}

static long linux_poll32(struct dep_instance *inst, const void __user *arg)
{
	struct dvpoll32 dvp;

	if (copy_from_user(&dvp, arg, sizeof(dvp)))
		return -EFAULT;
	return devpoll_poll(inst, &(struct devpoll_wait) {
		.fds = dvp.dp_fds,
		.nfds = dvp.dp_nfds,
		.timeout_ms = dvp.dp_timeout,
	}, DEP_DEVPOLL_LINUX);
}

/* Programs that don't use a signal mask may not have set dp_setp. */
static long solaris_poll(struct dep_instance *inst, const void __user *arg,
			 bool masked)
{
	size_t size = masked ? sizeof(struct dvpoll_solaris) :
			       offsetof(struct dvpoll_solaris, dp_setp);
	struct dvpoll_solaris dvp = {};

	if (copy_from_user(&dvp, arg, size))
		return -EFAULT;
	return devpoll_poll(inst, &(struct devpoll_wait) {
		.fds = dvp.dp_fds,
		.nfds = dvp.dp_nfds,
		.timeout_ms = dvp.dp_timeout,
		.setp = dvp.dp_setp,
	}, DEP_DEVPOLL_SOLARIS);
}

static long solaris_poll32(struct dep_instance *inst, const void __user *arg,
			   bool masked)
{
	size_t size = masked ? sizeof(struct dvpoll_solaris32) :
			       offsetof(struct dvpoll_solaris32, dp_setp);
	struct dvpoll_solaris32 dvp = {};

	if (copy_from_user(&dvp, arg, size))
		return -EFAULT;
	return devpoll_poll(inst, &(struct devpoll_wait) {
		.fds = dvp.dp_fds,
		.nfds = (s32)dvp.dp_nfds,
		.timeout_ms = dvp.dp_timeout,
		.setp = dvp.dp_setp,
	}, DEP_DEVPOLL_SOLARIS);
}

/**
 * dep_devpoll_ioctl() - the requests of both faces
 * @inst: the instance
 * @cmd: the request
 * @arg: the argument, zero-extended
 * @compat: the caller is a 32-bit program
 *
 * Context: process; sleeps.
 * Return: see linux/devpoll.h for each request;
 * -ENOTTY: no such request.
 */
long dep_devpoll_ioctl(struct dep_instance *inst, unsigned int cmd,
		       unsigned long arg, bool compat)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case DP_POLL:
		return linux_poll(inst, user);
	case DP_POLL32:
		return linux_poll32(inst, user);
	case DP_ALLOC:
		return devpoll_alloc(inst, arg);
	case DP_FREE:
		return devpoll_free(inst);
	case DP_ISPOLLED:
		return devpoll_ispolled(inst, user, DEP_DEVPOLL_LINUX);
	case DP_SOLARIS_ISPOLLED:
		return devpoll_ispolled(inst, user, DEP_DEVPOLL_SOLARIS);
	case DP_SOLARIS_POLL:
	case DP_SOLARIS_PPOLL:
		if (compat)
			return solaris_poll32(inst, user,
					      cmd == DP_SOLARIS_PPOLL);
		return solaris_poll(inst, user, cmd == DP_SOLARIS_PPOLL);
	}
	return -ENOTTY;
}
