/* bagfile: which commands a file stands for, and what is wrong with it. */
#include <inttypes.h>
#include <sys/wait.h>

#include "bats/rules.h"
#include "helpers/directory.h"
#include "input/bagfile.h"

static const char path[] = "bag";

static struct bats_bagfile *bag; /* the last one that was loaded */

static void load(const char *text)
{
    bats_bagfile_destroy(bag);
    bag = NULL;
    write_text(path, text);
    assert_ok(bats_bagfile_load(path, &bag, &err));
}

static void expect_command(uint32_t i, const char *expected, uint32_t line)
{
    struct bats_text text = {0};
    ptrdiff_t length = bats_bagfile_command(bag, i, &text);
    assert_string_equal(text.bytes, expected);
    assert_int_equal(length, strlen(expected));
    assert_true(text.room > (size_t)length);
    assert_int_equal(bats_bagfile_line(bag, i), line);
    bats_text_release(&text);
}

/* The tasks of a bag are these: a line "LINE COMMAND" for each, or "LINE @once
 * COMMAND". */
static void expect(const char *text, const char *expected)
{
    char is[2000] = "", *end = is;
    struct bats_text command = {0};
    load(text);
    for (uint32_t i = 0; i < bag->n_tasks; i++) {
        ptrdiff_t n = bats_bagfile_command(bag, i, &command);
        assert_int_equal(n, strlen(command.bytes));
        end += sprintf(end, "%" PRIu32 " %s%s\n", bats_bagfile_line(bag, i),
                       bats_bagfile_is_once(bag, i) ? "@once " : "",
                       command.bytes);
    }
    assert_string_equal(is, expected);
    bats_text_release(&command);
}

/* `text` is a file of this length; what stands behind its path begins with
 * `expected`. */
static void refuse_bytes(const char *text, size_t length, const char *expected)
{
    struct bats_bagfile *none = NULL;
    write_bytes(path, text, length);
    if (bats_bagfile_load(path, &none, &err) != BATS_EINPUT)
        fail_msg("accepted, but not: %s", expected);
    assert_null(none);
    assert_behind(path, expected);
}

static void refuse(const char *text, const char *expected)
{
    refuse_bytes(text, strlen(text), expected);
}

/* ---- plain bags ---- */

TEST(every_command_is_a_task_and_knows_its_line)
{
    expect("echo a\n\n# a comment\n   # another\n \t \n"
           "  echo b # not a comment\necho 'c  '  \n",
           "1 echo a\n6 echo b # not a comment\n7 echo 'c  '  \n");
    assert_string_equal(bag->name, path);
    assert_false(bag->is_disbatch);
}

TEST(files_of_other_systems_and_habits_are_read)
{
    expect("a\r\n\r\n#c\r\nb\r\r\nc", "1 a\n4 b\r\n5 c\n");
    expect("a\r", "1 a\n");
    expect("\xEF\xBB\xBF"
           "a\n",
           "1 a\n");
}

/* The words of the first line, without blanks around them. */
TEST(a_script_is_run_by_what_its_first_line_names)
{
    static const char *const scripts[][2] = {
        {"#!/bin/sh\n", "/bin/sh"},
        {"#! \t/usr/bin/env  bash \t\r\n", "/usr/bin/env  bash"},
        {"#!\n", "/bin/sh"},
        {"#! \n", "/bin/sh"}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char text[200], expected[200];
        sprintf(text, "%s#BATS parameter x select anyof 1 2\n", scripts[i][0]);
        sprintf(expected, "0 %s %s\n0 %s %s\n", scripts[i][1], path,
                scripts[i][1], path);
        expect(text, expected);
    }
}

/* Standard input ("-") is that pipe; closes both ends of it. */
static int load_from(int ends[2], struct bats_bagfile **from)
{
    int saved = dup(STDIN_FILENO);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    int rc = bats_bagfile_load("-", from, &err);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return rc;
}

TEST(standard_input_has_a_name)
{
    int ends[2];
    struct bats_bagfile *none = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_refused(load_from(ends, &none), BATS_EINPUT,
                   "standard input: no task in this bag");
}

enum { N = 100000 };

static void write_large_bag(FILE *f)
{
    for (int i = 0; i < N; i++)
        fprintf(f, "%secho %d\n", i % 3 ? "" : "\n", i);
    fclose(f);
}

static void expect_large_bag(void)
{
    assert_int_equal(bag->n_tasks, N);
    for (uint32_t i = 0; i < N; i++) {
        char expected[32];
        sprintf(expected, "echo %" PRIu32, i);
        expect_command(i, expected, i + i / 3 + 2);
    }
}

/* No file size tells how much is to come. */
TEST(a_large_bag_is_complete_in_a_file_and_through_a_pipe)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_large_bag(fdopen(ends[1], "w"));
        _exit(0);
    }
    bats_bagfile_destroy(bag);
    assert_ok(load_from(ends, &bag));
    assert_int_equal(waitpid(child, NULL, 0), child);
    expect_large_bag();
    write_large_bag(fopen(path, "w"));
    bats_bagfile_destroy(bag);
    assert_ok(bats_bagfile_load(path, &bag, &err));
    expect_large_bag();
}

/* ---- disBatch ---- */

TEST(prefix_and_suffix_hold_until_they_change)
{
    expect("a\n"
           "#DISBATCH PREFIX cd /d ; \n"
           "b\n"
           "#DISBATCH SUFFIX  > log 2>&1\r\n"
           "c\n"
           "d\n"
           "#DISBATCH prefix ( \n"
           "e\n"
           "#DISBATCH PREFIX\n"
           "#DISBATCH SUFFIX \n"
           "f\n"
           "#DISBATCH SUFFIX unused",
           "1 a\n3 cd /d ; b\n"
           "5 cd /d ; c > log 2>&1\n"
           "6 cd /d ; d > log 2>&1\n"
           "8 ( e > log 2>&1\n11 f\n");
    assert_true(bag->is_disbatch);
}

TEST(repeat_exports_its_index)
{
    expect("a\n"
           "#DISBATCH REPEAT 2 ./run $DISBATCH_REPEAT_INDEX\n"
           "#DISBATCH PREFIX time \n"
           "#DISBATCH SUFFIX  | tail\n"
           "b\n"
           "#DISBATCH Repeat 2 start 100 step 50 ./x\n"
           "#DISBATCH REPEAT 2\tSTEP 7\n"
           "#DISBATCH REPEAT 1 start 4\n"
           "#DISBATCH REPEAT 2 step 0 ./y\n"
           "d\n",
           "1 a\n"
           "2 export DISBATCH_REPEAT_INDEX=0; ./run $DISBATCH_REPEAT_INDEX\n"
           "2 export DISBATCH_REPEAT_INDEX=1; ./run $DISBATCH_REPEAT_INDEX\n"
           "5 time b | tail\n"
           "6 export DISBATCH_REPEAT_INDEX=100; time ./x | tail\n"
           "6 export DISBATCH_REPEAT_INDEX=150; time ./x | tail\n"
           "7 export DISBATCH_REPEAT_INDEX=0; time  | tail\n"
           "7 export DISBATCH_REPEAT_INDEX=7; time  | tail\n"
           "8 export DISBATCH_REPEAT_INDEX=4; time  | tail\n"
           "9 export DISBATCH_REPEAT_INDEX=0; time ./y | tail\n"
           "9 export DISBATCH_REPEAT_INDEX=0; time ./y | tail\n"
           "10 time d | tail\n");
}

TEST(repetitions_cost_no_memory)
{
    load("a\n#DISBATCH REPEAT 4294967292 start 5 x\nb\n");
    assert_true(bag->n_tasks == UINT32_MAX - 1);
    expect_command(4294967292, "export DISBATCH_REPEAT_INDEX=4294967296; x",
                   2);
    expect_command(4294967293, "b", 3);
}

TEST(only_the_exact_mark_is_a_directive)
{
    expect("#disbatch BARRIER\n# DISBATCH BARRIER\n"
           "##DISBATCH BARRIER\n#DISBATCHES BARRIER\na\n",
           "5 a\n");
    assert_false(bag->is_disbatch);
    expect(" \t#DISBATCH PREFIX x \na\n", "2 x a\n");
    assert_true(bag->is_disbatch);
}

TEST(nodes_get_commands_of_their_own)
{
    expect("#DISBATCH PERENGINE START a  b\n"
           "#DISBATCH PREFIX ( \n"
           "#DISBATCH SUFFIX  )\n"
           "#disbatch PERENGINE STOP ignored\n"
           "#DISBATCH perengine start c\n"
           "#DISBATCH PERENGINE stop d\n"
           "e\n",
           "7 ( e )\n");
    const struct bats_text *start = &bag->per_engine[0];
    assert_int_equal(start->n, sizeof "a  b\0( c )");
    assert_memory_equal(start->bytes, "a  b\0( c )", start->n);
    assert_int_equal(bag->per_engine[1].n, sizeof "( d )");
    assert_string_equal(bag->per_engine[1].bytes, "( d )");
}

TEST(malformed_repeats_are_refused)
{
    static const char *const cases[] = {"",
                                        " ",
                                        " x",
                                        " 0 x",
                                        " -1 x",
                                        " 3x",
                                        " 3 start x",
                                        " 3 start -1 x",
                                        " 3 start",
                                        " 3 step y x",
                                        " 3 start 1 step",
                                        " 1.5 x",
                                        " 9999999999999999999 x"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        sprintf(text, "a\n#DISBATCH REPEAT%s\n", cases[i]);
        refuse(text, ":2: not of the form '#DISBATCH REPEAT n [start s] [step "
                     "t] command'");
    }
}

/* ---- built-in tasks ---- */

TEST(sleep_is_the_built_in_task)
{
    static const struct {
        const char *command;
        bats_time duration; /* -1: it is not built in */
    } cases[] = {{"@sleep 1h30m", 90 * BATS_MINUTE},
                 {"@sleep \t 0.5 ", 500000},
                 {"sleep 1", -1},
                 {"", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_builtin = false;
        bats_time duration = -1;
        assert_ok(bats_builtin_parse(cases[i].command, &is_builtin, &duration,
                                     &err));
        assert_int_equal(is_builtin, cases[i].duration >= 0);
        assert_int_equal(duration, cases[i].duration);
    }
}

TEST(once_is_a_mark_and_no_part_of_the_command)
{
    expect("a\n@once b\n  @once\t c 1\n@sleep 1\n@once @sleep 2\n"
           "#DISBATCH REPEAT 2 @once d\n#DISBATCH PREFIX p \n"
           "@once e\nf @once\n",
           "1 a\n2 @once b\n3 @once c 1\n4 @sleep 1\n5 @once @sleep 2\n"
           "6 @once export DISBATCH_REPEAT_INDEX=0; d\n"
           "6 @once export DISBATCH_REPEAT_INDEX=1; d\n8 @once p e\n"
           "9 p f @once\n");
}

TEST(a_long_word_in_a_message_is_cut_off)
{
    char text[300] = "@sleep ";
    memset(text + 7, '1', 200);
    strcpy(text + 207, "\n");
    refuse(text, ":1: @sleep: "
                 "'1111111111111111111111111111111111111111111111111111"
                 "11111111...' is not a duration");
}

TEST(directives_may_make_built_in_tasks)
{
    expect("#DISBATCH REPEAT 2 @sleep 15m\n#DISBATCH PREFIX @sleep \n"
           "7\n#DISBATCH REPEAT 1 8\n#DISBATCH SUFFIX m\n9\n",
           "1 @sleep 15m\n1 @sleep 15m\n3 @sleep 7\n4 @sleep 8\n"
           "6 @sleep 9m\n");
}

/* ---- files that are no bags ---- */

TEST(a_nul_byte_is_refused_by_line)
{
    refuse_bytes("a\0b\n", 4, ":1: a NUL byte; is this a text file?");
    refuse_bytes("a\n\nb\n# \0\n", 9, ":4: a NUL byte; is this a text file?");
    refuse_bytes("a\n\0", 3, ":2: a NUL byte; is this a text file?");
}

TEST(files_that_cannot_be_read_are_refused)
{
    struct bats_bagfile *none = NULL;
    assert_refused(bats_bagfile_load("/nowhere/bag", &none, &err), BATS_EINPUT,
                   "/nowhere/bag: No such file or directory");
    assert_refused(bats_bagfile_load("/", &none, &err), BATS_EINPUT,
                   "/: Is a directory");
    write_text(path, "a\n");
    char below[sizeof path + 2];
    sprintf(below, "%s/x", path);
    assert_says(bats_bagfile_load(below, &none, &err), BATS_EINPUT,
                "/x: Not a directory");
    assert_null(none);
    bats_bagfile_destroy(NULL);
}

TEST(a_backslash_that_joins_nothing_is_found)
{
    static const struct {
        const char *text;
        uint32_t line;
    } bags[] = {
        {"a\nb\n", 0},
        {"a\nb \\\n-c\nd\\\n", 2},
        {"a\\\r\nb\n", 1},
        {"a \\", 1},
        {"a \\\\\n# b \\\nc\n", 0}, /* quoted; a comment */
        {"#DISBATCH SUFFIX  x\na \\\n", 0},
    };
    for (size_t i = 0; i < sizeof bags / sizeof bags[0]; i++) {
        load(bags[i].text);
        assert_int_equal(bag->dangling, bags[i].line);
    }
}

/* ---- tasks that wait for others ---- */

static bool has_edge(const struct bats_graph *g, uint32_t from, uint32_t to)
{
    for (uint64_t k = g->first[from]; k < g->first[from + 1]; k++)
        if (g->child[k] == to)
            return true;
    return false;
}

TEST(bag_without_names_has_no_graph)
{
    load("# BATS task a\na\nb\n");
    assert_null(bag->graph);
}

TEST(names_may_come_later_and_stand_for_repetitions)
{
    load("#BATS task z after many x\nz\n"
         "  #BATS task many after x\r\n"
         "#DISBATCH REPEAT 3 start 1 m\n"
         "free\n"
         "#BATS task x\n\n# a remark\nx\n");
    const struct bats_graph *g = bag->graph;
    assert_int_equal(bag->n_tasks, 6);
    assert_non_null(g);
    assert_int_equal(g->n_tasks, 6);
    assert_int_equal(g->n_nodes, 8); /* before the three, and after them */
    assert_int_equal(bats_graph_edges(g), 9);
    assert_true(has_edge(g, 5, 0));
    for (uint32_t i = 1; i <= 3; i++)
        assert_true(has_edge(g, 6, i) != has_edge(g, 7, i) &&
                    has_edge(g, i, 6) != has_edge(g, i, 7));
}

#define NEED "%u/%u/%" PRId64
#define NEED_OF(need) need.cores, need.gpus, need.memory_kib

/* The needs of each task: its cores/gpus/KiB, beside which others may be told,
 * its seconds and, in a bag that has any, its class; then the most that any task
 * asks for, and the number of classes. */
TEST(keys_and_classes_hold_until_they_are_there_again)
{
    static const struct {
        struct bats_need told;
        const char *text, *expected;
    } bags[] = {
        {{0},
         "a\n#BATS time 2m\nb\n@sleep 5\n#BATS time 1h\nc\n#BATS time 0\nd\n",
         "0/0/0 0s, 0/0/0 120s, 0/0/0 5s, 0/0/0 3600s, 0/0/0 0s, "
         "most 0/0/0 of 0"},
        {{0},
         "a\n#BATS memory 2G\nb\n#DISBATCH REPEAT 2 start 1 c\n"
         " #BATS  memory\t1025 \r\nd\n",
         "0/0/0 0s, 0/0/2097152 0s, 0/0/2097152 0s, 0/0/2097152 0s, "
         "0/0/2 0s, most 0/0/2097152 of 0"},
        {{0},
         "a\n#BATS cores=4 time=1m\nb\n#BATS cores=1\nc\n",
         "0/0/0 0s, 4/0/0 60s, 1/0/0 60s, most 4/0/0 of 0"},
        {{0},
         "#!/bin/bash\n#HQ --name=x --cpus=4 --pin taskset\na\n"
         "#HQ --cpus 2 --resource gpus/nvidia=1\nb\n#HQ-like\n"
         "#HQ --resource gpus/amd=3\nc\n",
         "4/0/0 0s, 2/1/0 0s, 2/3/0 0s, most 4/3/0 of 0"},
        {{0},
         "a\n#BATS class=align memory=2G  time=1m\nb\n"
         "#DISBATCH REPEAT 2 start 1 c\n#BATS class=sort\r\nd\n"
         "#BATS memory=1K class=-\ne\n#BATS CLASS align\nf\n",
         "0/0/0 0s -, 0/0/2097152 60s align, 0/0/2097152 60s align, "
         "0/0/2097152 60s align, 0/0/2097152 60s sort, 0/0/1 60s -, "
         "0/0/1 60s align, most 0/0/2097152 of 3"},
        {{5, 1, 9, 0},
         "a\n#BATS gpus=2\nb\n#BATS gpus=0 memory=3K\nc\n",
         "5/1/9 0s, 5/2/9 0s, 5/0/3 0s, most 0/2/3 of 0"}};
    for (size_t k = 0; k < sizeof bags / sizeof *bags; k++) {
        char is[1000] = "", *end = is;
        load(bags[k].text);
        for (uint32_t i = 0; i < bag->n_tasks; i++) {
            struct bats_need need = bags[k].told;
            bats_bagfile_need(bag, i, &need);
            end += sprintf(
                end, NEED " %" PRId64 "s%s%s, ", NEED_OF(need),
                bats_bagfile_time(bag, i) / BATS_SECOND,
                bag->category ? " " : "",
                bag->category ? bag->category_names[bag->category[i]] : "");
        }
        struct bats_need most = bats_bagfile_most(bag);
        sprintf(end, "most " NEED " of %u", NEED_OF(most),
                (unsigned)bag->n_categories);
        assert_string_equal(is, bags[k].expected);
    }
    refuse("#BATS gpus=65\na\n",
           ":1: #BATS gpus: '65' is not a whole number from 0 to 64");
}

#define TOO_MANY ": more than 4294967294 tasks in one bag"

TEST(mistakes_are_refused_with_their_line)
{
    static const char *const wrong[][2] = {
        {"a\n#BATS class=x colour=2\nb\n",
         ":2: unknown key 'colour' after #BATS; known are class,"},
        {"a\n#BATS class=x fast\nb\n",
         ":2: 'fast' is not of the form KEY=VALUE"},
        {"#BATS class=\na\n", ":1: #BATS class: the class has no"},
        {"#BATS class x y\na\n", ":1: not of the form '#BATS class NAME'"},
        {"\n#BATS class=x time=soon\na\n", ":2: #BATS time: 'soon' is not"},
        {"#BATS time\na\n", ":1: #BATS time: '' is not"},
        {"#BATS time 2 m\na\n", ":1: not of the form '#BATS time DURATION'"},
        {"#BATS memory=0\na\n", ":1: #BATS memory: '0' is not"},
        {"#BATS memory\na\n", ":1: #BATS memory: '' is not"},
        {"a\n#BATS memory 2GB\nb\n",
         ":2: #BATS memory: '2GB' is not a number of bytes"},
        {"#BATS memory 2 G\na\n", ":1: not of the form '#BATS memory SIZE'"},
        {"#BATS cores=0\na\n", ":1: #BATS cores: '0' is not"},
        {"#BATS cores=2x\na\n", ":1: #BATS cores: '2x' is not"},
        {"#BATS cores=4097\na\n", ":1: #BATS cores: '4097' is"},
        {"a\n#HQ --cpus=\"2 compact\"\nb\n",
         ":2: #HQ --cpus: '\"2' is not a whole number from 1 to 4096"},
        {"#HQ --pin x --cpus\na\n", ":1: #HQ --cpus: '' is not"},
        {"#HQ --resource gpus/nvidia=0.5\na\n",
         ":1: #HQ --resource gpus: '0.5' is not"},
        {"#HQ --resource fairy=1\na\n",
         ":1: #HQ --resource: 'fairy=1' is neither gpus/nvidia=N nor"},
        {"a\n#DISBATCH BARRIER CHECK x\nb\n",
         ":2: not of the form '#DISBATCH BARRIER [CHECK]'"},
        {"#DISBATCH perengine BEGIN x\na\n",
         ":1: not of the form '#DISBATCH PERENGINE START|STOP command'"},
        {"#DISBATCH PERENGINE STOP\na\n",
         ":1: not of the form '#DISBATCH PERENGINE START|STOP command'"},
        {"a\n#DISBATCH PERENGINE START x\n",
         ":2: '#DISBATCH PERENGINE' has to come before all tasks"},
        {"#DISBATCH PREFIX @sleep \n#DISBATCH PERENGINE START 1\na\n",
         ":2: PERENGINE takes no built-in task"},
        {"a\n\n#DISBATCH PREFIXX y\n",
         ":3: unknown directive '#DISBATCH PREFIXX'; known are PREFIX, "
         "SUFFIX, REPEAT, BARRIER and PERENGINE"},
        {"a\n#DISBATCH\n", ":2: unknown directive '#DISBATCH '; "},
        {"a\n#BATS job b\nb\n", ":2: unknown directive '#BATS job'"},
        {"#BATS task\nb\n", ":1: not of the form"},
        {"#BATS task a before b\nb\n", ":1: not of the form"},
        {"#BATS task a after\nb\n", ":1: not of the form"},
        {"#BATS task a\n#BATS task b\nb\n",
         ":1: no command follows for the task 'a'"},
        {"b\n#BATS task a\n", ":2: no command follows"},
        {"#BATS task a after b\nx\n",
         ":1: 'a' waits for 'b', but no task has this name"},
        {"#BATS task a\nx\n#BATS task a\ny\n",
         ":3: the task 'a' is already on line 1"},
        {"#BATS task a after a\nb\n",
         ":1: these tasks wait for each other: a after a"},
        {"x\n#BATS task a after g\nb\n#BATS task g after a\n"
         "#DISBATCH REPEAT 2 start 1 m\n",
         ":2: these tasks wait for each other: "},
        {"", ": no task in this bag"},
        {"\n \n# only\n", ": no task in this bag"},
        {"#DISBATCH PREFIX a\n", ": no task in this bag"},
        {"\xEF\xBB\xBF", ": no task in this bag"},
        {"#DISBATCH REPEAT 3\n",
         ":1: nothing to repeat: no command, PREFIX or SUFFIX"},
        {"a\n#DISBATCH REPEAT 100 start 1 step 100000000000000000 x\n",
         ":2: the last DISBATCH_REPEAT_INDEX is too large"},
        {"#DISBATCH REPEAT 4294967295 x\n", ":1" TOO_MANY},
        {"#DISBATCH REPEAT 999999999999999999 x\n", ":1" TOO_MANY},
        {"#DISBATCH REPEAT 4294967294 x\na\n", ":2" TOO_MANY},
        {"a\n#DISBATCH REPEAT 4294967294 x\n", ":2" TOO_MANY},
        {"a\n@SLEEP 3\n", ":2: unknown built-in task '@SLEEP'; "
                          "expected '@sleep DURATION' or '@once COMMAND'"},
        {"a\n\n  @sleeps 3\n", ":3: unknown built-in task '@sleeps'; "},
        {"@\n", ":1: unknown built-in task '@'; "},
        {"a\n@once \t\n", ":2: @once without a command"},
        {"@once @SLEEP 3\n", ":1: unknown built-in task '@SLEEP'; "},
        {"@sleep\n", ":1: @sleep: '' is not a duration such as 90, 15m, "
                     "1h30m or 2-12:00:00"},
        {"#\n@sleep 3 4\n", ":2: @sleep: '3 4' is not a duration"},
        {"@sleep -3\n", ":1: @sleep: '-3' is not a duration"},
        {"#DISBATCH PREFIX time \n\n@sleep 3\n",
         ":3: a built-in task cannot follow the PREFIX 'time '"},
        {"#DISBATCH SUFFIX  > log\n@sleep 3\n",
         ":2: @sleep: '3 > log' is not a duration"},
        {"#DISBATCH PREFIX @sleep \nx\n",
         ":2: @sleep: 'x' is not a duration"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse(wrong[i][0], wrong[i][1]);
    char text[24 * BATS_CATEGORIES_MAX] = "", *end = text;
    for (int i = 0; i < BATS_CATEGORIES_MAX; i++)
        end += sprintf(end, "#BATS class=c%d\na\n", i);
    refuse(text, ":2047: #BATS class: more than 1023 classes");
    sprintf(text, "#BATS class=%0100d\na\n", 7);
    refuse(text, ":1: #BATS class: '0000");
}

TEST_MAIN(enter_directory, leave_directory)
