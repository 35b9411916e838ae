/* The run record when its writer is killed, or someone reads it while it is
 * being written. */
#include "helpers/record_fixture.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "record/read/view.h"

#define KILLS 50
#define GROUP 7    /* tasks per commit */
#define N_TASKS 70 /* in the bag */
/* Commits that are reported and not read: on a slow machine the record must not
 * grow faster than it is looked at. */
#define AHEAD 200

/* A writer in a process of its own. After each commit it says by a byte in
 * `reports` that GROUP tasks more are safe. */
struct writer {
    pid_t pid;
    int reports;
};

static void write_until_killed(int reports, size_t sentence)
{
    char *text = malloc(sentence + 1);
    memset(text, 'x', sentence);
    text[sentence] = '\0';
    struct bats_record *r = begun(N_TASKS, 1000 * BATS_UNIT);
    for (uint32_t i = 0;; i++) {
        run_task(r, i, 0, i % N_TASKS, 0);
        if (sentence > 0)
            assert_ok(bats_record_notice(r, i, 0, UINT32_MAX, text, &err));
        if (i % GROUP != GROUP - 1)
            continue;
        assert_ok(bats_record_commit(r, &err));
        if (write(reports, "c", 1) != 1)
            _exit(1);
        int unread;
        do {
            usleep(sentence > 0 ? 10000 : 0);
            assert_int_equal(ioctl(reports, FIONREAD, &unread), 0);
        } while (unread >= AHEAD);
    }
}

static struct writer start_writer(void (*write_on)(int reports, size_t how),
                                  size_t how)
{
    struct writer w;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    w.pid = fork();
    assert_true(w.pid >= 0);
    if (w.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        close(ends[0]);
        write_on(ends[1], how);
        _exit(1);
    }
    close(ends[1]);
    w.reports = ends[0];
    return w;
}

/* Waits for one report. */
static void await_commit(const struct writer *w)
{
    char byte;
    assert_int_equal(read(w->reports, &byte, 1), 1);
}

/* Kills it; returns how many reports had not been read yet. */
static int kill_writer(const struct writer *w)
{
    char bytes[256];
    int n = 0, status;
    ssize_t more;
    assert_int_equal(kill(w->pid, SIGKILL), 0);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    assert_true(WIFSIGNALED(status)); /* or it had failed before */
    while ((more = read(w->reports, bytes, sizeof bytes)) > 0)
        n += (int)more;
    close(w->reports);
    return n;
}

TEST_IN_DIRECTORY(what_was_committed_survives_a_kill_at_any_moment)
{
    srandom(1);
    int safe = 0;
    for (int i = 0; i < KILLS; i++) {
        struct writer w = start_writer(write_until_killed, 0);
        /* Some are killed while the record is made or opened. */
        usleep((useconds_t)(random() % 30000));
        safe += kill_writer(&w) * GROUP;
        if (access(PATH, F_OK) != 0)
            continue;
        struct bats_record *r;
        assert_ok(bats_record_open(PATH, &r, &err));
        bats_record_abandon(r);
        expect_rows("PRAGMA integrity_check", "ok");
        int there = atoi(ask(PATH, "SELECT count(*) FROM execution"));
        /* The last commit may have come through without its report. */
        if (there != safe && there != safe + GROUP)
            fail_msg("kill %d: %d attempts, %d were safe", i, there, safe);
        assert_int_equal(
            atoi(ask(PATH, "SELECT total(executions) FROM task_now")), there);
        expect_rows("SELECT count(*) FROM running", "0");
        safe = there;
    }
    assert_true(safe > 0);
}

TEST_IN_DIRECTORY(a_live_record_can_be_read)
{
    int commits = 0;
    /* Long sentences: the log is begun anew every 100 commits. */
    struct writer w = start_writer(write_until_killed, 20000);
    for (int i = 0; i < 10; i++) {
        struct bats_view *view;
        struct bats_view_status status;
        struct bats_view_entry entry;
        await_commit(&w);
        commits++;
        int rc = bats_view_open(PATH, &view, &err);
        if (rc < 0 && strstr(err.text, "so fast") != NULL)
            continue; /* it may say so, but must not be wrong */
        assert_ok(rc);
        assert_ok(bats_view_status(view, &status, &err));
        assert_true(status.is_live);
        assert_false(status.is_over);
        int done = 0, notices = 0;
        assert_ok(bats_view_log(view, NULL, 0, 0, &err));
        while (bats_view_next_entry(view, &entry)) {
            done += strcmp(entry.what, "done") == 0;
            notices += strcmp(entry.what, "notice") == 0;
        }
        assert_int_equal(done % GROUP, 0); /* whole commits */
        assert_int_equal(done, notices);
        assert_true(done >= commits * GROUP);
        bats_view_close(view);
    }
    assert_int_equal(kill(w.pid, 0), 0);
    kill_writer(&w);
}

#define CHARGES 3000

static void must_run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* Gives all charges one amount, again and again. Each time the log is taken
 * into the file and begun anew, with something else. */
static void change_all_charges(int reports, size_t rest_us)
{
    sqlite3 *db;
    char sql[64];
    assert_int_equal(sqlite3_open(PATH, &db), SQLITE_OK);
    must_run(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                 "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 5");
    for (int i = 1;; i++) {
        snprintf(sql, sizeof sql, "UPDATE charge SET amount = %d", i);
        must_run(db, sql);
        must_run(db, "UPDATE meta SET value = value || 'x'");
        if (i == 1 && write(reports, "c", 1) != 1)
            _exit(1);
        usleep((useconds_t)rest_us);
    }
}

static void view_what_changes(useconds_t rest_us)
{
    int seen = 0;
    struct bats_record *r = begun(1, 1000 * BATS_UNIT);
    for (int i = 0; i < CHARGES; i++)
        assert_ok(bats_record_charge(r, i, 0, 0, &err));
    close_record(r);
    struct writer w = start_writer(change_all_charges, rest_us);
    await_commit(&w);
    for (int i = 0; i < 150; i++) {
        struct bats_view *view;
        struct bats_view_entry entry;
        char first[64] = "";
        int n = 0, rc = bats_view_open(PATH, &view, &err);
        if (rc < 0 && strstr(err.text, "so fast") != NULL)
            continue;
        assert_ok(rc);
        assert_true(bats_view_log(view, NULL, 0, CHARGES, &err) >= 0);
        while (bats_view_next_entry(view, &entry)) {
            if (strcmp(entry.what, "charged") != 0)
                continue;
            if (n++ == 0)
                snprintf(first, sizeof first, "%s", entry.text);
            assert_string_equal(entry.text, first); /* all are the same */
        }
        assert_int_equal(n, CHARGES);
        bats_view_close(view);
        seen++;
    }
    kill_writer(&w);
    assert_true(seen > 0);
}

TEST_IN_DIRECTORY(a_view_is_of_one_moment_and_leaves_nothing_behind)
{
    assert_int_equal(mkdir("tmp", 0700), 0);
    char tmp[64];
    snprintf(tmp, sizeof tmp, "%s/tmp", directory);
    setenv("TMPDIR", tmp, 1);
    view_what_changes(1000); /* the views have to copy the record */
    unlink(PATH);
    view_what_changes(30000); /* often long enough to read it as it is */
    unsetenv("TMPDIR");
    assert_int_equal(rmdir("tmp"), 0); /* it is empty */
}

TEST_MAIN(NULL, NULL)
