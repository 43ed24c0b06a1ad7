# SPDX-License-Identifier: GPL-2.0
# Dispatches to the scripts and makefiles that do the work; try make help.

# Variables on the command line:
#   KERNEL=6.1|6.12|newest  the stock Debian kernel (default: 6.1, unless stated
#                           above); newest is that of trixie-backports, and
#                           others from there work, too, as 6.16 or 7.2.9;
#                           trixie is Debian 13's own
#   ARCH=arm64|riscv64      kmod, lib, selftests: for this, in build/ARCH; tools, check:
#                           for arm64 only; demo, bench, bench-check: likewise, on
#                           the newest kernel unless stated; other targets refuse it;
#                           riscv64 is experimental
#   DEBUG=kasan             use the debug kernel: KASAN, lockdep, kmemleak
#   V=1                     show every command and all output
#   OPS= SEED=              fuzz: number of operations (default: 1000000), first
#                           seed (default: random)
#   ONLY= CHANGED=          mutants: select faults, by name or by the files that
#                           differ from a revision
#   WHAT=[BACKEND.]CALL     profile: the call; see tools/profile/run
#   QUICK=1                 experiment: fewer sizes, and no record
#   DESTDIR= PREFIX=        install: the destination (PREFIX: /usr/local)
#   LINUX=DIR               in-tree: the source
#   TAG=v0.2.0              dist: the release with this tag, instead of the tree
#   DEVEPOLL_CACHE=         the cache (default: ~/.cache/devepoll)
#   WITHOUT="ring uring"    what the module is built without: classic closed
#                           devpoll fast mapped nest opens ring signal spin
#                           stats uring
#   DEVEPOLL_NEWEST=7.2     the version of newest, instead of asking the archive

# make's lists and kbuild take a space for the end of a name.
ifneq ($(words $(CURDIR)),1)
$(error the path of this tree has a space in it, with which kbuild can't build: $(CURDIR))
endif

ifdef DEBUG
ifneq ($(DEBUG),kasan)
$(error DEBUG=$(DEBUG) is unknown: DEBUG=kasan is the only one)
endif
override KERNEL := debug
endif
# A target that stands on one kernel takes this one.
K := $(or $(KERNEL),6.1)
ifneq ($(shell echo '$(K)' | grep -vE '^([0-9]+(\.[0-9]+){1,2}|newest|trixie|(debug|kcsan)(-newest)?)$$'),)
$(error KERNEL=$(K) is unknown: 6.1, 6.12, newest, trixie, or another MAJOR.MINOR[.PATCH])
endif

# Of the first, kbuild may be the reader.
ifneq ($(filter-out x86 x86_64 i386 amd64 arm64 riscv64,$(ARCH)),)
$(error ARCH=$(ARCH) is unknown: arm64, riscv64, or none for x86-64)
endif
A := $(filter arm64 riscv64,$(ARCH))
for-all := kmod lib selftests help deps clean
for-arm64 := tools demo check bench bench-check
not-for-A := $(filter-out $(for-all) $(for-$(A)),$(MAKECMDGOALS))
ifneq ($(and $(A),$(not-for-A)),)
$(error $(firstword $(not-for-A)): not for ARCH=$(A): \
	$(filter-out help deps clean,$(for-all) $(for-$(A))) are)
endif

V ?= 0
ifneq ($(V),1)
MAKEFLAGS += --no-print-directory
Q := @
V :=
else
export V
endif
PREFIX ?= /usr/local
export DESTDIR PREFIX OPS SEED QUICK WITHOUT

# A make that runs deps first: names of tools/dev/deps.sh's groups.
deps = $(Q)tools/dev/deps.sh $(1)

.DEFAULT_GOAL := help
.PHONY: help deps kmod lib tools selftests demo check check-deep mutants fuzz \
	proof servers clients bench bench-check bench-servers bench-um profile perf \
	experiment shell lint docs install uninstall in-tree dist deb clean

help: ## print this text
	@echo 'usage: make TARGET [VARIABLE=VALUE...]'
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r name text; do \
			printf '  %-13s %s\n' "$$name" "$$text"; done
	@echo
	@sed -n '/^# Variables/,/^$$/s/^# \{0,1\}//p' Makefile
	@echo 'tools/guest runs any program of this machine in a guest (see --help).'

deps: ## install the required Debian packages (as root)
	$(call deps,base demo lint packages)

kmod: ## build the module for KERNEL or all of make check: build/KERNEL/kmod
	$(call deps,base)
	$(Q)set -e; for k in $(or $(KERNEL),6.1 6.12 newest); do \
		tools/vm/kmod $(A:%=--arch %) $$k; done

lib: ## build the library: build/lib
	$(Q)$(if $(A),tools/vm/cross $(A) lib OUTPUT=$(CURDIR)/build/$(A)/lib,\
		$(MAKE) -C lib)

tools: ## build the examples and the benchmark: build/tools
	$(Q)$(if $(A),tools/vm/cross $(A) lib OUTPUT=$(CURDIR)/build/$(A)/lib && \
		tools/vm/cross $(A) tools OUTPUT=$(CURDIR)/build/$(A)/tools \
		LIBDEVEPOLL=$(CURDIR)/build/$(A)/lib/libdevepoll.a,\
		$(MAKE) -C tools)

selftests: lib ## build the test programs: build/selftests
	$(Q)tools/vm/selftests $(A)

demo: ## demonstrate /dev/epoll beside epoll (KERNEL=, 6.1)
	$(call deps,base demo)
	$(Q)tools/demo/run $(if $(A),$(A)/$(or $(KERNEL),newest),$(K))

check: ## run all tests in guests; KERNEL= or DEBUG= for only one kernel
	$(call deps,base demo docs experiment fuzz packages)
	$(Q)$(if $(A),ARM64=all DEVEPOLL_CHECK_DEEP=1 tools/check --only $(A) \
		$(or $(KERNEL),6.1 6.12 newest),tools/check $(KERNEL))

check-deep: ## measure anew what Documentation/trust.rst says (hours)
	$(call deps,base deep fuzz npm)
	$(Q)tools/deep

mutants: selftests ## check that the tests notice planted faults (KERNEL=, 6.1)
	$(call deps,base)
	$(Q)tools/mutants/run --kernel $(K) --only '$(ONLY)' \
		--changed '$(CHANGED)'

fuzz: ## run the fuzzer against epoll (KERNEL=, or 6.1, 6.12, newest)
	$(call deps,base)
	$(Q)tools/epdiff/run $(KERNEL)

bench: ## measure costs in instructions and cycles (KERNEL=, or 6.1, 6.12, newest)
	$(call deps,base)
	$(Q)tools/bench/run $(if $(A),$(A)/$(or $(KERNEL),newest),$(KERNEL))
	$(if $(A),,$(Q)tools/bench/rings)
	$(if $(A),,$(Q)tools/bench/preloaded $(KERNEL))
	$(if $(A),,$(Q)tools/cycles/run $(KERNEL))

bench-check: tools ## compare the costs with those recorded (KERNEL=, 6.1)
	$(call deps,base)
	$(Q)tools/bench/check $(if $(A),$(A)/$(or $(KERNEL),newest),$(K))
	$(if $(A),,$(Q)tools/cycles/run --check $(K))

bench-um: ## time calls on this processor, in Linux 6.1 as a program
	$(call deps,base)
	$(Q)tools/um/run

bench-servers: ## count what requests to unchanged servers cost (KERNEL=, 6.1)
	$(call deps,base npm rust)
	$(Q)tools/cycles/run --servers $(K)

profile: ## count one call's instructions by function, WHAT=wait_1 (KERNEL=, 6.1)
	$(call deps,base)
	$(Q)tools/profile/run --kernel $(K) $(or $(WHAT),wait_1)

perf: ## time the loops of perf bench epoll (KERNEL=, or 6.1, 6.12, newest)
	$(call deps,base perf)
	$(Q)tools/bench/perf $(KERNEL)

proof: ## run all tests that others wrote for epoll (40 min per kernel)
	$(call deps,base pip rust)
	$(Q)tools/proof/run programs $(KERNEL)
	$(Q)tools/proof/run rings $(KERNEL)
	$(Q)tools/proof/run loops $(KERNEL)
	$(Q)tools/proof/run runtimes $(KERNEL)

servers: ## run redis, nginx, memcached, Node.js and tokio on device and epoll
	$(call deps,base npm rust)
	$(Q)tools/proof/run servers $(KERNEL)
	$(Q)tools/proof/run accepts $(KERNEL)

clients: ## run programs written for Solaris on /dev/poll (KERNEL=, 6.1)
	$(call deps,base)
	$(Q)tools/clients/run $(K)

experiment: ## rerun the experiment of 2001, all mechanisms (QUICK=1: fewer sizes)
	$(call deps,base bench experiment)
	$(Q)tools/experiment/run $(K)

shell: ## open a guest with the module loaded (KERNEL=, DEBUG=)
	$(call deps,base)
	$(Q)$(MAKE) -s tools lib
	$(Q)tools/vm/kmod $(K) >/dev/null
	$(Q)tools/guest --kernel $(K) --interactive --keep-module -- \
		tools/demo/welcome $${SHELL_IN_GUEST:-/bin/bash}

lint: ## run the checkers for sources, docs, scripts and commits
	$(call deps,base lint)
	$(Q)tools/dev/lint.sh

docs: ## render Documentation and the man pages: build/docs
	$(call deps,base docs)
	$(Q)tools/dev/docs.sh

install: lib ## install module (KERNEL= or running kernel), udev rule, library, man
	$(Q)tools/dev/install.sh $(KERNEL)

uninstall: ## remove what install installed, for all kernels
	$(Q)tools/dev/install.sh --remove

in-tree: ## put the module into the source of a kernel: LINUX=DIR
	$(if $(LINUX),,$(error in-tree: say which source, as LINUX=DIR))
	$(Q)tools/intree/apply '$(LINUX)'

dist: ## make the tarball of a release: build/devepoll-VERSION.tar.xz
	$(Q)tools/dev/dist.sh $(if $(TAG),--tag '$(TAG)')

deb: ## build the Debian packages: build/deb
	$(call deps,--only packages)
	$(Q)tools/dev/deb.sh

clean: ## remove build/, but not the cache
	$(Q)rm -rf build
