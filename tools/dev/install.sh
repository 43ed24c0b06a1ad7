#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the module, its udev rule, the library, the headers and the man
# pages.
#
# usage: install.sh [KERNEL]
#
# KERNEL is 6.1, 6.12 or 7.2, a stock kernel of tools/vm/kernel; without it the
# module is built for the running kernel, if its headers are installed.  DESTDIR
# and PREFIX (/usr/local) say where; below a DESTDIR nothing is run on the
# result (depmod, ldconfig, udevadm).
set -u

# shellcheck source=tools/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"
cd "$top" || exit 1

dest=${DESTDIR:-}
prefix=${PREFIX:-/usr/local}
kernel=${1:-host}

if [ "$kernel" = host ]; then
	release=$(uname -r)
	[ -e "/lib/modules/$release/build/Makefile" ] || release=
else
	release=$(cat "$(tools/vm/kernel "$kernel")/release") || exit 1
fi
if [ "$release" ]; then
	ko=$(tools/vm/kmod "$kernel") || exit 1
	modules=$dest/lib/modules/$release/updates
	install -D -m 644 "$ko" "$modules/devepoll.ko" || exit 1
else
	say "the headers of $(uname -r) are not installed: no module"
fi

install -D -m 644 tools/99-devepoll.rules \
	"$dest/lib/udev/rules.d/99-devepoll.rules" || exit 1
make -s -C lib install "DESTDIR=$dest" "PREFIX=$prefix" || exit 1
for page in Documentation/man/man?/*.?; do
	install -D -m 644 "$page" \
		"$dest$prefix/share/man/man${page##*.}/${page##*/}" || exit 1
done

if [ -z "$dest" ]; then
	[ "$release" ] && [ "$kernel" = host ] && depmod -a
	ldconfig
	command -v udevadm >/dev/null && udevadm control --reload 2>/dev/null
fi
exit 0
