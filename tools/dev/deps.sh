#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages that the targets of the Makefile need.
#
# usage: deps.sh [--list] [--only] [GROUP...]
#
# The groups are base (always, unless --only), bench, deep, demo, docs,
# experiment, fuzz, lint, npm, packages, perf, pip, rust.  With --list, it prints the
# names and installs nothing.
#
# Prints nothing if all packages are installed.  The lists of the groups, below,
# are the only place in the tree that names packages of the host.

set -u

base='
	bc binutils bison busybox-static ca-certificates cpio debian-archive-keyring
	debootstrap flex g++ gcc gcc-multilib kmod libc6-dev libelf-dev libssl-dev
	liburing-dev make mandoc patch perl pkg-config python3 qemu-system-x86 rsync spin
	tcc udev xz-utils zstd
'
demo='
	apache2-utils curl
'
bench='
	gnuplot-nox
'
deep='
	clang coccinelle gcc-aarch64-linux-gnu
'
experiment='
	httperf libpcl1-dev wrk
'
fuzz='
	clang libclang-rt-dev
'
docs='
	mandoc python3-sphinx
'
lint='
	codespell git mandoc perl pyflakes3 shellcheck sparse
'
packages='
	apt-utils build-essential debhelper dh-dkms dh-python dpkg-dev gpg gpg-agent
	lintian openssl pybuild-plugin-pyproject python3-setuptools xz-utils
'
perf='
	linux-perf
'
# These may be there without Debian's packages, of which npm's are many.
npm='
	npm
'
pip='
	python3-pip
'
rust='
	cargo
'

die() {
	echo "deps: $*" >&2
	exit 1
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=$base
list=
if [ "${1:-}" = --list ]; then
	list=y
	shift
fi
if [ "${1:-}" = --only ]; then
	wanted=
	shift
fi
for group in "$@"; do
	case $group in
	base) ;;
	demo) wanted="$wanted $demo" ;;
	bench) wanted="$wanted $bench" ;;
	deep) wanted="$wanted $deep" ;;
	experiment) wanted="$wanted $experiment" ;;
	fuzz) wanted="$wanted $fuzz" ;;
	docs) wanted="$wanted $docs" ;;
	lint) wanted="$wanted $lint" ;;
	packages) wanted="$wanted $packages" ;;
	npm) command -v npm >/dev/null || wanted="$wanted $npm" ;;
	perf) wanted="$wanted $perf" ;;
	rust) command -v cargo >/dev/null || wanted="$wanted $rust" ;;
	pip) command -v pip3 >/dev/null || wanted="$wanted $pip" ;;
	*) die "unknown group '$group' (base, bench, deep, demo, docs, experiment, fuzz, lint, npm, packages, perf, pip or rust)" ;;
	esac
done

if [ "$list" ]; then
	echo "$wanted" | xargs
	exit
fi
command -v apt-get >/dev/null ||
	die "this machine has no apt; install these (names from Debian): $(echo "$wanted" | xargs)"

missing() {
	for pkg in $wanted; do
		installed "$pkg" || printf ' %s' "$pkg"
	done
}

need=$(missing)
[ -n "$need" ] || exit 0

[ "$(id -u)" = 0 ] ||
	die "not root; run as root: apt-get install --no-install-recommends$need"

# Two runs of make must not compete for the lock of dpkg.
exec 9>/run/lock/devepoll-deps.lock
flock 9
need=$(missing)
[ -n "$need" ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1 9>&-
}
install_need() {
	# shellcheck disable=SC2086 # a list of names
	run_apt install -y --no-install-recommends $need
}

echo "deps: installing$need" >&2
# The package lists may be old or name versions that are gone: refresh them
# once.
if ! install_need; then
	run_apt update || {
		tail -n 5 "$log" >&2
		die "apt-get update failed: is the mirror within reach?"
	}
	install_need || {
		tail -n 15 "$log" >&2
		die "could not install:$need"
	}
fi
