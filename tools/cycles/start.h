/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The beginning of a plugin of QEMU: until a program in the guest executes
 * MARK_START, the plugin looks for this mark alone, so that a boot costs no
 * more than usual.
 */
#ifndef CYCLES_START_H
#define CYCLES_START_H

#include "../profile/api.h"

typedef void follow_fn(qemu_plugin_id_t id);

/* At the mark, drops all callbacks; @follow registers others. */
void start_at_mark(qemu_plugin_id_t id, follow_fn *follow);

#endif /* CYCLES_START_H */
