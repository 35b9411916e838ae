#include "bats/sched.h"
#include "helpers/record_fixture.h"

/* Jobs of a batch system in a record: the sessions of one job, and machines that
 * are jobs. */

/* A session that is part of a job, at a rate per hour; it ends after a charge
 * at 10 s, if there is one, and an event at 20 s. */
static void life(const char *job, uint32_t number, int64_t started_us,
                 bats_money before, bats_money rate, bats_money charge)
{
    const struct bats_cluster cluster = {.name = "c", .max = 1};
    const struct bats_machine_spec machine = {.slots = 1};
    struct bats_sched_options engine = {
        .policy = &bats_policy_rr,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = &machine,
        .n_machines = 1,
        .billing = {BATS_BILLING_ALLOCATION, rate, before, 0}};
    struct bats_record_session session = {.resume = BATS_RECORD_RESUME,
                                          .time_scale = 2,
                                          .job = job,
                                          .life = number,
                                          .started_us = started_us};
    struct bats_record *r = open_with_tasks(1);
    begin_as(r, engine, session);
    if (charge > 0)
        assert_ok(bats_record_charge(r, 10 * BATS_SECOND, BATS_NO_MACHINE,
                                     charge, &err));
    tell_event(r, 20 * BATS_SECOND, .type = BATS_EVENT_TICK);
    assert_ok(bats_record_commit(r, &err));
    close_record(r);
}

static struct bats_record_job known_of(const char *job)
{
    struct bats_record_job known;
    struct bats_record *r = open_with_tasks(1);
    assert_ok(bats_record_of_job(r, job, &known, &err));
    close_record(r);
    return known;
}

/* What is known of a job; its times are since `since`. */
#define KNOWN(job, since, numbers)                                            \
    do {                                                                      \
        struct bats_record_job k_ = known_of(job);                            \
        assert_numbers(numbers, k_.charged, k_.uncharged, k_.rate,            \
                       k_.charged_us - (since), k_.seen_us - (since),         \
                       k_.life);                                              \
    } while (0)

TEST_IN_DIRECTORY(earlier_lives_of_a_job_know_what_they_charged)
{
    const int64_t t = 1700000000000000;
    life("7", 0, t, 3, 100, 40);
    KNOWN("8", 0, "0 0 0 0 0 0");
    /* Two seconds of the session are one of the clock. */
    KNOWN("7", t, "40 0 100 5000000 10000000 0");
    /* Nothing of this one was charged, not even what was billed before. */
    life("7", 1, t + BATS_HOUR, 60, 200, 0);
    KNOWN("7", t + BATS_HOUR, "40 60 200 0 10000000 1");
}

static void tell(struct bats_record *r, uint32_t id, uint32_t machine,
                 enum bats_lease_state state, bats_money held)
{
    put(lease, r, .id = id, .machine = machine, .kind = "job", .state = state,
        .begun = BATS_NEVER, .until = BATS_NEVER, .ended = BATS_NEVER,
        .held = held);
}

/* Machine 0 had its bill and was asked for again, 1 has one of an earlier
 * session, and 2 is over, but has no bill. */
TEST_IN_DIRECTORY(open_jobs_have_their_mark_and_price)
{
    enum { N = 3 };
    const struct bats_cluster cluster = {
        .name = "c", .charge = 6 * BATS_UNIT, .max = N};
    const struct bats_machine_spec machines[N] = {
        {.slots = 1}, {.slots = 1}, {.slots = 1}};
    struct bats_sched_options engine = {
        .policy = &bats_policy_bats,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = machines,
        .n_machines = N,
        .n_tasks = 1,
        .billing = {.model = BATS_BILLING_JOB}};
    struct bats_record_session session = {
        .time_scale = 1,
        .options = "{\"jobs_name\":\"x\",\"jobs_taken\":{\"1\":\"1.7.1\"}}"};
    struct bats_record_purchase known;
    struct bats_record *r = open_with_tasks(1);
    begin_as(r, engine, session);
    tell(r, 1, 1, BATS_LEASE_ASKED, 13 * BATS_UNIT);
    tell_event(r, 1, .type = BATS_EVENT_BILLED);
    tell(r, 2, 0, BATS_LEASE_ASKED, 7 * BATS_UNIT);
    tell(r, 3, 2, BATS_LEASE_BEGUN, 7 * BATS_UNIT);
    assert_ok(bats_record_commit(r, &err));
    tell(r, 2, 0, BATS_LEASE_ENDED, 0);
    tell(r, 4, 0, BATS_LEASE_ASKED, 4 * BATS_UNIT);
    tell(r, 3, 2, BATS_LEASE_ENDING, 7 * BATS_UNIT);
    assert_ok(bats_record_commit(r, &err));
    bats_record_abandon(r);
    expect_rows("SELECT held FROM account", "24000000");
    r = open_with_tasks(1); /* it was killed, and they stay open */
    assert_ok(bats_record_purchase(r, "", &known, &err));
    assert_int_equal(known.n_open, N);
    assert_reads("x: 1.0.2 1.7.1 1.2.1", "%s: %s %s %s", known.name,
                 known.open[0].mark, known.open[1].mark, known.open[2].mark);
    assert_numbers("4000000 13000000 7000000", known.open[0].price,
                   known.open[1].price, known.open[2].price);
    free(known.open);
    close_record(r);
    /* A killed session holds its jobs until another one buys jobs. */
    expect_rows("SELECT group_concat(held) FROM account", "24000000");
    for (int buys = 0; buys < 2; buys++) {
        r = open_with_tasks(1);
        session.options = buys ? "{\"jobs_name\":\"x\"}" : "{}";
        begin_as(r, engine, session);
        close_record(r);
        expect_rows("SELECT group_concat(held) FROM account",
                    buys ? "0,0,0" : "24000000,0");
    }
    expect_rows("SELECT total(held) || group_concat(state)"
                " FROM lease",
                "0.0killed,ended,killed,killed");
}

TEST_MAIN(NULL, NULL)
