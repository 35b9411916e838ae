/* door: the file that leads to the master is the user's own, and holds the
 * secret of one run. */
#include <errno.h>
#include <sys/stat.h>

#include "helpers/directory.h"
#include "proto/proto.h"
#include "run/door.h"

static const char path[] = "door";
static struct bats_door ours = {.host = "login1"};

TEST(each_run_has_a_secret_of_its_own)
{
    struct bats_door other;
    assert_ok(bats_door_draw(&other, &err));
    assert_memory_not_equal(other.secret, ours.secret, BATS_TLS_KEY);
}

/* A door at this port is written and read. Returns the descriptor. */
static int make_door(int port, struct bats_door *read)
{
    struct stat status;
    int fd;
    ours.port = port;
    assert_ok(bats_door_write(path, &ours, &fd, &err));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_ok(bats_door_read(path, read, &err));
    assert_string_equal(read->host, "login1");
    assert_int_equal(read->port, port);
    assert_memory_equal(read->secret, ours.secret, BATS_TLS_KEY);
    return fd;
}

TEST(a_door_is_that_of_one_master)
{
    struct bats_door read;
    int other, fd = make_door(1, &read);
    assert_says(bats_door_write(path, &ours, &other, &err), BATS_EINPUT,
                "another run uses this file for its workers");
    assert_ok(bats_door_read(path, &read, &err));
    assert_int_equal(read.port, 1);
    assert_int_equal(rename(path, "moved"), 0);
    other = make_door(2, &read);
    bats_door_remove(path, fd); /* is another one now */
    assert_int_equal(access(path, F_OK), 0);
    bats_door_remove(path, other);
    assert_int_not_equal(access(path, F_OK), 0);
    close(make_door(3, &read));
    unlink("moved");
}

TEST(a_door_that_cannot_be_written_says_why)
{
    struct bats_door door = {.host = "\xff", .port = 1};
    int fd;
    unlink(path);
    assert_says(bats_door_write(path, &door, &fd, &err), BATS_EINPUT,
                strerror(EILSEQ));
    assert_int_not_equal(access(path, F_OK), 0);
}

static void refused(const char *text, const char *because)
{
    struct bats_door door;
    write_text(path, text);
    assert_int_equal(chmod(path, 0600), 0);
    assert_says(bats_door_read(path, &door, &err), BATS_EINPUT, because);
}

TEST(a_wrong_file_is_refused)
{
    const char secret[] =
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    const char *const wrong[] = {"'host': 'h', 'port': 0, 'secret': '%s'",
                                 "'host': 'h', 'port': 65536, 'secret': '%s'",
                                 "'host': 'h', 'port': '1', 'secret': '%s'",
                                 "'host': '', 'port': 1, 'secret': '%s'",
                                 "'host': 'h', 'port': 1, 'secret': '%sff'",
                                 "'host': 'h', 'port': 1, 'secret': 'x%.63s'",
                                 "'host': 'h', 'port': 1, 'secret': '%s', "
                                 "'color': 'red'",
                                 "'host': 'h', 'port': 1",
                                 "'host': 'h', 'secret': '%s'"};
    char text[200];
    refused("{\n[", "door:2: this is not a file for workers");
    refused("{\"bats-mpi\": 1}", "door: the master speaks version 1");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int n = snprintf(text, sizeof text, "{'bats-mpi': %d, ",
                         BATS_PROTO_VERSION);
        snprintf(text + n, sizeof text - (size_t)n, wrong[i], secret);
        strcat(text, "}");
        for (char *quote; (quote = strchr(text, '\'')) != NULL;)
            *quote = '"';
        refused(text, "a value is wrong or missing");
    }
}

TEST(a_file_that_others_can_read_is_refused)
{
    struct bats_door read;
    const mode_t modes[] = {0604, 0640, 0622};
    for (size_t i = 0; i < 3; i++) {
        close(make_door(40123, &read));
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(bats_door_read(path, &read, NULL), BATS_EINPUT);
    }
}

int main(void)
{
    if (bats_door_draw(&ours, NULL) != 0) {
        puts("1..0 # SKIP built without GnuTLS");
        return 0;
    }
    return run_cases(enter_directory, leave_directory);
}
