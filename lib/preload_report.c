// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Counts what the preload library does, in memory that all processes of the
 * program share, so that nothing is lost however a process ends.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "entry.h"
#include "preload_report.h"
#include "report.h"

/* Counts that nobody reads, if there is no report. */
static struct report nowhere;
static struct report *report = &nowhere;

static void add(report_counter *counter, uint64_t count)
{
	atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

/* Runs before the program; a child of fork(2) inherits the mapping. */
static __attribute__((constructor)) void begin(void)
{
	const char *name = secure_getenv(REPORT_VARIABLE);
	struct report *map;
	int fd, err;

	if (!name)
		return;
	fd = raw_call(SYS_openat, AT_FDCWD, (long)name, O_RDWR | O_CLOEXEC, 0,
		      0, 0);
	if (fd < 0)
		return;
	map = raw_map(NULL, REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0, &err);
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (!map)
		return;
	report = map;
	add(&report->processes, 1);
}

/* The last element is also for all reasons that find no room. */
static void add_reason(struct report_reason *reasons, int err)
{
	struct report_reason *last = reasons + REPORT_REASONS - 1;
	uint64_t known;

	for (; reasons != last; reasons++) {
		known = 0;
		if (atomic_compare_exchange_strong(&reasons->err, &known,
						   err) ||
		    known == (uint64_t)err)
			break;
	}
	if (reasons == last)
		atomic_store(&reasons->err, err);
	add(&reasons->count, 1);
}

/**
 * devepoll_report_create() - count an instance that was created
 * @err: 0 if it is on the device, otherwise the errno of the device
 */
void devepoll_report_create(int err)
{
	add(err ? &report->epoll.sets : &report->device.sets, 1);
	if (err)
		add_reason(report->fallback, err);
}

/**
 * devepoll_report_ring() - count an instance that was to have a ring
 * @err: 0 if it has one, otherwise the errno
 */
void devepoll_report_ring(int err)
{
	if (err)
		add_reason(report->no_ring, err);
	else
		add(&report->rings, 1);
}

/**
 * devepoll_report_call() - count a call of epoll that was a system call
 * @nr: the number of the system call
 * @on_device: its instance was one of the device
 * @ret: its result
 */
void devepoll_report_call(long nr, bool on_device, long ret)
{
	struct report_calls *calls = on_device ? &report->device :
						 &report->epoll;

	if (nr == SYS_epoll_ctl) {
		add(&calls->changes, 1);
		return;
	}
	add(&calls->waits, 1);
	if (ret > 0)
		add(&calls->events, ret);
}

/**
 * devepoll_report_taken() - count a wait that was no system call
 * @nr: the number of events that it returned
 */
void devepoll_report_taken(long nr)
{
	add(&report->ring_waits, 1);
	add(&report->ring_events, nr);
}
