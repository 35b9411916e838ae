/* What a record says of the money: which machines were paid when, by how they
 * are billed, what its clusters were charged, and what the page makes of it. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/record_fixture.h"

#include "record/read/history.h"
#include "report/causes.h"
#include "report/html.h"
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
                                        .window = HOUR,
                                        .clusters = clusters,
                                        .n_clusters = 2,
                                        .machines = machines,
                                        .n_machines = 2,
                                        .billing.model = model};
    struct bats_record_session s = {.bag = "bag.txt",
                                    .version = "9.9",
                                    .time_scale = 900,
                                    .started_us = 1700000000000000,
                                    .resume = BATS_RECORD_RESUME,
                                    .engine = &engine};
    struct bats_error err;
    strcpy(clusters[0].name, cheap);
    strcpy(clusters[1].name, dear);
    struct bats_record *r = open_with_tasks(4);
    must(bats_record_begin(r, &s, &err), &err);
    return r;
}

static void hear(struct bats_record *r, bats_time now,
                 enum bats_event_type type, uint32_t machine)
{
    struct bats_event event = {.type = type, .machine = machine};
    struct bats_error err;
    must(bats_record_event(r, now, &event, &err), &err);
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
    struct bats_error err;
    must(bats_record_charge(r, now, machine, amount, 0, &err), &err);
}

static struct bats_view *open_view(struct bats_run_history *h)
{
    struct bats_error err;
    struct bats_view *view;
    must(bats_view_open(PATH, &view, &err), &err);
    must(bats_run_history_read(view, h, &err), &err);
    return view;
}

static void assert_hold(const struct bats_run_history *h, size_t i,
                        uint32_t machine, bats_time begin, bats_time end)
{
    assert_true(i < h->n_holds);
    assert_int_equal(h->holds[i].machine, machine);
    assert_int_equal(h->holds[i].begin, begin);
    assert_int_equal(h->holds[i].end, end);
    assert_int_equal(h->holds[i].paid_end, end);
}

/* The page, for free(). */
static char *page(struct bats_view *view)
{
    struct bats_causes causes = {.n = 0};
    struct bats_error err;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    must(bats_html_run(out, view, "bats-mpi run <bag>", &causes, NULL, &err),
         &err);
    fclose(out);
    return text;
}

/* It waits for an hour, works for half of one, and is billed a while later. */
TEST_IN_DIRECTORY(a_job_is_paid_from_when_it_joins_until_it_ends)
{
    struct bats_run_history h;
    struct bats_record *r = session(BATS_BILLING_JOB, "slow", "fast");
    hear(r, HOUR, BATS_EVENT_JOINED, 0);
    run_task(r, HOUR + HOUR / 2 - 2 * BATS_SECOND, 0, 0, 0);
    hear(r, HOUR + HOUR / 2, BATS_EVENT_LOST, 0);
    hear(r, 2 * HOUR, BATS_EVENT_BILLED, 0);
    charge(r, 2 * HOUR, 0, BATS_UNIT / 2);
    close_record(r);
    add_lease(0, HOUR, HOUR + HOUR / 2);
    struct bats_view *view = open_view(&h);
    assert_int_equal(h.n_holds, 1);
    assert_hold(&h, 0, 0, HOUR, HOUR + HOUR / 2);
    assert_int_equal(h.charges[0].begin, 2 * HOUR);
    char *text = page(view);
    assert_null(strstr(text, "Reserved"));
    assert_non_null(strstr(text, "\"reserved\":null"));
    assert_non_null(strstr(text, "<dt>Charged</dt><dd>0.5 <small>budget 12<"));
    assert_non_null(strstr(text, "<dt>Paid time in use</dt><dd>100% <"));
    free(text);
    bats_run_history_release(&h);
    bats_view_close(view);
}

TEST_IN_DIRECTORY(a_metered_machine_is_paid_until_it_is_given_back)
{
    struct bats_run_history h;
    struct bats_record *r = session(BATS_BILLING_SECOND, "slow", "fast");
    hear(r, 0, BATS_EVENT_JOINED, 0);
    hear(r, 0, BATS_EVENT_JOINED, 1);
    charge(r, HOUR + 5, 1, 8 * BATS_UNIT);
    charge(r, HOUR + HOUR / 2, 1, 4 * BATS_UNIT);
    charge(r, 3 * HOUR, 0, BATS_UNIT);
    close_record(r);
    add_lease(1, 5, HOUR + HOUR / 2);
    add_lease(0, 2 * HOUR, -1);
    struct bats_view *view = open_view(&h);
    assert_int_equal(h.n_holds, 2);
    assert_hold(&h, 0, 0, 2 * HOUR, 3 * HOUR);
    assert_hold(&h, 1, 1, 5, HOUR + HOUR / 2);
    bats_run_history_release(&h);
    bats_view_close(view);
}

/* Two tasks at a time on two slots, and one later: each is 1,800 s long. */
TEST_IN_DIRECTORY(use_is_paid_while_tasks_run)
{
    struct bats_run_history h;
    struct bats_record *r = session(BATS_BILLING_USE, "slow", "fast");
    const bats_time long_ = 2 * BATS_SECOND * 900;
    for (uint32_t i = 0; i < 3; i++)
        run_task(r, HOUR + i * (long_ / 2) + (i / 2) * HOUR, 1, i, 0);
    charge(r, 3 * HOUR, 1, BATS_UNIT);
    close_record(r);
    struct bats_view *view = open_view(&h);
    assert_int_equal(h.n_holds, 2);
    assert_true(h.holds[0].end - h.holds[0].begin >=
                long_ + long_ / 2 - HOUR / 60);
    assert_true(h.holds[0].end < h.holds[1].begin);
    char *text = page(view);
    assert_null(strstr(text, "Reserved"));
    assert_null(strstr(text, "Paid time in use"));
    free(text);
    bats_run_history_release(&h);
    bats_view_close(view);
}

TEST_IN_DIRECTORY(decisions_have_the_names_of_their_session)
{
    struct bats_run_history h;
    struct bats_error err;
    struct bats_decision d = {.reason = BATS_REASON_START,
                              .feasible = true,
                              .tasks_left = 4,
                              .machines = {1, 1}};
    struct bats_record *r = session(BATS_BILLING_WINDOW, "old", "older");
    must(bats_record_decision(r, &d, &err), &err);
    charge(r, HOUR, 0, BATS_UNIT);
    close_record(r);
    r = session(BATS_BILLING_WINDOW, "slow", "fast");
    must(bats_record_decision(r, &d, &err), &err);
    d.machines[0] = 0;
    must(bats_record_decision(r, &d, &err), &err);
    d.machines[1] = 0;
    must(bats_record_decision(r, &d, &err), &err);
    close_record(r);
    struct bats_view *view = open_view(&h);
    assert_int_equal(h.n_decisions, 4);
    assert_string_equal(h.decisions[0].machines, "old 1, older 1");
    assert_string_equal(h.decisions[1].machines, "slow 1, fast 1");
    assert_string_equal(h.decisions[2].machines, "fast 1");
    assert_string_equal(h.decisions[3].machines, "no machines");
    char *text = page(view);
    assert_non_null(strstr(text, "<dt>Reserved</dt><dd>"));
    free(text);
    bats_run_history_release(&h);
    bats_view_close(view);
}

TEST_IN_DIRECTORY(an_allocation_is_shared_out_by_charge)
{
    struct bats_view_status st;
    struct bats_error err;
    struct bats_view *view;
    json_t *options;
    struct bats_record *r = session(BATS_BILLING_ALLOCATION, "slow", "fast");
    hear(r, 0, BATS_EVENT_JOINED, 0);
    hear(r, 0, BATS_EVENT_JOINED, 1);
    charge(r, HOUR, BATS_NO_MACHINE, 9 * BATS_UNIT + 1);
    close_record(r);
    must(bats_view_open(PATH, &view, &err), &err);
    must(bats_recorded_status(view, &st, &options, &err), &err);
    assert_true(bats_recorded_terms(options).lasts);
    assert_int_equal(st.clusters[0].charged, BATS_UNIT);
    assert_int_equal(st.clusters[1].charged, 8 * BATS_UNIT + 1);
    json_decref(options);
    bats_view_close(view);
}

TEST_MAIN(NULL, NULL)
