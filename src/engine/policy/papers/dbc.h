/*
 * dbc: what the four deadline-and-budget policies have in common. Source:
 * Buyya, Murshed, Abramson, Venugopal, "Scheduling parameter sweep applications
 * on global Grids" (2005), section 3.2 and figure 2. See policy.h and
 * bats/policy.h.
 *
 * A resource is a cluster. With
 *
 *   T_r  runtime of a task there: measured; where it is known what to expect,
 *        measured on all resources together, for it is the same tasks
 *   C_r  = T_r x the charge of a slot: what a task costs
 *
 * every task that has not begun is assigned to a resource, as the policy says,
 * and a slot that is free is given a task while its resource has one. All of it
 * is assigned anew when an eighth of the tasks left have ended; when a quarter
 * of those have, and a T_r has changed by an eighth, or a resource has no more;
 * and whenever machines are lost or nothing goes on.
 * A resource of which nothing is known is given one task.
 *
 * Where use is charged, no task costs more than its use. Where windows are
 * charged, C_r is what a task costs in windows that are full; machines are
 * acquired for the tasks that are assigned to them, and kept while they work.
 */
#ifndef BATS_ENGINE_DBC_H
#define BATS_ENGINE_DBC_H

#include "engine/policy/policy.h"

struct dbc_resource {
    double runtime;    /* T_r; 0: not known */
    double measured;   /* tasks on it alone, or the expected time */
    double cost;       /* C_r */
    double error;      /* of both, relative: their standard error */
    uint32_t assigned; /* tasks */
    uint32_t begun;    /* of the cluster, when they were assigned */
    /* When its slots are free next, ascending from `next` on, in a ring. */
    double *free;
    uint32_t n_slots, next;
    uint32_t n_free; /* slots that are free now */
};

struct dbc {
    void (*assign)(struct dbc *d);
    struct dbc_resource resources[BATS_CLUSTERS_MAX];
    /* For `assign`: the known clusters, cheapest first, of equal cost the
     * faster first; the tasks not yet assigned (at least one), and the money
     * for them. */
    struct dbc_resource *order[BATS_CLUSTERS_MAX];
    size_t n;
    uint32_t tasks;
    double money, deadline; /* INFINITY: no limit */
    double *free;           /* by slot */
    uint32_t results, next_results;
};

/* Their costs differ by no more than the standard error. */
bool dbc_same_cost(const struct dbc_resource *a, const struct dbc_resource *b);

/* Assigns a task to its next slot. False: it would end after the deadline, or
 * there is no money. */
bool dbc_take(struct dbc *d, struct dbc_resource *r);

/* Assigns tasks, each to that of order[first .. last - 1] which completes it
 * soonest. `shares`: none costs more than its share of the money, so that all
 * others keep theirs; where that pays for no task anywhere, the cheapest
 * resource does what it can. */
void dbc_spread(struct dbc *d, size_t first, size_t last, bool shares);

/* ---- answers to the engine ---- */

/* The policy `bats_policy_ID`, which assigns by the function `assign` that stands
 * above it. */
#define DBC_POLICY(id, called, says)                                          \
    static int init(void *self, const struct state *s,                        \
                    const struct bats_sched_options *o,                       \
                    struct bats_error *err)                                   \
    {                                                                         \
        (void)o;                                                              \
        return dbc_init(self, s, assign, err);                                \
    }                                                                         \
    const struct bats_policy bats_policy_##id = {                             \
        .advisor = {.name = called,                                           \
                    .memory = sizeof(struct dbc),                             \
                    .init = init,                                             \
                    .release = dbc_release},                                  \
        .about = says,                                                        \
        .one_each = true,                                                     \
        .start = dbc_start,                                                   \
        .renew = rr_renew,                                                    \
        .refuses = dbc_refuses,                                                   \
        .refill = rr_refill,                                                  \
        .wants = dbc_wants,                                                   \
        .plan = dbc_plan,                                                     \
        .is_late = dbc_is_late}

int dbc_init(void *self, const struct state *s, void (*assign)(struct dbc *d),
             struct bats_error *err);
void dbc_release(void *self);
void dbc_start(void *self, const struct state *s,
               const struct policy_sample *sample, struct policy_start *start);
enum bats_idle dbc_refuses(const void *self, const struct state *s,
                           uint32_t machine);
bool dbc_wants(void *self, const struct state *s, const struct occasion *why);
int dbc_plan(void *self, const struct state *s, const struct occasion *why,
             bool *is_new, struct policy_plan *plan, struct bats_error *err);
bool dbc_is_late(const void *self, const struct state *s);

#endif
