// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT

// What epoll.go needs of Go's runtime; devepoll-go adds this file to it.

package runtime

import _ "unsafe" // for linkname

//go:linkname devepollGetenv PACKAGE.devepollGetenv
func devepollGetenv(key string) string {
	return gogetenv(key)
}
