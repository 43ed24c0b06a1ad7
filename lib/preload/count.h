/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the preload library counts for devepoll(1) --report.  Only a library
 * that was compiled with DEVEPOLL_REPORT counts, so others pay nothing.
 */
#ifndef DEVEPOLL_PRELOAD_REPORT_H
#define DEVEPOLL_PRELOAD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

#ifdef DEVEPOLL_REPORT
#define REPORTING	true
#else
#define REPORTING	false
#endif

DEVEPOLL_HIDDEN void devepoll_report_create(int err, const char *node);
DEVEPOLL_HIDDEN void devepoll_report_refused(int err, const char *node);
DEVEPOLL_HIDDEN void devepoll_report_ring(int err);
DEVEPOLL_HIDDEN void devepoll_report_call(long nr, bool on_device, long ret);
DEVEPOLL_HIDDEN void devepoll_report_taken(long nr);
DEVEPOLL_HIDDEN void devepoll_report_ring_fd(bool trusted);
DEVEPOLL_HIDDEN void devepoll_report_untaken(uint64_t word);

#endif /* DEVEPOLL_PRELOAD_REPORT_H */
