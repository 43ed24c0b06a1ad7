# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For scripts that print TAP.  Sets $count, the number of results so far, and
# $failed, which is 0 until one is a failure.

count=0
failed=0

# result STATUS NAME [FILE]: prints a result.  For a failure, it prints the end
# of FILE or $tap_log first: tools/check shows what is said before a failure.
result() {
	count=$((count + 1))
	[ "$1" = 0 ] && echo "ok $count $2" && return
	failed=1
	set -- "$2" "${3:-${tap_log:-/dev/null}}"
	tail -n 40 "$2" | sed 's/^/# /'
	echo "not ok $count $1"
}
