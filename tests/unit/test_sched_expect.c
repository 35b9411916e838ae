/* bats_sched_expect is a hint: whatever a driver expects, right or wrong, the
 * same events give the same commands. With as many machines as it is for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bats/policy.h"
#include "bats/sched.h"

#define MACHINES 5000
#define SLOTS 2
#define TASKS 40000
#define EVENTS 60000

enum hints { NONE, TRUE_ONES, NONSENSE };

struct world {
    struct bats_sched *sched;
    struct bats_machine_spec machines[MACHINES];
    uint32_t runs[MACHINES * SLOTS]; /* BATS_NO_TASK: nothing */
    uint64_t random, digest;
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
                                  c.task, c.copy,    (uint64_t)c.amount};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            w->digest = (w->digest ^ words[i]) * 1099511628211u;
        if (c.type == BATS_COMMAND_RUN)
            w->runs[c.machine * SLOTS + c.slot] = c.task;
        w->finished |= c.type == BATS_COMMAND_FINISHED;
    }
}

static void tell(struct world *w, bats_time now, struct bats_event ev)
{
    struct bats_error err;
    assert_int_equal(bats_sched_handle(w->sched, now, &ev, &err), 0);
    obey(w);
}

static void expect(struct world *w, enum hints hints, uint32_t place,
                   uint32_t wrong)
{
    if (hints == TRUE_ONES)
        bats_sched_expect(w->sched, place / SLOTS, place % SLOTS);
    if (hints == NONSENSE)
        bats_sched_expect(w->sched, wrong % 2 ? wrong : wrong % MACHINES,
                          wrong / 7);
}

/* The digest of all commands. Machines have SLOTS each, or more or less. */
static uint64_t play(const struct bats_policy *policy, bool mixed,
                     enum hints hints)
{
    struct world *w = calloc(1, sizeof *w);
    struct bats_cluster clusters[2] = {{.charge = BATS_UNIT, .max = MACHINES},
                                       {.charge = 2, .max = MACHINES}};
    for (uint32_t i = 0; i < MACHINES; i++)
        w->machines[i] =
            (struct bats_machine_spec){i % 2, mixed ? 1 + i % SLOTS : SLOTS};
    struct bats_sched_options o = {.policy = policy,
                                   .n_tasks = TASKS,
                                   .clusters = clusters,
                                   .n_clusters = 2,
                                   .machines = w->machines,
                                   .n_machines = MACHINES,
                                   .window = 1000,
                                   .budget = BATS_UNLIMITED,
                                   .seed = 1};
    struct bats_error err;
    assert_int_equal(bats_sched_create(&o, &w->sched, &err), 0);
    memset(w->runs, 0xff, sizeof w->runs);
    for (uint32_t i = 0; i < MACHINES; i++) {
        expect(w, hints, i, ~i);
        tell(w, 0,
             (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    }
    uint32_t place = 0, next = 0, after = 0;
    for (int i = 0; i < EVENTS && !w->finished; i++) {
        place = next;
        next = after;
        after = draw(w, MACHINES * SLOTS);
        expect(w, hints, after, draw(w, UINT32_MAX));
        uint32_t task = w->runs[place];
        w->runs[place] = BATS_NO_TASK;
        if (task != BATS_NO_TASK)
            tell(w, i / 20,
                 (struct bats_event){.type = BATS_EVENT_DONE,
                                     .machine = place / SLOTS,
                                     .slot = place % SLOTS,
                                     .task = task,
                                     .runtime = 1 + place % 2});
    }
    bats_sched_check(w->sched);
    uint64_t digest = w->digest;
    bats_sched_destroy(w->sched);
    free(w);
    return digest;
}

static void hints_change_no_command(void **state)
{
    (void)state;
    const struct bats_policy *const policies[] = {&bats_policy_rr,
                                                  &bats_policy_bats};
    for (int i = 0; i < 4; i++) {
        const struct bats_policy *policy = policies[i % 2];
        uint64_t digest = play(policy, i < 2, NONE);
        assert_true(play(policy, i < 2, TRUE_ONES) == digest);
        assert_true(play(policy, i < 2, NONSENSE) == digest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hints_change_no_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
