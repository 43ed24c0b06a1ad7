#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# First process of a packed guest.  Everything is in the memory of the guest, so
# no device of the host influences its timing, and every run is the same.
#
# tools/guest --pack puts /conf (variables), /command (a script) and /pack/ (the
# files, with this one as /pack/init) into the initramfs.  The serial ports are
# the console, standard output, standard error and the verdict.

# busybox's shell has more than POSIX; /conf is in the guest alone
# shellcheck disable=SC3043,SC3045,SC1091

export PATH=/bin:/pack
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
. /conf

for tty in 1 2 3; do
	stty -F /dev/ttyS$tty raw
done
exec 3>/dev/ttyS3

# Closing the port waits until the last byte has been sent.
halt_guest() {
	exec 3>&-
	reboot -f
	exit 1
}

fail() {
	echo "fail $*" >&3
	echo "fail $*" >/dev/kmsg
	halt_guest
}

echo "cpus $(nproc)" >&3
ifconfig lo 127.0.0.1 netmask 255.0.0.0 up
ulimit -Hn 1048576
ulimit -Sn 1048576
ulimit -c 0

echo "devepoll-guest: begin" >/dev/kmsg
name=${module##*/}
if [ "$module" ]; then
	eval "set -- $params"
	insmod "/pack/$name" "$@" 2>/insmod.err ||
		fail "cannot load $module: $(cat /insmod.err)"
fi
echo "ready $(uname -r)" >&3

sh /command </dev/null >/dev/ttyS1 2>/dev/ttyS2 3>&-
status=$?
echo "ended $status" >&3

if [ "$module" ] && [ -z "$keep_module" ]; then
	rmmod "${name%.ko}" 2>/rmmod.err ||
		fail "${name%.ko} can't be unloaded: $(cat /rmmod.err)"
fi
taint=$(cat /proc/sys/kernel/tainted)
[ $((taint & ~0x3000)) = 0 ] || fail "the kernel is tainted: $taint"
echo "status $status" >&3
halt_guest
