#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# First process of a guest: mounts the root of the host, loads the module, runs
# the command, checks what it left behind, gives the verdict and stops.
#
# tools/guest puts /conf (variables), /command (a script) and /modules/ beside
# this file into the initramfs.  The guest reports to the host through the
# verdict port, line by line.  The last line is "status N"; without it, the run
# failed.

# busybox's shell has more than POSIX; /conf is in the guest alone
# shellcheck disable=SC3043,SC3045,SC1091

export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
. /conf

fail() {
	echo "fail $*" >&3
	echo "fail $*" >/dev/kmsg
	halt_guest
}

halt_guest() {
	reboot -f
	exit 1
}

# port NAME: waits for the virtio port with this name, and prints its device
port() {
	local dir tries=0
	while [ $tries -lt 200 ]; do
		for dir in /sys/class/virtio-ports/*; do
			if [ "$(cat "$dir/name" 2>/dev/null)" = "$1" ]; then
				port=/dev/${dir##*/}
				return 0
			fi
		done
		tries=$((tries + 1))
		usleep 20000
	done
	echo "no virtio port $1" >/dev/kmsg
	halt_guest
}

# kill_leftovers: kills every process except kernel threads, this process and
# the two that copy the output; succeeds if there was any
kill_leftovers() {
	local dir stat pid found=1
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		case " 1 2 $out $err " in *" $pid "*) continue ;; esac
		read -r stat <"$dir/stat" || continue
		stat=${stat##*) }
		case $stat in
		X' '* | ?' 2 '*) continue ;;
		esac
		# A process whose first thread has ended may have others.
		# shellcheck disable=SC2086 # the fields, the state being the first
		set -- $stat
		[ "$1" != Z ] || [ "${18}" -gt 1 ] || continue
		kill -9 "$pid" && found=0
	done 2>/dev/null
	return $found
}

# open_way PATH: lets every user of the guest search the directories above PATH.
# Tests run programs of the tree as other users, and the tree may be below a
# directory of mode 0700, as root's home is.
open_way() {
	local dir="$1"
	while [ "$dir" ]; do
		case $(stat -c %A "/new$dir" 2>/dev/null) in
		d?????[xs]??[xt] | '') ;;
		*) chmod a+x "/new$dir" ;;
		esac
		dir=${dir%/*}
	done
}

while read -r file; do
	insmod "/modules/$file" || echo "cannot load $file" >/dev/kmsg
done </modules/order

port devepoll.verdict
exec 3>"$port"
echo "cpus $(nproc)" >&3
[ "$probe" ] && {
	echo "status 0" >&3
	halt_guest
}

[ "$(nproc)" = "$cpus" ] || fail "the guest has $(nproc) CPUs instead of $cpus"

# The root of the host, read-only, with a writable layer that the guest
# discards.
p9='trans=virtio,version=9p2000.L,msize=512000'
mkdir -p /host /layer /new
mount -t 9p -o "ro,$p9,cache=loose" root /host || fail "cannot mount the host's root"
mount -t tmpfs -o mode=755 layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work \
	root /new || fail "cannot put a writable layer over the host's root"

# If that is the root of another architecture, the guest has directories of the
# host over it, each with such a layer, too.
eval "set -- $shared"
if [ $# -gt 0 ]; then
	mkdir /machine
	mount -t 9p -o "ro,$p9,cache=loose" machine /machine ||
		fail "cannot mount the machine's root"
fi
for file; do
	layer=$(mktemp -d /layer/XXXXXX)
	mkdir -p "$layer/upper" "$layer/work" "/new$file"
	mount -t overlay -o "lowerdir=/machine$file,upperdir=$layer/upper,workdir=$layer/work" \
		"${file##*/}" "/new$file" || fail "cannot mount $file"
done

mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/pts /new/dev/shm /new/dev/mqueue
mount -t devpts -o mode=620,gid=5,ptmxmode=666 devpts /new/dev/pts
mount -t tmpfs -o mode=1777 shm /new/dev/shm
mount -t mqueue mqueue /new/dev/mqueue 2>/dev/null
ln -s /proc/self/fd /new/dev/fd
ln -s fd/0 /new/dev/stdin
ln -s fd/1 /new/dev/stdout
ln -s fd/2 /new/dev/stderr
mount -t tmpfs -o mode=755 run /new/run
mkdir -p /new/run/lock /new/run/shm
chmod 1777 /new/run/lock
mount -t debugfs debugfs /new/sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /new/sys/kernel/tracing 2>/dev/null
mount -t cgroup2 cgroup2 /new/sys/fs/cgroup 2>/dev/null &&
	for controller in memory pids cpu; do
		echo "+$controller" >/new/sys/fs/cgroup/cgroup.subtree_control
	done 2>/dev/null
mkdir -p "/new$scratch"
eval "set -- $reached"
for file; do
	open_way "$file"
done
mount -t 9p -o "rw,$p9,cache=mmap" scratch "/new$scratch" ||
	fail "cannot mount the scratch folder"

ifconfig lo 127.0.0.1 netmask 255.0.0.0 up
hostname devepoll-guest
echo 1048576 >/proc/sys/fs/file-max
echo 0 >/proc/sys/kernel/printk_ratelimit
echo 65536 >/proc/sys/net/core/somaxconn
echo '/dev/null' >/proc/sys/kernel/core_pattern
ulimit -Hn 1048576
ulimit -Sn 1048576
ulimit -c 0
ulimit -u unlimited

echo "devepoll-guest: begin" >/dev/kmsg
if [ "$module" ]; then
	eval "set -- $params"
	insmod "/new$module" "$@" 2>/insmod.err ||
		fail "cannot load $module: $(cat /insmod.err)"
fi
echo "ready $(uname -r)" >&3

# A guest that hangs should report where, before the time limit of the host.
if [ "$watch_after" ]; then
	(
		exec 3>&-
		sleep "$watch_after"
		echo "devepoll-guest: time is nearly up; blocked tasks:" >/dev/kmsg
		echo w >/proc/sysrq-trigger
		echo l >/proc/sysrq-trigger
	) &
fi

cp /command /new/run/devepoll-command
cd /new || fail "no /new"
mount --move . /

if [ "$interactive" ]; then
	# Keep it open, because the last close resets its size.
	exec 4<>/dev/ttyS1
	# shellcheck disable=SC2086 # several words
	[ "$tty_size" ] && stty -F /dev/ttyS1 $tty_size
	setsid -c chroot . /bin/sh /run/devepoll-command \
		</dev/ttyS1 >/dev/ttyS1 2>&1 3>&-
	status=$?
else
	# A port can be opened only once, but a pipe any number of times.
	port devepoll.out
	mkfifo /out /err
	setsid cat </out >"$port" 3>&- &
	out=$!
	port devepoll.err
	setsid cat </err >"$port" 3>&- &
	err=$!
	setsid chroot . /bin/sh /run/devepoll-command \
		</dev/null >/out 2>/err 3>&-
	status=$?
fi
echo "ended $status" >&3

# Processes that the command left running must not hold the module or a pipe.
rounds=0
while [ $rounds -lt 100 ] && kill_leftovers; do
	rounds=$((rounds + 1))
	usleep 20000
done
[ "$out" ] && wait "$out" "$err"

if [ "$module" ] && [ -z "$keep_module" ]; then
	name=${module##*/}
	name=$(echo "${name%.ko}" | tr - _)
	tries=0
	# rmmod of busybox may report success without having unloaded the
	# module.
	while grep -q "^$name " /proc/modules; do
		rmmod "$name" 2>/rmmod.err
		grep -q "^$name " /proc/modules || break
		tries=$((tries + 1))
		[ $tries -lt 100 ] || fail "$name can't be unloaded after every process ended: $(cat /rmmod.err)"
		usleep 50000
	done
fi

# without_known: prints the reports of kmemleak, without those of a leak in 6.1
# itself: the name of a slab cache that can't be added to sysfs
# (sysfs_slab_add()).
without_known() {
	awk '
	function tell() {
		if (report !~ /kobject_set_name_vargs.*sysfs_slab_add/)
			printf "%s", report
		report = ""
	}
	/^unreferenced/ { tell() }
	{ report = report $0 "\n" }
	END { tell() }'
}

# kmemleak reports a leak only at the second scan, and only for older objects.
leak=sys/kernel/debug/kmemleak
if [ "$kmemleak" ] && [ -w $leak ]; then
	# It switches itself off if memory is short, and then refuses to scan.
	echo scan >$leak || fail "kmemleak is off"
	sleep 6
	echo scan >$leak || fail "kmemleak is off"
	without_known <$leak >/leaks
	if [ -s /leaks ]; then
		cat /leaks >/dev/ttyS0
		fail "kmemleak reports $(grep -c '^unreferenced' /leaks) leaks"
	fi
fi

# Bits 12 and 13 stand for an out-of-tree module and for an unsigned module;
# $taint has those that the caller allows.
tainted=$(cat /proc/sys/kernel/tainted)
[ $((tainted & ~0x3000 & ~taint)) = 0 ] || fail "the kernel is tainted: $tainted"
echo "status $status" >&3
halt_guest
