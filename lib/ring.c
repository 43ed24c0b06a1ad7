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

/* The size of the mapping of all slot sets, each of @size bytes. */
static size_t sets_size(unsigned int nr_consumers, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return ((nr_consumers + (size_t)1) * size + page - 1) / page * page;
}

int devepoll_events_ring(int fd, struct devepoll_consumer *consumers,
			 unsigned int nr_consumers, unsigned int slots)
{
	struct devepoll_ring args = {
		.consumers = nr_consumers,
		.slots = slots,
	};
	const size_t size = slots * sizeof(struct devepoll_event);
	const size_t page = sysconf(_SC_PAGESIZE);
	void *word, *sets;
	unsigned int i;
	int err;

	if (!consumers)
		return -EFAULT;
	/* This also checks that the fd is the device, and the sizes. */
	err = devepoll_entry_request(fd, DEVEPOLL_RING, &args);
	if (err)
		return err;
	word = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    DEVEPOLL_MAP_RING);
	if (word == MAP_FAILED)
		return -errno;
	sets = mmap(NULL, sets_size(nr_consumers, size), PROT_READ, MAP_SHARED,
		    fd, DEVEPOLL_MAP_RING_SLOTS);
	if (sets == MAP_FAILED) {
		err = -errno;
		munmap(word, page);
		return err;
	}

	/* The kernel fills set 0 first. */
	for (i = 0; i < nr_consumers; i++) {
		consumers[i] = (struct devepoll_consumer) {
			.next = sets,
			.end = sets,
			.word = word,
			.sets = sets,
			.size = size,
			.spare = i + 1,
			.fd = fd,
		};
	}
	return 0;
}

void devepoll_events_ring_unmap(struct devepoll_consumer *consumers,
				unsigned int nr_consumers)
{
	if (!consumers || !nr_consumers)
		return;
	munmap((void *)consumers->sets,
	       sets_size(nr_consumers, consumers->size));
	munmap(consumers->word, sysconf(_SC_PAGESIZE));
}

int devepoll_events_refill(struct devepoll_consumer *consumer, int64_t timeout)
{
	struct devepoll_ring_wait_args args = ring_wait_args(timeout);
	uint64_t *ask = &consumer->word[DEVEPOLL_CONSUMER_ASK];
	int ret;

	consumer->next = consumer->end;
	do {
		/* First: what comes meanwhile is for the next request. */
		__atomic_store_n(ask, 0, __ATOMIC_SEQ_CST);
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
