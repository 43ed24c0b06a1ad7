/* SPDX-License-Identifier: GPL-2.0 */
/* What this module supports, as DEVEPOLL_FEATURES reports it. */
#ifndef DEVEPOLL_FEATURES_H
#define DEVEPOLL_FEATURES_H

#include <linux/types.h>

long dep_features_ioctl(unsigned int cmd, unsigned long arg);

#endif /* DEVEPOLL_FEATURES_H */
