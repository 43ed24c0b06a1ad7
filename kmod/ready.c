// SPDX-License-Identifier: GPL-2.0
/*
 * Asking the files that may be ready.
 *
 * In a set of 2001 these are the files whose wake-ups did not say what
 * happened; what they answer is posted.  In a set of the extended interface
 * they are all that woke us, and all that were ready the last time and are
 * watched for their level: what they answer is handed out at once.  A set of
 * /dev/poll is one of these, but for what stands in its results.
 *
 * Passes
 * ======
 *
 * One call takes items off the head of the list, a few at a time, asks their
 * files and puts back at the tail what is watched for its level.  Its pass has
 * a number, which each item that it takes is given; so it ends where it meets
 * itself, and what did not fit comes first the next time.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "compat.h"
#include "limits.h"
#include "ready.h"
#include "results.h"
#include "trace.h"
#include "watch.h"
#include "worker.h"

/* What stands in a place of a pass. */
enum ask_kind {
	/* its file is asked; kept by a reference on it */
	ASK_FILE,
	/* has no file to ask, and stays in the set */
	ASK_NVAL,
	/* its keys are trusted and said what happened; may go this moment */
	ASK_TOLD,
	/* its last event; the pass owns it */
	ASK_CLOSED,
	/* its number names another file, and it was unhooked; the same */
	ASK_GHOST,
};

/**
 * struct dep_ask - one item that a pass has taken off the list
 * @item: the item
 * @data: the item's, when it was taken
 * @fd: the number
 * @kind: what it is about
 * @sent: it was handed out
 * @events: the item's, when it was taken
 * @revents: what is to be handed out
 */
struct dep_ask {
	struct dep_item *item;
	u64 data;
	int fd;
	u8 kind;
	bool sent;
	u16 events;
	u32 revents;
};

/**
 * struct dep_pass - one way along the list of asks
 * @inst: whose list
 * @results: where events go, or NULL if they are only counted
 * @number: number of the pass
 * @depth: how many sets lie around this one in the call
 * @found: how many items were ready
 * @over: nothing is left that this pass has not met
 * @err: -EFAULT if the results can't be written
 * @nr: length of @asks
 * @last: files whose last reference is ours, to be dropped with nothing held
 * @nr_last: how many
 * @asks: what was taken
 */
struct dep_pass {
	struct dep_instance *inst;
	struct dep_results *results;
	u32 number;
	unsigned int depth;
	u32 found;
	bool over;
	int err;
	u32 nr;
	u32 nr_last;
	struct file *last[DEP_ASK_BATCH];
	struct dep_ask asks[DEP_ASK_BATCH];
};

static void ready_post(struct dep_instance *inst, struct dep_item *item,
		       u16 events)
{
	lockdep_assert_held(&inst->lock);
	if (item->mode & DEP_MODE_TRUST)
		item->revents |= events;
	dep_item_list(item);
}

static void ready_forget(struct dep_instance *inst, struct dep_item *item)
{
	item->revents = 0;
}

/* All is asked, unless the program trusts the keys: see interest.c. */
const struct dep_sink dep_ready_sink = {
	.unsure = U16_MAX,
	.post = ready_post,
	.forget = ready_forget,
};

/*
 * With M held, takes L and announces that items leave the list for a moment:
 * see dep_ready_may_ask().
 */
static void ready_begin(struct dep_instance *inst)
	__acquires(&inst->lock)
{
	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->ask_seq, inst->ask_seq + 1);
	/* Pairs with smp_rmb() there. */
	smp_wmb();
}

/* Undoes it. */
static void ready_end(struct dep_instance *inst)
	__releases(&inst->lock)
{
	/*
	 * For whoever looked at the list while items were off it, and for what
	 * is left, or is watched for its level.
	 */
	if (!list_empty(&inst->asks) && inst->nr_waiters)
		dep_instance_wake(inst);
	/* Pairs with the acquire there: the events are seen posted. */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	spin_unlock_irq(&inst->lock);
}

/* If the program has closed the file meanwhile, its release is ours. */
static void put_file(struct file *file)
{
	if (unlikely(!dep_file_put_not_last(file)))
		dep_worker_fput(file);
}

/* What a file has of these events; its watch is queued on it already. */
static u16 ask_file(struct file *file, u16 events, unsigned int depth)
{
	struct dep_instance *inner = dep_instance_of(file);
	poll_table table;

	if (unlikely(inner))
		return events & (__force u16)dep_ready_poll(inner, depth + 1);
	init_poll_funcptr(&table, NULL);
	table._key = (__force __poll_t)events | EPOLLERR | EPOLLHUP;
	return events & (__force u16)vfs_poll(file, &table);
}

/* Is the process gone in which the number was added? */
static bool item_owner_is_gone(const struct dep_item *item)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(item->owner, &init_pid_ns), PIDTYPE_TGID);
	gone = !task || task->start_boottime != item->owner_born;
	rcu_read_unlock();
	return gone;
}

static bool item_is_own(const struct dep_item *item)
{
	return item->owner == task_tgid_nr(current) &&
	       item->owner_born == current->group_leader->start_boottime;
}

/*
 * Does the number not name the file any more?  That is for the process to tell
 * in which it was added.  If that is gone, another one that knows the file by
 * this number, as after fork(2), takes its place.  Whoever else was given the
 * set can't tell.
 */
static noinline bool item_is_ghost(struct dep_item *item, bool named)
{
	if (!current->files)
		return false;
	if (!named)
		return item->files == current->files && item_is_own(item);
	/* The table of a process may change when it executes a program. */
	if (item_is_own(item) ? thread_group_empty(current) :
				item_owner_is_gone(item))
		dep_item_own(item);
	return false;
}

/*
 * Does the number name the file in the caller's table?  Interrupts are off, so
 * RCU keeps the table.
 */
static __always_inline bool item_is_named(const struct dep_item *item,
					  const struct fdtable *table)
{
	unsigned int fd = item->fd;

	if (fd >= table->max_fds)
		return false;
	fd = array_index_nospec(fd, table->max_fds);
	return rcu_access_pointer(table->fd[fd]) == item->file;
}

/* Back to the list: at its end, or at its head if this pass comes again. */
static void pass_put_back(struct dep_pass *pass, struct dep_item *item)
{
	struct dep_instance *inst = pass->inst;

	dep_item_list(item);
	if (!pass->err)
		return;
	item->pass = 0;
	list_move(&item->ask, &inst->asks);
}

/* Fills a place with an item that asks no file; false if that is nothing. */
static noinline bool pass_take_other(struct dep_pass *pass,
				     struct dep_item *item,
				     struct dep_ask *ask, bool ghost)
{
	struct dep_results *results = pass->results;

	if (item->mode & DEP_MODE_STAY) {
		ask->kind = ASK_NVAL;
		ask->revents = (__force u16)EPOLLNVAL;
		return true;
	}
	if (item->mode & DEP_MODE_CLOSED) {
		ask->kind = ASK_CLOSED;
		ask->revents = DEVEPOLL_CLOSED;
		return true;
	}
	if (ghost) {
		trace_devepoll_close(item);
		pass->inst->stats.closes++;
		dep_item_unhook(item);
		ask->kind = ASK_GHOST;
		ask->revents = item->mode & DEP_MODE_TELL_CLOSED ?
			       DEVEPOLL_CLOSED : 0;
		return true;
	}
	if (!ask->revents)
		return false;
	if (results && item->mode & DEP_MODE_ONESHOT)
		item->events = 0;
	ask->kind = ASK_TOLD;
	return true;
}

/* Writes what a trusted item was told to mapped memory, which can't fail. */
static __always_inline void pass_tell(struct dep_pass *pass,
				      struct dep_item *item, u32 revents)
{
	struct dep_results *results = pass->results;
	struct devepoll_event *to = results->kernel;

	to[results->nr++] = (struct devepoll_event) {
		.data = item->data,
		.events = revents,
		.fd = item->fd,
	};
	pass->found++;
	if (item->mode & DEP_MODE_ONESHOT)
		item->events = 0;
}

/* Fills a place; false if it is to be used for the next item. */
static __always_inline bool pass_take_item(struct dep_pass *pass,
					   struct dep_item *item,
					   struct dep_ask *ask,
					   const struct files_struct *files,
					   const struct fdtable *table)
{
	u16 told = item->revents & item->events;
	u32 mode = item->mode;
	bool named, ghost;

	named = table && item_is_named(item, table);
	ghost = unlikely(!named || item->files != files) &&
		!(mode & DEP_MODE_CLOSED) && item_is_ghost(item, named);
	if (!ghost && (mode & (DEP_MODE_TRUST | DEP_MODE_CLOSED)) ==
	    DEP_MODE_TRUST && !item->doubt && pass->results &&
	    pass->results->kernel) {
		item->revents = 0;
		item->chosen = false;
		if (told)
			pass_tell(pass, item, told);
		return false;
	}

	ask->item = item;
	ask->data = item->data;
	ask->fd = item->fd;
	ask->kind = ASK_FILE;
	ask->sent = false;
	ask->events = item->events;
	ask->revents = told;
	if (unlikely(ghost || mode & DEP_MODE_CLOSED ||
		     (mode & DEP_MODE_TRUST && !item->doubt))) {
		item->revents = 0;
		return pass_take_other(pass, item, ask, ghost);
	}
	item->revents = 0;
	item->doubt = false;
	item->chosen = false;
	pass->inst->stats.asks++;
	/* The last reference is gone: so will the item be, in a moment. */
	return dep_file_get(item->file);
}

/* Takes the next items off the list, so many at most. */
static void pass_take(struct dep_pass *pass, u32 room)
{
	const struct files_struct *files = current->files;
	struct dep_instance *inst = pass->inst;
	struct list_head *asks = &inst->asks, *next = asks->next;
	const struct fdtable *table;
	struct dep_item *item;
	u32 looked = 0, nr = 0;

	lockdep_assert_held(&inst->lock);
	table = files ? rcu_dereference_raw(files->fdt) : NULL;
	/* None gives more than one event. */
	room = min_t(u32, room, DEP_LOOK_BATCH);
	while (nr < DEP_ASK_BATCH && looked < room) {
		item = list_entry(next, struct dep_item, ask);
		if (next == asks || item->pass == pass->number)
			break;
		looked++;
		item->pass = pass->number;
		/* Off the list: a wake-up from now on puts it back. */
		next = next->next;
		INIT_LIST_HEAD(&item->ask);
		nr += pass_take_item(pass, item, &pass->asks[nr], files, table);
	}
	/* All at once, what stays closes the gap. */
	asks->next = next;
	next->prev = asks;
	inst->nr_asks -= looked;
	pass->nr = nr;
	pass->over = next == asks ||
		     list_entry(next, struct dep_item, ask)->pass ==
		     pass->number;
}

/* Asks the files, with no spin lock held. */
static void pass_ask(struct dep_pass *pass)
{
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	struct dep_instance *inner;
	poll_table table;

	init_poll_funcptr(&table, NULL);
	for (ask = pass->asks; ask < end; ask++) {
		struct file *file;

		if (ask->kind != ASK_FILE)
			continue;
		file = ask->item->file;
		inner = dep_instance_of(file);
		table._key = (__force __poll_t)ask->events;
		if (unlikely(inner))
			ask->revents |= ask->events & (__force u16)
				dep_ready_poll(inner, pass->depth + 1);
		else
			ask->revents |= ask->events &
				(__force u16)vfs_poll(file, &table);
	}
}

static void pass_sent(struct dep_pass *pass, struct dep_ask *ask)
{
	pass->results->nr++;
	pass->found++;
	ask->sent = true;
}

/* One event of user memory, where a fault goes to efault. */
#define pass_put_user(ask, to, layout)					\
do {									\
	if ((layout) == DEP_LAYOUT_EPOLL) {				\
		struct epoll_event __user *__to = (to);			\
									\
		unsafe_put_user((__force __poll_t)(ask)->revents,	\
				&__to->events, efault);			\
		unsafe_put_user((ask)->data, &__to->data, efault);	\
	} else if ((layout) == DEP_LAYOUT_POLLFD) {			\
		struct pollfd __user *__to = (to);			\
									\
		unsafe_put_user((ask)->fd, &__to->fd, efault);		\
		unsafe_put_user((ask)->data, &__to->events, efault);	\
		unsafe_put_user((ask)->revents, &__to->revents,		\
				efault);				\
	} else {							\
		struct devepoll_event __user *__to = (to);		\
									\
		unsafe_put_user((ask)->data, &__to->data, efault);	\
		unsafe_put_user((ask)->revents, &__to->events, efault);	\
		unsafe_put_user((ask)->fd, &__to->fd, efault);		\
	}								\
} while (0)

/*
 * As far as the memory is there this moment: nothing sleeps here.  @layout is a
 * constant, so that no event has to ask for it.
 */
static __always_inline int pass_send_user(struct dep_pass *pass,
					  enum dep_layout layout)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	size_t size = dep_layout_size(layout);
	void __user *to = results->user + results->nr * size;

	if (!user_write_access_begin(to, pass->nr * size))
		return -EFAULT;
	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		pass_put_user(ask, to, layout);
		to += size;
		pass_sent(pass, ask);
	}
	user_write_access_end();
	return 0;

efault:
	user_write_access_end();
	return -EFAULT;
}

static int pass_send_any_user(struct dep_pass *pass)
{
	switch (pass->results->layout) {
	case DEP_LAYOUT_EPOLL:
		return pass_send_user(pass, DEP_LAYOUT_EPOLL);
	case DEP_LAYOUT_POLLFD:
		return pass_send_user(pass, DEP_LAYOUT_POLLFD);
	default:
		return pass_send_user(pass, DEP_LAYOUT_EVENT);
	}
}

static void pass_send_kernel(struct dep_pass *pass)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	struct devepoll_event *to = results->kernel;

	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		to[results->nr] = (struct devepoll_event) {
			.data = ask->data,
			.events = ask->revents,
			.fd = ask->fd,
		};
		pass_sent(pass, ask);
	}
}

/* The same as /dev/poll has them. */
static noinline void pass_send_slots(struct dep_pass *pass)
{
	struct dep_results *results = pass->results;
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	struct pollfd *to = results->kernel;

	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		to[results->nr] = (struct pollfd) {
			.fd = ask->fd,
			.events = ask->data,
			.revents = ask->revents,
		};
		pass_sent(pass, ask);
	}
}

/* A ghost is counted when it comes again for its last event. */
static void pass_count(struct dep_pass *pass)
{
	struct dep_ask *ask, *end = pass->asks + pass->nr;

	for (ask = pass->asks; ask < end; ask++)
		pass->found += ask->revents && ask->kind != ASK_GHOST;
}

/* Hands out what is ready. */
static void pass_send(struct dep_pass *pass)
{
	if (!pass->results) {
		pass_count(pass);
	} else if (pass->results->kernel) {
		if (unlikely(pass->results->layout == DEP_LAYOUT_POLLFD))
			pass_send_slots(pass);
		else
			pass_send_kernel(pass);
	} else {
		pagefault_disable();
		pass->err = pass_send_any_user(pass);
		pagefault_enable();
	}
}

/* What becomes of an item whose file was asked: it is still there. */
static __always_inline void pass_settle_file(struct dep_pass *pass,
					     const struct dep_ask *ask)
{
	struct dep_item *item = ask->item;
	struct file *file = item->file;

	if (ask->revents) {
		if (unlikely(!ask->sent)) {
			item->doubt = true;
			if (item->mode & DEP_MODE_TRUST)
				item->revents |= ask->revents;
			pass_put_back(pass, item);
		} else if (item->mode & DEP_MODE_ONESHOT) {
			item->events = 0;
			item->revents = 0;
			dep_item_unlist(item);
		} else if (!(item->mode & DEP_MODE_EDGE)) {
			dep_item_list(item);
		}
	}
	/* If the program has closed it meanwhile, its release is ours. */
	if (unlikely(!dep_file_put_not_last(file)))
		pass->last[pass->nr_last++] = file;
}

/* The rest: what has no file, or may have gone with it. */
static noinline void pass_settle_other(struct dep_pass *pass,
				       const struct dep_ask *ask)
{
	struct dep_instance *inst = pass->inst;
	struct dep_item *item = ask->item;

	switch (ask->kind) {
	case ASK_NVAL:
		/* M is held, so nobody has removed it. */
		if (ask->sent)
			dep_item_list(item);
		else
			pass_put_back(pass, item);
		break;
	case ASK_TOLD:
		/* No item can have come under this number: M is held. */
		if (ask->sent || dep_fdmap_find(&inst->interest,
						ask->fd) != item)
			break;
		item->events = ask->events;
		item->revents |= ask->revents;
		pass_put_back(pass, item);
		break;
	case ASK_CLOSED:
		if (!ask->sent)
			pass_put_back(pass, item);
		break;
	}
}

/* Frees what has left the set, with nothing held but M. */
static noinline void pass_drop(struct dep_pass *pass, struct dep_ask *ask)
{
	struct dep_item *item = ask->item;

	if (ask->kind == ASK_CLOSED) {
		if (ask->sent)
			dep_item_discard(item);
		return;
	}
	dep_watch_detach(item);
	if (ask->sent || !(item->mode & DEP_MODE_TELL_CLOSED)) {
		dep_item_free(item);
		return;
	}
	item->pass = 0;
	spin_lock_irq(&pass->inst->lock);
	dep_item_close(item);
	spin_unlock_irq(&pass->inst->lock);
	pass->over = false;
}

/* M is held and the files are ours: the items that were asked are there. */
static bool pass_settle(struct dep_pass *pass)
{
	bool drop = false;
	u32 i;

	for (i = 0; i < pass->nr; i++) {
		/* After an error they go to the head of the list. */
		u32 nr = unlikely(pass->err) ? pass->nr - 1 - i : i;
		struct dep_ask *ask = &pass->asks[nr];

		if (likely(ask->kind == ASK_FILE)) {
			pass_settle_file(pass, ask);
			continue;
		}
		if (ask->kind != ASK_TOLD || !ask->sent)
			pass_settle_other(pass, ask);
		drop |= ask->kind > ASK_TOLD;
	}
	return drop;
}

/* What can't be done under L, between two batches. */
static noinline void pass_clean(struct dep_pass *pass)
	__must_hold(&pass->inst->lock)
{
	u32 i;

	spin_unlock_irq(&pass->inst->lock);
	for (i = 0; i < pass->nr; i++) {
		if (pass->asks[i].kind > ASK_TOLD)
			pass_drop(pass, &pass->asks[i]);
	}
	while (pass->nr_last)
		dep_worker_fput(pass->last[--pass->nr_last]);
	spin_lock_irq(&pass->inst->lock);
}

/*
 * Goes along the list until @enough items were found ready.  M is held, and L
 * when it is called and when it returns.  Asks nothing more when the caller is
 * being killed.
 */
static void pass_run(struct dep_pass *pass, u32 enough)
	__must_hold(&pass->inst->lock)
{
	struct dep_instance *inst = pass->inst;

	lockdep_assert_held(&inst->mtx);
	while (!pass->over && !pass->err && pass->found < enough &&
	       !fatal_signal_pending(current)) {
		pass_take(pass, enough - pass->found);
		if (!pass->nr && pass->over)
			break;
		spin_unlock_irq(&inst->lock);
		pass_ask(pass);
		pass_send(pass);
		if (!pass->over)
			cond_resched();
		spin_lock_irq(&inst->lock);
		if (pass_settle(pass) || pass->nr_last)
			pass_clean(pass);
	}
}

static void pass_init(struct dep_pass *pass, struct dep_instance *inst,
		      unsigned int depth)
{
	pass->inst = inst;
	pass->results = NULL;
	pass->number = 0;
	pass->depth = depth;
	pass->found = 0;
	pass->over = false;
	pass->err = 0;
	pass->nr_last = 0;
}

static u32 pass_number(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->mtx);
	if (!++inst->pass)
		inst->pass = 1;
	return inst->pass;
}

static int collect_once(struct dep_instance *inst, struct dep_results *results)
{
	struct dep_pass pass DEP_UNINITIALIZED;

	pass_init(&pass, inst, 0);
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	if (!results->nr) {
		results->pass = pass_number(inst);
	} else if (results->pass != inst->pass) {
		/*
		 * Another pass has come between, and what was sent no longer
		 * carries the number of this one: it would be sent once more.
		 */
		mutex_unlock(&inst->mtx);
		return 0;
	}
	ready_begin(inst);
	pass.number = results->pass;
	pass.results = results;
	pass_run(&pass, results->max - results->nr);
	inst->stats.harvests += !!results->nr;
	inst->stats.events += pass.found;
	ready_end(inst);
	mutex_unlock(&inst->mtx);
	return pass.err;
}

/**
 * dep_ready_collect() - take events of a set of the extended interface
 * @inst: the instance
 * @results: where they go; filled up to its maximum
 *
 * Nothing is lost if the memory can't be written.
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: how many events @results has;
 * -EFAULT: none, and the memory of the first can't be written;
 * -EINTR: none, and the caller is being killed.
 */
int dep_ready_collect(struct dep_instance *inst, struct dep_results *results)
{
	size_t size = dep_layout_size(results->layout);
	int err;

	for (;;) {
		err = collect_once(inst, results);
		if (err != -EFAULT)
			break;
		/* With nothing held; the pass goes on where it stopped. */
		if (fault_in_safe_writeable(results->user + results->nr * size,
					    size))
			break;
		cond_resched();
	}
	if (results->nr) {
		trace_devepoll_harvest(inst, results->nr);
		return results->nr;
	}
	return err;
}

/**
 * dep_ready_count() - count what is ready, and leave it there
 * @inst: the instance, of the extended interface
 * @enough: how far to count
 *
 * If there is less than @enough, nothing else is left on the list of asks but
 * what comes this moment.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 * Return: how many items are ready, at most @enough or a little more.
 */
u32 dep_ready_count(struct dep_instance *inst, u32 enough)
{
	struct dep_pass pass DEP_UNINITIALIZED;

	pass_init(&pass, inst, 0);
	if (mutex_lock_killable(&inst->mtx))
		return 0;
	ready_begin(inst);
	pass.number = pass_number(inst);
	pass_run(&pass, enough);
	ready_end(inst);
	mutex_unlock(&inst->mtx);
	return pass.found;
}

static bool ready_any(struct dep_instance *inst, unsigned int depth)
{
	struct dep_pass pass DEP_UNINITIALIZED;

	pass_init(&pass, inst, depth);
	if (mutex_lock_killable_nested(&inst->mtx, depth))
		return false;
	ready_begin(inst);
	pass.number = pass_number(inst);
	pass_run(&pass, 1);
	ready_end(inst);
	mutex_unlock(&inst->mtx);
	return pass.found;
}

/*
 * Takes the first item off the asks of a set of 2001, calls its file and posts
 * the answer.  Called with the instance locked, and returns so.
 */
static void ask_first(struct dep_instance *inst, bool harvesting,
		      unsigned int depth)
	__must_hold(&inst->lock)
{
	struct dep_item *item;
	struct file *file;
	u16 events, ready;

	item = list_first_entry(&inst->asks, struct dep_item, ask);
	/* Off the list first: a wake-up from now on puts it back. */
	dep_item_unlist(item);
	file = item->file;
	events = item->events;
	if (!dep_file_get(file))
		return;
	inst->stats.asks++;
	spin_unlock_irq(&inst->lock);

	ready = ask_file(file, events, depth);

	spin_lock_irq(&inst->lock);
	dep_item_post(item, ready, harvesting);
	spin_unlock_irq(&inst->lock);

	put_file(file);
	cond_resched();
	spin_lock_irq(&inst->lock);
}

static void ask_all(struct dep_instance *inst, bool harvesting,
		    unsigned int depth)
{
	u32 left;

	if (mutex_lock_killable_nested(&inst->mtx, depth))
		return;
	ready_begin(inst);
	/* It may have become one of the extended interface just now. */
	left = inst->extended ? 0 : inst->nr_items;
	for (; left && !list_empty(&inst->asks); left--) {
		ask_first(inst, harvesting, depth);
		if (fatal_signal_pending(current))
			break;
	}
	ready_end(inst);
	mutex_unlock(&inst->mtx);
}

/**
 * dep_ready_ask() - call ->poll() of the files that may be ready, and post
 * @inst: the instance, of 2001
 * @harvesting: the caller takes the events itself or wakes somebody who does
 *
 * Does not ask for ever, however often the files wake us meanwhile: what is
 * left stays for the next call.  Asks nothing when the caller is being killed.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 */
void dep_ready_ask(struct dep_instance *inst, bool harvesting)
{
	ask_all(inst, harvesting, 0);
}

/**
 * dep_ready_poll() - tell whether there is an event
 * @inst: the instance, of either interface
 * @depth: how many sets lie around this one in the call
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 * Return: EPOLLIN | EPOLLRDNORM, or 0.
 */
__poll_t dep_ready_poll(struct dep_instance *inst, unsigned int depth)
{
	bool ready;

	/* What a signal set has goes to the signals at once. */
	if (READ_ONCE(inst->onesig))
		return 0;
	ready = READ_ONCE(inst->pending);
	if (!ready && dep_ready_may_ask(inst)) {
		if (inst->extended) {
			ready = ready_any(inst, depth);
		} else {
			ask_all(inst, false, depth);
			ready = READ_ONCE(inst->pending);
		}
	}
	return ready ? EPOLLIN | EPOLLRDNORM : 0;
}
