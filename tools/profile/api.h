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
struct qemu_plugin_register;

/* What GLib calls GArray and GByteArray */
struct array {
	char *data;
	unsigned int len;
};

struct byte_array {
	uint8_t *data;
	unsigned int len;
};

/* An element of the array of qemu_plugin_get_registers() */
struct register_descriptor {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

/* For the argument flags: the callback reads no registers, or some. */
#define CB_NO_REGS	0
#define CB_READS_REGS	1
/* For the argument rw: loads and stores */
#define MEM_RW		3

typedef void tb_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void insn_executed(unsigned int vcpu, void *data);
typedef void mem_accessed(unsigned int vcpu, qemu_plugin_meminfo_t info,
			  uint64_t vaddr, void *data);
typedef void ended(qemu_plugin_id_t id, void *data);
typedef void vcpu_made(qemu_plugin_id_t id, unsigned int vcpu);
typedef void reset(qemu_plugin_id_t id);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, vcpu_made *call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  insn_executed *call, int flags,
					  void *data);
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
/* Where the instruction is in QEMU's memory */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
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

/* Of the processor that makes the callback; the caller frees the array. */
struct array *qemu_plugin_get_registers(void);
/* Appends the value; returns its size, or at most 0. */
int qemu_plugin_read_register(struct qemu_plugin_register *handle,
			      struct byte_array *value);

/* Of GLib, which QEMU is linked with */
char *g_array_free(struct array *array, int with_elements);
struct byte_array *g_byte_array_new(void);
struct byte_array *g_byte_array_set_size(struct byte_array *array,
					 unsigned int len);

#endif /* PROFILE_API_H */
