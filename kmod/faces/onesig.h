/* SPDX-License-Identifier: GPL-2.0 */
/* One signal per fd: sets that report their events by signals. */
#ifndef DEVEPOLL_ONESIG_H
#define DEVEPOLL_ONESIG_H

#include "core/instance.h"

long dep_onesig_ioctl(struct dep_instance *inst, unsigned int cmd,
		      unsigned long arg);
void dep_onesig_free(struct dep_instance *inst);

#endif /* DEVEPOLL_ONESIG_H */
