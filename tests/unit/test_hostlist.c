/* hostlist: the names that Slurm means, sorted, and nothing garbled. */
#include "helpers/test.h"
#include "util/hostlist.h"

static struct bats_hostlist list; /* the last one that was expanded */

static void expand(const char *text)
{
    bats_hostlist_release(&list);
    if (bats_hostlist_expand(text, &list, &err))
        fail_msg("%s: %s", text, err.text);
}

/* Expands `text` and compares with the names in `expected`, one blank between
 * two of them. */
static void expect(const char *text, const char *expected)
{
    char names[1024] = "";
    expand(text);
    for (size_t i = 0; i < list.n; i++) {
        strcat(names, i ? " " : "");
        strcat(names, list.names[i]);
    }
    assert_string_equal(names, expected);
    bats_hostlist_release(&list);
    assert_int_equal(list.n, 0);
}

/* Expected: the output of `scontrol show hostnames`, sorted by strcmp(). */
TEST(lists_expand_as_slurm_does)
{
    expect("login1", "login1");
    expect("slow[1-4,7],login1", "login1 slow1 slow2 slow3 slow4 slow7");
    expect("slow[1-2] , fast[3-3]\t,x", "fast3 slow1 slow2 x");
    expect("n[8-11]", "n10 n11 n8 n9");
    expect("r[1-2]n[1-3]", "r1n1 r1n2 r1n3 r2n1 r2n2 r2n3");
    expect("a[1]b[2]c[3-4]d", "a1b2c3d a1b2c4d");
    expect("[1-2]", "1 2");
    expect("n1-ib[1-2].site.org", "n1-ib1.site.org n1-ib2.site.org");
    expect("gpu_[0,2]", "gpu_0 gpu_2");
}

TEST(leading_zeros_are_kept)
{
    expect("n[001-003]", "n001 n002 n003");
    expect("n[08-11]", "n08 n09 n10 n11");
    expect("n[099-101]", "n099 n100 n101");
    expect("n[001,1,01]", "n001 n01 n1");
    expect("n[001-010]", "n001 n002 n003 n004 n005 n006 n007 n008 n009 n010");
}

TEST(garbled_lists_are_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "a name is missing"},
        {",a", "a name is missing"},
        {"a,", "a name is missing"},
        {"a,,b", "a name is missing"},
        {"a b", "an odd character at 'b'"},
        {"a;b", "an odd character at ';b'"},
        {"a[1-2", "an odd bracket at '[1-2'"},
        {"a[1-2]]", "an odd character at ']'"},
        {"a]", "an odd character at ']'"},
        {"a[[1]]", "an odd bracket"},
        {"a[]", "an odd number"},
        {"a[,1]", "an odd number"},
        {"a[1,]", "an odd number"},
        {"a[1-]", "an odd number"},
        {"a[-1]", "an odd number"},
        {"a[1-2-3]", "an odd range at '-3]'"},
        {"a[x]", "an odd bracket"},
        {"a[1 ,2]", "an odd bracket"},
        {"a[4-1]", "a range that goes down"},
        {"a[1-9999999999]", "an odd number"},
        {"a[1-4],b,a3", "host 'a3' is named twice"},
        {"b,b", "host 'b' is named twice"},
        {"a[1-65537]", "more than 65536 hosts"},
        {"a[0-999999999]", "more than 65536 hosts"},
        {"a[1-999]b[1-999]", "more than 65536 hosts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bats_hostlist list;
        assert_says(bats_hostlist_expand(cases[i].text, &list, &err),
                    BATS_EINPUT, cases[i].why);
        assert_int_equal(list.n, 0);
        assert_null(list.names);
    }
}

TEST(overlong_names_are_refused)
{
    struct bats_hostlist none;
    char name[BATS_HOST_NAME + 4];
    memset(name, 'n', sizeof name);
    name[BATS_HOST_NAME - 1] = '\0';
    expand(name);
    name[BATS_HOST_NAME - 1] = 'n';
    name[BATS_HOST_NAME] = '\0';
    assert_int_equal(bats_hostlist_expand(name, &none, NULL), BATS_EINPUT);
    strcpy(name + BATS_HOST_NAME - 3, "[10]");
    expand(name);
    strcpy(name + BATS_HOST_NAME - 3, "[100]");
    assert_int_equal(bats_hostlist_expand(name, &none, NULL), BATS_EINPUT);
}

TEST(the_largest_list_is_accepted)
{
    expand("a[1-65536]");
    assert_int_equal(list.n, 65536);
}

TEST(hosts_are_found_with_and_without_domain)
{
    expand("b,a.x.org,c");
#define AT(name) bats_hostlist_find(&list, name)
    assert_numbers("0 1 1 2", AT("a.x.org"), AT("b"), AT("b.x.org"),
                   AT("c.y.org"));
    assert_numbers("-1 -1 -1 -1", AT("a"), AT("a.y.org"), AT("d"), AT(""));
}

/* Folds the names behind `text`, backwards and each twice. */
static void expect_folded(const char *text, const char *expected)
{
    expand(text);
    const char **names = calloc(2 * list.n, sizeof *names);
    assert_non_null(names);
    for (size_t i = 0; i < list.n; i++)
        names[i] = names[list.n + i] = list.names[list.n - 1 - i];
    char *folded = bats_hostlist_fold(names, 2 * list.n);
    assert_string_equal(folded, expected);
    free(folded);
    free(names);
}

/* Expected values are what `scontrol show hostlistsorted` prints, the
 * last excepted: no range of numbers that long is read. */
TEST(names_are_folded_into_ranges)
{
    expect_folded("login", "login");
    expect_folded("n7", "n7");
    expect_folded("n1,n2,n3", "n[1-3]");
    expect_folded("n3,n1,n7,n2,m1", "m1,n[1-3,7]");
    expect_folded("n8,n9,n10,n11", "n[8-11]");
    expect_folded("n08,n09,n10,n11", "n[08-11]");
    expect_folded("n099,n100,n101", "n[099-101]");
    expect_folded("n1,n01,n001", "n[1,01,001]");
    expect_folded("n9,n010", "n[9,010]");
    expect_folded("r1n1,r1n2,r2n1", "r1n[1-2],r2n1");
    expect_folded("n10,n1a1,n2", "n[2,10],n1a1");
    expect_folded("1,2,5", "[1-2,5]");
    expect_folded("n,n1,n2", "n,n[1-2]");
    expect_folded("a.x.org,b.x.org", "a.x.org,b.x.org");
    expect_folded("n1234567890,n1234567891", "n1234567890,n1234567891");
    char *nothing = bats_hostlist_fold(NULL, 0);
    assert_string_equal(nothing, "");
    free(nothing);
}

/* From 3,000 names, every third and every seventh is left out. */
TEST(what_is_folded_expands_again)
{
    struct bats_hostlist all, again;
    assert_int_equal(bats_hostlist_expand("n[1-3000]", &all, NULL), 0);
    size_t kept = 0;
    const char **names = calloc(all.n, sizeof *names);
    assert_non_null(names);
    for (size_t i = 0; i < all.n; i++)
        if (i % 3 && i % 7)
            names[kept++] = all.names[i];
    char *folded = bats_hostlist_fold(names, kept);
    assert_int_equal(bats_hostlist_expand(folded, &again, NULL), 0);
    assert_int_equal(again.n, kept);
    for (size_t i = 0; i < kept; i++)
        assert_string_equal(again.names[i], names[i]);
    free(folded);
    free(names);
    bats_hostlist_release(&all);
    bats_hostlist_release(&again);
}

TEST_MAIN(NULL, NULL)
