// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The ring of an instance: making and mapping it, and what its consumers need
 * the kernel for.
 *
 * An exchange that returns DEVEPOLL_RING_ASK has cleared it.  The request that
 * it stands for must not be made before the caller has dealt with the events: a
 * level-triggered fd among them would be reported again.  So the consumer notes
 * it in the page of the word, where the next call of any consumer finds it.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devepoll_events.h"

#include "entry.h"
#include "ring_wait.h"

/* Maps a ring for a consumer that owns no slot set yet. */
static int map_ring(int fd, struct devepoll_consumer *consumer)
{
	struct devepoll_ring_info info;
	void *page, *sets;
	int err;

	err = devepoll_entry_request(fd, DEVEPOLL_RING_INFO, &info);
	if (err)
		return err;
	page = mmap(NULL, info.page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, DEVEPOLL_MAP_RING);
	if (page == MAP_FAILED)
		return -errno;
	sets = mmap(NULL, info.slots_size, PROT_READ, MAP_SHARED, fd,
		    DEVEPOLL_MAP_RING_SLOTS);
	if (sets == MAP_FAILED) {
		err = -errno;
		munmap(page, info.page_size);
		return err;
	}
	*consumer = (struct devepoll_consumer) {
		.next = sets,
		.end = sets,
		.page = page,
		.sets = sets,
		.size = info.stride,
		.mapped = info.slots_size,
		.fd = fd,
	};
	return 0;
}

int devepoll_events_ring(int fd, struct devepoll_consumer *consumers,
			 unsigned int nr_consumers, unsigned int slots)
{
	struct devepoll_ring args = {
		.consumers = nr_consumers,
		.slots = slots,
	};
	unsigned int i;
	int err;

	if (!consumers)
		return -EFAULT;
	/* This also checks that the fd is the device, and the sizes. */
	err = devepoll_entry_request(fd, DEVEPOLL_RING, &args);
	if (!err)
		err = map_ring(fd, consumers);
	if (err)
		return err;
	/* The kernel fills set 0 first. */
	for (i = 0; i < nr_consumers; i++) {
		consumers[i] = consumers[0];
		consumers[i].spare = i + 1;
	}
	return 0;
}

int devepoll_events_ring_join(int fd, struct devepoll_consumer *consumer,
			      const uint32_t *owned, unsigned int nr_owned)
{
	struct devepoll_ring_reclaim args = {
		.owned = (uintptr_t)owned,
		.nr = nr_owned,
	};
	int err;

	if (!consumer)
		return -EFAULT;
	err = map_ring(fd, consumer);
	if (err)
		return err;
	err = devepoll_entry_request(fd, DEVEPOLL_RING_RECLAIM, &args);
	if (err)
		devepoll_events_ring_unmap(consumer, 1);
	consumer->spare = args.set;
	return err;
}

void devepoll_events_ring_unmap(struct devepoll_consumer *consumers,
				unsigned int nr_consumers)
{
	if (!consumers || !nr_consumers)
		return;
	munmap((void *)consumers->sets, consumers->mapped);
	munmap(consumers->page, sysconf(_SC_PAGESIZE));
}

int devepoll_events_refill(struct devepoll_consumer *consumer, int64_t timeout)
{
	struct devepoll_ring_wait_args args = ring_wait_args(timeout);
	__u64 *ask = &consumer->page->ask;
	int ret;

	consumer->next = consumer->end;
	args.flags |= DEVEPOLL_WAIT_SPARE;
	do {
		/* First: what comes meanwhile is for the next request. */
		__atomic_store_n(ask, 0, __ATOMIC_SEQ_CST);
		args.spare = consumer->spare;
		ret = devepoll_entry_request(consumer->fd, DEVEPOLL_RING_WAIT,
					     &args);
		if (ret < 0 && ret != -EINTR)
			__atomic_store_n(ask, DEVEPOLL_RING_ASK,
					 __ATOMIC_RELAXED);
		if (ret <= 0)
			return ret;
		/* Another consumer may have been faster. */
		ret = devepoll_events_exchange(consumer);
	} while (!ret && timeout);

	return ret;
}
