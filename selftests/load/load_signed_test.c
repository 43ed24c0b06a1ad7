// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the module where the kernel asks for a signature: under lockdown, and
 * with module.sig_enforce.  These can't be taken back, and so each test goes on
 * where the one before it stopped.
 *
 * Needs root; $DEVEPOLL_KO, which has no signature; $DEVEPOLL_KO_SIGNED, signed
 * with a key that this kernel trusts; $DEVEPOLL_KO_STRANGER, signed with
 * another one; $DEVEPOLL_KO_CHANGED, of which a byte was changed since it was
 * signed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "load/load_module.h"

#define SECURITYFS	"/sys/kernel/security"
#define LOCKDOWN	SECURITYFS "/lockdown"
#define ENFORCE		"/sys/module/module/parameters/sig_enforce"
#define TAINT		MODULE_DIR "/taint"

/* Does any new line of the log have the word? */
static bool log_says(int log, const char *word)
{
	char record[8192];
	bool found = false;
	ssize_t n;

	while ((n = read(log, record, sizeof(record) - 1)) > 0) {
		record[n] = 0;
		found |= !!strstr(record, word);
	}
	return found;
}

FIXTURE(load_signed) {
	const char *signed_ko;
	int log;
};

FIXTURE_SETUP(load_signed)
{
	self->signed_ko = getenv("DEVEPOLL_KO_SIGNED");
	if (geteuid() || !getenv("DEVEPOLL_KO") || !self->signed_ko)
		SKIP(return, "needs root, $DEVEPOLL_KO and $DEVEPOLL_KO_SIGNED");
	if (access(LOCKDOWN, F_OK))
		mount("securityfs", SECURITYFS, "securityfs", 0, NULL);
	if (module_is_loaded())
		ASSERT_TRUE(module_goes());
	self->log = log_open();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(load_signed)
{
	if (module_is_loaded())
		EXPECT_TRUE(module_goes());
}

#define EXPECT_WORKS()							\
	do {								\
		EXPECT_EQ(0, module_load_file(self->signed_ko, ""));	\
		EXPECT_EQ(1, use_set());				\
		EXPECT_FALSE(file_has(TAINT, "E"));			\
		EXPECT_TRUE(module_goes());				\
	} while (0)

/* Refused, with a line of the kernel that says why. */
#define EXPECT_REFUSED(variable, error, word)				\
	do {								\
		const char *__ko = getenv(variable);			\
									\
		ASSERT_NE(NULL, __ko);					\
		EXPECT_EQ(-(error), module_load_file(__ko, ""));	\
		EXPECT_TRUE(log_says(self->log, word));			\
		EXPECT_FALSE(module_is_loaded());			\
	} while (0)

TEST_F(load_signed, a_trusted_signature_is_no_taint)
{
	EXPECT_WORKS();
}

TEST_F(load_signed, none_is_one_where_nothing_asks_for_it)
{
	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(file_has(TAINT, "E"));
	EXPECT_EQ(1, use_set());
	ASSERT_TRUE(module_goes());
	ASSERT_EQ(0, module_load_file(getenv("DEVEPOLL_KO_STRANGER"), ""));
	EXPECT_TRUE(file_has(TAINT, "E"));
}

TEST_F(load_signed, a_changed_module_is_refused_everywhere)
{
	EXPECT_EQ(-EKEYREJECTED,
		  module_load_file(getenv("DEVEPOLL_KO_CHANGED"), ""));
	EXPECT_FALSE(module_is_loaded());
}

TEST_F(load_signed, lockdown_for_integrity_wants_a_signature)
{
	ASSERT_EQ(0, write_text(LOCKDOWN, "integrity"));
	EXPECT_REFUSED("DEVEPOLL_KO", EPERM,
		       "unsigned module loading is restricted");
	EXPECT_REFUSED("DEVEPOLL_KO_STRANGER", EPERM,
		       "unsigned module loading is restricted");
	EXPECT_WORKS();
}

TEST_F(load_signed, works_under_lockdown_for_confidentiality)
{
	ASSERT_EQ(0, write_text(LOCKDOWN, "confidentiality"));
	EXPECT_REFUSED("DEVEPOLL_KO", EPERM,
		       "unsigned module loading is restricted");
	EXPECT_WORKS();
}

TEST_F(load_signed, enforced_signatures_are_checked)
{
	ASSERT_EQ(0, write_text(ENFORCE, "1"));
	EXPECT_REFUSED("DEVEPOLL_KO", EKEYREJECTED,
		       "unsigned module is rejected");
	EXPECT_REFUSED("DEVEPOLL_KO_STRANGER", EKEYREJECTED,
		       "unavailable key is rejected");
	EXPECT_EQ(-EKEYREJECTED,
		  module_load_file(getenv("DEVEPOLL_KO_CHANGED"), ""));
	EXPECT_WORKS();
}

TEST_HARNESS_MAIN
