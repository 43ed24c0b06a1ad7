# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Names, places and small helpers that the scripts of tools/vm share; sourced.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# A service may run us with no HOME; bash knows it of the user database then.
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

# Neither kbuild nor the kernel's command line takes such a path.
case $top in
*[[:space:]]*) die "the path of this tree has a space in it: $top" ;;
esac

# name_kernel KERNEL: its name, which `newest' is not; the others are as they are
name_kernel() {
	case $1 in
	newest) "$top/tools/vm/newest" ;;
	*) echo "$1" ;;
	esac
}

# lock NAME: hold the cache's lock of that name until this process ends
lock() {
	mkdir -p "$cache/locks" || die "cannot write to $cache"
	exec {lock_fd}>"$cache/locks/$1"
	flock -n "$lock_fd" && return
	say "waiting for another run that fetches $1"
	flock "$lock_fd"
}

# step TEXT COMMAND...: run a command whose output matters only if it fails
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
