/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An interface beside epoll's calls and the extended one: a table of what it
 * does.  The core names none of them, but for DEP_HAS_*; Kbuild lists those of
 * a build, and the parameter "interfaces" those that may be used.
 */
#ifndef DEVEPOLL_INTERFACE_H
#define DEVEPOLL_INTERFACE_H

#include <linux/cache.h>
#include <linux/fs.h>
#include <linux/kconfig.h>
#include <linux/miscdevice.h>

/*
 * Which interfaces this build of the module has, for the few places where the
 * core would otherwise pay for one that is missing; and whether it has the fast
 * paths of waits and wake-ups, fds that report their close, results in mapped
 * memory, sets in sets, counters, and further opens of a set.  Kbuild defines them.
 */
#define DEP_HAS_CLASSIC	__is_defined(DEP_WITH_classic)
#define DEP_HAS_DEVPOLL	__is_defined(DEP_WITH_devpoll)
#define DEP_HAS_RING	__is_defined(DEP_WITH_ring)
#define DEP_HAS_FAST	__is_defined(DEP_WITH_fast)
#define DEP_HAS_CLOSED	__is_defined(DEP_WITH_closed)
#define DEP_HAS_STATS	__is_defined(DEP_WITH_stats)
#define DEP_HAS_MAPPED	__is_defined(DEP_WITH_mapped)
#define DEP_HAS_NEST	__is_defined(DEP_WITH_nest)
#define DEP_HAS_OPENS	__is_defined(DEP_WITH_opens)

/* Room for the names of all interfaces, bytes. */
#define DEP_INTERFACE_NAMES	64

struct dep_instance;
struct io_uring_cmd;

/**
 * struct dep_request - a request of an interface
 * @cmd: its number
 * @sized: its argument may have another size in another program
 * @mode: what the open must have for it: FMODE_READ, FMODE_WRITE, or 0
 * @make: makes it, called with the number that the program passed; -ENOTTY if
 *	the size of the argument is none of it
 */
struct dep_request {
	unsigned int cmd;
	bool sized;
	fmode_t mode;
	long (*make)(struct file *file, unsigned int cmd, void __user *arg);
};

/**
 * struct dep_interface - an interface that a build can leave out
 * @name: how Kbuild and the parameter call it
 * @features: its bits of DEVEPOLL_FEATURES
 * @refused: the parameter does not name it: nobody can use it
 * @init: called when the module is loaded, before a node exists; NULL if there
 *	is nothing to do.  Returns 0 or an error, and then the loading fails
 * @exit: undoes it, when no node exists any more; NULL if there is nothing
 * @requests: its requests on /dev/epoll, up to one without @make; NULL if there
 *	is none
 * @write: write(2) on /dev/epoll, or NULL; that of the last interface that has
 *	it is called
 * @uring_cmd: a command of an io_uring on /dev/epoll, or NULL
 * @mmap: maps memory of /dev/epoll; -ENODEV if the offset is not one of this
 *	interface.  NULL if there is none
 * @stop: ends what the interface does for a set that has no items any more, and
 *	that nobody else can reach; NULL if there is nothing
 * @free: frees what it has made for the set, which no relay serves any more;
 *	NULL if there is nothing
 * @describe: what /proc/PID/fdinfo calls a set of this interface; NULL if the
 *	set is not one: then it is called "extended".  NULL if no set is
 * @node: a node of its own, or NULL.  Its opens are sets; what ends, polls and
 *	describes a set is added to its operations
 */
struct dep_interface {
	const char *name;
	u64 features;
	bool refused;
	int (*init)(void);
	void (*exit)(void);
	const struct dep_request *requests;
	ssize_t (*write)(struct file *file, const char __user *buf,
			 size_t count, loff_t *pos);
	int (*uring_cmd)(struct io_uring_cmd *cmd, unsigned int flags);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	void (*stop)(struct dep_instance *inst);
	void (*free)(struct dep_instance *inst);
	const char *(*describe)(const struct dep_instance *inst);
	const struct miscdevice *node;
};

/* Begins the definition of an interface's table. */
#define DEP_INTERFACE_TABLE(name)					\
	extern struct dep_interface dep_##name##_interface;		\
	struct dep_interface dep_##name##_interface __ro_after_init

/* Those of this build that are not refused, up to a NULL. */
extern struct dep_interface *dep_interfaces[];

/**
 * dep_interface_for_each() - all interfaces that may be used
 * @iface: struct dep_interface *
 *
 * They are fixed when the module is loaded.
 */
#define dep_interface_for_each(iface)					\
	for (struct dep_interface **_at = dep_interfaces;		\
	     ((iface) = *_at); _at++)

const struct dep_request *dep_request_find(const struct dep_request *requests,
					   unsigned int cmd);
const struct dep_request *dep_interface_request(unsigned int cmd);
int __init dep_interface_choose(const char *names);
int __init dep_interface_init(void);
void dep_interface_exit(void);
void __init dep_interface_names(char *names, size_t size);

#endif /* DEVEPOLL_INTERFACE_H */
