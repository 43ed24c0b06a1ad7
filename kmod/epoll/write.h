/* SPDX-License-Identifier: GPL-2.0 */
/* write(2) on /dev/epoll. */
#ifndef DEVEPOLL_WRITE_H
#define DEVEPOLL_WRITE_H

#include <linux/types.h>

struct dep_instance;

ssize_t dep_write_pollfds(struct dep_instance *inst, const char __user *buf,
			  size_t count);

#endif /* DEVEPOLL_WRITE_H */
