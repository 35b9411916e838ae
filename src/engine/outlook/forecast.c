/* forecast: estimates of runtimes and of what paid and planned time can still
 * do. See forecast.h. */
#include "engine/outlook/forecast.h"

#include <math.h>

#include "util/larger.h"

/* Tolerance for rounding, so that four tasks of a quarter window fill a
 * window. */
#define NOISE 1e-9
/* Assumed spread of runtimes before there are results, with the weight of this
 * many results. */
#define VARIES 0.5
#define VARIES_LIKE 2

static double elapsed(const struct state *s, const struct slot *sl)
{
    return (double)(s->now - sl->started);
}

static const struct bats_stats *stats_of(const struct state *s,
                                         const struct slot *sl)
{
    return &s->clusters[s->machines[sl->machine].cluster].stats;
}

/* tau_e of the running task. */
static inline double expected(const struct state *s, const struct slot *sl)
{
    if (s->needs.list && s->known.is_ranked) {
        double mean = categories_runtime(s, s->bag.index[sl->head.i],
                                         s->machines[sl->machine].cluster);
        return larger(mean, 2 * elapsed(s, sl) - mean);
    }
    return bats_stats_expected(stats_of(s, sl), s->now - sl->started);
}

/* A replica does not count: it is stopped when its slot is needed. */
double forecast_rest(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return slot_works(s, slot) ? expected(s, sl) - elapsed(s, sl) : 0;
}

/* tau_e of the tasks that a cluster runs. */
struct running {
    double sum;
    uint32_t n;
};

/* Updates tau_e on a machine with tasks; returns their expected remaining
 * time. */
static double look_at(struct state *s, const struct machine *m,
                      struct running *running)
{
    double longest = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++) {
        struct slot *sl = &s->slots[i];
        sl->works = slot_works(s, i);
        if (sl->n_tasks == 0)
            continue;
        sl->expected = expected(s, sl);
        if (!sl->works)
            continue;
        longest = larger(longest, sl->expected - elapsed(s, sl));
        running->sum += sl->expected;
        running->n++;
    }
    return longest;
}

/* Updates the expected times of the running tasks; idle machines have none. */
static void look(struct state *s, struct running *running)
{
    uint32_t next = 0; /* slot of a machine not looked at yet */
    while ((next = slot_next_busy(s, next)) < s->n_slots) {
        struct machine *m = &s->machines[s->slots[next].machine];
        next = m->first_slot + m->n_slots;
        if (!machine_is_held(m))
            continue;
        double over = look_at(s, m, &running[m->cluster]) -
                      (double)(m->paid_end - s->now);
        m->overrun =
            over <= 0 ? 0 : (int64_t)ceil(over / (double)s->run.window);
    }
}

void forecast_look(struct state *s)
{
    struct running running[BATS_CLUSTERS_MAX] = {{0, 0}};
    look(s, running);
}

void forecast_means(struct state *s)
{
    struct running running[BATS_CLUSTERS_MAX] = {{0, 0}};
    look(s, running);
    for (size_t c = 0; c < s->n_clusters; c++)
        bats_stats_update(&s->clusters[c].stats, running[c].n, running[c].sum);
}

/*
 * v of the papers, tasks per microsecond; 0 if unknown. With a chosen schedule
 * the clusters' statistics are used, because a machine has done too few tasks
 * at first to contradict them.
 */
static double slot_speed(const struct state *s, const struct slot *sl)
{
    double mean = stats_of(s, sl)->mean;
    if (s->run.kept && mean > 0)
        return 1 / mean;
    if (sl->n_tasks > 0)
        return (sl->n_done + 1) / larger(sl->rt_done + sl->expected, 1);
    if (sl->n_done > 0)
        return sl->n_done / larger(sl->rt_done, 1);
    return mean > 0 ? 1 / mean : 0;
}

/* Planned windows of the machine beyond those that its running tasks need, at
 * most `limit`. */
static int64_t windows_to_come(const struct machine *m, int64_t limit)
{
    int64_t windows = m->plan_windows - m->overrun;
    windows = windows < limit ? windows : limit;
    return windows > 0 ? windows : 0;
}

/* Subtracts from `left` the cost of windows that m's running tasks need. */
static bats_money pay_overrun(const struct machine *m, bats_money charge,
                              bats_money left)
{
    bats_money cost;
    int64_t windows = m->overrun - (m->renewing ? 1 : 0);
    if (windows <= 0)
        return left;
    if (!bats_units_multiply(windows, charge, &cost) || cost > left)
        return 0;
    return left - cost;
}

/* Largest number of planned windows per machine over all clusters. */
static int64_t plan_windows(const struct state *s)
{
    int64_t most = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].plan_windows > most)
            most = s->clusters[i].plan_windows;
    return most;
}

/* Cost of the configuration with this many windows per machine, at most the
 * planned ones. In the same loop, subtracts from `left` the cost of finishing
 * the running tasks ("to estimate the cost of a task still running we use
 * tau_e"). */
static double cost_of(const struct state *s, int64_t windows, bats_money *left)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (m->state != MACHINE_ACTIVE || m->marked)
            continue;
        bats_money charge = s->clusters[m->cluster].spec.charge;
        cost += (double)windows_to_come(m, windows) * (double)charge;
        if (*left != BATS_UNLIMITED)
            *left = pay_overrun(m, charge, *left);
    }
    return cost;
}

/* Largest number of windows per machine that `money` pays for. `most`: cost of
 * the whole plan, which is usually affordable. */
static int64_t affordable_windows(const struct state *s, bats_money money,
                                  double most)
{
    bats_money unlimited = BATS_UNLIMITED;
    int64_t low = 0, high = plan_windows(s);
    if (most <= (double)money)
        return high;
    for (high--; low < high;) {
        int64_t middle = high - (high - low) / 2;
        if (cost_of(s, middle, &unlimited) <= (double)money)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Counts the tasks that one slot can still do in paid time and planned
 * windows. */
static void count_slot(const struct state *s, const struct machine *m,
                       const struct slot *sl, int64_t windows, double *paid,
                       double *planned)
{
    double v = slot_speed(s, sl);
    double atu = (double)s->run.window;
    double waiting = sl->n_tasks > 0 ? sl->n_tasks - 1.0 : 0;
    bool stays = m->state == MACHINE_ACTIVE && !m->marked;
    /* Time left in the window in which the running task ends. (The papers' ATU
     * - up_e mod ATU counts a whole unpaid window for a task that ends exactly
     * with its window.) */
    double rest = sl->works ? sl->expected - elapsed(s, sl) : 0;
    double delta = (double)(m->paid_end - s->now) - rest;
    if (stays && delta <= -1)
        delta += ceil(-delta / atu) * atu;
    delta = larger(delta, 0);
    double ft = floor(delta * v + NOISE);
    if (m->state == MACHINE_ACTIVE)
        *paid += larger(ft - waiting, 0);
    if (stays && v > 0) {
        double eta = delta - ft / v;
        *planned += floor(((double)windows * atu + eta) * v + NOISE);
    }
}

double forecast_spread(const struct state *s)
{
    double n = 0, squares = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        for (uint32_t k = 0; k < stats->n_sample; k++) {
            double x = (double)stats->sample[k] / stats->mean_done - 1;
            squares += x * x;
        }
        n += stats->n_sample > 0 ? stats->n_sample - 1 : 0;
    }
    double seen = n > 0 ? sqrt(squares / n) : VARIES;
    return (n * seen + VARIES_LIKE * VARIES) / (n + VARIES_LIKE);
}

struct forecast forecast_make(const struct state *s)
{
    struct forecast f = {.money_left =
                             bats_ledger_available(&s->money.ledger)};
    double most = cost_of(s, plan_windows(s), &f.money_left);
    int64_t affordable = affordable_windows(s, f.money_left, most);
    double paid = 0, planned = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        int64_t windows = windows_to_come(m, affordable);
        for (uint32_t k = 0; k < m->n_slots; k++)
            count_slot(s, m, &s->slots[slot_lead(s, m->first_slot + k)],
                       windows, &paid, &planned);
    }
    if (!s->money.terms.ahead)
        paid = 0;
    double left = bats_bag_left(&s->bag) - s->bag.count[BATS_TASK_ASSIGNED];
    double width = needs_width(s);
    f.tasks_left = (int64_t)larger(left - paid / width, 0);
    f.tasks_paid = (int64_t)fmin(planned / width, 1e18);
    return f;
}

/* A marked machine is paid whether it works or not, so one more task is worth
 * trying if the shortest known task would end. */
bool forecast_fits(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    const struct cluster *c = &s->clusters[m->cluster];
    const struct bats_stats *stats = &c->stats;
    if (stats->mean == 0)
        return true;
    double time = (double)(m->paid_end - s->now);
    if (s->money.terms.returns &&
        !s->money.terms.prolongs) /* unused time is not paid */
        return stats->mean <= time || s->rest[machine].began_at == s->now;
    if (m->renewing)
        time += (double)s->run.window;
    if (m->marked)
        return (stats->n_sample > 0 ? (double)stats->sample[0]
                                    : stats->mean) <= time;
    time += (double)bats_ledger_affordable(&s->money.ledger, c->spec.charge) *
            (double)s->run.window;
    return stats->mean <= time;
}

bool forecast_ends_before(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    double mean = cluster_runtime(&s->clusters[m->cluster]);
    return s->rest[machine].taken_at == BATS_NEVER ||
           (mean > 0 && mean <= (double)(m->paid_end - s->now));
}

bool forecast_too_late(const struct state *s, size_t cluster)
{
    return s->now >= s->money.latest ||
           (double)s->now + s->clusters[cluster].stats.mean >
               (double)s->money.latest;
}

size_t forecast_most_profitable(const struct state *s)
{
    size_t best = SIZE_MAX;
    double best_price = INFINITY;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->stats.mean == 0 || c->n_joined == 0 || c->spec.max == 0)
            continue;
        double price = (double)c->price * c->stats.mean / cluster_slots(c);
        if (price < best_price) {
            best_price = price;
            best = i;
        }
    }
    return best;
}

double cluster_slots(const struct cluster *c)
{
    return c->n_machines > 0 ? (double)c->n_slots / c->n_machines : 1;
}

/* Work left in one-slot tasks. Running tasks count as half done. */
static double work_left(const struct state *s)
{
    double tasks = bats_bag_pending(&s->bag) * needs_width(s) +
                   (s->n_busy - s->n_replicas) / 2.0;
    return tasks * categories_left_weight(s);
}

bats_time forecast_end(const struct state *s)
{
    double rate = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->n_active > 0 && c->stats.mean <= 0)
            return BATS_NEVER;
        if (c->n_active > 0)
            rate += c->n_active * cluster_slots(c) / c->stats.mean;
    }
    return forecast_end_at(s, rate);
}

bats_time forecast_end_at(const struct state *s, double rate)
{
    if (rate <= 0)
        return BATS_NEVER;
    double rest =
        larger(work_left(s) / rate, (double)state_longest_chain(s, NULL));
    double end = (double)s->now + rest;
    return end < (double)BATS_NEVER ? (bats_time)end : BATS_NEVER;
}
