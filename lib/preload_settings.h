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

DEVEPOLL_HIDDEN bool devepoll_setting(unsigned int bit);
DEVEPOLL_HIDDEN void devepoll_tell_once(atomic_flag *told, const char *what,
					int err, const char *instead);

#endif /* DEVEPOLL_PRELOAD_SETTINGS_H */
