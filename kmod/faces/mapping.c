// SPDX-License-Identifier: GPL-2.0
/*
 * What an open of /dev/epoll maps, by the offset.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>

#include <linux/devepoll.h>

#include "faces/mapping.h"
#include "sinks/area.h"
#include "sinks/pages.h"
#include "sinks/ring_memory.h"

/**
 * dep_mapping_map_extended() - map memory of the extended interface
 * @file: an open of the set
 * @vma: the area that mmap(2) has set up so far
 *
 * Context: process; sleeps.
 * Return: 0, or an error of what is there;
 * -ENODEV: nothing is there, as in epoll.
 */
int dep_mapping_map_extended(struct file *file, struct vm_area_struct *vma)
{
	switch (vma->vm_pgoff) {
	case DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT:
		return dep_area_map(file->private_data, vma);
	case DEVEPOLL_MAP_RING >> PAGE_SHIFT:
		return dep_ring_map_word(file->private_data, vma);
	case DEVEPOLL_MAP_RING_SLOTS >> PAGE_SHIFT:
		return dep_ring_map_slots(file->private_data, vma);
	}
	return -ENODEV;
}

/**
 * dep_mapping_map() - map that or, at any other offset, the page sets
 * @file: an open of the set
 * @vma: the area that mmap(2) has set up so far
 *
 * Context: process; sleeps.
 * Return: 0, or an error of what is there.
 */
int dep_mapping_map(struct file *file, struct vm_area_struct *vma)
{
	int err = dep_mapping_map_extended(file, vma);

	return err == -ENODEV ? dep_pages_map(file->private_data, vma) : err;
}
