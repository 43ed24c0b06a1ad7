// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libdevepoll-preload.so: instances whose waits look for events for a while
 * before they sleep (DEVEPOLL_SPIN).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "entry.h"
#include "preload/settings.h"
#include "preload/spin.h"

#define NOT_KNOWN	(-1)

/* Microseconds, or NOT_KNOWN until the environment was read. */
static atomic_int spin_usecs = NOT_KNOWN;

/* The variable; 0 if it is not set, or if it is no number of microseconds. */
static int read_usecs(void)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	const char *value = secure_getenv("DEVEPOLL_SPIN");
	unsigned long usecs;
	char *end;

	if (!value || !*value)
		return 0;
	usecs = strtoul(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end &&
	    usecs <= DEVEPOLL_SPIN_MAX)
		return usecs;
	devepoll_tell_once(&told, "DEVEPOLL_SPIN", EINVAL,
			   "waits sleep at once");
	return 0;
}

/* Runs once, before the program: see keep_settings(). */
static __attribute__((constructor)) void keep_usecs(void)
{
	atomic_store_explicit(&spin_usecs, read_usecs(), memory_order_relaxed);
}

/**
 * devepoll_preload_spin() - make a new instance look, if that was asked for
 * @fd: the instance
 *
 * If the request fails (no memory, or a module that is older or has no
 * interface "spin"), the instance's waits sleep at once.
 */
void devepoll_preload_spin(int fd)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	struct devepoll_spin args = {
		.usecs = atomic_load_explicit(&spin_usecs,
					      memory_order_relaxed),
	};
	long err;

	if (args.usecs == NOT_KNOWN)
		args.usecs = read_usecs();
	if (!args.usecs)
		return;
	err = devepoll_entry_request(fd, DEVEPOLL_SPIN, &args);
	if (err)
		devepoll_tell_once(&told, "DEVEPOLL_SPIN", -err,
				   "waits sleep at once");
}
