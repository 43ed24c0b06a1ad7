// SPDX-License-Identifier: GPL-2.0
/*
 * What /proc/PID/fdinfo tells about a set.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>

#include "core/instance.h"
#include "core/stats.h"
#include "faces/devpoll.h"
#include "faces/fdinfo.h"

static const char *interface_of(const struct dep_instance *inst)
{
	switch (READ_ONCE(inst->devpoll)) {
	case DEP_DEVPOLL_OPEN:
		return "poll";
	case DEP_DEVPOLL_LINUX:
		return "poll, Linux";
	case DEP_DEVPOLL_SOLARIS:
		return "poll, Solaris";
	default:
		return READ_ONCE(inst->onesig) ? "signal" :
		       READ_ONCE(inst->ring) ? "extended, ring" :
		       READ_ONCE(inst->extended) ? "extended" : "2001";
	}
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
