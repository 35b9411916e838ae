/* The journal makes safe what the engine hears and answers, in time. The disk
 * is played by this program: what SQLite syncs is copied into the directory
 * "disk", which is all that is left after a power cut. */
#include "bats/sched.h"
#include "helpers/record_fixture.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "run/journal.h"

#define N_TASKS 5000
#define MS 1000

/* In the place of libc's, for SQLite. */
int fdatasync(int fd)
{
    char name[64], path[4096] = "", command[8300];
    struct stat st;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (readlink(name, path, sizeof path - 1) > 0 && fstat(fd, &st) == 0 &&
        S_ISREG(st.st_mode) && strstr(path, "/cut/") == NULL) {
        /* A file that was deleted before is gone, too. */
        snprintf(command, sizeof command,
                 "cp '%s' disk/; test -e " PATH "-journal || "
                 "rm -f disk/" PATH "-journal",
                 path);
        if (system(command) != 0)
            return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    return fdatasync(fd);
}

static struct bats_journal journal;
static struct bats_sched *sched;
static struct bats_record *record;

static uint32_t happen(int64_t now_us, const struct bats_event *event);

/* One machine at 3 a window, as many tasks ahead as it likes. It joins at 1 ms;
 * returns its first task. */
static uint32_t start(int64_t sync_us)
{
    static const struct bats_cluster cluster = {
        .name = "c", .charge = 3 * BATS_UNIT, .max = 1};
    static const struct bats_machine_spec machine = {.slots = 1};
    static const struct bats_event joined = {.type = BATS_EVENT_JOINED};
    struct bats_sched_options options = {.policy = &bats_policy_rr,
                                         .n_tasks = N_TASKS,
                                         .clusters = &cluster,
                                         .n_clusters = 1,
                                         .machines = &machine,
                                         .n_machines = 1,
                                         .window = BATS_HOUR,
                                         .budget = BATS_UNLIMITED};
    struct bats_record_session session = {.engine = &options};

    assert_int_equal(mkdir("disk", 0777), 0);
    record = open_with_tasks(N_TASKS);
    assert_ok(bats_record_begin(record, &session, &err));
    assert_ok(bats_sched_create(&options, &sched, &err));
    journal = (struct bats_journal){.record = record,
                                    .sync_us = sync_us,
                                    .sync_events = 1000,
                                    .kept = {.machine = UINT32_MAX}};
    assert_true(bats_journal_due_us(&journal, 0) == INT64_MAX);
    return happen(MS, &joined);
}

static void stop(void)
{
    bats_journal_release(&journal);
    bats_sched_destroy(sched);
    bats_record_abandon(record);
}

static void commit(int64_t now_us)
{
    assert_int_equal(
        bats_journal_commit(&journal, sched, now_us, now_us, &err), 1);
}

/* Hands the engine what has happened and commits it at the same real time.
 * Returns the task that may be started now, or BATS_NO_TASK. */
static uint32_t happen(int64_t now_us, const struct bats_event *event)
{
    struct bats_command command;
    size_t at = 0;
    uint32_t task = BATS_NO_TASK;
    assert_ok(bats_journal_handle(&journal, sched, now_us, event, &err));
    commit(now_us);
    while (bats_journal_next(&journal, true, &at, &command))
        if (command.type == BATS_COMMAND_RUN)
            task = command.task;
    return task;
}

static uint32_t end(int64_t now_us, uint32_t task)
{
    struct bats_event done = {
        .type = BATS_EVENT_DONE, .task = task, .runtime = 1};
    return happen(now_us, &done);
}

/* The result of `sql` after a power failure now. */
static int on_disk(const char *sql)
{
    assert_int_equal(system("rm -rf cut && cp -r disk cut"), 0);
    return atoi(ask("cut/" PATH, sql));
}

/* The same after a SIGKILL. */
static int in_file(const char *sql)
{
    assert_int_equal(system("rm -rf cut && mkdir cut && cp " PATH "* cut/"),
                     0);
    return atoi(ask("cut/" PATH, sql));
}

#define ENDED "SELECT count(*) FROM execution WHERE runtime_us NOT NULL"

TEST_IN_DIRECTORY(what_is_charged_is_on_the_disk_at_once)
{
    uint32_t task = start(100 * MS);
    assert_int_not_equal(task, BATS_NO_TASK);
    assert_int_equal(on_disk("SELECT sum(amount) FROM charge"), 3000000);
    /* The second window, in the middle of a group. */
    task = end(2000, task);
    end(BATS_HOUR + 3000, task);
    assert_int_equal(on_disk("SELECT sum(amount) FROM charge"), 6000000);
    assert_int_equal(on_disk(ENDED), 2);
    stop();
}

TEST_IN_DIRECTORY(a_group_is_on_the_disk_when_its_time_is_up)
{
    uint32_t task = start(100 * MS);
    assert_true(bats_journal_due_us(&journal, MS) == INT64_MAX);
    task = end(10 * MS, task);
    assert_int_not_equal(task, BATS_NO_TASK); /* the file is enough for it */
    assert_int_equal(in_file(ENDED), 1);
    task = end(60 * MS, task);
    assert_int_equal(in_file(ENDED), 2);
    assert_true(bats_journal_due_us(&journal, 60 * MS) == 50 * MS);
    assert_int_equal(on_disk(ENDED), 0);
    /* Nothing happens, but the time is up. */
    commit(109 * MS);
    assert_int_equal(on_disk(ENDED), 0);
    commit(110 * MS);
    assert_int_equal(on_disk(ENDED), 2);
    assert_true(bats_journal_due_us(&journal, 110 * MS) == INT64_MAX);
    stop();
}

TEST_IN_DIRECTORY(a_group_is_on_the_disk_when_it_is_full)
{
    uint32_t task = start(100 * MS);
    for (int i = 1; i < 1000; i++)
        task = end(2000, task);
    assert_int_equal(on_disk(ENDED), 0);
    end(2000, task);
    assert_int_equal(on_disk(ENDED), 1000);
    stop();
}

TEST_IN_DIRECTORY(without_delay_everything_is_on_the_disk_at_once)
{
    uint32_t task = start(0);
    task = end(2000, task);
    assert_int_equal(on_disk(ENDED), 1);
    end(2001, task);
    assert_int_equal(on_disk(ENDED), 2);
    stop();
}

TEST_MAIN(NULL, NULL)
