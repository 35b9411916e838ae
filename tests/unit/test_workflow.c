/* Workflows of other tools: what is read, and what is refused. */
#include <fcntl.h>
#include <sys/stat.h>

#include "exec/process/runner.h"
#include "helpers/directory.h"
#include "input/workflow/workflow.h"

static struct bats_workflow w; /* the last one that was read */

static void load(const char *name, const char *text)
{
    bats_workflow_release(&w);
    write_text(name, text);
    assert_ok(bats_workflow_load(name, &w, &err));
}

static void refuse(const char *name, const char *text, const char *sentence)
{
    bats_workflow_release(&w);
    write_text(name, text);
    assert_says(bats_workflow_load(name, &w, &err), BATS_EINPUT, sentence);
}

/* Each rule: its line, category and command ("-": none), and behind "after" the
 * rules that it waits for. */
static void reads(const char *name, const char *text, const char *expected)
{
    const struct bats_graph *g = &w.graph;
    char is[1024] = "";
    load(name, text);
    for (uint32_t i = 0; i < w.n; i++) {
        const struct bats_workflow_task *t = &w.tasks[i];
        bats_append(is, sizeof is, "%u %s: %s", t->line,
                    bats_names_text(&w.categories, t->category),
                    t->command == BATS_NO_COMMAND ? "-"
                                                  : bats_workflow_rule(&w, i));
        const char *after = " after";
        for (uint32_t from = 0; from < w.n; from++)
            for (uint64_t k = g->first[from]; k < g->first[from + 1]; k++)
                if (g->child[k] == i) {
                    bats_append(is, sizeof is, "%s %u", after, from);
                    after = "";
                }
        bats_append(is, sizeof is, "\n");
    }
    assert_string_equal(is, expected);
}

/* ---- names ---- */

TEST(names_keep_their_numbers)
{
    struct bats_names names = {0};
    char text[16];
    bool is_new;
    assert_int_equal(bats_names_find(&names, "0"), BATS_NO_NAME);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(text, sizeof text, "%u", i * 7919);
            assert_int_equal(bats_names_add(&names, text, &is_new), i);
            assert_int_equal(is_new, k == 0);
            assert_string_equal(bats_names_text(&names, i), text);
        }
    assert_int_equal(bats_names_find(&names, "x"), BATS_NO_NAME);
    bats_names_release(&names);
}

/* ---- Makeflow ---- */

TEST(rules_wait_for_the_makers_of_their_sources)
{
    reads(
        "a.makeflow",
        "sum: x y\n\tadd x y >sum\nx: in\n\tcut1 in >x\ny: in x\n\tcut2 in >y\n",
        "1 add: add x y >sum after 1 2\n3 cut1: cut1 in >x\n"
        "5 cut2: cut2 in >y after 1\n");
    assert_int_equal(w.tasks[2].runtime, -1);
}

TEST(variables_are_replaced_and_the_shell_keeps_its_own)
{
    reads("a.makeflow",
          "# a remark\n"
          "IN=one # and another\n"
          "IN+=\"two\"\n"
          "PROG=\"/usr/bin/my prog\"\n"
          "export LEVEL=3\n"
          "CATEGORY='merge'\n"
          "out \"with blank\": $(IN) \\\n"
          "   ${PROG}\n"
          "\tLOCAL $PROG $IN '$IN' $HOME $$ ${IN%x} $(date) # kept\n",
          "7 merge: export LEVEL='3'; /usr/bin/my prog one two '$IN' "
          "$HOME $$ ${IN%x} $(date) # kept\n");
    assert_int_equal(w.files.n, 6);
    assert_true(bats_names_find(&w.files, "with blank") != BATS_NO_NAME);
}

TEST(variables_of_the_environment_name_files)
{
    assert_int_equal(setenv("WORKFLOW_TEST", "set", 1), 0);
    reads("a.makeflow",
          "A=$WORKFLOW_TEST.a\n"
          "$A: ${WORKFLOW_TEST}.b\n\tcp $WORKFLOW_TEST.b $A\n",
          "2 cp: cp $WORKFLOW_TEST.b set.a\n");
    assert_true(bats_names_find(&w.files, "set.a") != BATS_NO_NAME);
    assert_true(bats_names_find(&w.files, "set.b") != BATS_NO_NAME);
    load("b.makeflow", "WORKFLOW_TEST=own\n$WORKFLOW_TEST: b\n\tx\n");
    assert_true(bats_names_find(&w.files, "own") != BATS_NO_NAME);
}

TEST(a_line_that_names_no_variable_is_the_command)
{
    reads("a.makeflow", "a:\n  =x\n", "1 =x: =x\n");
}

/* As Makeflow's manual has them. */
TEST(resources_are_read_for_all_rules_or_for_one)
{
    reads("a.makeflow",
          ".MAKEFLOW CATEGORY analysis\n"
          ".MAKEFLOW CORES 1 # of each\n"
          ".MAKEFLOW MODE MIN_WASTE\n"
          "BATCH_OPTIONS=\"-q short\"\n"
          " X=1\n"
          "\n"
          "a: in\n"
          "@BATCH_OPTIONS=-q long\n"
          "  @CATEGORY=\"other\"\n"
          "  X=$X$X\n"
          ".MAKEFLOW MEMORY 1024\n"
          "# a remark\n"
          "\trun $X $BATCH_OPTIONS $MEMORY\n"
          "b: a\n"
          "    run $X $BATCH_OPTIONS $MEMORY $CORES\n"
          ".SIZE in 10M\n",
          "7 other: run 11 -q long 1024\n"
          "14 analysis: run 1 -q short $MEMORY 1 after 0\n");
}

/* As Makeflow looks it up: in the category, else where there was none yet. */
TEST(rules_ask_for_the_memory_of_their_category)
{
    struct bats_workflow parts[2], all;
    static const int64_t mib[] = {0, 100, 200, 100, 300, 100, 0, 400, 200};
    load("a.makeflow", "a:\n\ta\n"
                       "MEMORY = \"100\"\nb:\n\tb\n"
                       "CATEGORY=x\nMEMORY=200\nc:\n\tc\n"
                       ".MAKEFLOW CATEGORY y\nd:\n\td\n"
                       ".MAKEFLOW MEMORY 300\n"
                       ".MAKEFLOW CORES 2\ne:\n\te\n"
                       "CATEGORY=z\nf:\n\tf\n"
                       "MEMORY=\ng:\n\tg\n"
                       "i:\n@MEMORY=400\n@CATEGORY=x\n\ti\n"
                       "k:\n@CATEGORY=x\n\tk\n");
    parts[0] = w;
    w = (struct bats_workflow){0};
    load("b.makeflow", "CATEGORY=y\nMEMORY=50\nh:\n\th\n");
    parts[1] = w;
    w = (struct bats_workflow){0};
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(parts[0].tasks[i].need.memory_kib, mib[i] * 1024);
    for (uint32_t i = 0; i < 9; i++) /* of the category y */
        assert_int_equal(parts[0].tasks[i].need.cores, i == 4 ? 2 : 0);
    assert_ok(bats_workflow_merge("all", parts, 2, &all, &err));
    assert_int_equal(all.tasks[4].need.memory_kib, 300 * 1024);
    assert_int_equal(all.tasks[9].need.memory_kib, 50 * 1024);
    bats_workflow_release(&all);
    bats_workflow_release(&parts[0]);
    bats_workflow_release(&parts[1]);
    refuse("bad.makeflow", "a:\n\ta\nMEMORY=2G\nb:\n\tb\n",
           "bad.makeflow:3: MEMORY is not a number of MB: '2G'");
}

TEST(mistakes_in_a_makeflow_are_refused_with_their_line)
{
    const char *name = "bad.makeflow";
    refuse(
        name, "a: b\n\tx\nb: a\n\ty\n",
        "bad.makeflow:1: these tasks wait for each other: the rule on line 1 "
        "after the rule on line 3 after the rule on line 1");
    refuse(name, "a:\n\tx\n\na: b\n\ty\n",
           "bad.makeflow:4: the rule on line 1 and the rule on line 4 both "
           "make 'a'");
    refuse(name, "\na: b\n", ":2: this rule has no command");
    refuse(name, "a: b\nc: d\n\tx\n", ":1: this rule has no command");
    refuse(name, "a: b\n\tx\n\ty\n", ":3: this command belongs to no rule");
    refuse(name, "\\\n\n: b\n\tx\n", ":3: this rule makes no file");
    refuse(name, "a: $NOWHERE\n\tx\n",
           ":1: nothing sets the variable 'NOWHERE'");
    refuse(name, "a: b\nC=$NOWHERE\n\tx\n",
           ":2: nothing sets the variable 'NOWHERE'");
    refuse(name, "a: b->c\n\tx\n", ":1: a file cannot have another name");
    refuse(name, "a: b\n\tMAKEFLOW c\n", ":2: a rule that runs another");
    refuse(name, ".UMBRELLA x\n", ":1: unknown directive");
    refuse(name, ".MAKEFLOW GREED x\n", ":1: unknown directive");
    refuse(name, "a: b\n./c: d\n\tx\n", ":1: this rule has no command");
    refuse(name, "a: b\n@x y\n\tx\n", ":1: this rule has no command");
    refuse(name, "hello\n", ":1: neither a rule nor a variable: 'hello'");
    refuse(name, "A=1\n", "no task in this workflow");
}

/* ---- what need not run, and what was made ---- */

/* Sets the time of the file to so many seconds. */
static void touch(const char *name, int seconds)
{
    const struct timespec times[2] = {{seconds, 0}, {seconds, 0}};
    close(open(name, O_CREAT | O_WRONLY, 0666));
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static unsigned fresh_tasks(void)
{
    uint8_t *fresh;
    unsigned bits = 0;
    assert_ok(bats_workflow_fresh(&w, NULL, &fresh, &err));
    for (uint32_t i = 0; i < w.n; i++)
        bits |= (unsigned)fresh[i] << i;
    free(fresh);
    return bits;
}

TEST(variables_do_not_grow_without_limit)
{
    char text[4096] = "A=0123456789abcdef\n";
    for (int i = 0; i < 26; i++)
        strcat(text, "A=$A$A\n");
    strcat(text, "f:\n\techo $A >f\n");
    refuse("bad.makeflow", text,
           ":18: this is longer than 1 MiB with the values of its variables");
}

TEST(what_is_newer_than_its_sources_need_not_run)
{
    load("f.makeflow", "f1: f0\n\ta\nf2: f1\n\tb\nf3: f2 f0\n\tc\n");
    uint8_t *fresh, undone[] = {0, 1, 0};
    assert_says(bats_workflow_fresh(&w, NULL, &fresh, &err), BATS_EINPUT,
                "f.makeflow:1: the rule on line 1 reads "
                "'f0', which does not exist, and nothing "
                "makes it");
    assert_null(strstr(err.text, "missing"));
    touch("f0", 1000);
    assert_int_equal(fresh_tasks(), 0);
    touch("f1", 1000); /* as old is new enough */
    touch("f2", 1002);
    assert_int_equal(fresh_tasks(), 3);
    touch("f3", 1003);
    assert_int_equal(fresh_tasks(), 7);
    assert_ok(bats_workflow_fresh(&w, undone, &fresh, &err));
    assert_memory_equal(fresh, "\1\0\0", 3); /* f2 is made again, so f3 is */
    free(fresh);
    touch("f1", 1005);
    assert_int_equal(fresh_tasks(), 1); /* f2 is made again, and so f3 */
    touch("f0", 1006);
    assert_int_equal(fresh_tasks(), 0);
    touch("f0", 1000);
    unlink("f2");
    assert_int_equal(fresh_tasks(), 1);
}

TEST(all_missing_sources_are_named)
{
    load("f.makeflow", "f1: g0 g1 f1.in\n\ta\n"
                       "f2: f1 g1 g2\n\tb\n");
    uint8_t *fresh;
    touch("f1.in", 1000);
    assert_says(bats_workflow_fresh(&w, NULL, &fresh, &err), BATS_EINPUT,
                "'g0', which does not exist, and nothing "
                "makes it; also missing: 'g1', 'g2'");
    char text[2000] = "f:";
    for (int i = 100; i < 200; i++)
        bats_append(text, sizeof text, " missing.%d", i);
    strcat(text, "\n\ta\n");
    load("f.makeflow", text);
    assert_says(bats_workflow_fresh(&w, NULL, &fresh, &err), BATS_EINPUT,
                "'missing.111'; 88 more are missing");
}

/* Runs the command of the first task and looks for its files; returns its exit
 * status. */
static int run_as(const char *name, const char *workflow)
{
    load(name, workflow);
    int status = system(bats_workflow_rule(&w, 0));
    assert_true(WIFEXITED(status));
    struct bats_text made = {0};
    assert_true(bats_workflow_outputs(&w, 0, &made) >= 0);
    int said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(said >= 0);
    status = bats_runner_made(made.bytes, made.n, WEXITSTATUS(status), said);
    close(said);
    bats_text_release(&made);
    return status;
}

static int run(const char *makeflow)
{
    return run_as("r.makeflow", makeflow);
}

TEST(rule_that_makes_too_little_fails_and_leaves_nothing)
{
    char said[100] = "";
    assert_int_equal(run("r1 r2:\n\techo x >r1; echo y >r2\n"), 0);
    assert_int_equal(access("r1", F_OK), 0);
    assert_int_equal(run("r1 r3:\n\techo x >r1\n"), 1);
    FILE *f = fopen("said", "r");
    assert_non_null(fgets(said, sizeof said, f));
    fclose(f);
    assert_string_equal(said, "r3 was not made\n");
    assert_int_equal(access("r1", F_OK), -1);
    assert_int_equal(run("r2 'r 4':\n\ttouch 'r 4'; exit 7\n"), 7);
    assert_int_equal(access("r2", F_OK), -1);
    assert_int_equal(access("r 4", F_OK), -1);
    assert_int_equal(run("r5:\n\ttouch r5; exit 85\n"), 85);
    assert_int_equal(access("r5", F_OK), 0); /* its state may be in there */
    assert_int_equal(run("r5: r5x\n\tfalse # and so on\n"), 1);
    assert_int_equal(run("r6:\n\ttrue &\n"), 1);
    write_text("both", "");
    assert_int_equal(
        run_as("r.json",
               "{\"workflow\": {\"specification\": {\"tasks\": [{\"id\": "
               "\"a\", \"inputFiles\": [\"both\"], \"outputFiles\": "
               "[\"both\"]}]}, \"execution\": {\"tasks\": [{\"id\": \"a\", "
               "\"command\": {\"program\": \"false\"}}]}}}"),
        1);
    assert_int_equal(access("both", F_OK), 0); /* it was there before */
}

/* ---- WfFormat ---- */

TEST(wfformat_has_runtimes_commands_and_parents)
{
    reads("a.json",
          "{\"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": "
          "{\"tasks\": ["
          "{\"name\": \"add_ID07\", \"id\": \"t2\", \"parents\": [\"t1\"], "
          "\"children\": [], \"inputFiles\": [\"f\"], \"outputFiles\": []},"
          "{\"name\": \"cut\", \"id\": \"t1\", \"parents\": [], "
          "\"children\": [\"t2\"], \"outputFiles\": [\"f\"]}]},"
          "\"execution\": {\"tasks\": ["
          "{\"id\": \"t1\", \"runtimeInSeconds\": 1.25, \"command\": "
          "{\"program\": \"/bin/cut\", \"arguments\": [\"/bin/cut\", \"-f1 "
          "f\"]}},"
          "{\"id\": \"t2\", \"runtimeInSeconds\": 3}]}}}",
          "0 add: - after 1\n0 cut: /bin/cut -f1 f\n");
    assert_int_equal(w.tasks[1].runtime, 1250000);
    assert_int_equal(w.tasks[0].runtime, 3000000);
}

/* A Makeflow with variables for its rules, as `export` writes it. */
TEST(category_is_no_command_of_the_shell)
{
    reads(
        "a.json",
        "{\"workflow\": {\"specification\": {\"tasks\": ["
        "{\"name\": \"sort\", \"id\": \"ID1\"}]}, \"execution\": {\"tasks\": "
        "[{\"id\": \"ID1\", \"command\": {\"program\": \"export\", "
        "\"arguments\": [\"A='1';\", \"sort\", \"f\"]}}]}}}",
        "0 sort: export A='1'; sort f\n");
}

#define SPECIFIED(tasks)                                                      \
    "{\"workflow\": {\"specification\": {\"tasks\": [" tasks "]}}}"

TEST(mistakes_in_wfformat_are_refused_with_the_task)
{
    const char *name = "bad.json";
    refuse(name, "{\n\"a\": ]", "bad.json:2: ");
    refuse(name, "{\"schemaVersion\": \"1.3\"}",
           "is not WfFormat 1.5: it has no workflow.specification.tasks; its "
           "version is 1.3");
    refuse(name, SPECIFIED(""), "no task in this workflow");
    refuse(name, SPECIFIED("{\"name\": \"a\"}"), "task 1 has no \"id\"");
    refuse(name, SPECIFIED("{\"id\": \"a\"}, {\"id\": \"a\"}"),
           "task 'a': is named twice");
    refuse(name, SPECIFIED("{\"id\": \"a\", \"parents\": [\"b\"]}"),
           "task 'a': one of its parents is 'b', which is not a task");
    refuse(name,
           SPECIFIED("{\"id\": \"a\", \"parents\": [\"b\"]}, {\"id\": \"b\", "
                     "\"parents\": [\"a\"]}"),
           "these tasks wait for each other: task '");
}

/* ---- what is not read ---- */

TEST(other_languages_are_refused_by_name)
{
    static const struct {
        const char *name, *sentence;
    } other[] = {
        {"Makefile", "Makefile: a Makefile is for make; a workflow is called "
                     "Makeflow, or ends with .makeflow or .json"},
        {"Snakefile", "Snakefile: workflows of Snakemake are not read"},
        {"a.smk", "a.smk: workflows of Snakemake are not read"},
        {"main.nf", "main.nf: workflows of Nextflow are not read"},
        {"a.cwl", "a.cwl: workflows in CWL are not read"},
        {"a.wdl", "a.wdl: workflows in WDL are not read"},
        {"a.dax", "a.dax: workflows in DAX are not read"},
        {"a.xml", "a.xml: workflows in DAX are not read"},
        {"a.jx", "a.jx: JX of Makeflow is not read"},
        {"a.dag", "a.dag: workflows of DAGMan are not read"},
        {"workflow.yml", "workflow.yml: workflows in YAML are not read"},
        {"a.yaml", "a.yaml: workflows in YAML are not read"}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        assert_int_equal(bats_workflow_format(other[i].name),
                         BATS_WORKFLOW_OTHER);
        refuse(other[i].name, "true\n", other[i].sentence);
    }
    assert_int_equal(bats_workflow_format("a.nf/bag.txt"), BATS_WORKFLOW_NONE);
    refuse("bag.txt", "true\n", "bag.txt: this is a bag; a workflow is ");
}

TEST_MAIN(enter_directory, leave_directory)
