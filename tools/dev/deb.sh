#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the Debian packages of a copy of the tree, and prints their paths.
#
# usage: deb.sh [--version V] [DIR]    DIR is build/deb
#
# The address in the file OWNER_ADDRESS becomes that of the packages.  With
# --version, which is for tests, the copy gets another version.
set -u

# shellcheck source=tools/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"
cd "$top" || exit 1

version=$(cat VERSION)
new=$version
if [ "${1:-}" = --version ]; then
	new=$2
	shift 2
fi
out=$(realpath -m "${1:-build/deb}")
need dpkg-buildpackage dh dh_dkms

mkdir -p "$out" 2>/dev/null || die "cannot write to $out"
exec {deb_lock}>"$out/.lock"
flock "$deb_lock"
rm -rf "$out/src" "$out"/*.deb
log=$out/log
said=$(tools/dev/dist.sh --tree "$out/src" 2>&1) ||
	die "cannot copy the tree to $out: $(grep -m 1 'No space' <<<"$said" ||
		tail -n 1 <<<"$said")"
# As sed takes it: nothing in it is special.
owner=$(sed 's|[&/\\]|\\&|g' OWNER_ADDRESS)
sed -i "s/^Maintainer: .*/Maintainer: $owner/" "$out/src/debian/control"
sed -i "s/^Upstream-Contact: .*/Upstream-Contact: $owner/" \
	"$out/src/debian/copyright"
sed -i -e "s/^ -- .*>  / -- $owner  /" -e "1s/($version)/($new)/" \
	"$out/src/debian/changelog"
grep -q "^devepoll ($new) " "$out/src/debian/changelog" ||
	die "VERSION is $version, but debian/changelog begins with another version"
echo "$new" >"$out/src/VERSION"
(cd "$out/src" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
	DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-noautodbgsym}" \
	dpkg-buildpackage -b -us -uc >"$log" 2>&1) || {
	grep -E 'rror:|No space|No such' "$log" | tail -n 5 >&2
	die "building the packages failed; see $log"
}
rm -rf "$out/src"
ls "$out"/*.deb
