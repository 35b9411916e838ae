/* strategies: the table for people. */
#include "helpers/test.h"
#include "report/strategies.h"

#define N 400

/* The slowest is the cheapest. For free(). */
static char *print(size_t n)
{
    static struct bats_candidate list[N];
    const struct bats_plays_model model = {.n_tasks = 1};
    struct bats_strategies s = {
        .name = "pools", .model = &model, .list = list, .n = n, .n_grid = n};
    char *text;
    for (size_t i = 0; i < n; i++)
        list[i] =
            (struct bats_candidate){.strategy = {.n = (uint32_t)i, .m_r = 1},
                                    .mean = {.makespan = 1e6 * (double)(i + 1),
                                             .cost = (double)(n - i)},
                                    .is_efficient = true};
    for (enum bats_mark mark = 0; mark < BATS_MARKS; mark++)
        s.best[mark] = n;
    s.best[BATS_MARK_CHEAPEST] = n - 1;
    PRINT(text, bats_strategies_print(out, &s));
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

TEST(what_is_not_shown_is_counted_and_not_marked)
{
    char says[80];
    char *text = print(N);
    size_t shown = count(text, "\nN=");
    assert_true(shown > 100 && shown < N);
    snprintf(says, sizeof says,
             "\n%zu more efficient ones are not shown: --csv", N - shown);
    assert_non_null(strstr(text, says));
    assert_non_null(strstr(text, "\nN=399,")); /* it is marked */
    assert_int_equal(count(text, " cheapest\n"), 1);
    free(text);
}

TEST(where_all_are_shown_none_is_missing)
{
    char *text = print(100);
    assert_int_equal(count(text, "\nN="), 100);
    assert_null(strstr(text, "not shown"));
    free(text);
}

TEST_MAIN(NULL, NULL)
