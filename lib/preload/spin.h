/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Instances whose waits look for events before they sleep (DEVEPOLL_SPIN).
 */
#ifndef DEVEPOLL_PRELOAD_SPIN_H
#define DEVEPOLL_PRELOAD_SPIN_H

#include "internal.h"

DEVEPOLL_HIDDEN void devepoll_preload_spin(int fd);

#endif /* DEVEPOLL_PRELOAD_SPIN_H */
