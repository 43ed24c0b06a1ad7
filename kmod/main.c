// SPDX-License-Identifier: GPL-2.0
/*
 * Load and unload: the steps in order, undone in reverse.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/host.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/limits.h"
#include "core/nest.h"
#include "core/relay.h"
#include "core/stats.h"
#include "device.h"
#include "epoll/request.h"
#include "files/release.h"
#include "files/table.h"
#include "set/ready.h"

module_param_named(max_fds, dep_max_fds, uint, 0444);
MODULE_PARM_DESC(max_fds, "most fds in one set (default 131072, at most 1048576)");

module_param_named(max_user_watches, dep_max_user_watches, ulong, 0644);
MODULE_PARM_DESC(max_user_watches,
		 "most fds that one user watches, in-tree epoll included (default 0: 4 % of low memory)");

module_param_named(fadvise, dep_access_fadvise, bool, 0644);
MODULE_PARM_DESC(fadvise, "accept requests through fadvise64(2), too (default Y)");

static ushort mode = 0666;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/epoll and /dev/poll (default 0666)");

static char *interfaces;
module_param(interfaces, charp, 0444);
MODULE_PARM_DESC(interfaces,
		 "the interfaces beside epoll's that programs may use, with commas between (default: all that were built in)");

/* The memory of a file that is watched once, in bytes. */
#define WATCH_COST	sizeof(struct dep_host)
static_assert(sizeof(struct dep_leaf) <= DEP_TABLE_CHARGE * WATCH_COST);

/* As in epoll: a share of low memory, at the price of a watch with one item. */
static unsigned long __init default_max_user_watches(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return ((info.totalram - info.totalhigh) / DEP_WATCH_MEMORY_SHARE *
		PAGE_SIZE) / WATCH_COST;
}

static int __init check_parameters(void)
{
	if (dep_max_fds < 1 || dep_max_fds > DEP_MAX_FDS_MOST) {
		pr_err("max_fds=%u is not between 1 and %u\n", dep_max_fds,
		       DEP_MAX_FDS_MOST);
		return -EINVAL;
	}
	if (mode & ~0777) {
		pr_err("mode=%#o has bits beyond 0777\n", mode);
		return -EINVAL;
	}
	if (!dep_max_user_watches)
		dep_max_user_watches = default_max_user_watches();
	return dep_interface_choose(interfaces);
}

static void __init tell_of_kernel(void)
{
	if (!DEP_URING_CAN_SHOOT)
		pr_info("this kernel lacks " DEP_KERNEL_LACKS "\n");
	if (DEP_KERNEL_IS_UNTESTED)
		pr_notice("Linux %d.%d is newer than the newest tested kernel, %d.%d\n",
			  LINUX_VERSION_MAJOR, LINUX_VERSION_PATCHLEVEL,
			  DEP_TESTED_MAJOR, DEP_TESTED_MINOR);
}

static int __init devepoll_init(void)
{
	char names[DEP_INTERFACE_NAMES];
	int err;

	err = check_parameters();
	if (err)
		return err;
	if (DEP_HAS_NEST)
		dep_nest_poll = dep_ready_poll;
	err = dep_host_cache_init();
	if (err)
		return err;
	err = dep_interface_init();
	if (err)
		goto err_host_cache;
	err = dep_fput_init();
	if (err)
		goto err_interface;
	err = dep_service_init();
	if (err)
		goto err_fput;
	err = dep_watch_init();
	if (err)
		goto err_service;
	err = dep_release_register();
	if (err)
		goto err_watch;
	err = dep_device_register(mode);
	if (err) {
		pr_err("can't register the device nodes (%d)\n", err);
		goto err_release;
	}
	if (DEP_HAS_STATS)
		dep_stats_init();
	dep_interface_names(names, sizeof(names));
	pr_info("version " DEVEPOLL_VERSION " loaded, max_fds=%u max_user_watches=%lu interfaces=%s\n",
		dep_max_fds, dep_max_user_watches, names);
	tell_of_kernel();
	return 0;

err_release:
	dep_release_unregister();
err_watch:
	dep_watch_exit();
err_service:
	dep_service_exit();
err_fput:
	dep_fput_exit();
err_interface:
	dep_interface_exit();
err_host_cache:
	dep_host_cache_exit();
	return err;
}

static void __exit devepoll_exit(void)
{
	if (DEP_HAS_STATS)
		dep_stats_exit();
	dep_device_unregister();
	dep_release_unregister();
	/* A wake-up that brought POLLFREE may still be returning. */
	synchronize_rcu();
	dep_watch_exit();
	dep_service_exit();
	dep_fput_exit();
	dep_interface_exit();
	dep_host_cache_exit();
}

module_init(devepoll_init);
module_exit(devepoll_exit);

MODULE_AUTHOR("The devepoll authors");
MODULE_DESCRIPTION("/dev/epoll: event notification through mapped pages");
MODULE_LICENSE("GPL");
MODULE_VERSION(DEVEPOLL_VERSION);
MODULE_INFO(kernel_lacks, DEP_KERNEL_LACKS);
