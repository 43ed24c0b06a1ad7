// SPDX-License-Identifier: GPL-2.0
/*
 * What /proc/PID/fdinfo tells about a set.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>

#include "core/face.h"
#include "core/instance.h"
#include "core/stats.h"
#include "epoll/handlers.h"

static const char *interface_of(const struct dep_instance *inst)
{
	const char *name = NULL;
	struct dep_face *face;

	dep_face_for_each(face) {
		if (face->describe)
			name = face->describe(inst);
		if (name)
			return name;
	}
	return "extended";
}

/**
 * dep_fdinfo_show() - the ->show_fdinfo of all opens
 * @seq: where to write
 * @file: an open of a set
 */
void dep_fdinfo_show(struct seq_file *seq, struct file *file)
{
	const struct dep_instance *inst = file->private_data;

	seq_printf(seq, "interface:\t%s\n", interface_of(inst));
	dep_stats_show(file->private_data, seq);
}
