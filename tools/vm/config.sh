# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Compares a kernel's configuration with the fragments that it is made of, whose paths
# are in the array "fragments".  To be sourced after common.sh.

# is_gone OPTION: whether a fragment says that this kernel has no such option
is_gone() {
	grep -qxhF "# $1 is gone" "${fragments[@]}"
}

# check_config FILE: checks that FILE contains every line of the fragments
check_config() {
	local line option wrong=0
	while read -r line; do
		case $line in
		CONFIG_*)
			option=${line%%=*}
			grep -qxF "$line" "$1" && continue
			;;
		'# CONFIG_'*' is not set')
			option=${line#\# }
			option=${option% is not set}
			grep -q "^$option=" "$1" || continue
			;;
		*) continue ;;
		esac
		is_gone "$option" && continue
		say "the kernel configuration lacks: $line"
		wrong=1
	done < <(cat "${fragments[@]}")
	return $wrong
}

# check_fragments: checks that no option is set twice
check_fragments() {
	local twice
	twice=$(sed -n -e 's/^\(CONFIG_[A-Z0-9_]*\)=.*/\1/p' \
		-e 's/^# \(CONFIG_[A-Z0-9_]*\) is not set$/\1/p' \
		"${fragments[@]}" | sort | uniq -d | tr '\n' ' ')
	[ -z "$twice" ] || die "the fragments set these twice: $twice"
}
