#include "helpers/record_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "record/read/recover.h"
#include "record/read/view.h"

#define OUT "saved.bats"
#define N_TASKS 3000
#define PAGE 4096

static void make_record(void)
{
    struct bats_record *r = begun(N_TASKS, 600 * BATS_UNIT);
    assert_ok(bats_record_charge(r, 0, 0, 8 * BATS_UNIT, &err));
    for (uint32_t i = 0; i < N_TASKS; i++) {
        run_task(r, i, i % 3, i, i % 10 == 0);
        if (i % 5 == 4)
            assert_ok(bats_record_commit(r, &err));
    }
    assert_ok(
        bats_record_finish(r, BATS_HOUR, BATS_FINISH_ALL_DONE, 0, 0, &err));
    close_record(r);
}

static struct bats_recovery recovery; /* the last one */

static int recover(void)
{
    unlink(OUT);
    return bats_record_recover(PATH, OUT, &recovery, &err);
}

/* The record is damaged: what can be saved of it makes sense. */
static void save(void)
{
    assert_ok(recover());
    assert_false(recovery.is_whole);
    assert_string_equal(ask(OUT, "PRAGMA integrity_check"), "ok");
}

static off_t size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* Opening, reading or continuing it has to give a sensible sentence. */
static void open_all_ways(void)
{
    struct bats_record *r;
    struct bats_view *view;
    struct bats_view_status status;
    struct bats_view_entry entry;
    int rc = bats_view_open(PATH, &view, &err);
    if (rc == 0 && (rc = bats_view_status(view, &status, &err)) == 0 &&
        (rc = bats_view_log(view, NULL, 0, 0, &err)) == 0)
        while (bats_view_next_entry(view, &entry))
            ;
    bats_view_close(view);
    if (rc < 0)
        assert_non_null(strstr(err.text, PATH));
    rc = bats_record_open(PATH, &r, &err);
    bats_record_abandon(r);
    if (rc < 0)
        assert_non_null(strstr(err.text, PATH));
}

TEST_IN_DIRECTORY(a_copy_of_a_whole_record_can_be_continued)
{
    make_record();
    assert_ok(recover());
    assert_numbers("1 3000 3000 0", recovery.is_whole, recovery.tasks,
                   recovery.attempts, recovery.holes);
    assert_string_equal(recovery.lost, "");
    char before[4096];
    strcpy(before, ask(PATH, "SELECT * FROM progress"));
    assert_string_equal(ask(OUT, "SELECT * FROM progress"), before);
    assert_string_equal(ask(OUT, "PRAGMA integrity_check"), "ok");
    assert_string_equal(ask(OUT, "SELECT name FROM machine ORDER BY id"),
                        "fast-1 slow-1 fast-2");
    /* It can be continued. */
    assert_int_equal(rename(OUT, PATH), 0);
    struct bats_record *r = open_with_tasks(2);
    assert_int_equal(bats_record_past(r, 0).state, BATS_RECORD_FAILED);
    assert_int_equal(bats_record_past(r, 1).state, BATS_RECORD_DONE);
    assert_int_equal(bats_record_earlier(r).charged, 8 * BATS_UNIT);
    close_record(r);
}

TEST_IN_DIRECTORY(a_truncated_record_is_saved_as_far_as_it_goes)
{
    make_record();
    off_t whole = size_of(PATH);
    assert_int_equal(rename(PATH, "whole"), 0);
    int64_t rows_before = INT64_MAX;
    int saved = 0;
    /* From the end, in steps that are not those of pages. */
    for (off_t length = whole - 1; length >= 0; length -= whole / 40 + 13) {
        assert_int_equal(system("cp whole " PATH), 0);
        assert_int_equal(truncate(PATH, length), 0);
        int rc = recover();
        if (rc == 0) {
            assert_false(recovery.is_whole);
            assert_true(recovery.rows <= rows_before);
            rows_before = recovery.rows;
            assert_string_equal(ask(OUT, "PRAGMA integrity_check"), "ok");
            saved++;
        } else {
            assert_non_null(strstr(err.text, PATH));
            assert_int_equal(access(OUT, F_OK), -1);
        }
        open_all_ways();
    }
    assert_true(saved > 30);
}

/* Rows on a page, by SQLite's file format: a leaf of a table begins with 13,
 * and bytes 3 and 4 have the number of its rows; 0 for any other page. */
static int rows_on_page(int fd, off_t page)
{
    unsigned char head[5];
    assert_int_equal(pread(fd, head, sizeof head, page * PAGE), sizeof head);
    return head[0] == 13 ? head[3] << 8 | head[4] : 0;
}

TEST_IN_DIRECTORY(a_hole_costs_only_what_is_in_it)
{
    static char nothing[PAGE];
    make_record();
    off_t pages = size_of(PATH) / PAGE;
    assert_ok(recover());
    int64_t all = recovery.rows;
    assert_int_equal(rename(PATH, "whole"), 0);
    int hit = 0;
    /* The first pages hold the schema and the roots of the tables. */
    for (off_t page = 40; page < pages; page += 1 + pages / 40) {
        assert_int_equal(system("cp whole " PATH), 0);
        int fd = open(PATH, O_RDWR);
        int lost = rows_on_page(fd, page);
        assert_int_equal(pwrite(fd, nothing, PAGE, page * PAGE), PAGE);
        close(fd);
        open_all_ways();
        if (lost == 0)
            continue;
        hit++;
        save();
        assert_int_equal(recovery.holes, 1);
        assert_true(strlen(recovery.lost) > 0);
        assert_int_equal(recovery.rows, all - lost);
    }
    assert_true(hit > 10);
}

/* The holes: every seventh page of the middle third. */
#define HOLES                                                                 \
    "(pageno - 1 - %1$d) %% 7 = 0 AND pageno > %1$d AND pageno <= %2$d"

/* Rows of each table from the first leaf without a way to it until the last
 * one, by SQLite's own count of what is on which page. */
static const char rows_between[] =
    "WITH d AS MATERIALIZED (SELECT name, path, pageno, pagetype, ncell FROM"
    "  dbstat), bad AS (SELECT l.name, l.path FROM d l JOIN (SELECT * FROM d"
    "   WHERE " HOLES ") p ON p.name = l.name AND l.path GLOB"
    "  p.path || '*' WHERE l.pagetype = 'leaf')"
    " SELECT sum(ncell) FROM d l JOIN (SELECT name, min(path) AS low,"
    "   max(path) AS high FROM bad GROUP BY name) b ON b.name = l.name"
    " WHERE pagetype = 'leaf' AND path BETWEEN low AND high AND l.name IN"
    "  (SELECT name FROM sqlite_schema WHERE type = 'table')";

TEST_IN_DIRECTORY(of_many_holes_the_rows_before_and_after_them_are_saved)
{
    static char nothing[PAGE];
    char sql[1024];
    make_record();
    int pages = (int)(size_of(PATH) / PAGE);
    assert_ok(recover());
    int64_t all = recovery.rows;
    snprintf(sql, sizeof sql, rows_between, pages / 3, 2 * pages / 3);
    int64_t lost = atoll(ask(PATH, sql));
    int fd = open(PATH, O_RDWR);
    for (off_t page = pages / 3; page < 2 * pages / 3; page += 7)
        assert_int_equal(pwrite(fd, nothing, PAGE, page * PAGE), PAGE);
    close(fd);
    assert_true(lost > 1000);
    save();
    assert_int_equal(recovery.rows, all - lost);
}

/* A state is made again from the executions, and sums from what they sum up. */
TEST_IN_DIRECTORY(what_follows_from_other_tables_is_made_again)
{
    static const char *const losses[] = {
        "DELETE FROM task_now WHERE task % 3 = 0", "DELETE FROM account",
        "DELETE FROM cluster_now", "DELETE FROM now"};
    static const char *const same[] = {
        "SELECT count(*), sum(number), sum(state), sum(executions),"
        " sum(attempts), sum(exit_status), sum(wall_us), sum(cpu_us),"
        " sum(max_rss_kib), CAST(sum(cost) AS INTEGER), count(host) FROM task_now",
        "SELECT session, id, budget, before, charged FROM account",
        "SELECT cluster, machines, windows, charged, done, failed, wall_us"
        " FROM cluster_now ORDER BY cluster",
        "SELECT * FROM now"};
    enum { N = sizeof same / sizeof *same };
    char before[N][4096];
    make_record();
    for (size_t i = 0; i < N; i++)
        strcpy(before[i], ask(PATH, same[i]));
    for (size_t i = 0; i < N; i++)
        ask(PATH, losses[i]);
    assert_ok(recover());
    for (size_t i = 0; i < N; i++)
        assert_string_equal(ask(OUT, same[i]), before[i]);
}

TEST_IN_DIRECTORY(what_cannot_be_helped_is_told)
{
    assert_says(recover(), BATS_EINPUT, "no such record");
    make_record();
    assert_refused(bats_record_recover(PATH, PATH, &recovery, &err),
                   BATS_EINPUT, PATH ": the file exists");
    ask(PATH, "PRAGMA user_version = 12");
    assert_says(recover(), BATS_EINPUT, "a newer bats-mpi (schema 12");
    ask(PATH, "PRAGMA user_version = 5");
    assert_says(recover(), BATS_EINPUT, "an older bats-mpi (schema 5");
    ask(PATH, "PRAGMA application_id = 7");
    assert_says(recover(), BATS_EINPUT, "is not a run record");
}

TEST_MAIN(NULL, NULL)
