/* What a record says of the money: which machines were paid when, by how they
 * are billed, and what its clusters were charged. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/record_fixture.h"

#include "record/read/axis.h"
#include "report/recorded.h"

#define HOUR BATS_HOUR

/* A session with two clusters of a machine each, the dear one of 2 slots. */
static struct bats_record *session(enum bats_billing_model model,
                                   const char *cheap, const char *dear)
{
    struct bats_cluster clusters[] = {{.charge = BATS_UNIT, .max = 1},
                                      {.charge = 8 * BATS_UNIT, .max = 1}};
    static const struct bats_machine_spec machines[] = {
        {.cluster = 0, .slots = 1}, {.cluster = 1, .slots = 2}};
    struct bats_sched_options engine = {.policy = &bats_policy_bats,
                                        .budget = 12 * BATS_UNIT,
                                        .clusters = clusters,
                                        .n_clusters = 2,
                                        .machines = machines,
                                        .n_machines = 2,
                                        .billing.model = model};
    struct bats_record_session s = {.time_scale = 900,
                                    .started_us = 1700000000000000,
                                    .resume = BATS_RECORD_RESUME};
    strcpy(clusters[0].name, cheap);
    strcpy(clusters[1].name, dear);
    struct bats_record *r = open_with_tasks(4);
    begin_as(r, engine, s);
    return r;
}

/* A machine was held: `ended` < 0: it still is. */
static void add_lease(uint32_t machine, bats_time begun, bats_time ended)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "INSERT INTO lease (session, machine, begun_us, ended_us) VALUES "
             "(1, %u, %lld, nullif(%lld, -1))",
             machine, (long long)begun, (long long)ended);
    ask(PATH, sql);
}

static void charge(struct bats_record *r, bats_time now, uint32_t machine,
                   bats_money amount)
{
    assert_ok(bats_record_charge(r, now, machine, amount, &err));
}

static json_t *all; /* what a page draws */

static void draw(enum bats_billing_model model)
{
    struct bats_view *view;
    char *text;
    assert_ok(bats_view_open(PATH, &view, &err));
    PRINT(text, fputs("{\"kind\":\"run\"", out);
          assert_ok(bats_axis_write(view, bats_lease_terms(model), out, &err));
          putc('}', out));
    json_decref(all);
    all = json_loads(text, 0, NULL);
    assert_non_null(all);
    free(text);
    bats_view_close(view);
}

/* Members of an array of arrays, as JSON. */
static void assert_rows(const char *name, const char *rows)
{
    char *text = json_dumps(json_object_get(all, name), JSON_COMPACT);
    assert_string_equal(text, rows);
    free(text);
}

/* It waits for an hour, works for half of one, and is billed a while later. */
TEST_IN_DIRECTORY(a_job_is_paid_from_when_it_joins_until_it_ends)
{
    struct bats_record *r = session(BATS_BILLING_JOB, "slow", "fast");
    put_event(r, HOUR, BATS_EVENT_JOINED, 0, 0);
    run_task(r, HOUR + HOUR / 2 - 2 * BATS_SECOND, 0, 0, 0);
    put_event(r, HOUR + HOUR / 2, BATS_EVENT_LOST, 0, 0);
    put_event(r, 2 * HOUR, BATS_EVENT_BILLED, 0, 0);
    charge(r, 2 * HOUR, 0, BATS_UNIT / 2);
    close_record(r);
    add_lease(0, HOUR, HOUR + HOUR / 2);
    add_lease(1, HOUR + 5, -1); /* it still is */
    draw(BATS_BILLING_JOB);
    assert_rows("leases",
                "[[0,3600000000,5400000000],[1,3600000005,7200000000]]");
    assert_rows("charges", "[[7200000000,0,0.5]]");
    assert_rows("places", "[[\"slow-1\",\"slow\",1,1.0],"
                          "[\"fast-1\",\"fast\",2,8.0]]");
}

/* Where windows are charged, each is told; else, sums. */
TEST_IN_DIRECTORY(many_charges_at_a_time_are_one)
{
    struct bats_record *r = session(BATS_BILLING_USE, "slow", "fast");
    charge(r, HOUR, 1, BATS_UNIT);
    charge(r, HOUR + 1, 1, BATS_UNIT / 4);
    charge(r, 3 * HOUR, 1, 2 * BATS_UNIT);
    close_record(r);
    draw(BATS_BILLING_USE);
    assert_rows("leases", "[]");
    assert_int_equal(json_array_size(json_object_get(all, "charges")), 2);
    draw(BATS_BILLING_WINDOW);
    assert_rows("charges", "[[3600000000,1,1.0],[3600000001,1,0.25],"
                           "[10800000000,1,2.0]]");
}

TEST_IN_DIRECTORY(decisions_have_the_names_of_their_session)
{
    static const char *const expected[] = {"old 1, older 1", "slow 1, fast 1",
                                           "fast 1", "no machines"};
    struct bats_decision d = {.reason = BATS_REASON_START,
                              .feasible = true,
                              .tasks_left = 4,
                              .machines = {1, 1}};
    struct bats_record *r = session(BATS_BILLING_WINDOW, "old", "older");
    assert_ok(bats_record_decision(r, &d, &err));
    charge(r, HOUR, 0, BATS_UNIT);
    close_record(r);
    r = session(BATS_BILLING_WINDOW, "slow", "fast");
    assert_ok(bats_record_decision(r, &d, &err));
    d.machines[0] = 0;
    assert_ok(bats_record_decision(r, &d, &err));
    d.machines[1] = 0;
    assert_ok(bats_record_decision(r, &d, &err));
    close_record(r);
    draw(BATS_BILLING_WINDOW);
    const json_t *list = json_object_get(all, "decisions");
    assert_int_equal(json_array_size(list), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(
            json_string_value(json_array_get(json_array_get(list, i), 2)),
            expected[i]);
}

TEST_IN_DIRECTORY(an_allocation_is_shared_out_by_charge)
{
    struct bats_view_status st;
    struct bats_view *view;
    json_t *options;
    struct bats_record *r = session(BATS_BILLING_ALLOCATION, "slow", "fast");
    put_event(r, 0, BATS_EVENT_JOINED, 0, 0);
    put_event(r, 0, BATS_EVENT_JOINED, 1, 0);
    charge(r, HOUR, BATS_NO_MACHINE, 9 * BATS_UNIT + 1);
    close_record(r);
    assert_ok(bats_view_open(PATH, &view, &err));
    assert_ok(bats_recorded_status(view, &st, &options, &err));
    assert_true(bats_recorded_terms(options).lasts);
    assert_int_equal(st.clusters[0].charged, BATS_UNIT);
    assert_int_equal(st.clusters[1].charged, 8 * BATS_UNIT + 1);
    json_decref(options);
    bats_view_close(view);
}

TEST_MAIN(NULL, NULL)
