// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The version of the library, which the Makefile takes from the file VERSION.
 */
#include "devepoll.h"

const char *devepoll_version(void)
{
	return DEVEPOLL_VERSION;
}
