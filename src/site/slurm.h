/*
 * slurm: what Slurm's commands print. Private to slurm*.c, and for tests.
 *
 * Layer: site. slurm.c is Slurm as a batch system and the job that this process
 * is in, slurm_account.c the remainder of its account, slurm_jobs.c submitted
 * jobs, slurm_fields.c the fields that all of them read.
 *
 * Source of the facts: scontrol, sbatch, squeue, sacct and sinfo of Slurm
 * 22.05 (20.11 and later have these options). Model: Slurm bills a job for the
 * TRES it holds, each times its weight (slurm.conf, TRESBillingWeights), per
 * hour. A partition without weights: 1 for each core. If the sum over the
 * nodes differs from what Slurm itself reports for the job (it may take the
 * largest weight instead of the sum), Slurm's amount is used, and the nodes
 * share it in proportion.
 */
#ifndef BATS_SITE_SLURM_H
#define BATS_SITE_SLURM_H

#include "site/batch_system.h"

/* ---- "Key=value" separated by blanks, one line per item (scontrol -o) ---- */

/* The text after the next " key=" in this line, or NULL. */
const char *bats_slurm_find(const char *at, const char *key);

/* Copies the value of the key, up to a blank; "" for none, as Slurm writes it,
 * and for a value too long for `size`. */
void bats_slurm_get(const char *at, const char *key, char *value, size_t size);

/* True if the line begins with this key and '='; copies its value. */
bool bats_slurm_begins(const char *line, const char *key, char *value,
                       size_t size);

/* bats_slurm_item: the text after "name=" in a list such as
 * "cpu=3,node=1,billing=9", which ends at a blank; NULL: no such name.
 * bats_slurm_amount: the same as a number, or -1. */
const char *bats_slurm_item(const char *list, const char *name);
double bats_slurm_amount(const char *list, const char *name);

/* ---- the job that this process is in ---- */

/* Parses `scontrol show job -d -o`: all but the nodes' `whole` and `rate`.
 * Adds parts and nodes, sorted. BATS_ENOMEM; BATS_EINPUT: another text. */
int bats_slurm_read_job(const char *text, struct bats_allocation *job,
                        struct bats_error *err);

/* Parses `scontrol show partition -o`: the weights of the partition's parts.
 * Returns 0. */
int bats_slurm_read_partition(const char *text, struct bats_allocation *job,
                              struct bats_error *err);

/* Parses `scontrol show node -o`: which nodes the job holds as a whole. Returns
 * 0. */
int bats_slurm_read_nodes(const char *text, struct bats_allocation *job,
                          struct bats_error *err);

/* Computes the rates of all nodes, and their sources. */
void bats_slurm_bill(double threads_per_core, struct bats_allocation *job);

/* The billed hours, summed over the records of all lives and sizes of a job in
 * the output of `sacct -D -X -n -P -o ElapsedRaw,AllocTRES`; < 0: no
 * record. */
double bats_slurm_read_billed(const char *text);

/* ---- what an account has left ---- */

/* Fills in `account`. Source: `scontrol show assoc_mgr`, where
 * GrpTRESMins=...,billing=1000(220) is a limit of 1000 billing-minutes, 220 of
 * them used, and N is no limit. Model: the user's association, the association
 * of the job's account and those of all accounts above it limit the job, and
 * so does its QOS; the smallest remainder counts. Each bill counts UsageFactor
 * times there, a factor of the QOS. Future bills of other jobs are unknown,
 * and so are limits of a partition's QOS. BATS_EINPUT: no accounting, or Slurm
 * does not show all of the limits. */
int bats_slurm_account(const struct bats_allocation *job,
                       struct bats_account *account, struct bats_error *err);

/* Parses `scontrol show assoc_mgr -o`: the associations of the account `name`,
 * and of the user if it is the job's account. The one with less left than
 * *account replaces *account; `parent` becomes the account above ("": none).
 * BATS_EINPUT. */
int bats_slurm_account_read(const char *text,
                            const struct bats_allocation *job,
                            const char *name, struct bats_account *account,
                            char parent[BATS_ACCOUNT_NAME],
                            struct bats_error *err);

/* ---- submitted jobs ---- */

extern const struct bats_batch_jobs bats_slurm_jobs;

/* The rules for the waiting job in `job`, the output of `scontrol -o show
 * job`. A job that requests more time than MaxTime of its partition waits for
 * ever. So does a job that requests more than MaxWall of its QOS or, if that
 * has none, of its association, which inherits from the accounts above it. The
 * QOS of a partition limits all of its jobs. Where Slurm gives whole cores, a
 * job is billed for all of their threads, but until it starts it shows only
 * the requested ones. What Slurm does not mention is not limited. */
struct bats_job_partition bats_slurm_partition(const char *job);

/* bats_slurm_read_rate: the rate of a waiting job, per hour; < 0: unknown. Its
 * TRES shows the request (no billing: less than 1), even if it will get whole
 * nodes because of the partition or --exclusive. Then OverSubscribe is NO, and
 * *whole is the number of nodes, else 0. bats_slurm_read_node_rate: the rate
 * of a node from `scontrol -o show partition`, a mean if nodes differ. */
double bats_slurm_read_rate(const char *job, uint32_t *whole);
double bats_slurm_read_node_rate(const char *partition);

#endif
