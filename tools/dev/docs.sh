#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Renders Documentation/ to build/docs: the pages with Sphinx, the comments that
# they include with kernel-doc of the kernel, and the man pages with mandoc.  Then
# it checks the links.
#
# usage: docs.sh            `make docs' calls it; warnings are errors

set -eu
cd "$(dirname "$(realpath "$0")")/../.."

# Use the Sphinx of Debian; that of another Python may have any version.
sphinx=${SPHINXBUILD:-/usr/bin/sphinx-build}
for tool in "$sphinx" mandoc; do
	command -v "$tool" >/dev/null || {
		echo "docs: $tool is missing: run tools/dev/deps.sh docs as root" >&2
		exit 1
	}
done

source=$(tools/vm/source newest)
export KERNEL_DOC=$source/tools/docs/kernel-doc
out=build/docs
"$sphinx" -q -W --keep-going -b html -c tools/dev/sphinx \
	-d build/docs/.doctrees Documentation $out
tools/dev/check-site $out >&2
echo "$out/index.html"
