// SPDX-License-Identifier: GPL-2.0
/*
 * What an open of /dev/epoll maps, by the offset.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>

#include <linux/devepoll.h>

#include "core/face.h"
#include "epoll/handlers.h"
#include "set/area.h"

/**
 * dep_mapping_map() - map what is at the offset
 * @file: an open of the set
 * @vma: the area that mmap(2) has set up so far
 *
 * Context: process; sleeps.
 * Return: 0, or an error of what is there;
 * -ENODEV: nothing is there, as in epoll.
 */
int dep_mapping_map(struct file *file, struct vm_area_struct *vma)
{
	struct dep_face *face;
	int err = -ENODEV;

	if (vma->vm_pgoff == DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT)
		return dep_area_map(file->private_data, vma);
	dep_face_for_each(face) {
		if (face->mmap)
			err = face->mmap(file, vma);
		if (err != -ENODEV)
			break;
	}
	return err;
}
