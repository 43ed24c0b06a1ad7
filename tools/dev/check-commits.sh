#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks the form of every commit: a subject "area: verb thing" of at most 72
# characters, a body that says why, and a sign-off.
#
# usage: check-commits.sh [REVISION-RANGE]
set -u

bad=0
complain() {
	echo "$commit $subject: $*"
	bad=1
}

for commit in $(git rev-list --no-merges --abbrev-commit "${1:-HEAD}"); do
	subject=$(git log -1 --format=%s "$commit")
	body=$(git log -1 --format=%b "$commit")
	[ ${#subject} -le 72 ] || complain 'the subject is longer than 72 characters'
	echo "$subject" | grep -Eq '^[a-z0-9][a-z0-9./_-]*(, [a-z0-9./_-]+)*: [a-z0-9/]' ||
		complain 'the subject is not "area: verb thing" in lower case'
	case $subject in
	*.) complain 'the subject ends with a full stop' ;;
	esac
	echo "$body" | grep -Evq '^([A-Z][A-Za-z-]*: .*|)$' ||
		complain 'no body says why'
	echo "$body" | grep -q '^Signed-off-by: ' || complain 'not signed off'
done
exit $bad
