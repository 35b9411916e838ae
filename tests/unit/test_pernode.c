/* pernode: the file by which the ranks of a node agree. */
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "helpers/directory.h"
#include "run/pernode.h"

TEST(a_file_that_is_being_written_is_awaited)
{
    struct bats_pernode node = {.file = "file"};
    int ready[2];
    char byte;
    assert_int_equal(bats_pernode_number(&node), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("file", "w");
        bool is_told =
            flock(fileno(file), LOCK_EX) == 0 && write(ready[1], "x", 1) == 1;
        usleep(200000);
        fputs("17\n4\n", file);
        _exit(fclose(file) || !is_told);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(bats_pernode_number(&node), 17);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST_MAIN(enter_directory, leave_directory)
