# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Names, paths and small helpers for the scripts in tools/vm.  To be sourced.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# A service may run this without HOME; bash then finds it in the user database.
cache=${DEVEPOLL_CACHE:-${HOME:-~}/.cache/devepoll}
export LC_ALL=C

say() {
	echo "${0##*/}: $*" >&2
}

die() {
	say "$*"
	exit 1
}

need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null ||
			die "$tool is missing: run 'make deps' as root"
	done
}

# Neither kbuild nor the kernel command line accepts such a path.
case $top in
*[[:space:]]*) die "the path of this tree has a space in it: $top" ;;
esac

# Architectures beside this machine's, as Debian calls them.
foreign_archs='arm64 riscv64'

# is_foreign ARCH: is it one of these?
is_foreign() {
	[[ " $foreign_archs " = *" ${1:-none} "* ]]
}

# name_kernel KERNEL: prints the name, and the current version for `newest'
name_kernel() {
	local name
	case $1 in
	newest) "$top/tools/vm/newest" ;;
	riscv64/newest) name=$("$top/tools/vm/newest" riscv64) && echo "riscv64/$name" ;;
	arm64/* | arm64-16k/* | arm64-rt/* | riscv64/* | rt/* | cloud/* | intree/*)
		name=$(name_kernel "${1#*/}") && echo "${1%%/*}/$name"
		;;
	*) echo "$1" ;;
	esac
}

# arch_of KERNEL: prints its architecture, as Debian calls it: that of a name like
# arm64/6.1, or of this machine
arch_of() {
	case $1 in
	arm64-16k/* | arm64-rt/*) echo arm64 ;;
	arm64/* | riscv64/*) echo "${1%%/*}" ;;
	*) echo amd64 ;;
	esac
}

# lock NAME: takes the lock with this name in the cache until this process exits
lock() {
	mkdir -p "$cache/locks" || die "cannot write to $cache"
	exec {lock_fd}>"$cache/locks/${1//\//-}"
	flock -n "$lock_fd" && return
	say "waiting for another process to fetch $1"
	flock "$lock_fd"
}

# step TEXT COMMAND...: runs a command and shows its output only if it fails
step() {
	local text=$1 log rc
	shift
	say "$text"
	if [ "${V:-0}" = 1 ]; then
		"$@" >&2
		return
	fi
	log=$(mktemp)
	"$@" >"$log" 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 20 "$log" >&2
	rm -f "$log"
	return $rc
}
