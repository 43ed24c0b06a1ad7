/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the plugins use of QEMU's interface for plugins.  Debian has no package
 * with its header; these declarations follow its documentation.
 */
#ifndef PROFILE_API_H
#define PROFILE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_VERSION	4

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

/* For the argument flags: the callback reads no registers. */
#define CB_NO_REGS	0
/* For the argument rw: loads and stores */
#define MEM_RW		3

typedef void tb_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void insn_executed(unsigned int vcpu, void *data);
typedef void mem_accessed(unsigned int vcpu, qemu_plugin_meminfo_t info,
			  uint64_t vaddr, void *data);
typedef void ended(qemu_plugin_id_t id, void *data);
typedef void reset(qemu_plugin_id_t id);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   tb_translated *call);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    insn_executed *call, int flags,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      mem_accessed *call, int flags, int rw,
				      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended *call,
				    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t nr);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to,
			     size_t size);

/* Drops all callbacks and translated code, then makes @call. */
void qemu_plugin_reset(qemu_plugin_id_t id, reset *call);

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *
qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *addr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *addr);

#endif /* PROFILE_API_H */
