# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Debian's archive without touching the host: an apt with a state of its own
# under the cache, which checks the signed index and each package; sourced.

debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# host_mirror [SECURITY]: the address the machine's own apt uses for Debian, which
# says so, unless none does
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

# Two builds may be fetching at once, and apt does not wait for another one.
archive_lock() {
	exec {archive_fd}>"$apt_dir/lock"
	flock "$archive_fd"
}

archive_unlock() {
	exec {archive_fd}>&-
}

# archive_open [--sources] SUITE...: select suites for the calls below, refresh
# the index
archive_open() {
	local mirror security suite sources=''

	if [ "$1" = --sources ]; then
		sources=-sources
		shift
	fi

	need apt-get apt-cache dpkg-deb
	[ -r "$debian_keys" ] || die "Debian's archive keys are missing: run 'make deps'"
	mirror=${DEVEPOLL_MIRROR:-$(host_mirror)} ||
		die "apt on this machine names no Debian mirror; set DEVEPOLL_MIRROR"
	# A machine without security updates still gets to know of them.
	security=$(host_mirror security) || security=${mirror%/}-security

	apt_dir=$cache/apt/$(IFS=+ && echo "$*")$sources
	mkdir -p "$apt_dir/state/lists/partial" "$apt_dir/cache/archives/partial" \
		"$apt_dir/none" ||
		die "cannot write to $cache"
	archive_lock
	: >"$apt_dir/state/status"
	for suite; do
		local uri=$mirror
		if [ "${suite%-security}" != "$suite" ]; then
			uri=$security
		fi
		printf 'deb [arch=amd64 signed-by=%s] %s %s main\n' \
			"$debian_keys" "$uri" "$suite"
		[ -z "$sources" ] || printf 'deb-src [signed-by=%s] %s %s main\n' \
			"$debian_keys" "$uri" "$suite"
	done >"$apt_dir/sources.list"
	cat >"$apt_dir/apt.conf" <<-CONF
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
	CONF
	step "reading the index of $*" apt-get -c "$apt_dir/apt.conf" \
		-o APT::Update::Error-Mode=any update ||
		die "the archive's index can't be read or does not verify"
	archive_unlock
}

# archive_search PATTERN: packages whose whole name matches, the newest first
archive_search() {
	archive_lock
	apt-cache -c "$apt_dir/apt.conf" --names-only search "^$1\$" |
		cut -d' ' -f1 | sort -Vr
	archive_unlock
}

# archive_find PATTERN: the newest of them
archive_find() {
	archive_search "$1" | sed -n 1p
}

# archive_kernels PATTERN: versions of kernels like PATTERN that have an
# image as well as headers, the newest first
archive_kernels() {
	local headers pkg version

	headers=$(archive_search "linux-headers-$1-amd64")
	while read -r pkg; do
		version=${pkg#linux-*-}
		if grep -qxF "linux-headers-$version" <<<"$headers"; then
			echo "${version%-amd64}"
		fi
	done < <(archive_search "linux-(image|binary)-$1-amd64") |
		sort -Vru
}

# archive_get NAME...: download into $cache/packages, print the files' paths;
# apt-get checks them against the index, also when they are there already
archive_get() {
	local files
	mkdir -p "$cache/packages"
	archive_lock
	files=$(cd "$apt_dir/none" && set -o pipefail &&
		apt-get -c "$apt_dir/apt.conf" --print-uris download "$@" |
		cut -d' ' -f2) || die "the archive has not all of: $*"
	[ "$(wc -l <<<"$files")" = $# ] || die "the archive has not all of: $*"
	(cd "$cache/packages" && step "fetching $*" \
		apt-get -q -c "$apt_dir/apt.conf" download "$@") ||
		die "cannot download $*"
	archive_unlock
	# shellcheck disable=SC2001 # many lines
	sed "s|^|$cache/packages/|" <<<"$files"
}

# archive_unpack ROOT PACKAGE...: fetch packages and unpack them below ROOT
archive_unpack() {
	local root=$1 pkg deb
	shift
	mkdir -p "$root"
	for pkg; do
		deb=$(archive_get "$pkg") || exit 1
		dpkg-deb -x "$deb" "$root" || die "cannot unpack $deb"
	done
}

# archive_get_source NAME DIR: unpack a source package into DIR, as it is from
# upstream; its suites were opened with --sources
archive_get_source() {
	mkdir -p "$2" || return 1
	archive_lock
	(cd "$2" && step "fetching the source of $1" \
		apt-get -q -c "$apt_dir/apt.conf" --download-only source "$1") ||
		die "cannot download the source of $1"
	archive_unlock
}
