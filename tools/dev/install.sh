#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the module, the unit that loads it at boot, its udev rule, the
# library, the headers, devepoll-module, devepoll-top, devepoll-metrics, the script
# for bpftrace, and the man pages.
#
# usage: install.sh [KERNEL]
#        install.sh --remove    removes what was installed, for all kernels
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
units=/usr/lib/systemd/system
[ "$dest" ] || [ "$(id -u)" = 0 ] ||
	die "not root; run as root, or set DESTDIR: nothing was changed"

# put FILE DESTINATION
put() {
	local why
	why=$(install -D -m 644 "$1" "$2" 2>&1) ||
		die "${why#install: }; what is there already goes by: make uninstall"
}

# refresh: what the machine itself keeps in files
refresh() {
	[ -z "$dest" ] || return 0
	ldconfig
	command -v udevadm >/dev/null && udevadm control --reload 2>/dev/null
	return 0
}

if [ "$kernel" = --remove ]; then
	for ko in "$dest"/lib/modules/*/updates/devepoll.ko; do
		[ -e "$ko" ] || continue
		rm -f "$ko"
		rmdir --ignore-fail-on-non-empty "${ko%/*}"
		release=${ko#"$dest/lib/modules/"}
		[ "$dest" ] || depmod "${release%%/*}"
	done
	rm -f "$dest/usr/lib/udev/rules.d/99-devepoll.rules" \
		"$dest/usr/sbin/devepoll-module" "$dest$units/devepoll.service" \
		"$dest$units/sysinit.target.wants/devepoll.service"
	make -s -C lib uninstall "DESTDIR=$dest" "PREFIX=$prefix" || exit 1
	rm -f "$dest$prefix"/bin/devepoll-{top,metrics} \
		"$dest$prefix/share/devepoll/latency.bt"
	rmdir --ignore-fail-on-non-empty "$dest$prefix/share/devepoll" \
		2>/dev/null
	for page in Documentation/man/man?/*.?; do
		rm -f "$dest$prefix/share/man/man${page##*.}/${page##*/}"
	done
	refresh
	exit 0
fi

if [ "$kernel" = host ]; then
	release=$(uname -r)
	[ -e "/lib/modules/$release/build/Makefile" ] ||
		die "the headers of $release are not installed (linux-headers-$release): nothing installed; the library alone: make -C lib install"
else
	release=$(cat "$(tools/vm/kernel "$kernel")/release") || exit 1
fi
ko=$(tools/vm/kmod "$kernel") || exit 1
modules=$dest/lib/modules/$release/updates
put "$ko" "$modules/devepoll.ko"

put tools/99-devepoll.rules "$dest/usr/lib/udev/rules.d/99-devepoll.rules"
put tools/devepoll.service "$dest$units/devepoll.service"
mkdir -p "$dest$units/sysinit.target.wants" &&
	ln -sf ../devepoll.service "$dest$units/sysinit.target.wants/" &&
	install -D tools/devepoll-module "$dest/usr/sbin/devepoll-module" || exit 1
make -s -C lib install "DESTDIR=$dest" "PREFIX=$prefix" || exit 1
install -D -t "$dest$prefix/bin" tools/top/devepoll-{top,metrics} || exit 1
put tools/top/latency.bt "$dest$prefix/share/devepoll/latency.bt"
for page in Documentation/man/man?/*.?; do
	put "$page" "$dest$prefix/share/man/man${page##*.}/${page##*/}"
done

[ "$dest" ] || [ "$kernel" != host ] || depmod -a
refresh
