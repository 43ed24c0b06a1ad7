#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs all checkers that need no guest, prints their findings, and fails if
# there are any.
#
# usage: lint.sh [CHECK...]    names from the list at the end; default: all
set -u

# shellcheck source=tools/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"
cd "$top" || exit 1
src=$("$top/tools/vm/source" newest) || exit 1

# tracked PATTERN...: files under version control
tracked() {
	git ls-files -- "$@" |
		while read -r file; do
			[ -f "$file" ] && echo "$file"
		done
}

# of_shebang WORD...: tracked files whose first line names one of the words
of_shebang() {
	tracked tools selftests lib python debian .ci | xargs -r awk -v words="$*" '
		FNR == 1 {
			n = split(words, word, " ")
			for (i = 1; i <= n; i++)
				if ($0 ~ "^#!.*[/ ]" word[i] "( |$)")
					print FILENAME
			nextfile
		}'
}

pass_checkpatch() {
	local rules=(--no-tree --strict --terse --no-summary --show-types
		--max-line-length=80)
	# Rules of the kernel tree that have no meaning outside of it.
	local user=SSCANF_TO_KSTRTO,PREFER_KERNEL_TYPES,STRCPY,STRNCPY,VOLATILE
	user+=,CONST_STRUCT,ENOSYS,NEW_TYPEDEFS,YIELD,USE_NEGATIVE_ERRNO
	user+=,MACRO_WITH_FLOW_CONTROL,COMPLEX_MACRO,EXPORTED_WORLD_WRITABLE
	user+=,AVOID_EXTERNS,CAMELCASE,CONSTANT_CONVERSION,IF_0,MACRO_ARG_REUSE
	user+=,BIT_MACRO,ARRAY_SIZE,EMBEDDED_FUNCTION_NAME,TRAILING_SEMICOLON
	user+=,MULTISTATEMENT_MACRO_USE_DO_WHILE,LONG_LINE_STRING
	user+=,PREFER_DEFINED_ATTRIBUTE_MACRO
	# Sentences for people, which are longer than a line.
	user+=,SPLIT_STRING
	# Names that 6.1 lacks, and what a user-space header has to use.
	local kernel=ALLOC_WITH_SIZEOF,PREFER_DEFINED_ATTRIBUTE_MACRO
	kernel+=,LINUX_VERSION_CODE,MACRO_ARG_REUSE,LONG_LINE_STRING
	{
		tracked 'kmod/*.[ch]' 'uapi/*.h' | xargs -r \
			"$src/scripts/checkpatch.pl" "${rules[@]}" --ignore "$kernel" -f |
			# Tracepoints are always written in this way.
			grep -vE '^kmod/core/trace.h:.*(ALIGNMENT|OPEN_ENDED_LINE)'
		tracked 'lib/*.[ch]' 'selftests/*.[ch]' 'tools/*.[ch]' | xargs -r \
			"$src/scripts/checkpatch.pl" "${rules[@]}" --ignore "$user" -f
	} 2>&1
}

pass_conditionals() {
	! grep -nE '^[[:space:]]*#[[:space:]]*if' kmod/*.c kmod/*/*.c
}

pass_floors() {
	tools/dev/floors
}

pass_build() {
	local kernel
	for kernel in 6.1 6.12 newest; do
		{ tools/vm/kmod "$kernel" >/dev/null; } 2>&1 || return 1
	done
}

# sparse in Debian 12 does not understand the headers of 7.2 and later
pass_sparse() {
	local kernel
	for kernel in 6.1 6.12; do
		{
			tools/vm/kmod --out "build/$kernel/sparse" "$kernel" \
				C=2 >/dev/null
		} 2>&1 | grep -E 'error:|warning:' | sort -u
	done
}

pass_kerneldoc() {
	tracked 'uapi/*.h' 'lib/include/*.h' 'lib/*.c' 'kmod/*.[ch]' |
		xargs -r "$src/scripts/kernel-doc" -Werror -Wreturn -none 2>&1
}

pass_codespell() {
	tracked | grep -v '^LICENSES/' |
		xargs -r codespell --ignore-words-list=bu,fpr,inout,te,ba,nd,arming,cancelability,pevents,crate
}

pass_shellcheck() {
	{
		of_shebang sh bash
		echo tools/vm/common.sh
		echo tools/vm/archive.sh
		echo tools/vm/config.sh
		echo tools/proof/server.sh
		echo tools/tap.sh
	} | xargs -r shellcheck -x
}

pass_python() {
	{
		of_shebang python3
		tracked '*.py'
	} | xargs -r pyflakes3
}

# Pages refer to others in this tree, which are not installed here.
pass_mandoc() {
	local said
	said=$(tracked 'Documentation/man/*.[1-9]' |
		xargs -r mandoc -T lint | grep -v 'referenced manual not found')
	[ -z "$said" ] || { echo "$said" && return 1; }
}

# The licence is in the first line or, after #!, in the second.
pass_spdx() {
	local file bad=0
	while read -r file; do
		case $file in
		*.md | VERSION | OWNER_* | COPYING | .gitignore | LICENSES/* | \
			debian/* | *.config | */config | \
			*/settings | *.map | *.svg | *.png | *.lock | \
			tools/fuzz/corpus/* | Documentation/results/*) continue ;;
		esac
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: ' && continue
		echo "$file: no SPDX line"
		bad=1
	done < <(tracked)
	return $bad
}

pass_commits() {
	tools/dev/check-commits.sh
}

checks='checkpatch conditionals floors spdx build sparse kerneldoc codespell
	shellcheck python mandoc commits'
[ $# -gt 0 ] && checks=$*
failed=
for check in $checks; do
	declare -F "pass_$check" >/dev/null || die "no check '$check'"
	if said=$("pass_$check") && [ -z "$said" ]; then
		printf '  ok   %s\n' "$check"
	else
		printf '  FAIL %s\n' "$check"
		printf '%s\n' "$said" | sed 's/^/         /'
		failed+=" $check"
	fi
done
[ -z "$failed" ] || die "failed:$failed"
