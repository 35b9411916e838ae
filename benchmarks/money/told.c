/*
 * told: runs.c, with a policy bats that is told the true mean runtime of every
 * cluster and the true coefficient of variation, to see what better statistics
 * could do. TOLD in the environment says when: start (until there is a result;
 * and, of a cluster, until it has one), results (from the first result on),
 * both; else nothing.
 *
 * The engine has nothing of this: the linker puts these functions before three
 * of its own (--wrap).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/outlook/forecast.h"
#include "engine/policy/bats.h"
#include "sim/sim.h"

static struct {
    double cv, mean[BATS_CLUSTERS_MAX]; /* microseconds */
} truth;

int __real_bats_sim_run(const struct bats_sim_options *o,
                        struct bats_sched **sched, bats_time *makespan,
                        struct bats_error *err);
int __wrap_bats_sim_run(const struct bats_sim_options *o,
                        struct bats_sched **sched, bats_time *makespan,
                        struct bats_error *err);
double __real_forecast_spread(const struct state *s);
double __wrap_forecast_spread(const struct state *s);
void __real_problem_make(struct problem *p, const struct state *s, bool all);
void __wrap_problem_make(struct problem *p, const struct state *s, bool all);

static bool is_told(const char *when)
{
    const char *told = getenv("TOLD");
    return told && (strcmp(told, when) == 0 || strcmp(told, "both") == 0);
}

static bool has_results(const struct state *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        n += s->clusters[i].stats.n_done;
    return n > 0;
}

int __wrap_bats_sim_run(const struct bats_sim_options *o,
                        struct bats_sched **sched, bats_time *makespan,
                        struct bats_error *err)
{
    struct bats_sim_options told = *o;
    bats_time expected[BATS_CLUSTERS_MAX];
    double n = o->sched.n_tasks, sum = 0, squares = 0;
    for (uint32_t i = 0; i < o->sched.n_tasks; i++)
        sum += (double)o->work[i];
    for (uint32_t i = 0; i < o->sched.n_tasks; i++)
        squares += pow((double)o->work[i] - sum / n, 2);
    truth.cv = sqrt(squares / n) / (sum / n);
    for (size_t i = 0; i < o->sched.n_clusters; i++) {
        truth.mean[i] = fmax(sum / n / o->speed[i], 1);
        expected[i] = (bats_time)truth.mean[i];
    }
    if (is_told("start"))
        told.sched.expected = expected;
    return __real_bats_sim_run(&told, sched, makespan, err);
}

double __wrap_forecast_spread(const struct state *s)
{
    return is_told(has_results(s) ? "results" : "start")
               ? truth.cv
               : __real_forecast_spread(s);
}

/* A task of a cluster without results takes the mean; of what runs elsewhere,
 * only the size changes: tasks that have taken long are long ones. */
static void tell_slot(struct problem *p, const struct state *s,
                      const struct bats_windows_machine *m, uint32_t k,
                      double mean, double before)
{
    struct bats_windows_slot *slot = &p->slots[k];
    double elapsed = slot_elapsed(s, k) / (double)s->run.window;
    if (slot->size <= 0)
        return;
    p->is.demand -= slot->size;
    slot->size *= before / mean;
    if (s->clusters[m->type].stats.n_done == 0) {
        slot->rest = fmax(mean - elapsed, (p->longer - 1) * mean);
        slot->size = (elapsed + slot->rest) / mean;
    }
    p->is.demand += slot->size;
}

void __wrap_problem_make(struct problem *p, const struct state *s, bool all)
{
    double before[BATS_CLUSTERS_MAX];
    __real_problem_make(p, s, all);
    if (!has_results(s) || !is_told("results"))
        return;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct bats_windows_type *t = &p->types[i];
        double mean = truth.mean[i] / (double)s->run.window;
        before[i] = 1 / t->rate;
        t->rate = 1 / mean;
        t->loss = bats_windows_loss(mean, p->cv);
    }
    for (uint32_t i = 0; i < p->is.n_machines; i++) {
        struct bats_windows_machine *m = &p->machines[i];
        double longest = 0, mean = 1 / p->types[m->type].rate;
        for (uint32_t k = m->first_slot; k < m->first_slot + m->n_slots; k++) {
            tell_slot(p, s, m, k, mean, before[m->type]);
            longest = fmax(longest, p->slots[k].rest);
        }
        m->overrun = longest > m->paid ? ceil(longest - m->paid) : 0;
    }
}
