#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that the header of the interface has the numbers of 2001 (sizes,
# offsets and ioctl numbers; for 64 and 32 bits, in C and in C++, in a packed
# struct), that the structures of the library's headers keep their layouts, and
# that the library exports the symbols in its headers and in its map.
#
# Prints TAP.  The built library is in BUILD (default: build/lib at the top).
set -u

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
BUILD=${BUILD:-$top/build/lib}
CC=${CC:-gcc}
CXX=${CXX:-g++}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/tap.sh
. "$top/tools/tap.sh"

cat >"$work/same.h" <<'END'
#ifdef __cplusplus
#define SAME(a, b) static_assert((unsigned long)(a) == (b), #a " is " #b)
#else
#define SAME(a, b) _Static_assert((unsigned long)(a) == (b), #a " is " #b)
#endif
END

# The values that a program of 2001 was built with, as plain numbers, so that
# the header is not compared with itself.
cat >"$work/common.h" <<'END'
#include <poll.h>
#include <stddef.h>

#include <linux/devepoll.h>

#include "same.h"

SAME(EVENTPOLL_MAJOR, 10);
SAME(EVENTPOLL_MINOR, 124);
SAME(EP_PAGE_SIZE, 4096);
SAME(POLLFD_X_PAGE, 512);
SAME(MAX_FDS_IN_EVENTPOLL, 131072);
SAME(POLLREMOVE, 0x1000);

SAME(EP_FDS_PAGES(1), 1);
SAME(EP_FDS_PAGES(512), 1);
SAME(EP_FDS_PAGES(513), 2);
SAME(EP_FDS_PAGES(131072), 256);
SAME(EP_MAP_SIZE(1), 8192);
SAME(EP_MAP_SIZE(512), 8192);
SAME(EP_MAP_SIZE(513), 16384);
SAME(EP_MAP_SIZE(131072), 2097152);

SAME(EP_ALLOC, 0x80045001);
SAME(EP_FREE, 0x5003);
SAME(EP_ISPOLLED, 0xc0085004);
SAME(EP_POLL32, 0xc0085002);

SAME(sizeof(struct pollfd), 8);
SAME(offsetof(struct pollfd, fd), 0);
SAME(offsetof(struct pollfd, events), 4);
SAME(offsetof(struct pollfd, revents), 6);
SAME(sizeof(struct evpoll32), 8);
SAME(offsetof(struct evpoll32, ep_timeout), 0);
SAME(offsetof(struct evpoll32, ep_resoff), 4);
SAME(sizeof(struct evpoll_packed), 12);
SAME(offsetof(struct evpoll_packed, ep_timeout), 0);
SAME(offsetof(struct evpoll_packed, ep_resoff), 4);
SAME(offsetof(struct evpoll, ep_timeout), 0);
SAME(EP_POLL_PACKED, 0xc00c5002);

/* As one small C library declares it. */
struct __attribute__((packed)) theirs {
	int ep_timeout;
	unsigned long ep_resoff;
};
END

cat >"$work/abi64.c" <<'END'
#include "common.h"
SAME(sizeof(struct evpoll), 16);
SAME(offsetof(struct evpoll, ep_resoff), 8);
SAME(EP_POLL, 0xc0105002);
SAME(sizeof(struct theirs), 12);
SAME(_IOWR('P', 2, struct theirs), EP_POLL_PACKED);
END

cat >"$work/abi32.c" <<'END'
#include "common.h"
SAME(sizeof(struct evpoll), 8);
SAME(offsetof(struct evpoll, ep_resoff), 4);
SAME(EP_POLL, 0xc0085002);
SAME(EP_POLL, EP_POLL32);
SAME(sizeof(struct theirs), 8);
SAME(_IOWR('P', 2, struct theirs), EP_POLL);
END

# The check must notice a wrong number; otherwise, it proves nothing.
cat >"$work/wrong.c" <<'END'
#include "common.h"
SAME(EP_ALLOC, 0x80045002);
END

compiles() { # compiler... file
	"$@" -Wall -Wextra -Werror -I"$top/uapi" -I"$top/lib/include" \
		-fsyntax-only >"$work/log" 2>&1
}

check_layout() {
	compiles "$CC" -m64 "$work/abi64.c"
	result $? "the interface has the numbers of 2001 in 64 bit" "$work/log"
	compiles "$CC" -m32 "$work/abi32.c"
	result $? "the interface has the numbers of 2001 in 32 bit" "$work/log"
	compiles "$CXX" -x c++ -std=c++11 "$work/abi64.c"
	result $? "the interface has the same numbers in C++" "$work/log"

	! compiles "$CC" "$work/wrong.c" &&
		grep -q 'EP_ALLOC is 0x80045002' "$work/log"
	result $? "a wrong ioctl number is noticed" "$work/log"
}

# The layouts of the library's structures, which are compiled into programs.
cat >"$work/lib.c" <<'END'
#include <stddef.h>
#include "devepoll.h"
#include "devepoll_2002.h"
#include "devepoll_events.h"
#include "same.h"

#define P sizeof(void *)

SAME(POLLREMOVE, 0x1000);
SAME(DEVEPOLL_NO_CLOEXEC, 1);
SAME(sizeof(struct devepoll_failure), 2 * sizeof(size_t));
SAME(offsetof(struct devepoll_failure, index), 0);
SAME(offsetof(struct devepoll_failure, error), sizeof(size_t));
SAME(sizeof(struct devepoll_cursor), 2 * P);
SAME(offsetof(struct devepoll_cursor, next), 0);
SAME(offsetof(struct devepoll_cursor, end), P);

SAME(sizeof(struct devepoll_part), P + 32);
SAME(offsetof(struct devepoll_part, events), 0);
SAME(offsetof(struct devepoll_part, max_events), P);
SAME(offsetof(struct devepoll_part, fd), P + 4);
SAME(offsetof(struct devepoll_part, offset), P + 8);
SAME(offsetof(struct devepoll_part, reserved), P + 16);

SAME(sizeof(struct devepoll_consumer), 6 * P + 16);
SAME(offsetof(struct devepoll_consumer, next), 0);
SAME(offsetof(struct devepoll_consumer, end), P);
SAME(offsetof(struct devepoll_consumer, page), 2 * P);
SAME(offsetof(struct devepoll_consumer, sets), 3 * P);
SAME(offsetof(struct devepoll_consumer, size), 4 * P);
SAME(offsetof(struct devepoll_consumer, mapped), 5 * P);
SAME(offsetof(struct devepoll_consumer, spare), 6 * P);
SAME(offsetof(struct devepoll_consumer, fd), 6 * P + 4);
SAME(offsetof(struct devepoll_consumer, reserved), 6 * P + 8);

SAME(EP_CTL_ADD, 1);
SAME(EP_CTL_DEL, 2);
SAME(EP_CTL_MOD, 3);
/* The files of a program share it, whatever version each was built with. */
SAME(sizeof(devepoll_2002_sets), 1024 * P);
END

# <sys/devpoll.h> declares it as Solaris does.
cat >"$work/solaris.c" <<'END'
#include <stddef.h>
#include <sys/devpoll.h>
#include "same.h"

#define P sizeof(void *)

SAME(DP_POLL, 0xd001);
SAME(DP_ISPOLLED, 0xd002);
SAME(DP_PPOLL, 0xd003);
SAME(sizeof(dvpoll_t), 4 * P);
SAME(offsetof(dvpoll_t, dp_fds), 0);
SAME(offsetof(dvpoll_t, dp_nfds), P);
SAME(offsetof(dvpoll_t, dp_timeout), 2 * P);
SAME(offsetof(dvpoll_t, dp_setp), 3 * P);
END

check_library_layout() {
	for bits in 64 32; do
		compiles "$CC" -m$bits "$work/lib.c" &&
			compiles "$CXX" -m$bits -x c++ -std=c++11 "$work/lib.c"
		result $? "the library's structs keep their layout in $bits bit" \
			"$work/log"
		compiles "$CC" -m$bits "$work/solaris.c"
		result $? "the dvpoll of Solaris keeps its layout in $bits bit" \
			"$work/log"
	done
}

# Functions that the headers declare without a body, one per line.
header_symbols() {
	printf '#include "%s"\n' devepoll.h devepoll_epoll.h \
		devepoll_events.h |
		"$CC" -I"$top/uapi" -I"$top/lib/include" -E -P - |
		tr '\n' ' ' |
		sed 's/[;{}]/&\n/g' |
		sed -n '/return /!s/.*[^ ].*[ *]\(devepoll_[a-z0-9_]*\)(.*);$/\1/p' |
		sort
}

# symbol@@version
map_symbols() {
	awk '/^DEVEPOLL_/ { version = $1 }
		/^\tdevepoll_[a-z0-9_]*;$/ {
			print substr($1, 1, length($1) - 1) "@@" version
		}' "$top/lib/libdevepoll.map" | sort
}

library_symbols() {
	nm -D --defined-only --with-symbol-versions \
		"$BUILD/libdevepoll.so" | awk '$2 == "T" { print $3 }' | sort
}

# The functions of the C library that the preload library replaces.  No header
# declares them, so this list is what its map is held against.
preloaded_symbols() {
	printf '%s\n' _Fork close close_range closefrom dup2 dup3 \
		epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 \
		epoll_wait pthread_cancel syscall
}

check_symbols() {
	header_symbols >"$work/header"
	map_symbols >"$work/expected"
	sed 's/@@.*//' "$work/expected" | sort >"$work/map"
	library_symbols >"$work/library"

	[ -s "$work/map" ]
	result $? "the map names symbols"
	diff "$work/map" "$work/header" >"$work/log" 2>&1
	result $? "the map has the functions of the headers" "$work/log"
	diff "$work/expected" "$work/library" >"$work/log" 2>&1
	result $? "the library exports the map's symbols with their version" \
		"$work/log"
	readelf -d "$BUILD/libdevepoll.so" >"$work/log" 2>&1 &&
		grep -q 'soname: \[libdevepoll\.so\.0\]' "$work/log"
	result $? "the library's soname is libdevepoll.so.0" "$work/log"

	preloaded_symbols >"$work/expected"
	nm -D --defined-only "$BUILD/libdevepoll-preload.so" |
		awk '{ print $3 }' | diff "$work/expected" - >"$work/log" 2>&1
	result $? "the preload exports epoll's calls and no more" "$work/log"
}

echo "TAP version 13"
check_layout
check_library_layout
check_symbols
echo "1..$count"
[ "$failed" -eq 0 ]
