/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which interfaces this build of the module has, for the few places where the
 * core would otherwise pay for one that is missing: Kbuild defines them.
 */
#ifndef DEVEPOLL_HAS_H
#define DEVEPOLL_HAS_H

#include <linux/kconfig.h>

#define DEP_HAS_CLASSIC	__is_defined(DEP_WITH_classic)
#define DEP_HAS_DEVPOLL	__is_defined(DEP_WITH_devpoll)
#define DEP_HAS_RING	__is_defined(DEP_WITH_ring)

#endif /* DEVEPOLL_HAS_H */
