/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processor of the guest executes.  If the clock counts instructions,
 * QEMU 10.0 tells a callback which one has translated the code instead.
 */
#ifndef CYCLES_PROCESSOR_H
#define CYCLES_PROCESSOR_H

#include "../profile/api.h"

/* As many as a guest may have */
#define PROCESSORS	2

/* Call it once, when the plugin begins. */
void processor_find(qemu_plugin_id_t id);

/* Call it for each block of code that is translated. */
void processor_follow(struct qemu_plugin_tb *tb);

/* The number of the processor, in the order in which they were first met. */
unsigned int processor_now(void);

#endif /* CYCLES_PROCESSOR_H */
