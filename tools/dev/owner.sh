# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the owner fills in: an address in OWNER_ADDRESS, and in OWNER_URL that of
# the public git repository, which a browser shows, too.  As long as they are
# placeholders, they end in .example.  To be sourced, at the top of the tree.

# owner_url: prints the URL, if there is one
owner_url() {
	[[ $(cat OWNER_URL) =~ ^https://[^[:space:]/]+(/[^[:space:]]*)?$ ]] &&
		grep -vE '^https://([^/]*\.)?example(/|$)' OWNER_URL
}

# owner_complaints: prints what is still to be filled in
owner_complaints() {
	! grep -qE '@[^>]*example(\.[a-z]+)?>' OWNER_ADDRESS ||
		echo "OWNER_ADDRESS has no address, to which SECURITY.md sends reports: fill it in"
	owner_url >/dev/null ||
		echo "OWNER_URL has no https:// address of a public repository: fill it in"
}
