// SPDX-License-Identifier: GPL-2.0
/*
 * The interfaces of this build, and which of them may be used.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ioctl.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "core/interface.h"

/* Kbuild: DEP_INTERFACE(name) of each interface of this build. */
#define DEP_INTERFACE(name) \
	extern struct dep_interface dep_##name##_interface;
DEP_INTERFACES
#undef DEP_INTERFACE
#define DEP_INTERFACE(name)	&dep_##name##_interface,
struct dep_interface *dep_interfaces[] __ro_after_init = {
	DEP_INTERFACES NULL
};

/**
 * dep_request_find() - find a request in a table
 * @requests: the table, or NULL
 * @cmd: the number that a program passed
 *
 * Return: the request, or NULL if there is none with this number.
 */
const struct dep_request *dep_request_find(const struct dep_request *requests,
					   unsigned int cmd)
{
	for (; requests && requests->make; requests++) {
		if (!((requests->cmd ^ cmd) &
		      ~(requests->sized ? IOCSIZE_MASK : 0)))
			return requests;
	}
	return NULL;
}

/**
 * dep_interface_request() - find a request on /dev/epoll
 * @cmd: the number that a program passed
 *
 * Return: the request, or NULL if no interface has one with this number.
 */
const struct dep_request *dep_interface_request(unsigned int cmd)
{
	const struct dep_request *request;
	struct dep_interface *iface;

	dep_interface_for_each(iface) {
		request = dep_request_find(iface->requests, cmd);
		if (request)
			return request;
	}
	return NULL;
}

/* Finds the one that a part of the parameter names. */
static struct dep_interface __init *interface_find(const char *name,
						   size_t length)
{
	struct dep_interface *iface;

	dep_interface_for_each(iface) {
		if (strlen(iface->name) == length &&
		    !memcmp(iface->name, name, length))
			return iface;
	}
	return NULL;
}

/**
 * dep_interface_choose() - refuse all interfaces but some
 * @names: the parameter: names, with commas between; NULL: all may be used
 *
 * Return: 0, or
 * -EINVAL: no interface of this build has such a name; the log tells.
 */
int __init dep_interface_choose(const char *names)
{
	struct dep_interface **to = dep_interfaces, *iface;
	size_t length;

	if (!names)
		return 0;
	dep_interface_for_each(iface)
		iface->refused = true;
	for (; *names; names += length + (names[length] == ',')) {
		length = strchrnul(names, ',') - names;
		if (!length)
			continue;
		iface = interface_find(names, length);
		if (!iface) {
			pr_err("interfaces: this module has no interface \"%.*s\"\n",
			       (int)length, names);
			return -EINVAL;
		}
		iface->refused = false;
	}
	/* Those that are refused leave the list. */
	dep_interface_for_each(iface) {
		if (!iface->refused)
			*to++ = iface;
	}
	*to = NULL;
	return 0;
}

/**
 * dep_interface_exit() - undo dep_interface_init()
 */
void dep_interface_exit(void)
{
	struct dep_interface *iface;

	dep_interface_for_each(iface) {
		if (iface->exit)
			iface->exit();
	}
}

/**
 * dep_interface_init() - let the interfaces prepare what they share
 *
 * Return: 0, or the error of one; then none is prepared.
 */
int __init dep_interface_init(void)
{
	struct dep_interface **at;
	int err;

	for (at = dep_interfaces; *at; at++) {
		err = (*at)->init ? (*at)->init() : 0;
		if (err) {
			*at = NULL;
			dep_interface_exit();
			return err;
		}
	}
	return 0;
}

/**
 * dep_interface_names() - name the interfaces that may be used
 * @names: gets the names, as the parameter would have them
 * @size: its size, bytes
 */
void __init dep_interface_names(char *names, size_t size)
{
	struct dep_interface *iface;
	size_t length = 0;

	*names = '\0';
	dep_interface_for_each(iface)
		length += scnprintf(names + length, size - length, "%s%s",
				    length ? "," : "", iface->name);
}
