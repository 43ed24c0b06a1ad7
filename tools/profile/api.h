/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the plugin uses of QEMU's interface for plugins.  Debian has no package
 * with its header; these declarations follow its documentation.
 */
#ifndef PROFILE_API_H
#define PROFILE_API_H

#include <stddef.h>
#include <stdint.h>

#define API_VERSION	4

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void tb_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void insn_executed(unsigned int vcpu, void *data);
typedef void ended(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   tb_translated *call);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    insn_executed *call, int flags,
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

#endif /* PROFILE_API_H */
