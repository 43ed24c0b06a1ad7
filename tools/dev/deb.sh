#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the Debian packages of a copy of the tree, with their source package, and
# prints the paths of the former.
#
# usage: deb.sh [--arch ARCH] [--version V] [DIR]    DIR is build/deb
#
# The upstream tarball of the source package is that of dist.sh, byte for byte.
# What OWNER_ADDRESS and OWNER_URL say goes to debian/, and while there is no URL
# the packages have none.
#
# With --arch, it cross-builds the packages of another architecture alone, which
# needs Debian's crossbuild-essential-ARCH and libc6-dev:ARCH.  With --version,
# which is for tests, the copy gets another version.
set -u

# shellcheck source=tools/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"
cd "$top" || exit 1
# shellcheck source=tools/dev/owner.sh
. tools/dev/owner.sh

usage="usage: deb.sh [--arch ARCH] [--version V] [DIR]"
version=$(cat VERSION)
new=$version
build=(-us -uc)
while [[ ${1:-} == -* ]]; do
	[ $# -ge 2 ] || die "$usage"
	case $1 in
	--arch)
		case $2 in
		amd64 | arm64 | i386) ;;
		*) die "there are no packages for '$2' (amd64, arm64 or i386)" ;;
		esac
		gcc=$(dpkg-architecture -a "$2" -q DEB_HOST_GNU_TYPE 2>/dev/null)-gcc
		command -v "$gcc" >/dev/null ||
			die "$gcc is missing: install crossbuild-essential-$2"
		build+=(-B "-a$2" -Pcross,nocheck)
		;;
	--version)
		[[ $2 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
			die "'$2' is no version X.Y.Z"
		new=$2
		;;
	*) die "$usage" ;;
	esac
	shift 2
done
[ $# -le 1 ] || die "$usage"
out=$(realpath -m "${1:-build/deb}")
src=$out/src
need dpkg-buildpackage dh dh_dkms dh_python3

# copy: the tree as the source package has it, and the tarball of dist.sh
copy() {
	local date tarball
	tools/dev/dist.sh --tree "$src" || return 1
	date=$(stat -c %Y "$src/VERSION")
	[ "$new" = "$version" ] || echo "$new" >"$src/VERSION"
	tarball=$(SOURCE_DATE_EPOCH=$date "$src/tools/dev/dist.sh") &&
		mv "$src/$tarball" "$out/devepoll_$new.orig.tar.xz" &&
		rm -rf "$src/build"
}

# fill_in: writes what the owner's files say
fill_in() {
	local owner url
	# As sed takes it: nothing in it is special.
	owner=$(sed 's|[&/\\]|\\&|g' OWNER_ADDRESS)
	url=$(owner_url | sed 's|[&/\\]|\\&|g')
	cd "$src/debian" || return 1
	sed -i "s/^Maintainer: .*/Maintainer: $owner/" control
	sed -i "s/^Upstream-Contact: .*/Upstream-Contact: $owner/" copyright
	sed -i "s/^Security-Contact: .*/Security-Contact: $owner/" upstream/metadata
	sed -i -e "s/^ -- .*>  / -- $owner  /" -e "1s/($version-/($new-/" changelog
	if [ "$url" ]; then
		sed -i "s/https:\/\/devepoll\.example/$url/" \
			control copyright upstream/metadata watch
	else
		sed -i -E '/^(Homepage|Vcs-[A-Za-z]*): /d' control
		sed -i 's/^Source: .*/Source: "make dist" in the tree of devepoll/' \
			copyright
		rm -r upstream watch
	fi
	grep -q "^devepoll ($new-" changelog
}

mkdir -p "$out" 2>/dev/null || die "cannot write to $out"
exec {deb_lock}>"$out/.lock"
flock "$deb_lock"
rm -rf "$src" "$out"/*.deb "$out"/devepoll_*
log=$out/log
said=$(copy 2>&1) ||
	die "cannot copy the tree to $out: $(grep -m 1 'No space' <<<"$said" ||
		tail -n 1 <<<"$said")"
(fill_in) ||
	die "VERSION is $version, but debian/changelog begins with another version"
# Debian's programs build it: another Python of the user has not Debian's modules.
(cd "$src" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
	PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-noautodbgsym}" \
	dpkg-buildpackage "${build[@]}" >"$log" 2>&1) || {
	grep -E 'rror:|No space|No such' "$log" | tail -n 5 >&2
	die "building the packages failed; see $log"
}
rm -rf "$src"
ls "$out"/*.deb
