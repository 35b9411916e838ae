/*
 * slurm_account: the amount that Slurm will still bill to the job's user.
 *
 * Layer: site, private to slurm_system.c.
 *
 * Source of the facts: `scontrol show assoc_mgr` (Slurm 20 and later), where
 * GrpTRESMins=...,billing=1000(220) is a limit of 1000 billing-minutes, of
 * which 220 are used, and N is no limit. Model: the association of the user,
 * that of the job's account and those of all accounts above it each limit
 * those below them, and so does the QOS of the job, so the smallest remainder
 * counts. UsageFactor of the QOS says how often a bill counts there. Future
 * bills of other jobs are unknown, and so are limits of a partition's QOS.
 */
#ifndef BATS_SITE_SLURM_ACCOUNT_H
#define BATS_SITE_SLURM_ACCOUNT_H

#include "site/account.h"
#include "site/allocation.h"

/* BATS_EINPUT: no accounting, or Slurm does not show all of the limits;
 * BATS_ESYS: scontrol fails. */
int bats_slurm_account_ask(const struct bats_allocation *job,
                           struct bats_account *account,
                           struct bats_error *err);

/* ---- parsing, for tests ---- */

/* Parses `scontrol show assoc_mgr -o`: the associations of the account `name`,
 * and of the user if it is the job's account. If one has less left than
 * *account, it replaces *account; the account above goes into parent, "":
 * none. BATS_EINPUT. */
int bats_slurm_account_read(const char *text,
                            const struct bats_allocation *job,
                            const char *name, struct bats_account *account,
                            char parent[BATS_ACCOUNT_NAME],
                            struct bats_error *err);

#endif
