/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The environment variables of the preload library, and its messages.
 */
#ifndef DEVEPOLL_PRELOAD_SETTINGS_H
#define DEVEPOLL_PRELOAD_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "internal.h"

/* The environment variables, as bits. */
#define SETTING_TRUST		0x1U	/* DEVEPOLL_TRUST */
#define SETTING_NO_FALLBACK	0x2U	/* DEVEPOLL_NO_FALLBACK */
#define SETTING_VERBOSE		0x4U	/* DEVEPOLL_VERBOSE */
#define SETTING_RING		0x8U	/* DEVEPOLL_RING */
#define SETTING_NO_KEEP		0x10U	/* DEVEPOLL_NO_KEEP */
#define SETTING_FAIR		0x20U	/* DEVEPOLL_FAIR */

/* The settings, or 0 as long as they are not known. */
extern DEVEPOLL_HIDDEN atomic_uint devepoll_settings;

DEVEPOLL_HIDDEN unsigned int devepoll_read_settings(void);
DEVEPOLL_HIDDEN void devepoll_tell_once(atomic_flag *told, const char *what,
					int err, const char *instead);

/**
 * devepoll_setting() - check whether an environment variable is set
 * @bit: SETTING_*
 *
 * Other constructors may call this before ours has run.  For functions in
 * .preinit_array, no variable is set, because the C library does not have the
 * environment yet.
 *
 * Return: true if it is neither empty nor 0.
 */
static inline bool devepoll_setting(unsigned int bit)
{
	unsigned int known = atomic_load_explicit(&devepoll_settings,
						  memory_order_relaxed);

	if (__builtin_expect(!known, 0))
		known = devepoll_read_settings();
	return known & bit;
}

/**
 * devepoll_settings_may_have() - check environment variables without a call
 * @bits: SETTING_*
 *
 * Return: false if none of them is set; true if one is, or nobody knows yet.
 */
static inline bool devepoll_settings_may_have(unsigned int bits)
{
	unsigned int known = atomic_load_explicit(&devepoll_settings,
						  memory_order_relaxed);

	return !known || known & bits;
}

#endif /* DEVEPOLL_PRELOAD_SETTINGS_H */
