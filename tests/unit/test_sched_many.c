/* More machines than the engine looks at for one event: the digest of all
 * commands says whether it still answers the same to the same events. A change
 * that is meant to decide otherwise changes it, and says so. */
#include "bats/policy.h"
#include "bats/sched.h"
#include "helpers/test.h"

#define MACHINES 5000
#define SLOTS 2
#define TASKS 40000
#define EVENTS 60000

struct world {
    struct bats_sched *sched;
    struct bats_machine_spec machines[MACHINES];
    uint32_t runs[MACHINES * SLOTS]; /* BATS_NO_TASK: nothing */
    uint64_t random, digest, replicas;
    bool finished;
};

static uint32_t draw(struct world *w, uint32_t n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((w->random >> 33) % n);
}

static void obey(struct world *w)
{
    struct bats_command c;
    while (bats_sched_next(w->sched, &c)) {
        const uint64_t words[] = {c.type, c.machine, c.slot,
                                  c.task, c.replica, (uint64_t)c.amount};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            w->digest = (w->digest ^ words[i]) * 1099511628211u;
        if (c.type == BATS_COMMAND_RUN)
            w->runs[c.machine * SLOTS + c.slot] = c.task;
        w->replicas += c.type == BATS_COMMAND_RUN && c.replica > 0;
        w->finished |= c.type == BATS_NOTICE_FINISHED;
    }
}

static void tell(struct world *w, bats_time now, struct bats_event ev)
{
    assert_ok(bats_sched_handle(w->sched, now, &ev, &err));
    obey(w);
}

/* The digest of all commands. Machines have SLOTS each, or more or less. */
static uint64_t play(const struct bats_policy *policy, bool mixed,
                     enum bats_tail tail, uint32_t n_tasks)
{
    struct world *w = calloc(1, sizeof *w);
    struct bats_cluster clusters[2] = {{.charge = BATS_UNIT, .max = MACHINES},
                                       {.charge = 2, .max = MACHINES}};
    for (uint32_t i = 0; i < MACHINES; i++)
        w->machines[i] =
            (struct bats_machine_spec){i % 2, mixed ? 1 + i % SLOTS : SLOTS};
    struct bats_sched_options o = {.policy = policy,
                                   .n_tasks = n_tasks,
                                   .clusters = clusters,
                                   .n_clusters = 2,
                                   .machines = w->machines,
                                   .n_machines = MACHINES,
                                   .window = 1000,
                                   .budget = BATS_UNLIMITED,
                                   .tail = tail,
                                   .seed = 1};
    assert_ok(bats_sched_create(&o, &w->sched, &err));
    memset(w->runs, 0xff, sizeof w->runs);
    for (uint32_t i = 0; i < MACHINES; i++)
        tell(w, 0,
             (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    for (uint32_t i = 0; i < EVENTS && !w->finished; i++) {
        uint32_t place = draw(w, MACHINES * SLOTS);
        uint32_t task = w->runs[place];
        w->runs[place] = BATS_NO_TASK;
        if (task != BATS_NO_TASK)
            tell(w, i / 20,
                 (struct bats_event){.type = BATS_EVENT_DONE,
                                     .machine = place / SLOTS,
                                     .slot = place % SLOTS,
                                     .task = task,
                                     .runtime = 1 + i / 400 + place % 7});
    }
    check_sched(w->sched);
    print_message("# replicas %llu\n", (unsigned long long)w->replicas);
    uint64_t digest = w->digest;
    bats_sched_destroy(w->sched);
    free(w);
    return digest;
}

TEST(many_machines_get_the_same_commands)
{
    static const struct {
        const struct bats_policy *policy;
        bool mixed;
        enum bats_tail tail;
        uint32_t n_tasks;
        uint64_t digest;
    } cases[] = {{&bats_policy_rr, true, BATS_TAIL_NONE, TASKS,
                  UINT64_C(0x219ff9b904da5320)},
                 {&bats_policy_bats, false, BATS_TAIL_NONE, TASKS,
                  UINT64_C(0x606235281adaab55)},
                 {&bats_policy_rr, false, BATS_TAIL_SOONEST, TASKS / 2,
                  UINT64_C(0x73d678e581e75180)},
                 {&bats_policy_bats, true, BATS_TAIL_SOONEST, TASKS / 2,
                  UINT64_C(0xb93ebfd6910cfbca)},
                 {&bats_policy_bats, false, BATS_TAIL_STOCHASTIC_RANDOM,
                  TASKS / 3, UINT64_C(0x9e4f0cf63d5bbdb1)}};
    bool same = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t digest = play(cases[i].policy, cases[i].mixed, cases[i].tail,
                               cases[i].n_tasks);
        print_message("# case %zu: %016llx\n", i, (unsigned long long)digest);
        same &= digest == cases[i].digest;
    }
    assert_true(same);
}

TEST_MAIN(NULL, NULL)
