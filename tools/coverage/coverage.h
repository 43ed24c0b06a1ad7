/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of a module that gcc compiled with --coverage. */
#ifndef DEVEPOLL_COVERAGE_H
#define DEVEPOLL_COVERAGE_H

/* The module's own steps, which are not static in this build. */
int devepoll_init(void);
void devepoll_exit(void);

#endif /* DEVEPOLL_COVERAGE_H */
