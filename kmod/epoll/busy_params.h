/* SPDX-License-Identifier: GPL-2.0 */
/* EPIOCSPARAMS and EPIOCGPARAMS: the parameters of busy polling. */
#ifndef DEVEPOLL_BUSY_PARAMS_H
#define DEVEPOLL_BUSY_PARAMS_H

#include "core/instance.h"

long dep_busy_params_ioctl(struct dep_instance *inst, unsigned int cmd,
			   unsigned long arg);

#endif /* DEVEPOLL_BUSY_PARAMS_H */
