#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the module, the file that loads it at boot, its udev rule, the
# library, the headers and the man pages.
#
# usage: install.sh [KERNEL]
#
# KERNEL is a stock kernel of tools/vm/kernel, such as 6.1 or newest.  Without
# it, the module is built for the running kernel, whose headers must be
# installed.  DESTDIR and PREFIX (default: /usr/local) select the destination.
# DESTDIR may be relative to the top of the tree.  With DESTDIR, the script does
# not run depmod, ldconfig or udevadm.  If the module can't be installed,
# nothing is.
set -u

# shellcheck source=tools/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"
cd "$top" || exit 1

# make runs in lib, where a relative path would have another meaning.
dest=${DESTDIR:+$(realpath -m -- "$DESTDIR")}
prefix=${PREFIX:-/usr/local}
kernel=${1:-host}

if [ "$kernel" = host ]; then
	release=$(uname -r)
	[ -e "/lib/modules/$release/build/Makefile" ] ||
		die "the headers of $release are not installed (linux-headers-$release): nothing installed; the library alone: make -C lib install"
else
	release=$(cat "$(tools/vm/kernel "$kernel")/release") || exit 1
fi
ko=$(tools/vm/kmod "$kernel") || exit 1
modules=$dest/lib/modules/$release/updates
install -D -m 644 "$ko" "$modules/devepoll.ko" || exit 1

install -D -m 644 tools/99-devepoll.rules \
	"$dest/lib/udev/rules.d/99-devepoll.rules" || exit 1
install -D -m 644 tools/devepoll.conf \
	"$dest/usr/lib/modules-load.d/devepoll.conf" || exit 1
make -s -C lib install "DESTDIR=$dest" "PREFIX=$prefix" || exit 1
for page in Documentation/man/man?/*.?; do
	install -D -m 644 "$page" \
		"$dest$prefix/share/man/man${page##*.}/${page##*/}" || exit 1
done

if [ -z "$dest" ]; then
	[ "$kernel" != host ] || depmod -a
	ldconfig
	command -v udevadm >/dev/null && udevadm control --reload 2>/dev/null
fi
exit 0
