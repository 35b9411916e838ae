/* The file of a node for PERENGINE lies in a directory that everybody may write
 * to: only one that this user has made for this run is used. */
#include <sys/stat.h>
#include <unistd.h>

#include "helpers/test.h"
#include "run/pernode.h"

static char dir[] = "/tmp/test_pernode.XXXXXX";
static char path[500];

static int make_directory(void **state)
{
    char host[200] = "";
    gethostname(host, sizeof host - 1);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/bats-mpi-run-%s", dir, host);
    return setenv("TMPDIR", dir, 1);
}

static int remove_directory(void **state)
{
    return rmdir(dir);
}

/* What it says to a rank that comes to the node; no command is due. */
static int enter(struct bats_error *err)
{
    static const struct bats_text variables;
    const struct bats_setup setup = {.run_id = "run", .number = 7};
    struct bats_pernode *node;
    int rc = 0;
    assert_int_equal(bats_pernode_create(&setup, &variables, &node, err), 0);
    for (int i = 0; rc == 0 && i < 3; i++)
        rc = bats_pernode_enter(node, NULL, 0, err);
    if (rc > 0)
        assert_int_equal(bats_pernode_number(node), 7);
    while (rc > 0 && !bats_pernode_leave(node, NULL, 0))
        ;
    bats_pernode_destroy(node);
    return rc;
}

static void put(mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("7", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

TEST(the_file_is_made_and_removed)
{
    assert_int_equal(enter(&err), 1);
    assert_int_not_equal(access(path, F_OK), 0);
}

TEST(a_file_that_others_may_write_or_have_made_is_not_used)
{
    char other[520];
    snprintf(other, sizeof other, "%s.other", path);
    put(0666);
    assert_int_equal(enter(&err), BATS_ESYS);
    assert_non_null(strstr(err.text, "another user has made it"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(link(path, other), 0); /* a second name */
    assert_int_equal(enter(&err), BATS_ESYS);
    unlink(other);
    if (chown(path, 65534, 65534) == 0)
        assert_int_equal(enter(&err), BATS_ESYS);
    unlink(path);
}

TEST_MAIN(make_directory, remove_directory)
