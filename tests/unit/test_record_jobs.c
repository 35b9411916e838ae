#include "helpers/record_fixture.h"

#include "record/read/history.h"
#include "record/verify/rebuild.h"

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
        .window = BATS_HOUR,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = &machine,
        .n_machines = 1,
        .billing = {BATS_BILLING_ALLOCATION, rate, before, 0}};
    struct bats_record_session session = {.bag = "bag.txt",
                                          .version = "9.9",
                                          .resume = BATS_RECORD_RESUME,
                                          .time_scale = 2,
                                          .job = job,
                                          .life = number,
                                          .started_us = started_us,
                                          .engine = &engine};
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    struct bats_record *r = open_with_tasks(1);
    struct bats_error err;
    must(bats_record_begin(r, &session, &err), &err);
    if (charge > 0)
        must(bats_record_charge(r, 10 * BATS_SECOND, BATS_NO_MACHINE, charge,
                                0, &err),
             &err);
    must(bats_record_event(r, 20 * BATS_SECOND, &tick, &err), &err);
    must(bats_record_commit(r, &err), &err);
    close_record(r);
}

static struct bats_record_job known_of(const char *job)
{
    struct bats_record_job known;
    struct bats_error err;
    struct bats_record *r = open_with_tasks(1);
    must(bats_record_of_job(r, job, &known, &err), &err);
    close_record(r);
    return known;
}

static void earlier_lives_of_a_job_know_what_they_charged(void **state)
{
    (void)state;
    const int64_t t = 1700000000000000;
    life("7", 0, t, 3, 100, 40);
    struct bats_record_job known = known_of("8");
    assert_int_equal(known.charged_us, 0);
    assert_int_equal(known.charged + known.uncharged + known.rate, 0);
    known = known_of("7");
    assert_int_equal(known.charged, 40);
    assert_int_equal(known.uncharged, 0);
    assert_int_equal(known.rate, 100);
    /* Two seconds of the session are one of the clock. */
    assert_int_equal(known.charged_us, t + 5 * BATS_SECOND);
    assert_int_equal(known.seen_us, t + 10 * BATS_SECOND);
    assert_int_equal(known.life, 0);
    /* Nothing of this one was charged, not even what was billed before. */
    life("7", 1, t + BATS_HOUR, 60, 200, 0);
    known = known_of("7");
    assert_int_equal(known.charged, 40);
    assert_int_equal(known.uncharged, 60);
    assert_int_equal(known.rate, 200);
    assert_int_equal(known.charged_us, t + BATS_HOUR);
    assert_int_equal(known.seen_us, t + BATS_HOUR + 10 * BATS_SECOND);
    assert_int_equal(known.life, 1);
}

/* At 6 an hour, and 10 minutes beyond. Machine 0 had its bill and was asked for
 * again, for half an hour, 1 has one of an earlier session, for two hours, and 2
 * is of a session that did not say so: an hour. */
static void open_jobs_have_the_price_of_what_they_were_asked_for(void **state)
{
    (void)state;
    enum { N = 3 };
    const struct bats_cluster cluster = {
        .name = "c", .charge = 6 * BATS_UNIT, .max = N};
    const struct bats_machine_spec machines[N] = {
        {.slots = 1}, {.slots = 1}, {.slots = 1}};
    static const bats_time asked[N] = {0, 2 * BATS_HOUR, 0};
    struct bats_sched_options engine = {
        .policy = &bats_policy_bats,
        .window = BATS_HOUR,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = machines,
        .n_machines = N,
        .n_tasks = 1,
        .earlier.asked = asked,
        .billing = {.model = BATS_BILLING_JOB,
                    .overrun = 10 * BATS_MINUTE,
                    .step = BATS_MINUTE}};
    struct bats_record_session session = {
        .bag = "bag.txt",
        .version = "9.9",
        .time_scale = 1,
        .options = "{\"jobs_name\":\"x\",\"jobs_taken\":{\"1\":\"1.7.1\"}}",
        .engine = &engine};
    const struct bats_command commands[] = {
        {.type = BATS_COMMAND_ACQUIRE, .machine = 0, .time = BATS_HOUR},
        {.type = BATS_COMMAND_ACQUIRE, .machine = 0, .time = BATS_HOUR / 2},
        {.type = BATS_COMMAND_ACQUIRE, .machine = 2}};
    const struct bats_event billed = {.type = BATS_EVENT_BILLED};
    struct bats_record_purchase known;
    struct bats_error err;
    struct bats_record *r = open_with_tasks(1);
    must(bats_record_begin(r, &session, &err), &err);
    must(bats_record_command(r, 0, &commands[0], &err), &err);
    must(bats_record_event(r, 1, &billed, &err), &err);
    must(bats_record_command(r, 1, &commands[1], &err), &err);
    must(bats_record_command(r, 1, &commands[2], &err), &err);
    must(bats_record_commit(r, &err), &err);
    must(bats_record_purchase(r, &known, &err), &err);
    assert_int_equal(known.n_open, N);
    /* The price is rounded up. */
    assert_in_range(known.open[0].price, 4 * BATS_UNIT, 4 * BATS_UNIT + 1);
    assert_in_range(known.open[1].price, 13 * BATS_UNIT, 13 * BATS_UNIT + 1);
    assert_in_range(known.open[2].price, 7 * BATS_UNIT, 7 * BATS_UNIT + 1);
    assert_string_equal(known.open[0].mark, "1.0.2");
    assert_string_equal(known.open[1].mark, "1.7.1");
    free(known.open);
    close_record(r);

    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(PATH, &sqlite), SQLITE_OK);
    struct bats_db db = {.sqlite = sqlite, .path = PATH};
    struct bats_rebuilt rebuilt;
    must(bats_rebuild(&db, 1, &rebuilt, &err), &err);
    assert_memory_equal(rebuilt.options.earlier.asked, asked, sizeof asked);
    assert_int_equal(rebuilt.options.billing.step, BATS_MINUTE);
    bats_rebuilt_release(&rebuilt);
    sqlite3_close(sqlite);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            earlier_lives_of_a_job_know_what_they_charged, enter_directory,
            leave_directory),
        cmocka_unit_test_setup_teardown(
            open_jobs_have_the_price_of_what_they_were_asked_for,
            enter_directory, leave_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
