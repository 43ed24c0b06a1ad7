/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caches of the processor that is modelled.
 */
#ifndef CYCLES_MODEL_H
#define CYCLES_MODEL_H

/* That of a server of today; L1 and L2 are those of one core. */
#define L1_SIZE		(32 << 10)
#define L1_WAYS		8
#define L2_SIZE		(1 << 20)
#define L2_WAYS		16
#define L3_SIZE		(32 << 20)
#define L3_WAYS		16

#endif /* CYCLES_MODEL_H */
