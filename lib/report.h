/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The counters that devepoll(1) shares with the processes of the program that
 * it runs with --report: a page of memory, which has the same layout for 32
 * bits.
 *
 * The environment variable DEVEPOLL_REPORT has the name of the file, and by
 * what it is recognized: the name has a PID in it, so it is that of another
 * file once devepoll(1) has ended, or in another PID namespace.
 */
#ifndef DEVEPOLL_REPORT_H
#define DEVEPOLL_REPORT_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>

#define REPORT_VARIABLE	"DEVEPOLL_REPORT"
/* The name; the device, as major and minor; the inode; report.begun */
#define REPORT_FORMAT	"/proc/%d/fd/%d %x %x %" PRIx64 " %" PRIx64
#define REPORT_SIZE	4096
/* Of the file: nobody can take away memory that is mapped. */
#define REPORT_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define REPORT_REASONS	8
#define REPORT_PIDS	512

typedef _Atomic uint64_t report_counter __attribute__((aligned(8)));

/**
 * struct report_reason - why something was not done
 * @err: the errno, and REPORT_MISC if DEVEPOLL_NODE_MISC gave it; 0 if the
 *       element is free
 * @count: how often
 */
#define REPORT_MISC	0x10000
struct report_reason {
	report_counter err;
	report_counter count;
};

/**
 * struct report_calls - calls on instances of one kind
 * @sets: instances that were created
 * @changes: calls of epoll_ctl(2)
 * @waits: system calls to wait
 * @events: events that these returned
 */
struct report_calls {
	report_counter sets;
	report_counter changes;
	report_counter waits;
	report_counter events;
};

/**
 * struct report - all that is counted
 * @begun: when devepoll(1) made it, in nanoseconds
 * @not_run: errno if the program could not be started
 * @processes: processes that loaded the library, and children of these that
 *             made a call of epoll
 * @pids: their PIDs, each once; if there is room
 * @device: calls on the device
 * @epoll: calls on epoll
 * @rings: instances that got a ring
 * @ring_waits: waits that took events from a ring or found it empty
 * @ring_events: events that these returned
 * @ring_slept: system calls to wait because a ring was empty
 * @ring_asked: system calls to wait because the kernel had to be asked
 * @ring_fds: fds that were added to instances with a ring
 * @ring_others: those of them whose events do not go to memory
 * @fallback: why instances of epoll were created instead
 * @refused: why instances could not be created at all
 * @no_ring: why instances have no ring
 */
struct report {
	uint64_t begun __attribute__((aligned(8)));
	report_counter not_run;
	report_counter processes;
	atomic_uint_least32_t pids[REPORT_PIDS];
	struct report_calls device;
	struct report_calls epoll;
	report_counter rings;
	report_counter ring_waits;
	report_counter ring_events;
	report_counter ring_slept;
	report_counter ring_asked;
	report_counter ring_fds;
	report_counter ring_others;
	struct report_reason fallback[REPORT_REASONS];
	struct report_reason refused[REPORT_REASONS];
	struct report_reason no_ring[REPORT_REASONS];
};

_Static_assert(sizeof(struct report) <= REPORT_SIZE, "the report fits");

#endif /* DEVEPOLL_REPORT_H */
