/* All bytes that go in come out, in whole lines, whether they fit into memory
 * or not. */
#include "exec/output/spool.h"
#include "helpers/test.h"

#define LARGE (5 * BATS_SPOOL_MEMORY)

static void fill(char *bytes, size_t n)
{
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (char)(x >> 24);
    }
}

/* Adds n bytes in pieces and reads them line by line. */
static void pass_through(struct bats_spool *spool, size_t n, size_t piece)
{
    char *in = malloc(n + 1), *out = malloc(n + 1);
    size_t got = 0;
    fill(in, n);
    for (size_t at = 0; at < n; at += piece)
        assert_ok(bats_spool_add(spool, in + at,
                                 at + piece < n ? piece : n - at, &err));
    assert_int_equal(bats_spool_size(spool), n);
    assert_int_equal(bats_spool_in_memory(spool), n <= BATS_SPOOL_MEMORY);
    const char *lines;
    ptrdiff_t k;
    while ((k = bats_spool_lines(spool, (int64_t)got, &lines, &err)) > 0) {
        assert_true(got + (size_t)k <= n);
        memcpy(out + got, lines, (size_t)k);
        got += (size_t)k;
        if (got < n)
            assert_int_equal(lines[k - 1], '\n');
    }
    assert_int_equal(k, 0);
    assert_int_equal(got, n);
    assert_memory_equal(in, out, n);
    free(in);
    free(out);
}

TEST(bytes_come_out_as_they_went_in)
{
    static const size_t sizes[] = {0,
                                   1,
                                   BATS_SPOOL_MEMORY - 1,
                                   BATS_SPOOL_MEMORY,
                                   BATS_SPOOL_MEMORY + 1,
                                   LARGE};
    struct bats_spool spool;
    bats_spool_init(&spool);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pass_through(&spool, sizes[i], 777);
        bats_spool_clear(&spool);
        pass_through(&spool, sizes[i], LARGE);
        bats_spool_clear(&spool);
        assert_int_equal(bats_spool_size(&spool), 0);
    }
    bats_spool_release(&spool);
}

TEST(a_long_line_is_not_cut)
{
    struct bats_spool spool;
    const char *lines;
    char *bytes = malloc(LARGE);
    memset(bytes, 'x', LARGE);
    bytes[9] = bytes[LARGE - 9] = bytes[LARGE - 1] = '\n';
    bats_spool_init(&spool);
    assert_ok(bats_spool_add(&spool, bytes, LARGE, &err));
    assert_int_equal(bats_spool_lines(&spool, 0, &lines, &err), 10);
    assert_int_equal(bats_spool_lines(&spool, 10, &lines, &err), LARGE - 10);
    assert_ok(bats_spool_lines(&spool, LARGE, &lines, &err));
    bats_spool_release(&spool);
    free(bytes);
}

TEST(missing_directory_is_named)
{
    struct bats_spool spool;
    char *bytes = malloc(LARGE);
    fill(bytes, LARGE);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    bats_spool_init(&spool);
    assert_says(bats_spool_add(&spool, bytes, LARGE, &err), BATS_ESYS,
                "/nowhere/at/all");
    bats_spool_release(&spool);
    unsetenv("TMPDIR");
    free(bytes);
}

TEST_MAIN(NULL, NULL)
