# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Access to Debian's archive without changes to the host: apt with its own state
# in the cache, which verifies the signed index and each package.  To be
# sourced.

debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# host_mirror [SECURITY]: prints the address that apt of this machine uses for
# Debian, if there is one
host_mirror() {
	local uri release other=''
	while read -r uri release; do
		case $release in
		*-security | */updates) [ "${1:-}" ] || continue ;;
		*/*) continue ;;
		*) [ "${1:-}" ] && continue ;;
		esac
		case $uri in
		*debian*)
			echo "$uri"
			return 0
			;;
		esac
		other=${other:-$uri}
	done < <(apt-get indextargets --no-release-info \
		--format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages')
	[ "$other" ] && echo "$other"
}

# Two builds may fetch at once, and apt does not wait for another process.
archive_lock() {
	exec {archive_fd}>"$apt_dir/lock"
	flock "$archive_fd"
}

archive_unlock() {
	exec {archive_fd}>&-
}

# archive_failed WHAT: dies of it, and says what to do
archive_failed() {
	local free
	free=$(df -k --output=avail "$cache" | tail -n 1)
	[ "$free" -gt 1024 ] ||
		die "$1: the disk is full; free some space in $cache, or set DEVEPOLL_CACHE"
	die "$1: is the mirror $mirror within reach? DEVEPOLL_MIRROR names another"
}

# archive_open [--sources] [--arch ARCH] [--flavour F-|-F] SUITE...: select suites for
# the calls below, refresh the index; with ARCH, their kernels are those of ARCH, and
# NAME:ARCH is a package of it; with F- they are of flavour F, as rt-amd64, and with -F
# as arm64-16k.  A mirror may have an index of ARCH that its signed Release does not name: then there is none, and
# kernels of ARCH come from the pool.
archive_open() {
	local security sources='' foreign=''

	archive_arch=amd64
	if [ "$1" = --sources ]; then
		sources=-sources
		shift
	fi
	if [ "$1" = --arch ]; then
		archive_arch=$2
		[ "$2" = amd64 ] || foreign=$2
		shift 2
	fi
	archive_kind=$archive_arch
	if [ "$1" = --flavour ]; then
		case $2 in
		-*) archive_kind=$archive_arch$2 ;;
		*) archive_kind=$2$archive_arch ;;
		esac
		shift 2
	fi

	need apt-get apt-cache dpkg-deb
	[ -r "$debian_keys" ] || die "Debian's archive keys are missing: run 'make deps'"
	mirror=${DEVEPOLL_MIRROR:-$(host_mirror)} ||
		die "apt on this machine has no Debian mirror; set DEVEPOLL_MIRROR"
	# Include security updates even if this machine does not use them.
	security=$(host_mirror security) || security=${mirror%/}-security

	apt_dir=$cache/apt/$(IFS=+ && echo "$*")$sources${foreign:+-$foreign}
	mkdir -p "$apt_dir/state/lists/partial" "$apt_dir/cache/archives/partial" \
		"$apt_dir/none" ||
		die "cannot write to $cache"
	archive_lock
	: >"$apt_dir/state/status"
	archive_list "amd64${foreign:+,$foreign}" "$@"
	# apt would use the machine's state if this file were not whole.
	cat >"$apt_dir/apt.conf" <<-CONF || archive_failed "no configuration for apt"
		Dir::State "$apt_dir/state";
		Dir::State::status "$apt_dir/state/status";
		Dir::Cache "$apt_dir/cache";
		Dir::Etc::sourcelist "$apt_dir/sources.list";
		Dir::Etc::sourceparts "$apt_dir/none";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "$apt_dir/none";
		APT::Architecture "amd64";
		APT::Sandbox::User "root";
		APT::Get::AllowUnauthenticated "false";
		Acquire::AllowInsecureRepositories "false";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Architectures;
		#clear DPkg::Post-Invoke;
		APT::Architectures { "amd64"; ${foreign:+"\"$foreign\";"} };
	CONF
	if ! step "reading the index of $*" archive_update; then
		[ "$foreign" = riscv64 ] ||
			archive_failed "the index of the archive can't be read or verified"
		say "going on without $foreign: its kernels come from the pool, by https"
		archive_list amd64 "$@"
		step "reading the index of $* for amd64" archive_update ||
			archive_failed "the index of the archive can't be read or verified"
	fi
	archive_unlock
}

# archive_list ARCHS SUITE...: writes the list of sources for archive_open
archive_list() {
	local archs=$1 suite uri
	shift
	for suite; do
		uri=$mirror
		[ "${suite%-security}" = "$suite" ] || uri=$security
		printf 'deb [arch=%s signed-by=%s] %s %s main\n' \
			"$archs" "$debian_keys" "$uri" "$suite"
		[ -z "$sources" ] || printf 'deb-src [signed-by=%s] %s %s main\n' \
			"$debian_keys" "$uri" "$suite"
	done >"$apt_dir/sources.list" || archive_failed "no list of sources"
}

archive_update() {
	apt-get -c "$apt_dir/apt.conf" -o APT::Update::Error-Mode=any update
}

# archive_search PATTERN: prints the packages whose whole name matches, newest
# first
archive_search() {
	archive_lock
	apt-cache -c "$apt_dir/apt.conf" --names-only search "^$1\$" |
		cut -d' ' -f1 | sort -Vr
	archive_unlock
}

# archive_find PATTERN: prints the newest of them
archive_find() {
	archive_search "$1" | sed -n 1p
}

# archive_kernels PATTERN: prints the versions of kernels that match PATTERN and
# have both an image and headers, newest first; of an architecture without an index
# the newest
archive_kernels() {
	local headers pkg version

	headers=$(archive_search "linux-headers-$1-$archive_kind")
	while read -r pkg; do
		version=${pkg#linux-*-}
		if grep -qxF "linux-headers-$version" <<<"$headers"; then
			echo "${version%-"$archive_kind"}"
		fi
	done < <(archive_search "linux-(image|binary)-$1-$archive_kind") |
		sort -Vru
	[ "$headers" ] || [ "$archive_arch" = amd64 ] || archive_pooled "$1"
}

# archive_pooled PATTERN: prints the newest kernel of an architecture without an
# index: the headers that all architectures share say which ones there may be
archive_pooled() {
	local pkg release
	while read -r pkg; do
		release=${pkg#linux-headers-} release=${release%-common}
		archive_in_pool "linux-headers-$release-$archive_kind" \
			"$(archive_version "$pkg")" || continue
		echo "$release"
		return
	done < <(archive_search "linux-headers-$1-common")
}

# archive_images PATTERN: as archive_kernels, for those without headers, too
archive_images() {
	archive_search "linux-(image|binary)-$1-$archive_kind" |
		sed "s/^linux-[a-z]*-//; s/-$archive_kind\$//" | sort -Vru
}

# archive_has NAME: is it in the index?
archive_has() {
	[ "$(archive_find "${1//+/[+]}")" ]
}

# archive_version NAME: prints the version of a package
archive_version() {
	archive_lock
	apt-cache -c "$apt_dir/apt.conf" show "$1" |
		sed -n 's/^Version: //p' | sed -n 1p
	archive_unlock
}

# archive_in_pool NAME VERSION: has the pool a package of the source linux, of the
# architecture of archive_open?
archive_in_pool() {
	local pool=${mirror%/}/pool/main/l/linux tried rc
	tried=$(mktemp -d)
	archive_lock
	/usr/lib/apt/apt-helper -c "$apt_dir/apt.conf" download-file \
		"${pool/#http:/https:}/$1_$2_$archive_arch.deb" "$tried/deb" \
		>"$tried/log" 2>&1
	rc=$?
	archive_unlock
	rm -rf "$tried"
	return $rc
}

# archive_get_old NAME VERSION: downloads a package built from the source linux
# that the index no longer has, though the pool keeps it, and prints the path.  No
# signature covers it any more, so this trusts https and the mirror.
archive_get_old() {
	local file=$1_$2_amd64.deb pool=${mirror%/}/pool/main/l/linux

	case $1 in
	*-common) file=$1_$2_all.deb ;;
	*-"$archive_kind") file=$1_$2_$archive_arch.deb ;;
	esac
	mkdir -p "$cache/packages"
	archive_lock
	if [ ! -s "$cache/packages/$file" ]; then
		step "fetching $1, which is in the pool alone, by https" \
			/usr/lib/apt/apt-helper -c "$apt_dir/apt.conf" \
			download-file "${pool/#http:/https:}/$file" \
			"$cache/packages/$file.new" &&
			mv "$cache/packages/$file.new" "$cache/packages/$file" ||
			archive_failed "cannot download $1, which the index no longer has"
	fi
	archive_unlock
	echo "$cache/packages/$file"
}

# archive_get NAME...: downloads packages to $cache/packages and prints the
# paths; apt-get verifies them against the index, even if they are already there
archive_get() {
	local files
	mkdir -p "$cache/packages"
	archive_lock
	files=$(cd "$apt_dir/none" && set -o pipefail &&
		apt-get -c "$apt_dir/apt.conf" --print-uris download "$@" |
		cut -d' ' -f2) || die "the archive does not have all of: $*"
	[ "$(wc -l <<<"$files")" = $# ] ||
		die "the archive does not have all of: $*"
	(cd "$cache/packages" && step "fetching $*" \
		apt-get -q -c "$apt_dir/apt.conf" download "$@") ||
		archive_failed "cannot download $*"
	archive_unlock
	# shellcheck disable=SC2001 # many lines
	sed "s|^|$cache/packages/|" <<<"$files"
}

# archive_unpack ROOT PACKAGE...: fetches packages and unpacks them in ROOT
archive_unpack() {
	local root=$1 pkg deb
	shift
	mkdir -p "$root"
	for pkg; do
		deb=$(archive_get "$pkg") || exit 1
		dpkg-deb -x "$deb" "$root" || die "cannot unpack $deb"
	done
}

# archive_unpack_together ROOT PACKAGE...: the same, with a single look at the index
archive_unpack_together() {
	local root=$1 debs deb
	shift
	debs=$(archive_get "$@") || exit 1
	mkdir -p "$root"
	while read -r deb; do
		dpkg-deb -x "$deb" "$root" || die "cannot unpack $deb"
	done <<<"$debs"
}

# archive_unpack_old ROOT VERSION PACKAGE...: as archive_unpack, for packages of a
# kernel of which the index may have only a part
archive_unpack_old() {
	local root=$1 version=$2 pkg deb
	shift 2
	mkdir -p "$root"
	for pkg; do
		if archive_has "$pkg"; then
			archive_unpack "$root" "$pkg"
			continue
		fi
		deb=$(archive_get_old "$pkg" "$version") || exit 1
		dpkg-deb -x "$deb" "$root" || die "cannot unpack $deb"
	done
}

# archive_get_source NAME DIR: downloads the upstream source of a package to
# DIR; its suites must have been opened with --sources
archive_get_source() {
	mkdir -p "$2" || return 1
	archive_lock
	(cd "$2" && step "fetching the source of $1" \
		apt-get -q -c "$apt_dir/apt.conf" --download-only source "$1") ||
		archive_failed "cannot download the source of $1"
	archive_unlock
}
