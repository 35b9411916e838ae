/* Output of many tasks in one file, and how it is found again. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "exec/output/outdir.h"
#include "exec/output/outfile.h"
#include "helpers/directory.h"

#define FIRST                                                                 \
    "# bats-mpi output 1: task attempt stopped exit signal begin end stdout " \
    "stderr\n"

static int complaints;
static char complaint[600];

static int set_up(void **state)
{
    complaints = 0;
    return enter_directory(state);
}

/* ---- writing ---- */

static struct bats_outfile *create(const char *prefix)
{
    struct bats_outfile *file;
    assert_ok(bats_outfile_create(prefix, &file, &err));
    return file;
}

static void add(struct bats_outfile *file, int stream, const char *text)
{
    assert_int_equal(bats_outfile_add(file, stream, text, strlen(text), NULL),
                     0);
}

static void end(struct bats_outfile *file, int exit_status, bool stopped)
{
    struct bats_usage usage = {.exit_status = exit_status};
    assert_int_equal(bats_outfile_end(file, stopped, &usage, NULL), 0);
}

/* One attempt that writes one text. */
static void attempt(struct bats_outfile *file, uint32_t task, uint32_t number,
                    const char *text, int exit_status, bool stopped)
{
    bats_outfile_begin(file, task, number);
    add(file, 1, text);
    end(file, exit_status, stopped);
}

static size_t load(const char *name, char *bytes, size_t size)
{
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size, file);
    fclose(file);
    return n;
}

/* ---- reading ---- */

static void hear(void *context, const char *sentence)
{
    complaints++;
    snprintf(complaint, sizeof complaint, "%s", sentence);
}

static struct bats_outdir d;

/* Closes what was open before. */
static void open_dir(void)
{
    bats_outdir_release(&d);
    d.complain = hear;
    complaints = 0;
    assert_ok(bats_outdir_open(&d, ".", &err));
}

static int tear_down(void **state)
{
    bats_outdir_release(&d);
    return leave_directory(state);
}

struct text {
    char bytes[1000];
    size_t n;
    size_t longest;
};

static bool collect(void *context, const char *bytes, size_t n)
{
    struct text *t = context;
    if (n > t->longest)
        t->longest = n;
    if (t->n + n < sizeof t->bytes)
        memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return true;
}

static struct text text_of(size_t i, int stream, int expected)
{
    struct text t = {.n = 0};
    assert_int_equal(
        bats_outdir_read(&d, &d.entries[i], stream, collect, &t, NULL),
        expected);
    return t;
}

static void has(size_t i, int stream, const char *text)
{
    struct text t = text_of(i, stream, 0);
    assert_int_equal(t.n, strlen(text));
    assert_memory_equal(t.bytes, text, t.n);
}

/* ---- tests ---- */

TEST_WITH(the_files_look_as_documented, set_up, tear_down)
{
    char bytes[1000];
    struct bats_outfile *file = create("new/below/stream-r-1");
    struct bats_usage usage = {
        .exit_status = 143, .signal = 15, .written = {8, 70000000000}};
    bats_outfile_begin(file, 6, 2);
    add(file, 1, "hello\n");
    add(file, 2, "a b");
    assert_int_equal(bats_outfile_end(file, true, &usage, NULL), 0);
    assert_int_equal(usage.begin, 0);
    assert_int_equal(usage.end, 2 * BATS_OUTFILE_HEAD + 9);
    bats_outfile_begin(file, 4294967294, 1);
    end(file, 0, false);
    bats_outfile_destroy(file);

    size_t n = load("new/below/stream-r-1.out", bytes, sizeof bytes);
    static const char out[] =
        "#bats 0000000007 0000000002 1 0000000006\nhello\n"
        "#bats 0000000007 0000000002 2 0000000003\na b";
    assert_int_equal(n, sizeof out - 1);
    assert_memory_equal(bytes, out, n);
    n = load("new/below/stream-r-1.index", bytes, sizeof bytes);
    static const char index[] = FIRST "7 2 1 143 15 0 91 8 70000000000\n"
                                      "4294967295 1 0 0 0 91 91 0 0\n";
    assert_int_equal(n, sizeof index - 1);
    assert_memory_equal(bytes, index, n);
}

TEST_WITH(both_streams_come_back_in_order, set_up, tear_down)
{
    struct bats_outfile *a = create("stream-r-1"), *b = create("stream-r-2");
    bats_outfile_begin(a, 5, 1);
    bats_outfile_begin(b, 0, 1);
    for (int i = 0; i < 3; i++) {
        add(a, 1, "x1");
        add(b, 2, "y2");
        add(a, 2, "x2");
        add(b, 1, "#bats 0000000001 0000000001 1 0000000006\n");
    }
    assert_int_equal(bats_outfile_add(a, 1, "\0\377\r\n", 4, NULL), 0);
    end(a, 0, false);
    end(b, 3, false);
    attempt(a, 2, 1, "third", 0, false);
    bats_outfile_destroy(a);
    bats_outfile_destroy(b);

    open_dir();
    assert_int_equal(d.n, 3);
    assert_int_equal(d.entries[0].task, 0);
    assert_int_equal(d.entries[0].exit_status, 3);
    has(0, 2, "y2y2y2");
    assert_int_equal(text_of(0, 1, 0).n, 3 * 41);
    assert_int_equal(d.entries[1].task, 2);
    has(1, 1, "third");
    has(1, 2, "");
    struct text t = text_of(2, 1, 0);
    assert_int_equal(t.n, 10);
    assert_memory_equal(t.bytes, "x1x1x1\0\377\r\n", 10);
    has(2, 2, "x2x2x2");
    assert_int_equal(bats_outdir_from(&d, 0), 0);
    assert_int_equal(bats_outdir_from(&d, 3), 2);
    assert_int_equal(bats_outdir_from(&d, 6), 3);
    assert_int_equal(complaints, 0);
}

/* Attempts in the order in which they end, in the files of an old run and of two
 * workers of a new one. */
static const struct {
    int file;
    uint32_t task, attempt;
    const char *text;
    int exit_status;
    bool stopped, disowned;
} attempts[] = {
    {0, 0, 7, "old", 0, false, false},
    {0, 1, 1, "only old", 0, false, false},
    {1, 0, 2, "new", 0, false, false},
    {2, 0, 1, "new, too", 0, false, false},
    {2, 0, 3, "new, but failed", 1, false, false},
    {0, 2, 1, "fine", 0, false, false},
    {2, 2, 1, "worse", 1, false, false},
    {1, 2, 2, "worst", 1, false, false},
    {1, 3, 1, "first", 0, false, false},
    {2, 3, 2, "second", 143, true, false},
    {2, 4, 1, "half", 0, true, false},
    {1, 5, 1, "first", 0, false, false},
    {2, 5, 2, "second", 0, false, true}, /* both have ended well */
    {2, 6, 1, "later", 0, false, false},
};

TEST_WITH(the_last_success_of_the_newest_run_counts, set_up, tear_down)
{
    static const char *const texts[] = {"new",   "only old", "worst",
                                        "first", "first",    "later"};
    static const uint32_t tasks[] = {0, 1, 2, 3, 5, 6};
    struct bats_outfile *files[] = {create("stream-20260101T000000-9-0001"),
                                    create("stream-20260102T000000-8-0001"),
                                    create("stream-20260102T000000-8-0002")};
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        struct bats_outfile *file = files[attempts[i].file];
        attempt(file, attempts[i].task, attempts[i].attempt, attempts[i].text,
                attempts[i].exit_status, attempts[i].stopped);
        if (attempts[i].disowned)
            assert_ok(bats_outfile_disown(file, attempts[i].task,
                                          attempts[i].attempt, &err));
    }
    assert_ok(bats_outfile_disown(files[2], 7, 1, &err)); /* it is unknown */
    for (int i = 0; i < 3; i++)
        bats_outfile_destroy(files[i]);
    open_dir();
    assert_int_equal(d.n, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(d.entries[i].task, tasks[i]);
        has(i, 1, texts[i]);
    }
}

/* Three tasks, as a run leaves them. */
static size_t three_tasks(char *bytes, size_t size, const char *suffix)
{
    char name[32];
    struct bats_outfile *file = create("stream-r-1");
    attempt(file, 0, 1, "alpha\n", 0, false);
    attempt(file, 1, 1, "beta\n", 0, false);
    attempt(file, 2, 1, "gamma\n", 0, false);
    bats_outfile_destroy(file);
    snprintf(name, sizeof name, "stream-r-1%s", suffix);
    return load(name, bytes, size);
}

TEST_WITH(an_index_may_end_anywhere, set_up, tear_down)
{
    char bytes[1000];
    size_t n = three_tasks(bytes, sizeof bytes, ".index");
    static const char *const texts[] = {"alpha\n", "beta\n", "gamma\n"};
    for (size_t cut = 0; cut <= n; cut++) {
        size_t lines = 0;
        for (size_t i = 0; i < cut; i++)
            lines += bytes[i] == '\n';
        write_bytes("stream-r-1.index", bytes, cut);
        open_dir();
        assert_int_equal(d.n, lines > 0 ? lines - 1 : 0);
        for (size_t i = 0; i < d.n; i++)
            has(i, 1, texts[i]);
        assert_int_equal(complaints, cut == 0 || bytes[cut - 1] != '\n');
    }
}

TEST_WITH(an_out_file_may_end_anywhere, set_up, tear_down)
{
    char bytes[1000];
    size_t n = three_tasks(bytes, sizeof bytes, ".out");
    size_t ends[] = {47, 93, 140}; /* 41 bytes of header each */
    static const char *const texts[] = {"alpha\n", "beta\n", "gamma\n"};
    assert_int_equal(n, 140);
    for (size_t cut = 0; cut <= n; cut++) {
        write_bytes("stream-r-1.out", bytes, cut);
        open_dir();
        assert_int_equal(d.n, 3);
        for (size_t i = 0; i < 3; i++) {
            struct text t = text_of(i, 1, cut < ends[i]);
            assert_in_range(t.n, 0, strlen(texts[i]));
            assert_memory_equal(t.bytes, texts[i], t.n);
            if (cut >= ends[i])
                assert_int_equal(t.n, strlen(texts[i]));
        }
        assert_int_equal(complaints, (cut < 47) + (cut < 93) + (cut < 140));
    }
}

TEST_WITH(a_garbled_byte_of_a_header_is_found, set_up, tear_down)
{
    char bytes[1000];
    size_t n = three_tasks(bytes, sizeof bytes, ".out");
    for (size_t at = 47; at < 47 + 41; at++) {
        /* Every byte but the number of the stream, which may be another. */
        if (at == 47 + 28)
            continue;
        bytes[at] ^= 1;
        write_bytes("stream-r-1.out", bytes, n);
        open_dir();
        has(0, 1, "alpha\n");
        text_of(1, 1, 1);
        has(2, 1, "gamma\n");
        assert_int_equal(complaints, 1);
        assert_string_equal(complaint, "./stream-r-1.out: the output of task "
                                       "2 is damaged or incomplete");
        bytes[at] ^= 1;
    }
}

TEST_WITH(a_garbled_line_costs_its_task_only, set_up, tear_down)
{
    static const char *const wrong[] = {"nonsense",
                                        "0 1 0 0 0 0 47 0 0",
                                        "2 1 0 0 0 47 93 0",
                                        "2 1 0 0 0 93 47 0 0",
                                        "2 1 0 0 0 -1 93 0 0",
                                        "2 1 0 0 0 47 93 0 0 0",
                                        ""};
    char bytes[1000], text[1000];
    three_tasks(bytes, sizeof bytes, ".index");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int n = snprintf(text, sizeof text,
                         FIRST "1 1 0 0 0 0 47 0 0\n%s\n"
                               "3 1 0 0 0 93 140 0 0\n",
                         wrong[i]);
        write_bytes("stream-r-1.index", text, (size_t)n);
        open_dir();
        assert_int_equal(d.n, 2);
        has(1, 1, "gamma\n");
        assert_int_equal(complaints, 1);
        assert_string_equal(complaint, "./stream-r-1.index:3: this line is "
                                       "garbled and left out");
    }
}

TEST_WITH(a_missing_out_file_is_an_error, set_up, tear_down)
{
    char bytes[1000];
    struct text t = {.n = 0};
    three_tasks(bytes, sizeof bytes, ".out");
    unlink("stream-r-1.out");
    open_dir();
    assert_refused(bats_outdir_read(&d, &d.entries[0], 1, collect, &t, &err),
                   BATS_ESYS, "./stream-r-1.out: No such file or directory");
}

TEST_WITH(a_directory_without_output_is_called_so, set_up, tear_down)
{
    assert_false(bats_outdir_in_use("."));
    assert_int_equal(bats_outdir_open(&d, ".", &err), BATS_EINPUT);
    assert_non_null(strstr(err.text, "no output of a run"));
    assert_refused(bats_outdir_open(&d, "nowhere", &err), BATS_EINPUT,
                   "nowhere: there is no output of a run here "
                   "(of 'bats-mpi run --output stream')");
    bats_outfile_destroy(create("stream-r-1"));
    assert_true(bats_outdir_in_use("."));
}

TEST_WITH(nobody_writes_into_the_files_of_another, set_up, tear_down)
{
    struct bats_outfile *file = create("stream-r-1"), *other;
    assert_refused(bats_outfile_create("stream-r-1", &other, &err), BATS_ESYS,
                   "stream-r-1.out: cannot create this file "
                   "for the output of tasks: File exists");
    bats_outfile_destroy(file);
}

TEST_WITH(large_output_comes_in_pieces, set_up, tear_down)
{
    static char piece[1 << 20];
    struct bats_outfile *file = create("stream-r-1");
    bats_outfile_begin(file, 0, 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(bats_outfile_add(file, 1, piece, sizeof piece, NULL),
                         0);
    end(file, 0, false);
    bats_outfile_destroy(file);
    open_dir();
    struct text t = text_of(0, 1, 0);
    assert_int_equal(t.n, 20 << 20);
    assert_in_range(t.longest, 1, 1 << 16);
}

/* As a full disk: the file may not grow. What ended before is still there. */
TEST_WITH(a_file_that_cannot_grow_is_an_error, set_up, tear_down)
{
    static char piece[4096];
    struct bats_outfile *file = create("stream-r-1");
    struct rlimit old, limit;
    attempt(file, 0, 1, "alpha\n", 0, false);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bats_outfile_begin(file, 1, 1);
    int rc = bats_outfile_add(file, 1, piece, sizeof piece, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    assert_int_equal(rc, BATS_ESYS);
    assert_string_equal(err.text, "stream-r-1.out: cannot write the output of "
                                  "task 2: File too large");
    bats_outfile_destroy(file);
    open_dir();
    assert_int_equal(d.n, 1);
    has(0, 1, "alpha\n");
}

TEST_MAIN(NULL, NULL)
