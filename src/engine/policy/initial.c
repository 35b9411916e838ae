/*
 * initial: the policy rr, self-scheduling on all machines; and the start of a
 * run in which policy bkp samples the clusters. See policy.h. Source: paper
 * 2.3, figure 3; thesis 2.2.4.
 */
#include "engine/policy/policy.h"

#include <math.h>

/* ---- rr ---- */

void rr_start(void *self, const struct state *s,
              const struct policy_sample *sample, struct policy_start *all)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        all->machines[i] = s->clusters[i].spec.max;
}

bool rr_renew(void *self, const struct state *s, uint32_t machine)
{
    return machine_works(s, machine);
}

bool rr_refill(void *self, const struct state *s, const struct occasion *why)
{
    return true;
}

const struct bats_policy bats_policy_rr = {.advisor = {.name = "rr"},
                                           .start = rr_start,
                                           .renew = rr_renew,
                                           .refill = rr_refill};

/* ---- the start with a sample ---- */

/* Machines of cluster `c` needed to run `tasks` tasks at the same time. */
static uint32_t machines_for(const struct state *s, const struct cluster *c,
                             uint32_t tasks)
{
    if (c->n_machines == 0)
        return 0;
    double n = ceil(tasks * needs_width(s) / cluster_slots(c));
    return n < c->spec.max ? (uint32_t)n : c->spec.max;
}

/* Tasks of the cluster's sample still to run, out of `want`. A cluster sampled
 * by an earlier session needs none. */
static uint32_t lacks(const struct state *s, size_t cluster, uint32_t want)
{
    uint32_t known = s->clusters[cluster].stats.n_done;
    if (known >= want)
        return 0;
    return s->known.tops_up ? want - known : want;
}

/* The missing part of the sample needs no more machines than tasks. Without a
 * budget, all machines start. */
static uint32_t machines_at_start(const struct state *s, size_t cluster,
                                  uint32_t workers,
                                  const struct policy_sample *sample)
{
    bool waits = s->run.phase == PHASE_SAMPLING ||
                 s->money.ledger.budget != BATS_UNLIMITED;
    uint32_t lacking = sample->lacks[cluster];
    if (sample->is_on && sample->workers[cluster] < workers)
        workers = sample->workers[cluster];
    if (s->known.tops_up && waits && lacking < workers)
        workers = lacking;
    return machines_for(s, &s->clusters[cluster], workers);
}

/* Upper bound on machines per cluster at the start; shortens the search. */
static uint32_t most_of(const struct policy_sample *sample, uint32_t workers)
{
    uint32_t most = sample->is_on ? 0 : workers;
    for (size_t i = 0; i < BATS_CLUSTERS_MAX && sample->is_on; i++)
        most = sample->workers[i] > most ? sample->workers[i] : most;
    return most;
}

/* Price of one window of a start with `workers` initial workers per cluster;
 * INFINITY is never reached because charges fit 64 bits. */
static double price_of_start(const struct state *s, uint32_t workers,
                             const struct policy_sample *need)
{
    double price = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        price += (double)machines_at_start(s, i, workers, need) *
                 (double)s->clusters[i].spec.charge;
    return price;
}

/* The cheapest of the clusters not yet seen; marks it as seen. */
static size_t next_cheapest(const struct state *s, bool *seen)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (!seen[i] &&
            (best == SIZE_MAX ||
             s->clusters[i].spec.charge < s->clusters[best].spec.charge))
            best = i;
    seen[best] = true;
    return best;
}

/*
 * The implicit sampling phase: iw = min(ceil(N/10), n) initial workers per
 * cluster. A budget that cannot pay them for one window gets fewer; one that
 * cannot pay a single machine of each cluster samples the cheapest clusters
 * only. Without a budget, all machines start. At most half of a small bag is
 * sampled.
 *
 * A separate sampling phase states its own needs.
 */
void initial_start(const struct state *s, const struct policy_sample *sample,
                   struct policy_start *start)
{
    uint32_t n_tasks = bats_bag_left(&s->bag);
    uint32_t tenth = n_tasks / 10 + (n_tasks % 10 > 0);
    uint32_t workers =
        tenth < s->known.sample_size ? tenth : s->known.sample_size;
    uint32_t share = n_tasks / (2 * (uint32_t)s->n_clusters);
    uint32_t want =
        share < s->known.sample_size ? share : s->known.sample_size;
    struct policy_sample need = *sample;
    if (s->money.ledger.budget == BATS_UNLIMITED || sample->is_on)
        workers = s->n_slots;
    for (size_t i = 0; i < s->n_clusters && !sample->is_on; i++)
        need.lacks[i] = lacks(s, i, want > 0 ? want : 1);
    workers = most_of(&need, workers);
    double budget = (double)s->money.ledger.budget;
    while (workers > 1 && price_of_start(s, workers, &need) > budget)
        workers--;
    double left = budget;
    bool seen[BATS_CLUSTERS_MAX] = {false};
    for (size_t k = 0; k < s->n_clusters; k++) {
        size_t i = next_cheapest(s, seen);
        if (!s->known.tops_up && need.lacks[i] == 0)
            continue;
        uint32_t n = machines_at_start(s, i, workers, &need);
        double price = (double)n * (double)s->clusters[i].spec.charge;
        if (price > left)
            continue;
        left -= price;
        start->machines[i] = n;
        if (!sample->is_on && n > 0)
            start->sample[i] = need.lacks[i];
    }
}

bool initial_window_closes(const struct state *s)
{
    uint32_t id;
    return bats_heap_first(&s->turns, &id) <= s->now + s->run.interval;
}

/*
 * True if every cluster has run its sample or, before any machine is paid for
 * a second window, half of it: then running tasks enter T by their
 * expectation. (The papers wait for the whole sample. If some tasks are longer
 * than a window, that pays all initial machines twice.)
 */
bool initial_sampled(const struct state *s)
{
    if (s->n_absent > 0)
        return false;
    bool hurry = initial_window_closes(s);
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        uint32_t want = hurry ? (c->sample_want + 1) / 2 : c->sample_want;
        if (c->sample_back < want && c->n_held > 0)
            return false;
    }
    return true;
}
