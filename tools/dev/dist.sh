#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the tarball of a release: build/devepoll-VERSION.tar.xz.
#
# usage: dist.sh [--tag TAG | --tree DIR]
#
# With --tag, the tarball is that of a tag, whatever the files are now; with
# --tree, it copies the files to DIR instead.
#
# The same commit gives the same bytes on any machine.  The date of all files is
# that of the commit, or SOURCE_DATE_EPOCH.  In an unpacked tarball, which has
# no commits, or on a machine without git, it is that of the file VERSION, and
# all files are taken.
set -eu -o pipefail
cd "$(dirname "$(realpath "$0")")/../.."
export LC_ALL=C

has_git() {
	[ -e .git ] && git rev-parse HEAD >/dev/null 2>&1
}

files() {
	if has_git; then
		git ls-files -z
	else
		find . \( -path ./build -o -path ./.git \) -prune -o \
			! -type d -printf '%P\0'
	fi | while read -r -d '' file; do
		# A file that was removed and not committed yet.
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | sort -z
}

# of_tag TAG: what its own dist.sh makes of its files
of_tag() {
	local tree out
	has_git || { echo "dist: no git, or no repository, to take $1 from" >&2; exit 1; }
	git rev-parse -q --verify "refs/tags/$1^{commit}" >/dev/null ||
		{ echo "dist: there is no tag $1" >&2; exit 1; }
	tree=$(mktemp -d)
	# shellcheck disable=SC2064 # of this tree
	trap "rm -rf '$tree'" EXIT
	git -c advice.detachedHead=false clone -q --shared --branch "$1" . "$tree"
	out=$(unset SOURCE_DATE_EPOCH && "$tree/tools/dev/dist.sh")
	mkdir -p build
	cp "$tree/$out" "$out.new"
	mv "$out.new" "$out"
	echo "$out"
}

if [ "${1:-}" = --tag ]; then
	of_tag "$2"
	exit
fi

date=${SOURCE_DATE_EPOCH:-$(has_git && git log -1 --format=%ct ||
	stat -c %Y VERSION)}
name=devepoll-$(cat VERSION)
pack() {
	files | tar --create --format=ustar --mtime="@$date" \
		--mode=u=rwX,go=rX --owner=0 --group=0 --numeric-owner "$@" \
		--no-recursion --null --files-from=-
}

if [ "${1:-}" = --tree ]; then
	mkdir -p "$2"
	pack | tar --extract --directory="$2" --no-same-owner
else
	mkdir -p build
	out=build/$name.tar.xz
	pack --transform="flags=r;s|^|$name/|" | xz -T1 -6 >"$out.new"
	mv "$out.new" "$out"
	echo "$out"
fi
