/* clusters file: what it says, and its mistakes. */
#include "helpers/clusters_fixture.h"
#include "input/clusters_file.h"
#include "util/text.h"

/* The file is refused, and what stands behind its path begins with this. */
static void refuse_bytes(const char *text, size_t length, const char *expected)
{
    struct bats_clusters_file *none = NULL;
    write_bytes(clusters_path, text, length);
    if (bats_clusters_file_load(clusters_path, 0, &none, &err) == 0)
        fail_msg("accepted, but not: %s", expected);
    assert_null(none);
    assert_behind(clusters_path, expected);
}

static void refuse(const char *text, const char *expected)
{
    refuse_bytes(text, strlen(text), expected);
}

/* `line` is the third of a file whose other lines are right. */
static void refuse_line(const char *line, const char *expected)
{
    char text[1024];
    snprintf(text, sizeof text, "[cluster x]\ncharge = 1\n%s\n", line);
    refuse(text, expected);
}

/* ---- files that are right ---- */

/* Window and currency of the file, and name, charge and max of each cluster. */
static void expect(const struct bats_clusters_file *is, const char *expected)
{
    char text[1024] = "", word[BATS_UNITS_TEXT];
    bats_append(text, sizeof text, "%s%s",
                bats_duration_format(word, is->window), is->currency);
    for (size_t i = 0; i < is->n_sections; i++) {
        const struct bats_cluster *c = &is->sections[i].model.cluster;
        bats_append(text, sizeof text, ", %s %s", c->name,
                    bats_money_format(word, c->charge));
        if (c->max != UINT32_MAX)
            bats_append(text, sizeof text, " %u", c->max);
    }
    assert_string_equal(text, expected);
}

TEST(the_documented_file_is_read_and_what_is_not_given_has_a_default)
{
    expect(load("[run]\n"
                "window = 60m\n"
                "currency = SU\n"
                "[cluster slow]\n"
                "nodes = slow[1-4]      # or ranks = 1-32\n"
                "charge = 3.0           # per machine per window\n"
                "max = 32\n"
                "machine = rank         # or node\n"
                "speed = 1              # emulation only\n"
                "[cluster fast]\n"
                "partition = gpu\n"
                "charge = 0.085\n"),
           "1hSU, slow 3 32, fast 0.085");
    expect(load("[cluster x]\ncharge=0"), "1h, x 0");
}

/* 1.5 x 15 / 60 = 0.375; 0.000001 x 15 / 60 is a quarter of a millionth; 2 x
 * 24 = 48 a day. */
TEST(a_charge_per_hour_is_charged_by_the_window)
{
    static const char text[] = "[cluster a]\ncharge = 1.5/h\nranks = 1\n"
                               "[cluster b]\ncharge = 0.000001/h\nranks = 2\n"
                               "[cluster c]\ncharge = 2/h\nranks = 3\n"
                               "[cluster d]\ncharge = 1.5\nranks = 4\n"
                               "[run]\nwindow = 15m\nminimum = 15m\n";
    expect(load(text), "15m, a 0.375 1, b 0.000001 1, c 0.5 1, d 1.5 1");
    expect(load_with(text, 24 * BATS_HOUR),
           "1d, a 36 1, b 0.000024 1, c 48 1, d 1.5 1");
}

TEST(a_window_below_the_minimum_is_refused)
{
    struct bats_clusters_file *none = NULL;
    refuse("[run]\nwindow = 10m\nminimum = 15m\n[cluster a]\ncharge = 1\n",
           ":3: a window of 10m is shorter than 15m, the shortest that is "
           "charged");
    refuse("[run]\nminimum = 2h\n[cluster a]\ncharge = 1\n",
           ":2: a window of 1h is shorter than 2h, the shortest that is "
           "charged");
    expect(load("[run]\nminimum = 1h\n[cluster a]\ncharge = 1\n"), "1h, a 1");
    assert_says(
        bats_clusters_file_load(clusters_path, 59 * BATS_MINUTE, &none, &err),
        BATS_EINPUT,
        ":2: a window of 59m is shorter than 1h, the shortest that is charged");
    assert_null(none);
}

TEST(max_follows_from_the_list_where_it_can)
{
    expect(load("[cluster a]\ncharge=1\nranks=1-32,40\n"
                "[cluster b]\ncharge=1\nranks=41-48\nmachine=node\n"
                "[cluster c]\ncharge=1\nnodes=c[1-4]\n"
                "[cluster d]\ncharge=1\nnodes=d[1-4]\nmachine=node\n"
                "[cluster e]\ncharge=1\nnodes=e[1-4]\nmachine=node\nmax=3\n"),
           "1h, a 1 33, b 1, c 1, d 1 4, e 1 3");
}

/* Byte order mark, CRLF, indented keys, colons, long and other comments. */
TEST(spelling_is_free_where_nothing_hangs_on_it)
{
    char text[1024], rest[300];
    memset(rest, 'x', sizeof rest - 1);
    rest[sizeof rest - 1] = '\0';
    snprintf(text, sizeof text,
             "\xEF\xBB\xBF  [ cluster \t x-1.y_z ]  # %s\r\n"
             "; %s\r\n"
             "\r\n"
             "\tcharge=2.5\t; here, too\r\n"
             "  max: 7\r\n"
             "[run]\r\n"
             "    currency = a;b#c\r\n"
             "    window = 1:30:00",
             rest, rest);
    expect(load(text), "1h30ma;b#c, x-1.y_z 2.5 7");
}

/* ---- files that are wrong ---- */

TEST(lines_of_another_form_are_refused)
{
    char line[300] = "nodes = "; /* of any length */
    memset(line + 8, 'a', 280);
    line[288] = '\0';
    refuse_line(line, ":3: nodes: not a list of hosts such as slow[1-4,7],"
                      "login1: too long a name at 'aaaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaa'");
    refuse_bytes("[cluster x]\nmax\0 = 3\n", 21,
                 ":2: a NUL byte; is this a text file?");
}

TEST(names_of_clusters_are_checked)
{
    char text[128], name[65];
    memset(name, 'n', 64);
    name[64] = '\0';
    sprintf(text, "[cluster %s]\ncharge = 1\n", name);
    refuse(text, ":1: the name of the cluster is longer than 63 characters");
    name[63] = '\0';
    sprintf(text, "[cluster %s]\ncharge = 1\n", name);
    load(text);
    assert_string_equal(file->sections[0].model.cluster.name, name);
}

TEST(garbled_lists_are_refused)
{
    static const char *const ranks[] = {
        "",    "x",    "1-",    "-1",  "4-1",        "1,",   ",1",
        "1 2", "1,,2", "1-2-3", "1.5", "9999999999", "[1-4]"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        char line[64], expected[100];
        sprintf(line, "ranks = %s", ranks[i]);
        sprintf(expected,
                ":3: ranks: '%s' is not a list of ranks such as 1-32,40",
                ranks[i]);
        refuse_line(line, expected);
    }
}

TEST(too_many_clusters_are_refused)
{
    char text[33 * 48] = "", *end = text;
    for (int i = 0; i < 33; i++)
        end += sprintf(end, "[cluster c%d]\ncharge=1\nranks=%d\n", i, i);
    refuse(text, ":97: more than 32 clusters");
    *strstr(text, "[cluster c32]") = '\0';
    load(text);
    assert_int_equal(file->n_sections, BATS_CLUSTERS_MAX);
}

TEST(a_text_is_read_as_a_file)
{
    bats_clusters_file_destroy(file);
    assert_ok(bats_clusters_text_load("[cluster x]\ncharge = 2\n", "here", 0,
                                      &file, &err));
    expect(file, "1h, x 2");
    bats_clusters_file_destroy(file);
    file = NULL;
    assert_refused(
        bats_clusters_text_load("[cluster x]\n", "here", 0, &file, &err),
        BATS_EINPUT, "here:1: [cluster x] has no charge");
}

TEST(prices_and_lifetimes_are_read)
{
    load("[run]\nwindow = 30m\n"
         "[cluster demand]\ncharge = 1/h\nranks = 1\n"
         "[cluster spot]\ncharge = 0.3/h\nranks = 2\n"
         "reclaimable = yes\nnotice = 2m\nfree = 1h\n"
         "guaranteed = 10m\nlifetime = lognormal(90m, 1.39), 34%\n"
         "[cluster block]\ncharge = 0.4/h..0.6/h\nblock = 1h..6h\n"
         "ranks = 3\n"
         "[cluster aged]\ncharge = 1/h for 2h, 0.25/h after\n"
         "ranks = 4\nreclaimable = yes\nlifetime = exponential(2h)\n");
    const struct bats_cluster *c = &file->sections[0].model.cluster;
    assert_int_equal(file->billing, BATS_BILLING_SECOND);
    assert_int_equal(c->charge, BATS_UNIT / 2);
    assert_int_equal(c->tariff.n_steps, 1);
    assert_false(c->reclaimable);
    c = &file->sections[1].model.cluster;
    assert_true(c->reclaimable);
    assert_int_equal(c->notice, 2 * BATS_MINUTE);
    assert_int_equal(c->tariff.free, BATS_HOUR);
    assert_int_equal(c->lifetime.guaranteed, 10 * BATS_MINUTE);
    assert_int_equal(c->lifetime.survival, BATS_SURVIVAL_LOGNORMAL);
    assert_true(c->lifetime.a == 90.0 * BATS_MINUTE && c->lifetime.b == 1.39 &&
                c->lifetime.share == .34);
    c = &file->sections[2].model.cluster;
    assert_int_equal(c->tariff.shortest, BATS_HOUR);
    assert_int_equal(c->tariff.longest, 6 * BATS_HOUR);
    assert_int_equal(c->tariff.charge_longest, 6 * BATS_UNIT / 10);
    assert_int_equal(c->tariff.n_steps, 1);
    c = &file->sections[3].model.cluster;
    assert_int_equal(c->tariff.per, BATS_HOUR);
    assert_int_equal(c->tariff.n_steps, 2);
    assert_int_equal(c->tariff.step[1].from, 2 * BATS_HOUR);
    assert_int_equal(c->tariff.step[1].charge, BATS_UNIT / 4);
    assert_true(c->lifetime.share == 1);
}

TEST(mistakes_are_refused_with_their_line)
{
    static const struct {
        const char *lines, *expected;
    } wrong[] = {
        {"max 3", ":3: neither [SECTION] nor key = value"},
        {"[cluster y", ":3: not a section of the form [NAME]"},
        {"[cluster y] max = 3", ":3: not a section of the form [NAME]"},
        {"  3", ":3: an indented line without '=' continues the line above, "
                "but 'charge' is not a list"},
        {"nodes = a[1-4\nmax = 1",
         ":3: nodes: not a list of hosts such as slow[1-4,7],login1: "
         "an odd bracket at '[1-4'"},
        {"nodes = a[1-4],a2", ":3: nodes: host 'a2' is named twice"},
        {"nodes = a[0-99999]", ":3: nodes: a list of more than 65536 hosts"},
        {"lifetime = normal(1h, 2)",
         ":3: lifetime: expected exponential(MEAN), weibull(SCALE, SHAPE) or "
         "lognormal(MEDIAN, SIGMA), and perhaps ', P%', or trace FILE"},
        {"reclaimable = yes\nlifetime = exponential(1h), 34",
         ":4: lifetime: expected exponential(MEAN)"},
        {"reclaimable = yes\nlifetime = exponential(1h), 134%",
         ":4: lifetime: more than 100 %"},
        {"lifetime = exponential(1h)",
         ":3: lifetime: is for reclaimable = yes"},
        {"notice = 2m", ":3: notice: is for reclaimable = yes"},
        {"free = 2m", ":3: free: is for reclaimable = yes"},
        {"guaranteed = 2m", ":3: guaranteed: is for reclaimable = yes"},
        {"reclaimable = maybe",
         ":3: reclaimable: 'maybe' is neither yes nor no"},
        {"block = 6h", ":3: block: expected TIME..TIME, as 1h..6h"},
        {"block = 6h..1h",
         ":3: block: '6h..1h' is not a range of lengths above 0"},
        {"block = 1h..2h\nreclaimable = yes",
         ":3: block: a block is not reclaimed before its end: no reclaimable "
         "= yes"},
        {"[run]\nbilling = window\n[cluster y]\ncharge = 1\nblock = 1h..2h",
         ":1: cluster 'x' has none of nodes, ranks and partition"},
        {"block = 1h..2h\n[run]\nbilling = use",
         ":3: block: needs billing = second"},
        {"node = a1",
         ":3: unknown key 'node' in [cluster x]; known are nodes, "
         "ranks, partition, max, machine, charge, speed, expected, "
         "reliable, reliability, survival, noticed, "
         "charge_lost, block, reclaimable, notice, guaranteed, free, "
         "lifetime, slots, memory and gpus"},
        {"window = 1h", ":3: unknown key 'window' in [cluster x]; "},
        {"[cluster y]\ncharge = 1\n[cluster x]",
         ":5: cluster 'x' is already on line 1"},
        {"charge = 1", ":3: 'charge' is already on line 2"},
        {"max = 1\nspeed = 2\nmax = 1", ":5: 'max' is already on line 3"},
        {"max = 0", ":3: max: '0' is not a whole number from 1 to "
                    "4294967294"},
        {"max = x", ":3: max: 'x' is not a whole number from 1 to "},
        {"max = 4294967295", ":3: max: '4294967295' is not a whole "},
        {"speed = 0", ":3: speed: '0' is not a number above 0"},
        {"machine = host", ":3: machine: 'host' is neither rank nor node"},
        {"nodes = a1\nranks = 1",
         ":4: ranks: beside 'nodes' on line 3: a cluster has one of "
         "nodes, ranks and partition"},
        {"partition = p\n#\nnodes = a1",
         ":5: nodes: beside 'partition' on line 3: a cluster has one "
         "of nodes, ranks and partition"},
        {"ranks = 1\n[cluster y]\ncharge = 1",
         ":4: cluster 'y' has none of nodes, ranks and partition"},
        {"[cluster y]\ncharge = 1\nranks = 1",
         ":1: cluster 'x' has none of nodes, ranks and partition"},
        {"partition =", ":3: partition: no name"},
        {"reliability = 0", ":3: reliability: '0' is not a number "
                            "above 0 and at most 1"},
        {"reliability = 1.01", ":3: reliability: '1.01' is not a "},
        {"reliability = nan", ":3: reliability: 'nan' is not a "},
        {"reliability = 0.9, 0.5",
         ":3: reliability: expected SHARE, then SHARE from TIME"},
        {"reliability = 0.9, 0.5 from 2h, 0.7 from 1h",
         ":3: reliability: the times do not ascend"},
        {"survival = uniform 1h",
         ":3: survival: expected exponential MEAN, weibull SCALE "
         "SHAPE or lognormal MEDIAN SIGMA"},
        {"survival = exponential 0", ":3: survival: '0' is not above 0"},
        {"reliable = maybe", ":3: reliable: 'maybe' is neither yes nor no"},
        {"reliable = yes\nreliability = 0.5",
         ":3: reliable: 'yes' beside losses"},
        {"noticed = 0\nreliability = 0.5", ":3: noticed: '0' is not above 0"},
        {"reliable = yes\nnoticed = 10s", ":3: reliable: 'yes' beside losses"},
        {"charge_lost = no", ":3: charge_lost: the cluster is "
                             "reliable"},
        {"charge_lost = no\nreliability = 0.5",
         ":3: charge_lost: only billing = use charges for single "
         "executions"}};
    static const char *const files[][2] = {
        {"[run]\n  3\n", ":2: neither [SECTION] nor key = value"},
        {"[cluster]\n", ":1: a cluster without a name: write [cluster NAME]"},
        {"[cluster a b]\n", ":1: 'a b' is not a name for a cluster: letters, "
                            "digits, '-', '_' and '.' only"},
        {"[cluster a=1]\n", ":1: 'a=1' is not a name for a cluster"},
        {"\n[runs]\n",
         ":2: unknown section [runs]; known are [run] and [cluster NAME]"},
        {"[run x]\n", ":1: unknown section [run x]; "},
        {"[Cluster x]\n", ":1: unknown section [Cluster x]; "},
        {"[]\n", ":1: unknown section []; "},
        {"[run]\n\nwindows = 1h\n",
         ":3: unknown key 'windows' in [run]; known are window, "
         "minimum, currency and billing"},
        {"#\nmax = 3\n[cluster x]\ncharge = 1\n",
         ":2: 'max' is before the first section"},
        {"[run]\nwindow = 1h\n[run]\n",
         ":3: section [run] is already on line 1"},
        {"[run]\nwindow = 1h\nwindow = 1h\n",
         ":3: 'window' is already on line 2"},
        {"\n[cluster x]\nmax = 3\n", ":2: [cluster x] has no charge"},
        {"[cluster x]\ncharge = 1\nranks = 1\n[cluster y]\n[run]\n",
         ":4: [cluster y] has no charge"},
        {"[cluster x]\ncharge = -3\n",
         ":2: charge: the amount '-3' is negative"},
        {"[cluster x]\ncharge = 3 SU\n",
         ":2: charge: '3 SU' is not an amount such as 3 or 0.085"},
        {"[cluster x]\ncharge = 99999999999999\n",
         ":2: charge: the amount '99999999999999' is too large"},
        {"[cluster x]\ncharge = 3/d\n", ":2: charge: '3/d' is not an amount"},
        {"[cluster x]\ncharge = /h\n", ":2: charge: '/h' is not an amount"},
        {"[cluster x]\ncharge = 9000000000000/h\n[run]\nwindow = 2h\n",
         ":2: charge: the charge of a window of 2h is too "
         "large"},
        {"[run]\nwindow = 0\n", ":2: window: it must be longer than 0"},
        {"[run]\nminimum = 0\n", ":2: minimum: it must be longer than 0"},
        {"[run]\nwindow = -1h\n",
         ":2: window: '-1h' is not a duration such as 90, 15m, 1h30m or "
         "2-12:00:00"},
        {"[run]\ncurrency = 1234567890123456\n",
         ":2: currency: '1234567890123456' is longer than 15 bytes"},
        {"", ":1: the file ends without a section "
             "[cluster NAME]"},
        {"# nothing\n\n", ":2: the file ends without a section"},
        {"[run]\nwindow = 1h\n", ":2: the file ends without a section"},
        {"[run]\nbilling = use\n[cluster x]\nnodes = a\nmachine = node\n"
         "charge = 1\nreliable = no\ncharge_lost = no\n",
         ":8: charge_lost: a machine that runs several tasks is charged "
         "for all of them together"},
        {"[cluster x]\ncharge = 1/h..2\n",
         ":2: charge: '2': either all are per hour or none is"},
        {"[cluster x]\ncharge = 1..2\n",
         ":2: charge: a range of prices is for blocks: block = 1h..6h"},
        {"[cluster x]\ncharge = 2..1\nblock=1h..2h\n",
         ":2: charge: the longest block charges less than the shortest one"},
        {"[cluster x]\ncharge = 1/h for 2h, 0.5/h after\nblock=1h..2h\n",
         ":2: charge: a block has one price, or two for its ends: "
         "AMOUNT..AMOUNT"},
        {"[cluster x]\ncharge = 1/h for 2h, 0.5/h\n",
         ":2: charge: expected AMOUNT, AMOUNT/h, AMOUNT..AMOUNT or AMOUNT "
         "for TIME, AMOUNT after"},
        {"[cluster x]\ncharge = 1 for 0s, 2 after\n",
         ":2: charge: '0s' is not above 0"},
        {"[run]\nbilling = allocation\n"
         "[cluster x]\ncharge = 1/h for 2h, 0.5/h after\n",
         ":4: charge: needs billing = second"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse_line(wrong[i].lines, wrong[i].expected);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        refuse(files[i][0], files[i][1]);
}

TEST(charges_per_hour_are_those_of_an_allocation)
{
    static const struct {
        const char *text;
        enum bats_billing_model model;
    } rows[] = {{"[cluster a]\ncharge = 2/h\n", BATS_BILLING_ALLOCATION},
                {"[cluster a]\ncharge = 2\n", BATS_BILLING_WINDOW},
                {"[cluster a]\ncharge = 2/h\nranks = 1\n"
                 "[cluster b]\ncharge = 2\nranks = 2\n",
                 BATS_BILLING_WINDOW},
                {"[run]\nbilling = window\n[cluster a]\ncharge = 2/h\n",
                 BATS_BILLING_WINDOW},
                {"[run]\nbilling = allocation\n[cluster a]\ncharge = 2\n",
                 BATS_BILLING_ALLOCATION}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        load(rows[i].text);
        assert_int_equal(file->billing, rows[i].model);
    }
}

/* Only losses that are not emulated, and of which the file says nothing, are
 * noticed after a time that is not the file's. */
TEST(unreliable_clusters_and_real_losses_are_known)
{
    static const struct {
        const char *line;
        bats_time noticed;
        bool unreliable, lost_is_free;
    } rows[] = {
        {"reliable = no", 60 * BATS_SECOND, true, false},
        {"reliability = 0.5", 0, true, false},
        {"reliability = 0.5\ncharge_lost = no", 0, true, true},
        {"reliable = no\nnoticed = 5s", 5 * BATS_SECOND, true, false},
        {"reliability = 0.5\nnoticed = 5s", 5 * BATS_SECOND, true, false},
        {"noticed = no", 0, true, false},
        {"reliable = yes", 0, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "[run]\nbilling = use\n[cluster a]\ncharge = 1\n%s\n",
                 rows[i].line);
        load(text);
        const struct bats_cluster *a = &file->sections[0].model.cluster;
        bats_clusters_file_notice(file, 60 * BATS_SECOND);
        assert_int_equal(a->noticed, rows[i].noticed);
        assert_int_equal(a->unreliable, rows[i].unreliable);
        assert_int_equal(a->lost_is_free, rows[i].lost_is_free);
    }
}

TEST_MAIN(enter_directory, leave_directory)
