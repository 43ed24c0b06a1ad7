// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The environment variables of the preload library, and its messages.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "entry.h"
#include "preload/settings.h"

#define KNOWN	0x80000000U

atomic_uint devepoll_settings;

static unsigned int if_asked_for(const char *name, unsigned int bit)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0") != 0 ? bit : 0;
}

/**
 * devepoll_read_settings() - read the environment variables
 *
 * Return: SETTING_* of those that are set.
 */
unsigned int devepoll_read_settings(void)
{
	return if_asked_for("DEVEPOLL_TRUST", SETTING_TRUST) |
	       if_asked_for("DEVEPOLL_NO_FALLBACK", SETTING_NO_FALLBACK) |
	       if_asked_for("DEVEPOLL_VERBOSE", SETTING_VERBOSE) |
	       if_asked_for("DEVEPOLL_RING", SETTING_RING) |
	       if_asked_for("DEVEPOLL_NO_KEEP", SETTING_NO_KEEP) |
	       if_asked_for("DEVEPOLL_FAIR", SETTING_FAIR);
}

static struct iovec text(const char *text)
{
	return (struct iovec) {
		.iov_base = (void *)text,
		.iov_len = text ? strlen(text) : 0,
	};
}

/**
 * devepoll_tell_once() - print a message if DEVEPOLL_VERBOSE is set
 * @told: set by the first call, which is the only one that prints
 * @what: what failed
 * @err: why, an errno
 * @instead: what the library does instead
 */
void devepoll_tell_once(atomic_flag *told, const char *what, int err,
			const char *instead)
{
	const struct iovec iov[] = {
		text("libdevepoll-preload: "), text(what), text(": "),
		text(strerrordesc_np(err)), text("; "), text(instead),
		text("\n"),
	};

	if (devepoll_setting(SETTING_VERBOSE) &&
	    !atomic_flag_test_and_set(told))
		raw_call(SYS_writev, STDERR_FILENO, (long)iov,
			 sizeof(iov) / sizeof(*iov), 0, 0, 0);
}

/* A new filter refuses both calls on an instance: see the manual page. */
static void tell_shut(int err)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	devepoll_tell_once(&told, "ioctl(2) and fadvise64(2)", err,
			   "calls on instances of the device fail");
}

/* Runs once, before the program: setenv(3) moves the strings of getenv(3). */
static __attribute__((constructor)) void keep_settings(void)
{
	atomic_store_explicit(&devepoll_settings,
			      devepoll_read_settings() | KNOWN,
			      memory_order_relaxed);
	devepoll_entry_shut = tell_shut;
}
