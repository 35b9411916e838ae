/* profile: what is written is read, and what is wrong with a damaged one. */
#include <sys/stat.h>

#include "bats/bag.h"
#include "helpers/directory.h"
#include "input/profile.h"

static const char path[] = "p.json", bag_path[] = "bag";

static struct bats_bagfile *load_bag(const char *text)
{
    struct bats_bagfile *bag;

    write_text(bag_path, text);
    assert_ok(bats_bagfile_load(bag_path, &bag, &err));
    return bag;
}

/* ---- there and back ---- */

static const struct bats_observation observations[] = {
    {0, 0, 901250000}, {2, 0, 1}, {0, 1, 225312500}, {4, 1, 3600000000}};

static const uint8_t states[] = {BATS_TASK_DONE, BATS_TASK_PENDING,
                                 BATS_TASK_DONE, BATS_TASK_DONE,
                                 BATS_TASK_FAILED};

static void fill(struct bats_profile *p)
{
    struct bats_bagfile *bag = load_bag("a\nb\nc\nd\ne\n");

    *p = (struct bats_profile){.window = 90 * BATS_SECOND,
                               .elapsed = 1234567,
                               .currency = "SU",
                               .n_clusters = 2,
                               .n_observations = 4};
    p->clusters[0] =
        (struct bats_profile_cluster){.cluster = {"slow", 85000, 32},
                                      .slots = 1,
                                      .windows = 7,
                                      .charged = 595000};
    p->clusters[1] = (struct bats_profile_cluster){
        .cluster = {"fast", 0, 4}, .slots = 1.5, .windows = 1};
    p->observations = malloc(sizeof observations);
    assert_non_null(p->observations);
    memcpy(p->observations, observations, sizeof observations);
    assert_int_equal(bats_profile_set_bag(p, bag, NULL), 0);
    assert_int_equal(bats_profile_set_states(p, states, NULL), 0);
    bats_bagfile_destroy(bag);
}

/* Texts may be anything. The hash is FNV-1a of the commands, by hand. */
#define WRITTEN                                                               \
    "{\"bats_profile\":1,\"bag\":{\"name\":\"b\xee\xbf\xa9g\\u001B\","        \
    "\"tasks\":5,\"hash\":\"f1f7bb6ebc084ce4\"},\"window_s\":90,"             \
    "\"billing\":\"window\",\"currency\":\"S\xee\xbf\xbf\\n\","               \
    "\"elapsed_s\":1.234567,\"clusters\":[{\"name\":\"slow\","                \
    "\"charge\":\"0.085\",\"max\":32,\"slots\":1.0,\"windows\":7,"            \
    "\"charged\":\"0.595\",\"sample\":[[1,901.25],[3,1e-6]]},"                \
    "{\"name\":\"fast\",\"charge\":\"0\",\"max\":4,\"slots\":1.5,"            \
    "\"windows\":1,\"charged\":\"0\",\"sample\":[[1,225.3125],[5,3600]]}],"   \
    "\"done\":[[1,1],[3,4]],\"failed\":[[5,5]]}\n"

TEST(profile_is_read_as_it_was_written)
{
    struct bats_profile p, q;

    fill(&p);
    strcpy(p.currency, "S\xff\n");
    free(p.bag_name);
    p.bag_name = strdup("b\xe9g\x1b");
    assert_ok(bats_profile_save(&p, path, &err));
    write_text("expected", WRITTEN);
    assert_int_equal(system("cmp p.json expected"), 0);
    assert_ok(bats_profile_load(path, &q, &err));
    assert_ok(bats_profile_save(&q, path, &err));
    assert_int_equal(system("cmp p.json expected"), 0);
    assert_string_equal(q.bag_name, p.bag_name);
    assert_string_equal(q.currency, p.currency);
    assert_memory_equal(q.observations, observations, sizeof observations);
    assert_int_equal(bats_profile_left(&q), 1);
    assert_int_equal(bats_profile_charged(&q), 595000);
    bats_profile_release(&p);
    bats_profile_release(&q);
}

TEST(file_that_cannot_be_written_is_an_error)
{
    struct bats_profile p;
    char nowhere[96];

    fill(&p);
    snprintf(nowhere, sizeof nowhere, "%s/none/p.json", directory);
    assert_says(bats_profile_save(&p, nowhere, &err), BATS_EINPUT, nowhere);
    bats_profile_release(&p);
}

/* ---- another bag ---- */

TEST(profile_of_another_bag_is_refused)
{
    struct bats_profile p;

    fill(&p);
    struct bats_bagfile *same = load_bag("# a comment\na\nb\n\nc\nd\ne");
    assert_ok(bats_profile_check_bag(&p, "p.json", same, &err));
    bats_bagfile_destroy(same);
    struct bats_bagfile *longer = load_bag("a\nb\nc\nd\ne\nf\n");
    assert_says(bats_profile_check_bag(&p, "p.json", longer, &err),
                BATS_EINPUT, "p.json: made for a bag of 5 tasks");
    assert_non_null(strstr(err.text, "has 6"));
    bats_bagfile_destroy(longer);
    static const char *const others[] = {"a\nb\nc\nd\nf\n", "a\nc\nb\nd\ne\n",
                                         "ab\n:\nc\nd\ne\n"};
    for (int i = 0; i < 3; i++) {
        struct bats_bagfile *other = load_bag(others[i]);
        assert_says(bats_profile_check_bag(&p, "p.json", other, &err),
                    BATS_EINPUT, "other commands");
        bats_bagfile_destroy(other);
    }
    bats_profile_release(&p);
}

/* ---- damage ---- */

#define BAG                                                                   \
    "\"bag\":{\"name\":\"b\",\"tasks\":9,\"hash\":\"0123456789abcdef\"}"
#define TIMES "\"window_s\":60,\"elapsed_s\":60,\"currency\":\"\""
#define CLUSTER                                                               \
    "{\"name\":\"a\",\"charge\":\"3\",\"max\":2,\"slots\":1,\"windows\":1,"   \
    "\"charged\":\"3\",\"sample\":[[9,1.5]]}"
#define ENDED "\"done\":[[1,2],[4,4]],\"failed\":[[3,3]]"
#define WHOLE                                                                 \
    "{\"bats_profile\":1," BAG "," TIMES ",\"clusters\":[" CLUSTER "]," ENDED \
    "}"

/* `from` in the sound profile replaced by `to`. */
static void damage(char *text, size_t size, const char *from, const char *to)
{
    const char *at = strstr(WHOLE, from);

    assert_non_null(at);
    snprintf(text, size, "%.*s%s%s", (int)(at - WHOLE), WHOLE, to,
             at + strlen(from));
}

TEST(damage_is_named)
{
    static const struct {
        const char *from, *to, *said;
    } cases[] = {
        {"}", "", ":1: "},
        {"\"bats_profile\":1,", "", "this is not a profile"},
        {"\"bats_profile\":1", "\"bats_profile\":2", "bats_profile has to be"},
        {BAG, "\"bag\":7", "bag has to have a name"},
        {"\"tasks\":9", "\"tasks\":0", "bag.tasks has to be a whole number"},
        {"\"tasks\":9", "\"tasks\":9.5", "bag.tasks"},
        {"0123456789abcdef", "0123456789abcdeg", "hexadecimal"},
        {"0123456789abcdef", "012345", "hexadecimal"},
        {"\"window_s\":60", "\"window_s\":0", "window_s has to be above 0"},
        {"\"window_s\":60", "\"window_s\":\"60\"", "window_s has to be"},
        {"\"elapsed_s\":60", "\"elapsed_s\":-1", "elapsed_s has to be"},
        {"\"elapsed_s\":60", "\"elapsed_s\":1e300", "elapsed_s has to be"},
        {"\"currency\":\"\"", "\"currency\":\"0123456789abcdef\"",
         "currency has to be a text of less than 16 bytes"},
        {CLUSTER, "", "clusters has no cluster"},
        {CLUSTER, CLUSTER "," CLUSTER, "clusters[1] has the name of another"},
        {CLUSTER, "3", "clusters[0].name has to be a text"},
        {"\"name\":\"a\"", "\"name\":\"\"", "clusters[0]: "},
        {"\"charge\":\"3\"", "\"charge\":\"-3\"", "clusters[0].charge: "},
        {"\"charge\":\"3\"", "\"charge\":3", "clusters[0].charge has to be"},
        {"\"max\":2", "\"max\":-1", "clusters[0].max has to be"},
        {"\"max\":2", "\"max\":4294967296", "clusters[0].max has to be"},
        {"\"slots\":1", "\"slots\":0", "clusters[0].slots has to be"},
        {"\"slots\":1", "\"slot\":1", "clusters[0].slots has to be"},
        {"\"charged\":\"3\"", "\"charged\":\"x\"", "clusters[0].charged: "},
        {"[[9,1.5]]", "7", "clusters[0].sample has to be a list"},
        {"[9,1.5]", "[9]", "clusters[0].sample[0] has to be a task and"},
        {"[9,1.5]", "[9,1],[10,1]",
         "clusters[0].sample[1] has to begin with a task from 1 to 9"},
        {"[9,1.5]", "[9,-1]", "clusters[0].sample[0] has to be a number of"},
        {"[[1,2],[4,4]]", "[[1,2],[2,4]]",
         "done[1] is not in ascending order"},
        {"[[1,2],[4,4]]", "[[2,1]]", "done[0] is not in ascending order"},
        {"[[1,2],[4,4]]", "[1,2]", "done[0] has to be a first and a last"},
        {"[[3,3]]", "[[4,9]]", "task 4 is both done and failed"},
        {"\"failed\":[[3,3]]", "\"failed\":{}", "failed has to be a list"},
        {"\"max\":2", "\"max\":2,\"max\":3", "duplicate"},
    };
    struct bats_profile p;
    char text[1024];

    write_text(path, WHOLE);
    assert_ok(bats_profile_load(path, &p, &err));
    assert_int_equal(bats_profile_left(&p), 5);
    bats_profile_release(&p);
    p.n_tasks = 77;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        damage(text, sizeof text, cases[i].from, cases[i].to);
        write_text(path, text);
        assert_int_equal(bats_profile_load(path, &p, &err), BATS_EINPUT);
        if (strncmp(err.text, path, strlen(path)) != 0 ||
            !strstr(err.text, cases[i].said))
            fail_msg("'%s' does not say '%s'", err.text, cases[i].said);
        assert_int_equal(p.n_tasks, 77);
    }
}

TEST_MAIN(enter_directory, leave_directory)
