#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Renders Documentation/ to build/docs: the pages by Sphinx, what they take from
# the comments by the kernel's own kernel-doc, the man pages by mandoc.
#
# usage: docs.sh            `make docs' calls it; a warning is an error

set -eu
cd "$(dirname "$(realpath "$0")")/../.."

# Debian's; another Python's Sphinx may be anything.
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
mkdir -p $out/man
"$sphinx" -q -W --keep-going -b html -c tools/dev/sphinx \
	-d build/docs/.doctrees Documentation $out

for page in Documentation/man/man?/*.[0-9]; do
	# A page that only names another one has no text of its own.
	grep -q '^\.so ' "$page" && continue
	mandoc -Thtml -O man=%N.%S.html "$page" \
		>"$out/man/$(basename "$page").html"
done
echo "$out/index.html"
