/* SPDX-License-Identifier: GPL-2.0 */
/* What has to be known about the kind of a file before it is watched. */
#ifndef DEVEPOLL_FILEKIND_H
#define DEVEPOLL_FILEKIND_H

#include <linux/types.h>

struct file;

bool dep_file_is_epoll(const struct file *file);
bool dep_file_consumes(const struct file *file);

#endif /* DEVEPOLL_FILEKIND_H */
