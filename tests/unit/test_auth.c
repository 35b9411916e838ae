/* auth, door: both sides have one key; the file that leads to the master is the
 * user's own. MUNGE is in tests/mpi/t0605. */
#include <errno.h>
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

TEST(each_run_has_a_secret_of_its_own)
{
    struct bats_auth other;
    uint8_t offered[BATS_TLS_KEY], key[BATS_TLS_KEY];
    char *credential;
    assert_ok(bats_auth_choose(&other, &err));
    assert_memory_not_equal(other.secret, auth.secret, BATS_TLS_KEY);
    assert_ok(bats_auth_offer(&auth, offered, &credential, &err));
    assert_ok(bats_auth_accept(&auth, credential, key, &err));
    assert_memory_equal(offered, auth.secret, BATS_TLS_KEY);
    assert_memory_equal(key, auth.secret, BATS_TLS_KEY);
    free(credential);
}

/* ---- the file ---- */

static const char path[] = "door";

/* A door at this port is written and read. Returns the descriptor. */
static int make_door(const struct bats_auth *by, int port,
                     struct bats_door *read)
{
    struct bats_door door = {.host = "login1", .port = port, .auth = *by};
    struct stat status;
    int fd;
    assert_ok(bats_door_write(path, &door, &fd, &err));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_ok(bats_door_read(path, read, &err));
    assert_string_equal(read->host, "login1");
    assert_int_equal(read->port, port);
    assert_int_equal(read->auth.way, by->way);
    return fd;
}

TEST(a_door_is_read_as_it_was_written)
{
    struct bats_door read;
    int fd = make_door(&auth, 40123, &read);
    assert_memory_equal(read.auth.secret, auth.secret, BATS_TLS_KEY);
    close(fd); /* as if its master had been killed */
}

TEST(a_door_is_that_of_one_master)
{
    struct bats_door read, door = {.host = "login1", .port = 2, .auth = auth};
    int other, fd = make_door(&auth, 1, &read);
    assert_int_equal(bats_door_write(path, &door, &other, &err), BATS_EINPUT);
    assert_non_null(
        strstr(err.text, "another run uses this file for its workers"));
    assert_ok(bats_door_read(path, &read, &err));
    assert_int_equal(read.port, 1);
    assert_int_equal(rename(path, "moved"), 0);
    other = make_door(&auth, 2, &read);
    bats_door_remove(path, fd); /* is another one now */
    assert_int_equal(access(path, F_OK), 0);
    bats_door_remove(path, other);
    assert_int_not_equal(access(path, F_OK), 0);
    close(make_door(&auth, 3, &read));
    unlink("moved");
}

TEST(a_door_that_cannot_be_written_says_why)
{
    struct bats_door door = {.host = "\xff", .port = 1, .auth = auth};
    int fd;
    unlink(path);
    assert_int_equal(bats_door_write(path, &door, &fd, &err), BATS_EINPUT);
    assert_non_null(strstr(err.text, strerror(EILSEQ)));
    assert_int_not_equal(access(path, F_OK), 0);
}

TEST(munge_leaves_no_secret_in_the_file)
{
    struct bats_auth munge = auth;
    struct bats_door read;
    const uint8_t none[BATS_TLS_KEY] = {0};
    munge.way = BATS_AUTH_MUNGE;
    strcpy(munge.socket, "/run/munge/other");
    close(make_door(&munge, 1, &read));
    assert_string_equal(read.auth.socket, "/run/munge/other");
    assert_memory_equal(read.auth.secret, none, BATS_TLS_KEY);
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
    struct bats_door read;
    const mode_t modes[] = {0604, 0640, 0622};
    for (size_t i = 0; i < 3; i++) {
        close(make_door(&auth, 40123, &read));
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(bats_door_read(path, &read, NULL), BATS_EINPUT);
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
