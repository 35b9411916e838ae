/* auth, door: both sides have one key; the file that leads to the master is the
 * user's own. MUNGE is in tests/mpi/t0605. */
#include <sys/stat.h>

#include "helpers/directory.h"
#include "proto/proto.h"
#include "run/door.h"

static struct bats_auth auth;

static int choose(void)
{
    setenv("BATS_AUTH", "secret", 1);
    return bats_auth_choose(&auth, NULL);
}

static void key_of(const struct bats_auth *by, uint8_t key[BATS_TLS_KEY])
{
    uint8_t offered[BATS_TLS_KEY];
    char *credential;
    assert_int_equal(bats_auth_offer(by, offered, &credential, NULL), 0);
    assert_int_equal(bats_auth_accept(by, credential, key, NULL), 0);
    assert_memory_equal(offered, key, BATS_TLS_KEY);
    free(credential);
}

TEST(each_run_has_a_secret_of_its_own)
{
    struct bats_auth other;
    uint8_t one[BATS_TLS_KEY], two[BATS_TLS_KEY];
    assert_int_equal(bats_auth_choose(&other, NULL), 0);
    key_of(&auth, one);
    key_of(&other, two);
    assert_memory_equal(one, auth.secret, BATS_TLS_KEY);
    assert_memory_not_equal(one, two, BATS_TLS_KEY);
}

/* ---- the file ---- */

static const char path[] = "door";

TEST(a_door_is_read_as_it_was_written)
{
    struct bats_door door = {.host = "login1", .port = 40123, .auth = auth};
    struct bats_door read;
    struct stat status;
    int fd;
    assert_int_equal(bats_door_write(path, &door, &fd, NULL), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(bats_door_read(path, &read, NULL), 0);
    assert_string_equal(read.host, "login1");
    assert_int_equal(read.port, 40123);
    assert_int_equal(read.auth.way, BATS_AUTH_SECRET);
    assert_memory_equal(read.auth.secret, auth.secret, sizeof auth.secret);
    close(fd); /* as if its master had been killed */
}

TEST(a_door_is_that_of_one_master)
{
    struct bats_door door = {.host = "login1", .port = 1, .auth = auth}, read;
    char moved[sizeof path + 10];
    int fd, other, third;
    snprintf(moved, sizeof moved, "%s.moved", path);
    assert_int_equal(bats_door_write(path, &door, &fd, NULL), 0);
    door.port = 2;
    assert_int_equal(bats_door_write(path, &door, &other, &err), BATS_EINPUT);
    assert_non_null(
        strstr(err.text, "another run uses this file for its workers"));
    assert_int_equal(bats_door_read(path, &read, NULL), 0);
    assert_int_equal(read.port, 1);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(bats_door_write(path, &door, &other, NULL), 0);
    bats_door_remove(path, fd); /* is another one now */
    assert_int_equal(bats_door_read(path, &read, NULL), 0);
    assert_int_equal(read.port, 2);
    bats_door_remove(path, other);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(bats_door_write(path, &door, &third, NULL), 0);
    close(third);
    unlink(moved);
}

TEST(munge_leaves_no_secret_in_the_file)
{
    struct bats_door door = {.host = "login1", .port = 1, .auth = auth};
    struct bats_door read;
    int fd;
    door.auth.way = BATS_AUTH_MUNGE;
    strcpy(door.auth.socket, "/run/munge/other");
    assert_int_equal(bats_door_write(path, &door, &fd, NULL), 0);
    assert_int_equal(bats_door_read(path, &read, NULL), 0);
    assert_string_equal(read.auth.socket, "/run/munge/other");
    for (size_t i = 0; i < sizeof read.auth.secret; i++)
        assert_int_equal(read.auth.secret[i], 0);
    close(fd);
}

static void refused(const char *text, const char *because)
{
    struct bats_door door;
    write_text(path, text);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(bats_door_read(path, &door, &err), BATS_EINPUT);
    if (strstr(err.text, because) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, because);
}

TEST(a_wrong_file_is_refused)
{
    const char *const wrong[] = {
        "'host': 'h', 'port': 0, 'auth': 'munge'",
        "'host': 'h', 'port': 65536, 'auth': 'munge'",
        "'host': 'h', 'port': '1', 'auth': 'munge'",
        "'host': '', 'port': 1, 'auth': 'munge'",
        "'host': 'h', 'port': 1, 'auth': 'ssh'",
        "'host': 'h', 'port': 1, 'auth': 'munge', 'color': 'red'",
        "'host': 'h', 'port': 1, 'auth': 'secret'",
        "'host': 'h', 'port': 1, 'auth': 'secret', 'secret': '00ff'",
        "'host': 'h', 'auth': 'munge'"};
    char text[200];
    refused("{\n[", "door:2: this is not a file for workers");
    refused("{\"bats-mpi\": 1}", "door: the master speaks version 1");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "{'bats-mpi': %d, %s}", BATS_PROTO_VERSION,
                 wrong[i]);
        for (char *quote; (quote = strchr(text, '\'')) != NULL;)
            *quote = '"';
        refused(text, "a value is wrong or missing");
    }
}

TEST(a_file_that_others_can_read_is_refused)
{
    struct bats_door door = {.host = "login1", .port = 40123, .auth = auth};
    const mode_t modes[] = {0604, 0640, 0622};
    for (size_t i = 0; i < 3; i++) {
        int fd;
        assert_int_equal(bats_door_write(path, &door, &fd, NULL), 0);
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(bats_door_read(path, &door, NULL), BATS_EINPUT);
        close(fd);
    }
}

int main(void)
{
    if (choose() != 0) {
        puts("1..0 # SKIP built without GnuTLS");
        return 0;
    }
    return run_cases(enter_directory, leave_directory);
}
