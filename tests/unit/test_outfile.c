/* Output of many tasks in one file, and how it is found again. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "exec/output/outfile.h"
#include "helpers/directory.h"

static struct bats_outfile *create(const char *prefix)
{
    struct bats_outfile *file;
    assert_ok(bats_outfile_create(prefix, &file, &err));
    return file;
}

static void add(struct bats_outfile *file, int stream, const char *text)
{
    assert_ok(bats_outfile_add(file, stream, text, strlen(text), NULL));
}

/* Ends an attempt: where it is. */
static struct bats_outfile_place end(const struct bats_outfile *file,
                                     uint32_t task)
{
    struct bats_usage usage = {0};
    bats_outfile_end(file, &usage);
    return (struct bats_outfile_place){"stream-r-1.out", task, 1, usage.begin,
                                       usage.end};
}

/* One attempt that writes one text. */
static struct bats_outfile_place attempt(struct bats_outfile *file,
                                         uint32_t task, const char *text)
{
    bats_outfile_begin(file, task, 1);
    add(file, 1, text);
    return end(file, task);
}

static size_t load(const char *name, char *bytes, size_t size)
{
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size, file);
    fclose(file);
    return n;
}

struct text {
    char bytes[1000];
    size_t n;
};

static bool collect(void *context, const char *bytes, size_t n)
{
    struct text *t = context;
    if (t->n + n < sizeof t->bytes)
        memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return true;
}

static struct text text_of(struct bats_outfile_place place, int stream,
                           int expected)
{
    struct text t = {.n = 0};
    assert_int_equal(bats_outfile_read(&place, stream, collect, &t, &err),
                     expected);
    return t;
}

static void has(struct bats_outfile_place place, int stream, const char *bytes,
                size_t n)
{
    struct text t = text_of(place, stream, 0);
    assert_int_equal(t.n, n);
    assert_memory_equal(t.bytes, bytes, n);
}

/* ---- tests ---- */

TEST_WITH(the_file_looks_as_documented, enter_directory, leave_directory)
{
    char bytes[1000];
    struct bats_outfile *file = create("new/below/stream-r-1");
    struct bats_usage usage;
    bats_outfile_begin(file, 6, 2);
    add(file, 1, "hello\n");
    add(file, 2, "a b");
    bats_outfile_end(file, &usage);
    assert_int_equal(usage.begin, 0);
    assert_int_equal(usage.end, 2 * BATS_OUTFILE_HEAD + 9);
    bats_outfile_begin(file, 4294967294, 1);
    bats_outfile_end(file, &usage);
    assert_int_equal(usage.begin, 91);
    assert_int_equal(usage.end, 91);
    bats_outfile_destroy(file);
    static const char out[] =
        "#bats 0000000007 0000000002 1 0000000006\nhello\n"
        "#bats 0000000007 0000000002 2 0000000003\na b";
    assert_int_equal(load("new/below/stream-r-1.out", bytes, sizeof bytes),
                     sizeof out - 1);
    assert_memory_equal(bytes, out, sizeof out - 1);
}

TEST_WITH(both_streams_come_back_in_order, enter_directory, leave_directory)
{
    struct bats_outfile *file = create("stream-r-1");
    bats_outfile_begin(file, 5, 1);
    for (int i = 0; i < 3; i++) {
        add(file, 1, "#bats 0000000001 0000000001 1 0000000006\n");
        add(file, 2, "x2");
    }
    assert_ok(bats_outfile_add(file, 2, "\0\377\r\n", 4, &err));
    struct bats_outfile_place first = end(file, 5);
    struct bats_outfile_place next = attempt(file, 2, "third");
    bats_outfile_destroy(file);
    assert_int_equal(text_of(first, 1, 0).n, 3 * 41);
    has(first, 2, "x2x2x2\0\377\r\n", 10);
    has(next, 1, "third", 5);
    has(next, 2, "", 0);
}

static struct bats_outfile_place places[3];
static const char *const texts[] = {"alpha\n", "beta\n", "gamma\n"};

/* Three tasks, as a run leaves them; returns the size of the file. */
static size_t three_tasks(char *bytes, size_t size)
{
    struct bats_outfile *file = create("stream-r-1");
    for (uint32_t i = 0; i < 3; i++)
        places[i] = attempt(file, i, texts[i]);
    bats_outfile_destroy(file);
    return load("stream-r-1.out", bytes, size);
}

TEST_WITH(a_file_may_end_anywhere, enter_directory, leave_directory)
{
    char bytes[1000];
    size_t n = three_tasks(bytes, sizeof bytes);
    assert_int_equal(n, 140);
    for (size_t cut = 0; cut <= n; cut++) {
        write_bytes("stream-r-1.out", bytes, cut);
        for (size_t i = 0; i < 3; i++) {
            bool is_cut = cut < (size_t)places[i].end;
            struct text t = text_of(places[i], 1, is_cut);
            assert_in_range(t.n, is_cut ? 0 : strlen(texts[i]),
                            strlen(texts[i]));
            assert_memory_equal(t.bytes, texts[i], t.n);
        }
    }
}

TEST_WITH(a_garbled_byte_of_a_header_is_found, enter_directory,
          leave_directory)
{
    char bytes[1000];
    size_t n = three_tasks(bytes, sizeof bytes);
    for (size_t at = 47; at < 47 + 41; at++) {
        /* Every byte but the number of the stream, which may be another. */
        if (at == 47 + 28)
            continue;
        bytes[at] ^= 1;
        write_bytes("stream-r-1.out", bytes, n);
        has(places[0], 1, "alpha\n", 6);
        text_of(places[1], 1, 1);
        has(places[2], 1, "gamma\n", 6);
        bytes[at] ^= 1;
    }
    unlink("stream-r-1.out");
    text_of(places[0], 1, BATS_ESYS);
    assert_string_equal(err.text, "stream-r-1.out: No such file or directory");
}

TEST_WITH(nobody_writes_into_the_file_of_another, enter_directory,
          leave_directory)
{
    struct bats_outfile *file = create("stream-r-1"), *other;
    assert_refused(bats_outfile_create("stream-r-1", &other, &err), BATS_ESYS,
                   "stream-r-1.out: cannot create this file "
                   "for the output of tasks: File exists");
    bats_outfile_destroy(file);
}

/* As a full disk: the file may not grow. What ended before is still there. */
TEST_WITH(a_file_that_cannot_grow_is_an_error, enter_directory,
          leave_directory)
{
    static char piece[4096];
    struct bats_outfile *file = create("stream-r-1");
    struct rlimit old, limit;
    struct bats_outfile_place before = attempt(file, 0, "alpha\n");
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
    has(before, 1, "alpha\n", 6);
}

TEST_MAIN(NULL, NULL)
