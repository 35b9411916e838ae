/* The option table and its parser; expected values are written by hand. */
#include "bats/policy.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "helpers/test.h"
#include "run/run.h"

#define WORDS_MAX 64

static struct bats_settings set;

/* Parses the words of `line`, divided by blanks. */
static int parse(const char *name, const char *line)
{
    enum bats_verb verb;
    static char text[1024];
    char *argv[WORDS_MAX + 1] = {"bats-mpi"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        argv[argc++] = w;
    err = (struct bats_error){0};
    assert_true(bats_verb_find(name, &verb));
    return bats_options_parse(verb, argc, argv, &set, &err);
}

static void takes(const char *verb, const char *line)
{
    if (parse(verb, line) != 0)
        fail_msg("%s: %s", line, err.text);
}

static void run_takes(const char *line)
{
    takes("run", line);
}

TEST(an_option_of_each_kind_arrives)
{
    run_takes("--clusters c.ini --budget 600.5 --window 1h30m --grace 250ms "
              "--seed 9223372036854775807 --time-scale 1e3 --memfree 10M "
              "--json j -q -o stream:a/b -");
    assert_string_equal(set.clusters, "c.ini");
    assert_true(set.run.budget == 600500000);
    assert_true(set.run.window == 5400 * BATS_SECOND && set.grace == 250000);
    assert_true(set.run.engine.seed == INT64_MAX &&
                bats_settings_given(&set, "seed"));
    assert_true(set.run.time_scale == 1000 && set.run.memfree == 10485760);
    assert_true(set.quiet && !set.tag && !bats_settings_given(&set, "tag"));
    assert_string_equal(set.output, "stream");
    assert_string_equal(set.output_dir, "a/b");
    assert_string_equal(set.json_file, "j");
    assert_string_equal(set.bag, "-");
    takes("plan", "p.json --confidence 0.95 --deadline 4h --json");
    assert_string_equal(set.words[0], "p.json");
    assert_true(set.confidence > 0.949 && set.confidence < 0.951);
    assert_true(set.deadline.duration == 4 * BATS_HOUR);
    assert_true(set.json && set.json_file == NULL);
    takes("output", "--task 3 -t 5,7-9 bag");
    assert_int_equal(set.n_task, 2);
    assert_string_equal(set.task[1], "5,7-9");
    takes("why", "r task 3");
    assert_string_equal(set.words[2], "3");
}

TEST(options_stand_anywhere_and_the_last_one_counts)
{
    run_takes("-b 1 bag --budget=2 -b3");
    assert_string_equal(set.bag, "bag");
    assert_true(set.run.budget == 3 * BATS_UNIT);
    run_takes("-- --tag");
    assert_string_equal(set.bag, "--tag");
    assert_false(set.tag);
    run_takes("--bud 7 --dry bag"); /* long options may be cut */
    assert_true(set.run.budget == 7 * BATS_UNIT && set.dry_run);
}

#define POLICIES                                                              \
    "bats|bkp|rr|dbc-cost|dbc-time|dbc-conservative-time|dbc-cost-time|"      \
    "expert|miser|mw-dbs|flow"

TEST(mistakes_are_named)
{
    static const char *const rows[][3] = {
        {"run", "", "the bag of tasks is missing"},
        {"run", "a b", "'b' is one argument too many: the bag is 'a'"},
        {"run", "--nonsense a", "there is no option --nonsense"},
        {"run", "--nonsense=3 a", "there is no option --nonsense"},
        {"run", "-qz a", "there is no option -z"},
        {"run", "--buget 3 a",
         "there is no option --buget; did you mean --budget?"},
        {"run", "--polciy=rr a",
         "there is no option --polciy; did you mean --policy?"},
        {"run", "--sbatsh a", "there is no option --sbatsh"},
        {"run", "staus bag",
         "'bag' is one argument too many: the bag is 'staus'; did you mean "
         "'bats-mpi status'?"},
        {"run", "--m a",
         "--m may mean --max-args, --max-replace-args, --machine, --minimize, "
         "--monitor, --memory, --memory-limit, --memfree"},
        {"run", "a --budget", "--budget needs AMOUNT|P%|account"},
        {"run", "a -qb", "--budget needs AMOUNT|P%|account"},
        {"run", "--tag=yes a", "--tag takes no argument"},
        {"run", "--policy best a",
         "--policy: invalid value 'best'; expected one of " POLICIES},
        {"run", "--policy bat a",
         "--policy: invalid value 'bat'; expected one of " POLICIES},
        {"run", "--window 0 a", "--window: it must be longer than 0"},
        {"run", "--output lines --results d bag",
         "--results and --output exclude each other"},
        {"run", "--record-sync ,7 a",
         "--record-sync: '' is not a duration such as 90, 15m, 1h30m or "
         "2-12:00:00"},
        {"run", "--record-sync 1s, a",
         "--record-sync: '' is not a whole number"},
        {"run", "--timeout 0 a", "--timeout: it must be longer than 0"},
        {"run", "--timeout % a", "--timeout: '' is not a number above 0"},
        {"run", "--retries 256 a",
         "--retries: '256' is not a whole number from 0 to 255"},
        {"run", "--delay 1 --timeout 9% a",
         "--delay and --timeout exclude each other"},
        {"run", "--open --shuf", "--open and --shuf exclude each other"},
        {"run", "--open a b",
         "'b' is one argument too many: the driver follows --"},
        {"plan", "--joblog f", "there is no option --joblog"},
        {"plan", "--pipe a", "there is no option --pipe"},
        {"plan", "--confidence 0.4",
         "--confidence: '0.4' is not a number from 0.5 to 0.9999"},
        {"plan", "p q", "'q' is one argument too many"},
        {"output", "a b", "'b' is one argument too many"},
        {"why", "r task 3 4", "'4' is one argument too many"},
        {"tasks", "",
         "the record of the run is missing (a bag called 'tasks' is run by "
         "the name ./tasks)"},
        {"tasks", "--state lost r",
         "--state: invalid value 'lost'; expected one of "
         "pending|running|done|failed|skipped|removed"},
        {"status", "--failed r", "there is no option --failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(rows[i][0], rows[i][1]), BATS_EINPUT);
        assert_string_equal(err.text, rows[i][2]);
    }
}

/* test_units.c has more of numbers, times, sizes and money. */
TEST(values_are_read_strictly)
{
    /* clang-format off */
    static const char *const wrong[] = {
        "--seed -1",           "--seed 1.5",
        "--time-scale 0",      "--time-scale 1e7",
        "--time-scale 1e-7",   "--silence -1s",
        "--budget lots",       "--window 5parsec",
        "--window 900000000h", "--grace -1",
        "--monitor 0",         "--silence 0",
        "--results=",          "--memfree 0",
        "--output file",       "--output stream:",
        "--output lin",        "--halt soon",
        "--halt later,fail=1", "--halt soon,fail=0",
        "--halt soon,fail=",   "--halt soon,fail=1x",
        "--halt soon,fail=%",  "--halt now,fail=-1",
        "--halt now,fail=101%", "--halt now,done=1",
        "--halt now,fail=1%%", "--halt never,fail=1",
        "--halt 5",            "--seed 9223372036854775808"};
    /* clang-format on */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s bag", wrong[i]);
        if (parse("run", line) != BATS_EINPUT)
            fail_msg("accepted: %s", line);
        /* The sentence names the option. */
        assert_memory_equal(err.text, line, strcspn(line, " ="));
    }
}

TEST(halt_is_that_of_gnu_parallel)
{
    static const struct {
        const char *line;
        struct bats_sched_rules rules;
    } good[] = {
        {"--halt never bag", {0}},
        {"--halt soon,fail=3 bag", {.halt_failed = 3}},
        {"--halt now,fail=1 bag", {.halt_failed = 1, .halt_now = true}},
        {"--halt soon,fail=30% bag", {.halt_share = 0.3}},
        {"--halt now,fail=100% bag", {.halt_share = 1, .halt_now = true}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const struct bats_sched_rules *is = &set.run.engine.rules;
        run_takes(good[i].line);
        assert_int_equal(is->halt_failed, good[i].rules.halt_failed);
        assert_true(is->halt_share == good[i].rules.halt_share);
        assert_true(is->halt_now == good[i].rules.halt_now);
    }
}

TEST(one_option_may_set_two_values)
{
    const struct bats_sched_rules *rules = &set.run.engine.rules;
    run_takes("--record-sync 2s bag");
    assert_true(set.run.sync_us == 2000000 && set.run.sync_events == 1000);
    run_takes("--record-sync 0,7 bag");
    assert_true(set.run.sync_us == 0 && set.run.sync_events == 7);
    run_takes("--timeout 1m bag");
    assert_true(rules->timeout == BATS_MINUTE);
    run_takes("--timeout 1m --timeout 250% bag");
    assert_true(rules->timeout == 0 && rules->timeout_median == 2.5);
    run_takes("--timeout 250% --timeout 7 bag");
    assert_true(rules->timeout == 7 * BATS_SECOND);
    assert_true(rules->timeout_median == 0);
}

TEST(what_only_parallel_has_is_refused_by_name)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"--pipe a", "there is no --pipe: let the command"},
        {"--sem=a a", "there is no --sem: use flock"},
        {"-j2 -X a", "there is no -X: give each task"},
        {"-S:: a", "there is no -S: start bats-mpi with"},
        {"-I{} a", "there is no -I: the replacement strings are"},
        {"a {=s/a/b/=} ::: a", "there are no Perl expressions {= =}: say"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse("run", cases[i].line), BATS_EINPUT);
        err.text[strlen(cases[i].says)] = '\0';
        assert_string_equal(err.text, cases[i].says);
    }
    run_takes("a ::: {=1=}");
}

TEST(budget_may_come_from_the_environment)
{
    setenv("BATS_BUDGET", "12.5", 1);
    run_takes("bag");
    assert_true(set.run.budget == 12500000);
    run_takes("bag --budget unlimited");
    assert_true(set.run.budget == BATS_UNLIMITED);
    run_takes("bag --budget account");
    assert_true(set.run.budget == BATS_BUDGET_ACCOUNT);
    setenv("BATS_BUDGET", "account", 1);
    takes("clusters", "");
    assert_true(set.run.budget == BATS_BUDGET_ACCOUNT);
    assert_int_equal(parse("plan", "profile"), BATS_EINPUT);
    setenv("BATS_BUDGET", "much", 1);
    assert_int_equal(parse("run", "bag"), BATS_EINPUT);
    assert_memory_equal(err.text, "BATS_BUDGET: ", 13);
    run_takes("bag --budget 1");
    run_takes("--help");
    unsetenv("BATS_BUDGET");
}

TEST(names_and_letters_are_unique_per_verb)
{
    for (size_t i = 0; i < bats_options_n; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct bats_option *a = &bats_options[i];
            const struct bats_option *b = &bats_options[j];
            if (!(a->verbs & b->verbs))
                continue;
            assert_string_not_equal(a->name, b->name);
            assert_true(a->letter == 0 || a->letter != b->letter);
        }
    }
}

/* The help of a verb, of the program (-1), or the man page (BATS_VERBS), with
 * what completion offers; for free(). */
static char *printed(int verb)
{
    char *text = NULL, name[32] = "", *words[] = {name, "--"};
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (verb < 0) {
        bats_help_program(out);
    } else if (verb == BATS_VERBS) {
        bats_help_man(out);
    } else {
        snprintf(name, sizeof name, "%s", bats_verbs[verb].name);
        bats_help_verb(out, (enum bats_verb)verb);
        bats_complete_words(out, 2, words);
    }
    fclose(out);
    return text;
}

TEST(every_option_is_in_help_man_and_completion)
{
    char *man = printed(BATS_VERBS);
    for (int v = 0; v < BATS_VERBS; v++) {
        char *help = printed(v);
        for (size_t i = 0; i < bats_options_n; i++) {
            const struct bats_option *o = &bats_options[i];
            char name[64], roff[128] = "\\-\\-";
            size_t n = 4;
            if (!(o->verbs & 1u << v))
                continue;
            snprintf(name, sizeof name, "--%s", o->name);
            for (const char *at = o->name; *at != '\0'; at++) {
                if (*at == '-')
                    roff[n++] = '\\';
                roff[n++] = *at;
            }
            assert_non_null(strstr(man, roff));
            assert_non_null(strstr(help, name));
            assert_non_null(strstr(strstr(help, "\n--"), name));
        }
        free(help);
    }
    free(man);
}

TEST(help_fits_80_columns)
{
    for (int v = -1; v < BATS_VERBS; v++) {
        char *text = printed(v);
        for (char *line = strtok(text, "\n"); line != NULL;
             line = strtok(NULL, "\n"))
            if (strlen(line) > 80 && strchr(line, '\t') == NULL)
                fail_msg("too wide: %s", line);
        free(text);
    }
}

TEST(what_was_given_can_be_told)
{
    /* As it was written, but in the order of the table. */
    static const struct {
        const char *line, *given;
    } rows[] = {
        {"bag", ""},
        {"--grace 5s --budget 7 bag", "--grace 5s"},
        {"bag --halt soon,fail=10% --retries 2 --timeout 300% -q",
         "--retries 2 --timeout 300% --halt soon,fail=10% --quiet"},
        {"bag --halt now,fail=3 --timeout 90s --retry-delay 1m "
         "--time-limit 4h --tail none --time-scale 2.5",
         "--tail none --time-limit 4h --retry-delay 1m --timeout 90s "
         "--halt now,fail=3 --time-scale 2.5"},
        {"bag --record-sync 2s,5 --no-replicate --joblog l --seed 7",
         "--no-replicate --seed 7 --record-sync 2s,5 --joblog l"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_takes(rows[i].line);
        json_t *json = bats_options_json(BATS_VERB_RUN, &set);
        char *text = bats_options_given(json);
        assert_string_equal(text, rows[i].given);
        free(text);
        json_decref(json);
    }
    assert_null(bats_options_given(NULL));
}

/* ---- --deadline ---- */

#define NOON 1795348800 /* 2026-11-22T12:00:00 UTC */

static bool reads(const char *text, struct bats_deadline *d)
{
    return bats_deadline_parse(text, NOON, d, &err) == 0;
}

TEST(a_duration_a_clock_or_a_date_is_a_moment)
{
    static const struct {
        const char *text;
        double scale;
        bats_time left;
    } rows[] = {
        {"4h", 1, 4 * BATS_HOUR},
        {"4h", 60, 4 * BATS_HOUR}, /* of virtual time */
        {"90", 1, 90 * BATS_SECOND},
        {"04:00:00", 1, 4 * BATS_HOUR},
        {"1-12", 1, 36 * BATS_HOUR},
        {"18:30", 1, 13 * BATS_HOUR / 2},
        {"18:30", 10, 65 * BATS_HOUR},
        {"12:00", 1, 24 * BATS_HOUR}, /* the next one */
        {"11:59", 1, 24 * BATS_HOUR - BATS_MINUTE},
        {"2026-11-22T12:30", 1, BATS_HOUR / 2},
        {"2026-11-22 12:00:10", 1, 10 * BATS_SECOND},
        {"2026-11-24", 1, 36 * BATS_HOUR},
        {"30%", 1, 0}, /* waits for what is known */
    };
    struct bats_deadline d;
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(reads(rows[i].text, &d));
        assert_int_equal(bats_deadline_from(&d, NOON, rows[i].scale),
                         rows[i].left);
    }
    assert_true(d.is_share && d.share == 0.3);
    assert_true(reads("0%", &d) && d.share == 0);
    assert_true(reads("100%", &d) && d.share == 1);
}

#define NEITHER                                                               \
    "is neither a duration like 4h, nor a time like 18:30 or "                \
    "2026-11-22T18:30, nor a percentage up to 100%"

TEST(what_is_no_deadline_is_refused)
{
    static const char *const rows[][2] = {
        {"0", "it must be longer than 0"},
        {"2026-11-22T11:59", "2026-11-22T11:59 is over"},
        {"soon", "'soon' " NEITHER},
        {"25:00", "'25:00' " NEITHER},
        {"101%", "'101%' " NEITHER}};
    struct bats_deadline d;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(bats_deadline_parse(rows[i][0], NOON, &d, &err),
                       BATS_EINPUT, rows[i][1]);
}

TEST_MAIN(NULL, NULL)
