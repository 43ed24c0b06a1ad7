/* SPDX-License-Identifier: GPL-2.0 */
/* What an open of /dev/epoll maps, by the offset. */
#ifndef DEVEPOLL_MAPPING_H
#define DEVEPOLL_MAPPING_H

struct file;
struct vm_area_struct;

int dep_mapping_map(struct file *file, struct vm_area_struct *vma);

#endif /* DEVEPOLL_MAPPING_H */
