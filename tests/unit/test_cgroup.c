/* cgroup: the files of groups, in a directory that stands for the kernel's. The
 * macros are what the kernel does: it tells the group and makes its files. */
#include <sys/stat.h>

#include "helpers/directory.h"

static const char *told = "0::/own\n";
static uid_t user = 1000, owner = 1000;

static int make_group(const char *path)
{
    static const char *const files[] = {"cgroup.procs", "memory.max",
                                        "memory.swap.max", "memory.oom.group",
                                        "cgroup.subtree_control"};
    char name[256];
    int rc = mkdir(path, 0755);
    for (size_t i = 0; rc == 0 && i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s", path, files[i]);
        write_text(name, "");
    }
    return rc;
}

static FILE *open_file(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/self/cgroup") == 0)
        write_text(path = "told", told);
    return fopen(path, mode);
}

static int look(const char *path, struct stat *st)
{
    int rc = stat(path, st);
    st->st_uid = owner;
    return rc;
}

#define ROOT "."
#define geteuid() user
#define mkdir(path, mode) make_group(path)
#define fopen(path, mode) open_file(path, mode)
#define stat(path, st) look(path, st)
#include "exec/process/cgroup.c" // NOLINT

static void contains(const char *group, const char *file, const char *text)
{
    char path[128], is[32] = "";
    snprintf(path, sizeof path, "own/bats%s/%s", group, file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(is, 1, sizeof is - 1, f) > 0);
    fclose(f);
    assert_string_equal(is, text);
}

TEST(the_processes_move_and_a_task_enters_a_group_with_its_limit)
{
    struct bats_cgroup g = {.looked = false};
    char tasks[32], line[128];
    snprintf(tasks, sizeof tasks, "-%ld", (long)getpid());
    make_group("own");
    write_text("own/cgroup.procs", "71\n");
    char *made = bats_cgroup_enter(&g, 2, "run");
    snprintf(line, sizeof line,
             "{ echo $$ >'./own/bats%s/cgroup.procs'; } 2>/dev/null\nrun",
             tasks);
    assert_string_equal(made, line);
    free(made);
    contains("", "cgroup.procs", "71");
    contains("/..", "cgroup.subtree_control", "+memory");
    contains(tasks, "memory.max", "2048");
    contains(tasks, "memory.swap.max", "0");
    contains(tasks, "memory.oom.group", "1");
    bats_cgroup_release(&g);
}

TEST(without_a_group_of_the_user_nothing_happens)
{
    struct bats_cgroup root = {.looked = false}, other = root, old = root;
    user = 0;
    assert_null(bats_cgroup_enter(&root, 2, "run"));
    user = 1001;
    assert_null(bats_cgroup_enter(&other, 2, "run"));
    user = owner;
    told = "4:memory:/own\n";
    assert_null(bats_cgroup_enter(&old, 2, "run"));
}

TEST_MAIN(enter_directory, leave_directory)
