/* record, match: the tasks of a bag that has changed since an earlier run. */
#include "helpers/record_fixture.h"

/* Opens the record with this bag. */
static struct bats_record *open_with(const char *const *commands, uint32_t n)
{
    struct bats_record *r;

    assert_ok(bats_record_open(PATH, &r, &err));
    for (uint32_t i = 0; i < n; i++)
        assert_ok(bats_record_task(r, i, i + 1, commands[i], NULL, &err));
    assert_ok(bats_record_match(r, &err));
    return r;
}

#define OPEN(...)                                                             \
    open_with((const char *const[]){__VA_ARGS__},                             \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Numbers and commands of the tasks that are gone, with blanks between. */
static const char *gone(struct bats_record *r)
{
    static char text[256];
    struct bats_record_gone g;
    size_t at = 0;
    int rc;

    text[0] = '\0';
    while ((rc = bats_record_next_gone(r, &at, &g, &err)) > 0) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%u %s",
                 used > 0 ? " " : "", g.was + 1, g.command);
        free(g.command);
    }
    assert_ok(rc);
    return text;
}

/* Describes the match of each task of the bag: "=" the same, ">3" moved from
 * there, "!3" in the place of that one, "+" new; then "d", "f" or nothing. */
static const char *found(const struct bats_record *r, uint32_t n)
{
    static char text[4096];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        struct bats_record_past past = bats_record_past(r, i);
        bool was = past.match == BATS_RECORD_MOVED ||
                   past.match == BATS_RECORD_CHANGED;
        char number[16] = "";
        if (was)
            snprintf(number, sizeof number, "%u", past.was + 1);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%c%s%s",
                                 i > 0 ? " " : "", "=>!+"[past.match], number,
                                 past.state == BATS_RECORD_DONE     ? "d"
                                 : past.state == BATS_RECORD_FAILED ? "f"
                                                                    : "");
    }
    return text;
}

TEST_IN_DIRECTORY(a_changed_bag_is_told_task_by_task)
{
    struct bats_record *r = begun(3, 1);
    run_task(r, 10, 2, 0, 0);
    run_task(r, 10, 2, 1, 0);
    run_task(r, 10, 2, 2, 0);
    close_record(r);

    r = OPEN("task 0", "another");
    assert_string_equal(found(r, 2), "=d !2");
    assert_string_equal(gone(r), "3 task 2");
    begin(r, 1);
    run_task(r, 10, 0, 1, 9);
    close_record(r);
    expect_rows("SELECT number, state, command FROM tasks "
                "ORDER BY id",
                "1 done task 0 2 removed task 1 3 removed task 2 "
                "2 failed another");
    expect_rows("SELECT tasks FROM progress", "2");

    /* A task that comes back is found again; the third task is new to the
     * bag. */
    r = OPEN("task 0", "task 1", "third");
    assert_string_equal(found(r, 3), "=d =d !2");
    assert_string_equal(gone(r), "");
    begin(r, 1);
    close_record(r);
    expect_rows("SELECT number, state FROM tasks WHERE state != "
                "'removed' ORDER BY number",
                "1 done 2 done 3 pending");
}

/* Leaves a record of these tasks, of which every second one has failed. */
#define RECORD(...)                                                           \
    do {                                                                      \
        uint32_t n_ =                                                         \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *);      \
        struct bats_record *r_ = OPEN(__VA_ARGS__);                           \
        begin(r_, 1);                                                         \
        for (uint32_t i_ = 0; i_ < n_; i_++)                                  \
            run_task(r_, i_, 2, i_, i_ % 2);                                  \
        close_record(r_);                                                     \
    } while (0)

/* Opens the record with two rules of this text. */
static struct bats_record *open_rules(const char *first, const char *second)
{
    struct bats_record *r;
    const char *sent[] = {first, second};
    assert_ok(bats_record_open(PATH, &r, &err));
    for (uint32_t i = 0; i < 2; i++)
        assert_ok(bats_record_task(r, i, i + 1, "make", sent[i], &err));
    assert_ok(bats_record_match(r, &err));
    return r;
}

/* What is found of a bag, and what is gone, when the record is opened with
 * it. */
#define FINDS(is_found, is_gone, ...)                                         \
    do {                                                                      \
        uint32_t n_ =                                                         \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *);      \
        struct bats_record *r_ = OPEN(__VA_ARGS__);                           \
        assert_string_equal(found(r_, n_), is_found);                         \
        assert_string_equal(gone(r_), is_gone);                               \
        bats_record_abandon(r_);                                              \
    } while (0)

TEST_IN_DIRECTORY(rules_of_one_text_are_known_by_what_is_run)
{
    struct bats_record *r = open_rules("make; test a", "make; test b");
    begin(r, 1);
    run_task(r, 1, 2, 0, 0);
    close_record(r);
    expect_rows("SELECT DISTINCT command FROM tasks", "make");
    r = open_rules("make; test new", "make; test a");
    assert_string_equal(found(r, 2), "+ >1d");
    bats_record_abandon(r);
}

TEST_IN_DIRECTORY(lines_that_come_and_go_leave_the_rest_alone)
{
    RECORD("a", "b", "c", "d");
    FINDS("=d + >2f >3d >4f", "", "a", "x", "b", "c", "d");
    FINDS("=d >3d >4f", "2 b", "a", "c", "d");
    FINDS("+ >1d !2 >3d !4 +", "", "x", "a", "B", "c", "D", "e");
    struct bats_record *r = OPEN("d", "c", "b", "a");
    assert_string_equal(found(r, 4), ">4f >3d >2f >1d");
    begin(r, 1);
    close_record(r);
    expect_rows("SELECT number, state, command, line FROM "
                "tasks ORDER BY number",
                "1 failed d 1 2 done c 2 3 failed b 3 4 done a 4");
    /* The record goes on from there: what has moved stands there now. */
    FINDS("=f =d >4d >3f", "", "d", "c", "a", "b");
}

/* Commands that are there twice: one that comes back to its number is that one,
 * and the others are taken in their order. */
TEST_IN_DIRECTORY(equal_commands_keep_their_order)
{
    RECORD("a", "a", "b", "b");
    FINDS("+ >4f =d >1d", "2 a", "x", "b", "b", "a");
    struct bats_record *r = OPEN("x");
    begin(r, 1);
    close_record(r);
    FINDS("!1 =f >1d", "", "y", "a", "a");
}

TEST_IN_DIRECTORY(the_same_command_keeps_its_number_if_it_can)
{
    RECORD("a", "a", "b", "a"); /* done, failed, done, failed */
    FINDS("=d =f >4f >3d + +", "", "a", "a", "a", "b", "a", "a");
    FINDS(">3d =f", "1 a 4 a", "b", "a");
}

TEST_IN_DIRECTORY(a_command_with_its_number_is_another_elsewhere)
{
    RECORD("run $BATS_TASK_ID", "b", "run $BATS_TASK_ID", "x $DISBATCH_TASKID",
           "c");
    FINDS("=d + >2f =f + >5d", "3 run $BATS_TASK_ID", "run $BATS_TASK_ID",
          "run $BATS_TASK_ID", "b", "x $DISBATCH_TASKID", "x $DISBATCH_TASKID",
          "c");
}

/* Against what matching has to be, whatever way it is done. */
TEST_IN_DIRECTORY(every_edit_keeps_what_it_can)
{
    enum { N = 40, KINDS = 12, ROUNDS = 200 };
    static char words[KINDS][8];
    const char *bag[N];
    srandom(7);
    for (int k = 0; k < KINDS; k++)
        snprintf(words[k], sizeof words[k], "w%d", k);
    for (int i = 0; i < N; i++)
        bag[i] = words[random() % KINDS];
    struct bats_record *r = open_with(bag, N);
    begin(r, 1);
    close_record(r);
    for (int round = 0; round < ROUNDS; round++) {
        const char *new[N];
        int n_new = 1 + (int)(random() % N);
        int old_of[KINDS] = {0}, new_of[KINDS] = {0}, kept[KINDS] = {0};
        bool taken[N] = {false};
        for (int i = 0; i < n_new; i++)
            new[i] = random() % 3 == 0 ? words[random() % KINDS] : bag[i];
        r = open_with(new, (uint32_t)n_new);
        for (int i = 0; i < N; i++)
            old_of[atoi(bag[i] + 1)]++;
        for (int i = 0; i < n_new; i++) {
            struct bats_record_past past = bats_record_past(r, (uint32_t)i);
            int kind = atoi(new[i] + 1);
            new_of[kind]++;
            assert_int_equal(past.match == BATS_RECORD_SAME,
                             strcmp(new[i], bag[i]) == 0);
            if (past.match == BATS_RECORD_SAME)
                past.was = (uint32_t)i;
            else if (past.match != BATS_RECORD_MOVED)
                continue;
            assert_string_equal(bag[past.was], new[i]);
            assert_false(taken[past.was]);
            taken[past.was] = true;
            kept[kind]++;
        }
        for (int k = 0; k < KINDS; k++)
            assert_int_equal(kept[k],
                             old_of[k] < new_of[k] ? old_of[k] : new_of[k]);
        bats_record_abandon(r);
    }
}

TEST_MAIN(NULL, NULL)
