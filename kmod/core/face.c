// SPDX-License-Identifier: GPL-2.0
/*
 * The interfaces of this build, and which of them may be used.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "core/face.h"

/* Kbuild: DEP_FACE(name) of each interface of this build. */
#define DEP_FACE(name)	extern struct dep_face dep_##name##_face;
DEP_FACES
#undef DEP_FACE
#define DEP_FACE(name)	&dep_##name##_face,
struct dep_face *dep_faces[] __ro_after_init = { DEP_FACES NULL };

/* Finds the one that a part of the parameter names. */
static struct dep_face __init *face_find(const char *name, size_t length)
{
	struct dep_face *face;

	dep_face_for_each(face) {
		if (strlen(face->name) == length &&
		    !memcmp(face->name, name, length))
			return face;
	}
	return NULL;
}

/* Takes those that are refused out of the list. */
static void __init face_drop_refused(void)
{
	struct dep_face **to = dep_faces, *face;

	dep_face_for_each(face) {
		if (!face->refused)
			*to++ = face;
	}
	*to = NULL;
}

/**
 * dep_face_choose() - refuse all interfaces but some
 * @names: the parameter: names, with commas between; NULL: all may be used
 *
 * Return: 0, or
 * -EINVAL: no interface of this build has such a name; the log tells.
 */
int __init dep_face_choose(const char *names)
{
	struct dep_face *face;
	size_t length;

	if (!names)
		return 0;
	dep_face_for_each(face)
		face->refused = true;
	for (; *names; names += length + (names[length] == ',')) {
		length = strchrnul(names, ',') - names;
		if (!length)
			continue;
		face = face_find(names, length);
		if (!face) {
			pr_err("interfaces: this module has no interface \"%.*s\"\n",
			       (int)length, names);
			return -EINVAL;
		}
		face->refused = false;
	}
	face_drop_refused();
	return 0;
}

/**
 * dep_face_init() - let the interfaces prepare what they share
 *
 * Return: 0, or the error of one; then none is prepared.
 */
int __init dep_face_init(void)
{
	struct dep_face **at;
	int err;

	for (at = dep_faces; *at; at++) {
		err = (*at)->init ? (*at)->init() : 0;
		if (err)
			goto err_exit;
	}
	return 0;

err_exit:
	while (at-- > dep_faces) {
		if ((*at)->exit)
			(*at)->exit();
	}
	return err;
}

/**
 * dep_face_exit() - undo dep_face_init()
 */
void dep_face_exit(void)
{
	struct dep_face *face;

	dep_face_for_each(face) {
		if (face->exit)
			face->exit();
	}
}

/**
 * dep_face_names() - name the interfaces that may be used
 * @names: gets the names, as the parameter would have them
 * @size: its size, bytes
 */
void __init dep_face_names(char *names, size_t size)
{
	struct dep_face *face;
	size_t length = 0;

	*names = '\0';
	dep_face_for_each(face)
		length += scnprintf(names + length, size - length, "%s%s",
				    length ? "," : "", face->name);
}
