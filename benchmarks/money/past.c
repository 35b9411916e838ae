/*
 * past: what a history is worth. Policies on real bags that come again and
 * again, with what the bags before have left in the history.
 *
 *   past [-k PART/PARTS] [-n BAGS] [-d DRIFT] [-e EARLIER] [-s SEED] [-tu] FILE...
 *
 * FILE has bags that were measured, a line each: NAME<tab>SECONDS,... Each bag
 * is played on four platforms of 2 to 5 clusters with 2 to 64 machines and
 * speeds of 1/2 to 4, whose charge is
 *
 *   market   speed x noise          wide     speed^1.5 x noise
 *   flat     1 to 1.6               hostile  1 to 12
 *
 * with four budgets: minimum+25 %, minimum+50 %, fastest, and what rr costs
 * without one. EARLIER bags of the kind (default 3) and two of other kinds are
 * played first, with the same budget; from one of a kind to the next all its
 * runtimes change by a lognormal factor, exp(N(0, ln DRIFT)) (default 1.2). The
 * bag itself is then played
 *
 *   rr       in three other orders than the rest
 *   blind    bats, knowing nothing
 *   guess    bats, told to believe that a cluster is the faster the more it
 *            charges, and nothing else
 *   history  bats, with what those before have left
 *   wrong    the same, but the level in it is off by 10 or by 1/10
 *   speeds   bats, told only the relative speeds in it
 *   true     bats, told the true means
 *   told     the same, as runtimes that the user expects
 *
 * -u: names are USER/BAG, in the order of time; the earlier bags are those of the
 * same user instead. -t: instead of budgets, a deadline at twice the soonest end
 * that is possible, with three times the least cost of that; a bag that is late
 * counts as undone. -k: only every PARTS-th bag, from PART on; -PART/PARTS: only
 * the others. SEED: of platforms and drifts. One line per run; past.awk makes a table:
 *
 *   FILE,BAG,PLATFORM,BUDGET,WHO,UNDONE,MAKESPAN,CHARGED
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/policy.h"
#include "bats/prior.h"
#include "bats/status.h"
#include "least.h"
#include "sim/world.h"

#define EARLIER_MAX 16
#define OTHERS 2 /* bags of other kinds */
#define ORDERS 3 /* of rr */
#define WRONG 10 /* the factor by which a history misleads */

static struct {
    long part, parts, most, earlier;
    unsigned long seed;
    double drift;
    bool by_user, with_deadline;
} set = {.parts = 1, .most = 1000000, .earlier = 3, .drift = 1.2};

struct bag {
    char name[128];
    bats_time *runtimes;
    uint32_t n;
};

static struct {
    struct bag *at;
    long n;
} bags;

/* The rows that earlier bags have left in the history. */
struct memory {
    struct bats_prior_row rows[(EARLIER_MAX + OTHERS) * BATS_CLUSTERS_MAX];
    size_t n;
    uint32_t bag, kind; /* that is played */
    uint32_t n_clusters;
    double cv;
};

static void fail(const char *text)
{
    fprintf(stderr, "past: %s\n", text);
    exit(1);
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

/* ---- platforms ---- */

static const char *const platforms[] = {"market", "wide", "flat", "hostile"};

static double charge_of(int which, double speed, gsl_rng *rng)
{
    double noise = exp(gsl_ran_gaussian(rng, 0.15));
    return which == 0   ? speed * noise
           : which == 1 ? pow(speed, 1.5) * noise
           : which == 2 ? 1 + 0.6 * gsl_rng_uniform(rng)
                        : 1 + (double)gsl_rng_uniform_int(rng, 12);
}

static void make_platform(struct bats_scenario *s, int which, gsl_rng *rng)
{
    struct bats_platform *p = &s->platform;
    p->n_clusters = 2 + gsl_rng_uniform_int(rng, 4);
    p->n_machines = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        struct bats_cluster *c = &p->clusters[i];
        snprintf(c->name, sizeof c->name, "c%zu", i);
        c->max = (uint32_t)(2 * exp(gsl_rng_uniform(rng) * log(32)));
        p->speed[i] = 0.5 * exp(gsl_rng_uniform(rng) * log(8));
        double charge = charge_of(which, p->speed[i], rng);
        c->charge = (bats_money)(100 * charge + 1) * (BATS_UNIT / 100);
        p->n_machines += c->max;
    }
    p->machines = allocate(p->n_machines, sizeof *p->machines);
    uint32_t id = 0;
    for (uint32_t i = 0; i < p->n_clusters; i++)
        for (uint32_t k = 0; k < p->clusters[i].max; k++)
            p->machines[id++] = (struct bats_machine_spec){i, 1};
}

/* ---- what is remembered ---- */

static double variation(const struct bag *bag)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < bag->n; i++)
        sum += (double)bag->runtimes[i];
    for (uint32_t i = 0; i < bag->n; i++)
        squares += pow((double)bag->runtimes[i] * bag->n / sum - 1, 2);
    return sqrt(squares / bag->n);
}

/* After an event; what the last one leaves is what counts. */
static void remember(void *context, const struct bats_sched *sched)
{
    struct memory *m = context;
    struct bats_cluster_status c;
    while (m->n > 0 && m->rows[m->n - 1].bag == m->bag)
        m->n--;
    for (uint32_t i = 0; i < m->n_clusters; i++) {
        bats_sched_cluster_status(sched, i, &c);
        if (c.done > 0)
            m->rows[m->n++] = (struct bats_prior_row){.bag = m->bag,
                                                      .kind = m->kind,
                                                      .place = i,
                                                      .tasks = c.done,
                                                      .mean = c.mean_runtime,
                                                      .cv = m->cv};
    }
}

static bool prior_of(const struct memory *m, const struct bats_platform *p,
                     struct bats_prior *prior)
{
    struct bats_prior_past past;
    struct bats_error err;
    uint32_t place[BATS_CLUSTERS_MAX], n;
    double charge[BATS_CLUSTERS_MAX];
    for (uint32_t i = 0; i < p->n_clusters; i++) {
        place[i] = i;
        charge[i] = (double)p->clusters[i].charge;
    }
    if (bats_prior_learn(m->rows, m->n, p->n_clusters, &past, &err) < 0)
        fail(err.text);
    bool is_known = bats_prior_of(&past, m->rows, m->n, 0, place, charge,
                                  p->n_clusters, prior, &n);
    bats_prior_past_release(&past);
    return is_known;
}

/* ---- runs ---- */

static void set_deadline(struct bats_scenario *s,
                         const struct bats_world *world)
{
    struct bats_error err;
    double soonest, cost;
    if (bats_bound(bats_world_problem(world), BATS_UNLIMITED, &soonest, &err) <
        0)
        fail(err.text);
    s->engine.goal = (struct bats_goal){.deadline = (bats_time)(2 * soonest),
                                        .minimize = BATS_MINIMIZE_COST};
    if (least_cost(bats_world_problem(world), s->engine.goal.deadline, &cost,
                   &err) < 0)
        fail(err.text);
    s->budgets[0].amount = (bats_money)(3 * cost);
}

static struct bats_world_result play(struct bats_scenario *s, uint32_t policy,
                                     uint32_t budget, uint32_t order,
                                     const struct bats_prior *prior,
                                     struct memory *memory)
{
    struct bats_world *world;
    struct bats_world_result r;
    struct bats_error err;
    const struct bats_sim_watch watch = {.context = memory, .after = remember};
    s->engine.prior = prior;
    if (bats_world_create(s, 0, order, &world, &err) < 0)
        fail(err.text);
    if (set.with_deadline)
        set_deadline(s, world);
    if (bats_world_run(world, policy, budget, memory ? &watch : NULL, &r,
                       &err) < 0)
        fail(err.text);
    if (r.violations > 0)
        fail("the budget was exceeded");
    if (set.with_deadline && r.makespan > s->engine.goal.deadline)
        r.undone = r.undone > 0 ? r.undone : 1;
    bats_world_destroy(world);
    return r;
}

struct place {
    const char *file, *bag, *platform;
};

static void print(const struct place *place, const struct bats_scenario *s,
                  uint32_t budget, const char *who,
                  const struct bats_world_result *r)
{
    printf("%s,%s,%s,%s,%s,%u,%.3f,%.3f\n", place->file, place->bag,
           place->platform, s->budgets[budget].text, who, r->undone,
           1e-6 * (double)r->makespan, 1e-6 * (double)r->charged);
}

static void set_bag(struct bats_scenario *s, const struct bag *bag,
                    double factor)
{
    free(s->measured);
    s->measured = allocate(bag->n, sizeof *s->measured);
    s->n_tasks = bag->n;
    for (uint32_t i = 0; i < bag->n; i++)
        s->measured[i] =
            (bats_time)fmax(factor * (double)bag->runtimes[i], 1000);
}

static bool is_of_user(const struct bag *a, const struct bag *b)
{
    size_t n = strcspn(a->name, "/");
    return strncmp(a->name, b->name, n + 1) == 0;
}

/* The last bags of the user, the oldest first. Returns their number. */
static long list_by_user(const struct bag *bag, const struct bag **list)
{
    long n = 0;
    for (const struct bag *b = bag; b-- > bags.at && n < set.earlier;)
        if (is_of_user(b, bag))
            list[n++] = b;
    for (long i = 0; i < n / 2; i++) {
        const struct bag *b = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = b;
    }
    return n;
}

/* The bags before this one, and what they leave. */
static void play_earlier(struct bats_scenario *s, const struct bag *bag,
                         uint32_t budget, const double *factors,
                         const long *others, struct memory *m)
{
    struct bats_prior prior;
    const struct bag *list[EARLIER_MAX];
    long n = set.earlier;
    for (long i = 0; i < n; i++)
        list[i] = bag;
    if (set.by_user)
        n = list_by_user(bag, list);
    *m = (struct memory){.n_clusters = (uint32_t)s->platform.n_clusters};
    for (m->bag = 0; m->bag < OTHERS + n; m->bag++) {
        bool is_other = m->bag < OTHERS;
        const struct bag *b =
            is_other ? &bags.at[others[m->bag]] : list[m->bag - OTHERS];
        m->kind = is_other ? 1 + m->bag : 0;
        m->cv = variation(b);
        set_bag(s, b, is_other ? 1 : factors[m->bag - OTHERS]);
        bool is_known = prior_of(m, &s->platform, &prior);
        play(s, 1, budget, 0, is_known ? &prior : NULL, m);
    }
    set_bag(s, bag, factors[set.earlier]);
}

static struct bats_prior by_charge(const struct bats_platform *p)
{
    struct bats_prior prior = {.level = INFINITY};
    for (size_t i = 0; i < p->n_clusters; i++) {
        prior.mean[i] = pow((double)p->clusters[i].charge, -0.6);
        prior.own[i] = 0.5;
    }
    return prior;
}

static struct bats_prior truth(const struct bats_scenario *s)
{
    struct bats_prior prior = {.level = 0.03};
    double sum = 0, squares = 0, n = s->n_tasks;
    for (uint32_t i = 0; i < s->n_tasks; i++)
        sum += (double)s->measured[i];
    for (uint32_t i = 0; i < s->n_tasks; i++)
        squares += pow((double)s->measured[i] * n / sum - 1, 2);
    prior.cv = sqrt(squares / n);
    for (size_t i = 0; i < s->platform.n_clusters; i++) {
        prior.mean[i] = sum / n / s->platform.speed[i];
        prior.own[i] = 0.03;
    }
    return prior;
}

static void play_budget(struct bats_scenario *s, const struct place *place,
                        const struct bag *bag, uint32_t budget,
                        const double *factors, const long *others, bool low)
{
    struct memory memory;
    struct bats_prior prior, wrong, right, guess;
    play_earlier(s, bag, budget, factors, others, &memory);
    bool is_known = prior_of(&memory, &s->platform, &prior);
    for (uint32_t i = 0; i <= ORDERS; i++) {
        char who[8];
        struct bats_world_result r = play(s, 0, budget, i, NULL, NULL);
        snprintf(who, sizeof who, "rr%u", i);
        print(place, s, budget, who, &r);
    }
    struct bats_world_result r = play(s, 1, budget, 0, NULL, NULL);
    print(place, s, budget, "blind", &r);
    guess = by_charge(&s->platform);
    r = play(s, 1, budget, 0, &guess, NULL);
    print(place, s, budget, "guess", &r);
    r = play(s, 1, budget, 0, is_known ? &prior : NULL, NULL);
    print(place, s, budget, "history", &r);
    wrong = prior;
    wrong.level = INFINITY;
    r = play(s, 1, budget, 0, is_known ? &wrong : NULL, NULL);
    print(place, s, budget, "speeds", &r);
    wrong = prior;
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        wrong.mean[i] *= low ? 1.0 / WRONG : WRONG;
    r = play(s, 1, budget, 0, is_known ? &wrong : NULL, NULL);
    print(place, s, budget, "wrong", &r);
    right = truth(s);
    r = play(s, 1, budget, 0, &right, NULL);
    print(place, s, budget, "true", &r);
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        s->platform.expected[i] = (bats_time)right.mean[i];
    r = play(s, 1, budget, 0, NULL, NULL);
    print(place, s, budget, "told", &r);
    memset(s->platform.expected, 0, sizeof s->platform.expected);
}

static void play_bag(const char *file, long number)
{
    static uint32_t one = 1;
    const struct bag *bag = &bags.at[number];
    for (int which = 0; which < 4; which++) {
        double factors[EARLIER_MAX + 1];
        long others[OTHERS];
        const struct place place = {file, bag->name, platforms[which]};
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(rng,
                    1 + 7919 * set.seed + (unsigned long)(4 * number + which));
        struct bats_scenario s = {
            .platform = {.window = BATS_HOUR},
            .as_measured = true,
            .policies = {&bats_policy_rr, &bats_policy_bats},
            .n_policies = 2,
            .budgets = {{"minimum+25%", BATS_BUDGET_MINIMUM, 0, 1.25},
                        {"minimum+50%", BATS_BUDGET_MINIMUM, 0, 1.5},
                        {"fastest", BATS_BUDGET_FASTEST, 0, 1},
                        {"rr", BATS_BUDGET_RR, 0, 1}},
            .n_budgets = 4,
            .seeds = &one,
            .n_seeds = 1,
            .repeats = 1 + ORDERS,
            .engine.tail = BATS_TAIL_DEFAULT};
        if (set.with_deadline) {
            s.budgets[0] = (struct bats_scenario_budget){
                .text = "deadline", .base = BATS_BUDGET_AMOUNT};
            s.n_budgets = 1;
        }
        make_platform(&s, which, rng);
        factors[set.earlier] = 1;
        for (long i = set.earlier; i-- > 0;)
            factors[i] = set.by_user
                             ? 1
                             : factors[i + 1] *
                                   exp(gsl_ran_gaussian(rng, log(set.drift)));
        for (int i = 0; i < OTHERS; i++)
            others[i] = (long)gsl_rng_uniform_int(rng, (unsigned long)bags.n);
        bool low = gsl_rng_uniform(rng) < 0.5;
        gsl_rng_free(rng);
        for (uint32_t b = 0; b < s.n_budgets; b++)
            play_budget(&s, &place, bag, b, factors, others, low);
        free(s.measured);
        free(s.platform.machines);
    }
}

static void load(const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    if (!in)
        fail("cannot read the bags");
    bags.n = 0;
    while (getline(&line, &size, in) > 0) {
        char *at = strchr(line, '\t');
        if (line[0] == '#' || !at)
            continue;
        bags.at = realloc(bags.at, ((size_t)bags.n + 1) * sizeof *bags.at);
        if (!bags.at)
            fail("out of memory");
        struct bag *bag = &bags.at[bags.n++];
        *at++ = '\0';
        snprintf(bag->name, sizeof bag->name, "%s", line);
        bag->runtimes = allocate(strlen(at), sizeof *bag->runtimes);
        bag->n = 0;
        for (char *end = at; *end != '\n' && *end != '\0'; at = end + 1)
            bag->runtimes[bag->n++] =
                (bats_time)(strtod(at, &end) * (double)BATS_SECOND + 0.5);
    }
    free(line);
    fclose(in);
}

static bool is_out(long number)
{
    bool in = number % set.parts == labs(set.part) % set.parts;
    return set.parts > 1 && (set.part < 0 ? in : !in);
}

int main(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "k:n:d:e:s:tu")) != -1) {
        if (option == 'k')
            sscanf(optarg, "%ld/%ld", &set.part, &set.parts);
        else if (option == 'n')
            set.most = strtol(optarg, NULL, 10);
        else if (option == 'd')
            set.drift = strtod(optarg, NULL);
        else if (option == 'e')
            set.earlier = strtol(optarg, NULL, 10);
        else if (option == 's')
            set.seed = strtoul(optarg, NULL, 10);
        else if (option == 't')
            set.with_deadline = true;
        else if (option == 'u')
            set.by_user = true;
        else
            return 2;
    }
    if (set.earlier < 0 || set.earlier > EARLIER_MAX || set.drift < 1)
        fail("-e has to be 0 to 16, -d 1 or more");
    for (int i = optind; i < argc; i++) {
        const char *name = strrchr(argv[i], '/');
        load(argv[i]);
        for (long k = 0; k < bags.n; k++)
            if (!is_out(k) && set.most-- > 0)
                play_bag(name ? name + 1 : argv[i], k);
    }
    return 0;
}
