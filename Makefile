# SPDX-License-Identifier: GPL-2.0
# Dispatches to the scripts and makefiles that do the work; try make help.

# Variables of the command line:
#   KERNEL=6.1|6.12|newest which stock Debian kernel (6.1 unless said below);
#                         newest is of trixie-backports, where 7.2 is too
#   DEBUG=kasan           the debug kernel instead: KASAN, lockdep, kmemleak
#   V=1                   show every command and all output
#   OPS= SEED=            of fuzz: operations (1000000), where to start (random)
#   ONLY= CHANGED=        of mutants: which faults; those of files that differ
#                         from a revision
#   QUICK=1               of experiment: fewer sizes, not recorded
#   DESTDIR= PREFIX=      where `make install' puts things (/usr/local)
#   DEVEPOLL_CACHE=       packages and kernels (~/.cache/devepoll)
#   DEVEPOLL_NEWEST=7.2   what newest is, instead of asking the archive

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
ifneq ($(shell echo '$(K)' | grep -vE '^([0-9]+\.[0-9]+|newest|debug)$$'),)
$(error KERNEL=$(K) is unknown: 6.1, 6.12, newest, or another MAJOR.MINOR)
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
export DESTDIR PREFIX OPS SEED QUICK

# A make that runs deps first: names of tools/dev/deps.sh's groups.
deps = $(Q)tools/dev/deps.sh $(1)

.DEFAULT_GOAL := help
.PHONY: help deps kmod lib tools selftests demo check mutants fuzz proof \
	servers clients bench experiment shell lint docs install clean

help: ## this text
	@echo 'usage: make TARGET [VARIABLE=VALUE...]'
	@echo
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r name text; do \
			printf '  %-10s %s\n' "$$name" "$$text"; done
	@echo
	@sed -n '/^# Variables/,/^$$/s/^# \{0,1\}//p' Makefile
	@echo 'Any program of this machine runs in a guest by tools/guest (see --help).'

deps: ## install the Debian packages that are needed here (as root)
	$(call deps,base demo lint)

kmod: ## build the module for KERNEL, or for those of make check: build/KERNEL/kmod
	$(call deps,base)
	$(Q)set -e; for k in $(or $(KERNEL),6.1 6.12 newest); do \
		tools/vm/kmod $$k; done

lib: ## build the library: build/lib
	$(Q)$(MAKE) -C lib

tools: ## build the examples and the benchmark: build/tools
	$(Q)$(MAKE) -C tools

selftests: lib ## build the test programs: build/selftests
	$(Q)tools/vm/selftests

demo: ## show /dev/epoll at work beside epoll (KERNEL=, 6.1)
	$(call deps,base demo)
	$(Q)tools/demo/run $(K)

check: ## run all tests in guests; KERNEL= or DEBUG= for only one kernel
	$(call deps,base)
	$(Q)tools/check $(KERNEL)

mutants: selftests ## plant faults in the module, and see them all noticed (KERNEL=, 6.1)
	$(call deps,base)
	$(Q)tools/mutants/run --kernel $(K) --only '$(ONLY)' \
		--changed '$(CHANGED)'

fuzz: ## a million random operations beside epoll's (KERNEL=, or 6.1, 6.12, newest)
	$(call deps,base)
	$(Q)tools/epdiff/run $(KERNEL)

bench: ## measure the costs in instructions (KERNEL=, or 6.1, 6.12, newest)
	$(call deps,base)
	$(Q)tools/bench/run $(KERNEL)
	$(Q)tools/bench/rings

proof: ## run what others wrote for epoll on the device, all of it (35 min a kernel)
	$(call deps,base pip)
	$(Q)tools/proof/run programs $(KERNEL)
	$(Q)tools/proof/run rings $(KERNEL)

servers: ## run redis, nginx, memcached and Node on the device, beside epoll
	$(call deps,base npm)
	$(Q)tools/proof/run servers $(KERNEL)

clients: ## run programs written for Solaris on /dev/poll (KERNEL=, 6.1)
	$(call deps,base)
	$(Q)tools/clients/run $(K)

experiment: ## rerun the experiment of 2001 with every mechanism (QUICK=1: fewer sizes)
	$(call deps,base bench experiment)
	$(Q)tools/experiment/run $(K)

shell: ## open a guest with the module loaded (KERNEL=, DEBUG=)
	$(call deps,base)
	$(Q)tools/vm/kmod $(K) >/dev/null
	$(Q)tools/guest --kernel $(K) --interactive --keep-module -- \
		$${SHELL_IN_GUEST:-/bin/bash}

lint: ## checkers of sources, docs, scripts and commits
	$(call deps,base lint)
	$(Q)tools/dev/lint.sh

docs: ## render Documentation and the man pages: build/docs
	$(call deps,base docs)
	$(Q)tools/dev/docs.sh

install: lib ## install module (KERNEL= or the running one), udev rule, library, man
	$(Q)tools/dev/install.sh $(KERNEL)

clean: ## remove build/ (the cache stays)
	$(Q)rm -rf build
