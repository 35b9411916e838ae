/* The kinds of commands, the moments of runtimes, and the store of both. */
#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#include "helpers/directory.h"
#include "history/believe.h"
#include "history/exchange.h"
#include "history/store.h"

/* ---- kinds ---- */

static void assert_kind(const char *command, const char *wanted)
{
    struct bats_task_kinds kinds = {0};
    assert_int_equal(bats_task_kinds_see(&kinds, command), 0);
    uint32_t number = bats_task_kinds_number(&kinds, command);
    assert_string_equal(kinds.kind[number].name, wanted);
    bats_task_kinds_release(&kinds);
}

TEST(a_kind_is_the_program_and_its_options)
{
    assert_kind("./sim 17", "sim");
    assert_kind("/opt/bin/sim -n 7 --seed=3 in.dat -n 8", "sim -n --seed");
    assert_kind("sim -5 x", "sim");
    assert_kind("A=1 B='x y' sim --key 'secret words' >out", "sim --key");
    assert_kind("cd /scratch && ./sim --fast | tee log --all", "sim --fast");
    assert_kind(
        "cd /scratch; OMP_NUM_THREADS=4 python3 ~/fit.py --lr=0.1 -n 7",
        "python3 fit.py --lr -n");
    assert_kind("bash -c 'rm -rf secret'", "bash -c");
    assert_kind("time python fit.py 3", "time python fit.py");
    assert_kind("@sleep 5s", "@sleep");
    assert_kind("", "?");
}

TEST(a_word_that_all_have_belongs_to_the_kind)
{
    struct bats_task_kinds kinds = {0};
    static const char *const commands[][2] = {
        {"samtools sort a.bam", "samtools sort"},
        {"samtools sort b.bam", "samtools sort"},
        {"classify cat", "classify"},
        {"classify dog", "classify"},
        {"login alice", "login"}};
    for (int i = 0; i < 5; i++)
        bats_task_kinds_see(&kinds, commands[i][0]);
    uint32_t number[5];
    for (int i = 0; i < 5; i++)
        number[i] = bats_task_kinds_number(&kinds, commands[i][0]);
    for (int i = 0; i < 5; i++)
        assert_string_equal(kinds.kind[number[i]].name, commands[i][1]);
    assert_int_equal(number[2], number[3]);
    assert_int_equal(kinds.kind[number[2]].tasks, 2);
    bats_task_kinds_release(&kinds);
}

TEST(a_bag_with_many_programs_is_of_few_kinds)
{
    struct bats_task_kinds kinds = {0};
    char command[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(command, sizeof command, "program%d 3", i);
        assert_int_equal(bats_task_kinds_see(&kinds, command), 0);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(command, sizeof command, "program%d 3", i);
        assert_int_not_equal(bats_task_kinds_number(&kinds, command),
                             BATS_NO_KIND);
    }
    assert_int_equal(kinds.n, 65);
    assert_reads("(other programs) 936", "%s %d", kinds.kind[64].name,
                 (int)kinds.kind[64].tasks);
    bats_task_kinds_release(&kinds);
}

/* ---- moments ---- */

TEST(moments_are_sums_and_quantiles)
{
    struct bats_gather gather = {0};
    for (int i = 10; i >= 0; i--)
        assert_int_equal(bats_gather_note(&gather, 3, 1, 1 + i), 0);
    assert_int_equal(bats_gather_note(&gather, 3, 2, 7), 0);
    assert_int_equal(gather.n, 2);
    struct bats_moments m = bats_gather_moments(&gather, 0);
    assert_int_equal(m.tasks, 11);
    assert_near(m.log_sum, lgamma(12), 1e-9);
    assert_reads("66 506: 2 6 10", "%.9g %.9g: %.6g %.6g %.6g", m.sum,
                 m.squares, m.p10, m.p50, m.p90);
    bats_gather_release(&gather);
}

/* 1 to 100,000, in this order: the sample must not be of the first ones. */
TEST(quantiles_of_many_tasks_are_those_of_a_sample)
{
    struct bats_gather gather = {0};
    for (uint64_t i = 0; i < 100000; i++)
        bats_gather_note(&gather, 0, 0, (double)(1 + i));
    struct bats_moments m = bats_gather_moments(&gather, 0);
    assert_int_equal(m.tasks, 100000);
    assert_near(m.sum, 5000050000.0, 1);
    assert_true(gather.cells[0].n_sample <= 1024);
    assert_near(m.p10, 10000, 2000);
    assert_near(m.p50, 50000, 2000);
    assert_near(m.p90, 90000, 2000);
    bats_gather_release(&gather);
}

/* ---- the store ---- */

static const struct bats_past_place places[] = {{"slow", "site", "old"},
                                                {"fast", "site", "new"}};

/* The next run has measured this. */
static struct bats_task_kinds kinds;
static struct bats_gather gather;

static int add_run(struct bats_store *to, const char *run, int64_t ended_s)
{
    int rc = bats_store_add(to, run, ended_s, &kinds, places, &gather, &err);
    bats_task_kinds_release(&kinds);
    bats_gather_release(&gather);
    return rc;
}

/* Adds a run with a task of `seconds` of each kind named, on both clusters. */
static int add(struct bats_store *to, const char *run, int64_t ended_s,
               const char *kind, double seconds)
{
    uint32_t number = bats_task_kinds_named(&kinds, kind);
    bats_gather_note(&gather, number, 0, seconds);
    bats_gather_note(&gather, number, 1, seconds / 2);
    return add_run(to, run, ended_s);
}

/* Each case has an empty store in a directory of its own. */
static const char path[] = "in/it.db", other[] = "other";
static struct bats_store *store;
static struct bats_past past;  /* as read last */
static struct bats_believed b; /* as asked for last */

static int open_store(void **state)
{
    assert_int_equal(enter_directory(state), 0);
    assert_ok(bats_store_open(path, true, &store, &err));
    return 0;
}

static int discard_store(void **state)
{
    free(b.kinds);
    b.kinds = NULL;
    bats_store_release(&past);
    bats_store_close(store);
    return leave_directory(state);
}

#define TEST_IN_STORE(name) TEST_WITH(name, open_store, discard_store)

static void read_past(void)
{
    bats_store_release(&past);
    assert_ok(bats_store_read(store, &past, &err));
}

/* Nobody has it open. */
static void change(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
}

TEST_IN_STORE(a_run_counts_once)
{
    struct bats_store *none;
    assert_ok(bats_store_open(other, false, &none, &err));
    assert_null(none);
    assert_ok(bats_store_has(store, "a", &err));
    assert_int_equal(add(store, "a", 1700000000, "sim", 8), 1);
    assert_int_equal(bats_store_has(store, "a", &err), 1);
    assert_ok(add(store, "a", 1700000001, "sim", 9));
    assert_int_equal(add(store, "b", 1700000002, "fit", 9), 1);
    read_past();
    assert_numbers("4 2 2 202311 1700000000", (int64_t)past.n_rows,
                   (int64_t)past.n_kinds, (int64_t)past.n_places,
                   past.rows->month, past.rows->ended_s);
    assert_reads("a: sim on old, 8 8", "%s: %s on %s, %.9g %.9g",
                 past.rows->name, past.kinds[past.rows->kind],
                 past.places[past.rows->place].hardware,
                 past.rows->moments.sum, past.rows->moments.p50);
}

static const char *numbered(int i)
{
    static char name[16];
    snprintf(name, sizeof name, "%d", i);
    return name;
}

/* 20 bags of 1 to 20 s, a day apart: the last 8 have rows of their own, those
 * of the 12 before them are merged by month. */
TEST_IN_STORE(older_bags_are_merged_by_month)
{
    double sum = 0;
    int merged = 0;
    for (int i = 1; i <= 20; i++)
        assert_int_equal(
            add(store, numbered(i), 1701000000 + i * 86400, "sim", i), 1);
    read_past();
    for (size_t i = 0; i < past.n_rows; i++) {
        const struct bats_past_row *r = &past.rows[i];
        if (strcmp(past.places[r->place].name, "slow") != 0)
            continue;
        sum += r->moments.sum;
        merged += r->run == 0;
        if (r->run != 0) {
            assert_int_equal(r->bags, 1);
            assert_true(r->moments.sum > 12.5);
        }
        if (r->month == 202311 && r->run == 0) /* 27th to 30th */
            assert_reads("4 10 30 2.5", "%d %.9g %.9g %.9g", (int)r->bags,
                         r->moments.sum, r->moments.squares, r->moments.p90);
    }
    assert_near(sum, 210, 1e-9);
    assert_int_equal(merged, 2);
    assert_int_equal(past.n_rows, 2 * (8 + 2));
}

/* ---- memory ---- */

TEST(sizes_are_rounded_up_to_eighths_of_an_octave)
{
    assert_int_equal(bats_size_class(1024), 1024);
    assert_int_equal(bats_size_class(1025), 1117); /* 1024 * 2^(1/8) */
    assert_int_equal(bats_size_class(2048), 2048);
    assert_int_equal(bats_size_class(1), 1);
    for (int64_t kib = 1; kib < 100000; kib += 7)
        assert_in_range(bats_size_class(kib), kib,
                        (int64_t)(1.091 * (double)kib) + 1);
}

/* On a machine of 4 slots and 1000 KiB: 3 tasks of 10 s that use 100, and one
 * of 20 s that uses 300. */
TEST(what_a_request_costs_is_shares_times_tries)
{
    const struct bats_past_size list[] = {
        {7, 800, 100, 1, 4, 1000, 3, 30, 0, 0},
        {7, 800, 300, 1, 4, 1000, 1, 20, 0, 0},
        {8, 800, 900, 1, 4, 1000, 9, 99, 0, 0},
        /* of a machine that is not known */
        {7, 800, 999, 1, 0, 0, 9, 99, 0, 0},
    };
    /* With 100 the large one is tried with 100, 200 and 400. */
    static const struct {
        int64_t kib;
        double cost, again;
    } rows[] = {{800, 50 * 0.8 / 4, 0},
                {300, 50 * 0.3 / 4, 0},
                {100, (30 * 0.25 + 20 * (0.25 + 0.25 + 0.4)) / 4, 0.25}};
    double again;
    for (int i = 0; i < 3; i++) {
        assert_near(bats_size_cost(list, 4, 7, rows[i].kib, 2, &again),
                    rows[i].cost, 1e-9);
        assert_near(again, rows[i].again, 1e-9);
    }
    assert_true(bats_size_cost(list, 4, 9, 100, 2, &again) < 0);
    /* All four fit 315; 105, 210 and 420 for the large one cost more. */
    struct bats_size_choice best;
    assert_true(bats_size_best(list, 3, 7, 800, 2, &best));
    assert_reads("315 3.9375 10", "%d %.9g %.9g", (int)best.kib, best.cost,
                 best.now);
    assert_false(bats_size_best(list, 3, 7, 330, 2, &best)); /* not 5 % */
    assert_true(bats_size_best(list, 3, 7, 332, 2, &best));
    assert_false(bats_size_best(list, 4, 9, 800, 2, &best));
}

/* Each size up to the largest, tried by brute force: on lists of sizes that
 * need a twentieth more than those given to the search. */
TEST(the_best_request_is_that_of_all)
{
    uint32_t random = 1;
    for (uint32_t round = 0; round < 300; round++) {
        struct bats_past_size list[6], more[6];
        struct bats_size_choice best;
        double factor = 2 << round % 2, least = INFINITY, again;
        for (size_t i = 0; i < 6; i++) {
            random = random * 1664525 + 1013904223;
            uint32_t kib = (random >> 18) % (round < 100 ? 90 : 6000);
            list[i] =
                (struct bats_past_size){.kind = 7,
                                        .asked_kib = 90000,
                                        .used_kib = bats_size_class(100 + kib),
                                        .cores = 1 + (random >> 10) % 2,
                                        16,
                                        9000,
                                        1,
                                        1 + (random >> 20) % 100};
            more[i] = list[i];
            more[i].used_kib = (int64_t)ceil((double)list[i].used_kib * 1.05);
        }
        for (int64_t kib = 20; kib <= 9000; kib++)
            least =
                fmin(least, bats_size_cost(more, 6, 7, kib, factor, &again));
        assert_true(bats_size_best(list, 6, 7, 90000, factor, &best));
        assert_true(best.cost <= 1.01 * least && best.cost >= 0.99 * least);
    }
}

TEST_IN_STORE(memory_is_kept_for_all_bags_of_a_kind)
{
    char run[] = "a";
    for (; run[0] < 'd'; run[0]++) {
        uint32_t sim = bats_task_kinds_named(&kinds, "sim");
        for (int i = 0; i < 2; i++) {
            bats_gather_note(&gather, sim, 0, 8);
            bats_gather_size(&gather,
                             &(struct bats_past_size){sim, 800, 100 + i, 1, 4,
                                                      1000, 1, 8, 0, 0});
        }
        bats_gather_size(&gather,
                         &(struct bats_past_size){sim, 900, 100, 1, 4, 1000, 1,
                                                  7, 'c' + 'a' - run[0],
                                                  run[0] == 'b' ? 9 : 7});
        assert_int_equal(gather.n_sizes, 2);
        assert_int_equal(add_run(store, run, 1700000000), 1);
    }
    read_past();
    assert_numbers("2 800 6 3", (int64_t)past.n_sizes, past.sizes[0].asked_kib,
                   past.sizes[0].tasks, past.sizes[1].tasks);
    assert_near(past.sizes[0].seconds, 48, 1e-9);
    assert_near(past.sizes[1].most_s, 9, 1e-9);    /* of the second bag */
    assert_near(past.sizes[1].limit_s, 'a', 1e-9); /* of the last one */
    assert_int_equal(bats_store_forget(store, "sim", &err), 3);
    read_past();
    assert_int_equal(past.n_sizes, 0);
    bats_store_close(store);

    /* A history of before has no such table. */
    change("DROP TABLE memory; ALTER TABLE kind DROP COLUMN limit_s;"
           "ALTER TABLE kind DROP COLUMN most_s; PRAGMA user_version = 2");
    assert_int_equal(bats_store_open(path, false, &store, &err), 0);
    read_past();
}

TEST_IN_STORE(what_is_forgotten_is_gone)
{
    add(store, "a", 1700000000, "sim", 8);
    add(store, "b", 1700000002, "fit", 9);
    assert_ok(bats_store_forget(store, "nothing", &err));
    assert_int_equal(bats_store_forget(store, "sim", &err), 2);
    read_past();
    assert_int_equal(past.n_rows, 2);
    assert_int_equal(past.n_kinds, 1);
    assert_int_equal(bats_store_has(store, "a", &err), 1);
    assert_int_equal(bats_store_forget(store, NULL, &err), 2);
    assert_ok(bats_store_has(store, "a", &err));
}

TEST_IN_STORE(other_files_are_refused)
{
    bats_store_close(store);
    change("PRAGMA user_version = 99");
    assert_says(bats_store_open(path, true, &store, &err), BATS_EINPUT,
                "newer bats-mpi");
    change("PRAGMA user_version = 0");
    assert_says(bats_store_open(path, true, &store, &err), BATS_EINPUT,
                "is not a history");
    write_text(path, "This is a text of more than sixteen bytes.\n");
    assert_says(bats_store_open(path, true, &store, &err), BATS_EINPUT,
                "is not a history");
}

/* ---- exchange ---- */

static void export_to(const char *name)
{
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    read_past();
    assert_ok(bats_history_export(out, &past, &err));
    fclose(out);
}

/* What an export says, tests/cli/t0801-history.sh compares. */
TEST_IN_STORE(an_export_is_imported_once)
{
    add(store, "a", 1700000000, "sim \"x\"", 8);
    add(store, "b", 1700000002, "fit", 9);
    export_to("before");
    assert_ok(bats_history_import(store, "before", NULL, &err));
    assert_int_equal(bats_store_forget(store, NULL, &err), 4);
    assert_int_equal(bats_history_import(store, "before", NULL, &err), 2);
    export_to("after");
    assert_int_equal(past.n_rows, 4);
    assert_int_equal(system("cmp before after"), 0);
    write_text(other, "{\"run\": \"x\", \"kind\": \"sim\"}\n");
    assert_says(bats_history_import(store, other, NULL, &err), BATS_EINPUT,
                "other:1: ");
}

/* The row of this kind and cluster. */
static struct bats_past_row row_of(const char *kind, const char *cluster)
{
    struct bats_past_row row = {.bags = 0};
    read_past();
    for (size_t i = 0; i < past.n_rows; i++)
        if (strcmp(past.kinds[past.rows[i].kind], kind) == 0 &&
            strcmp(past.places[past.rows[i].place].name, cluster) == 0)
            row = past.rows[i];
    return row;
}

#define SLURM "JobIDRaw|JobName|Partition|ElapsedRaw|State|End\n"

TEST_IN_STORE(joblogs_and_the_accounting_of_slurm_are_imported)
{
    static const struct {
        const char *text, *kind, *place, *row;
    } files[] = {
        {"Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval"
         "\tSignal\tCommand\n"
         "1\tnode-7.site\t1700000000.5\t     4.0\t0\t0\t0\t0\tsim 1\n"
         "2\tnode-12.site\t1700000100.5\t     6.0\t0\t0\t0\t0\tsim 2\n"
         "3\tnode-12.site\t1700000200.5\t   100.0\t0\t0\t1\t0\tsim 3\n"
         "4\tnode-12.site\t1700000200.5\t   100.0\t0\t0\t0\t9\tsim 4\n",
         "sim", "node", "2 10 202311 1700000106"},
        {SLURM "7|align|fast|30|COMPLETED|2026-11-20T10:00:00\n"
               "7.batch|batch||30|COMPLETED|2026-11-20T10:00:00\n"
               "8|align|fast|50|COMPLETED|2026-11-20T11:00:00\n"
               "9|align|fast|999|FAILED|2026-11-20T12:00:00\n",
         "align", "fast", "2 80 202611 1795172400"}};
    setenv("TZ", "UTC", 1);
    for (int i = 0; i < 2; i++) {
        write_text(other, files[i].text);
        assert_int_equal(bats_history_import(store, other, NULL, &err), 1);
        assert_ok(bats_history_import(store, other, NULL, &err));
        struct bats_past_row row = row_of(files[i].kind, files[i].place);
        assert_reads(files[i].row, "%d %.9g %d %lld", (int)row.moments.tasks,
                     row.moments.sum, (int)row.month, (long long)row.ended_s);
    }
    write_text(other, "JobIDRaw|JobName|Partition|Elapsed|State|End\n");
    assert_says(bats_history_import(store, other, NULL, &err), BATS_EINPUT,
                "no column ElapsedRaw");
    write_text(other, "something else\n");
    assert_int_equal(bats_history_import(store, other, NULL, &err),
                     BATS_EINPUT);
}

/* ---- what is believed ---- */

#define S 1e6 /* a second */

/* Asks for tasks of this kind on slow, for 1, and fast, for 2; they are a sweep
 * over `names` with the one point n = 100 if there is a model. */
static int ask_with(const char *kind, const struct bats_past_place *clusters,
                    const char *names, struct bats_past_model *model)
{
    static const double charge[] = {1e6, 2e6};
    struct bats_task_kinds kinds = {0};
    bats_task_kinds_named(&kinds, kind);
    read_past();
    free(b.kinds);
    b = (struct bats_believed){0};
    if (model != NULL)
        assert_ok(bats_history_models(&past, &kinds, names, model, &err));
    if (model != NULL && model->model.is_there)
        model->mean = bats_factors_at(&model->model, &(double){100});
    int rc = bats_history_believe(&past, clusters, charge, 2, &kinds, names,
                                  model, &b, &err);
    bats_task_kinds_release(&kinds);
    return rc;
}

static int ask(const char *kind, const struct bats_past_place *clusters)
{
    return ask_with(kind, clusters, "", NULL);
}

TEST_IN_STORE(a_bag_is_believed_to_be_as_the_last_ones)
{
    static const struct bats_past_place renamed[] = {{"a", "site", "new"},
                                                     {"b", "site", "old"}};
    static const struct bats_past_place elsewhere[] = {{"slow", "moon", ""},
                                                       {"fast", "moon", ""}};
    assert_int_equal(ask("sim", places), 0);
    add(store, "a", 1700000000, "sim", 8);
    add(store, "b", 1700000001, "sim", 8);
    add(store, "c", 1700000002, "fit", 500);
    assert_int_equal(ask("sim", places), 1);
    assert_int_equal(b.bags, 2);
    assert_near(b.prior.mean[0] / S, 8, 1e-3);
    assert_near(b.prior.mean[1] / S, 4, 1e-3);
    assert_near(b.kinds[0].mean[0] / S, 8, 1e-3);
    assert_near(b.prior.level, 0.5 / sqrt(2), 1e-6);
    assert_int_equal(ask("another", places), 1);
    assert_true(isinf(b.prior.level));
    assert_near(b.prior.mean[0] / b.prior.mean[1], 2, 1e-6);
    /* The same hardware at the same site; the same names at another. */
    assert_int_equal(ask("sim", renamed), 1);
    assert_near(b.prior.mean[0] / S, 4, 1e-3);
    assert_near(b.prior.mean[1] / S, 8, 1e-3);
    assert_int_equal(ask("another", elsewhere), 0);
}

/* 12 of 20 bags are merged, in two months. */
TEST_IN_STORE(merged_bags_count_as_one)
{
    for (int i = 1; i <= 20; i++)
        add(store, numbered(i), 1701000000 + i * 86400, "sim", 8);
    assert_int_equal(ask("sim", places), 1);
    assert_int_equal(b.bags, 10);
    assert_near(b.prior.mean[1] / S, 4, 1e-3);
}

/* ---- sweeps ---- */

/* Adds a bag of n = 1 .. 40, which takes 30 + 2 n on slow (or, if it is noise,
 * something else), half of that on fast; `drift` times all of it. */
static void add_sweep(const char *run, int64_t at, double drift, bool is_noise)
{
    uint32_t kind = bats_task_kinds_named(&kinds, "fit");
    for (uint32_t i = 0; i < 40; i++) {
        double n = i + 1, what = is_noise ? i * 7919 % 41 : n;
        double s = drift * (30 + 2 * what) / (1 + i % 2);
        bats_gather_note(&gather, kind, i % 2, s);
        bats_gather_point(&gather, kind, i % 2, i, "n", &n, 1, s);
    }
    assert_int_equal(add_run(store, run, at), 1);
}

static void ask_sweep(const char *names, struct bats_past_model *model)
{
    assert_int_equal(ask_with("fit", places, names, model), 1);
}

TEST_IN_STORE(a_sweep_tells_what_other_points_take)
{
    struct bats_past_model m;
    add_sweep("one", 1700000000, 1, false);
    add_sweep("two", 1700000001, 1, false);
    ask_sweep("n", &m);
    assert_true(m.model.is_there && !m.model.has_logs);
    assert_near(b.prior.mean[0] / S, 230, 0.5);
    assert_near(b.prior.mean[1] / S, 115, 0.5);
    /* The mean of all, as nothing relates its points to these. */
    ask_sweep("rate", &m);
    assert_false(m.model.is_there);
    assert_true(b.prior.mean[0] / S < 80);
    /* The next bag takes longer: the level drifts, the line does not. */
    for (int i = 0; i < 3; i++)
        add_sweep(numbered(i), 1700000002 + i, 1.5, false);
    ask_sweep("n", &m);
    assert_near(b.prior.mean[0] / S, 345, 30);
    assert_true(bats_store_forget(store, "fit", &err) > 0);
    add(store, "w", 1700000009, "fit", 8);
    ask_sweep("n", &m);
    assert_false(m.model.is_there);
}

TEST_IN_STORE(noise_in_a_sweep_tells_nothing)
{
    struct bats_past_model m;
    add_sweep("one", 1700000000, 1, true);
    ask_sweep("n", &m);
    assert_false(m.model.is_there);
    /* The oldest of nine bags is merged into its month, without its sums. */
    for (int i = 0; i < 9; i++)
        add_sweep(numbered(i), 1700000001 + i, 1, false);
    read_past();
    size_t with = 0;
    for (size_t i = 0; i < past.n_rows; i++) {
        with += past.rows[i].sweep != NULL;
        assert_true((past.rows[i].run == 0) == (past.rows[i].sweep == NULL));
    }
    assert_int_equal(with, 2 * BATS_PAST_BAGS);
    ask_sweep("n", &m);
    assert_true(m.model.is_there);
}

TEST_MAIN(NULL, NULL)
