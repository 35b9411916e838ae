/* clients: the users of an open bag, on its socket. */
#include <sys/socket.h>
#include <sys/un.h>

#include "helpers/directory.h"
#include "run/open_state.h"

static int join(void)
{
    struct sockaddr_un at = {AF_UNIX, "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static json_t *fail_at_once(void *taken, uint32_t client, json_t *request,
                            struct bats_error *err)
{
    ++*(int *)taken;
    bats_error_set(err, BATS_ESYS, "the record is gone");
    return NULL;
}

TEST(after_a_fatal_error_no_other_client_is_heard)
{
    struct bats_clients *clients;
    int fd[2], taken = 0;
    assert_ok(bats_clients_open("socket", &clients, &err));
    for (int i = 0; i < 2; i++) {
        fd[i] = join();
        assert_true(bats_clients_step(clients, fail_at_once, &taken, &err) >
                    0);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(write(fd[i], "{}\n", 3), 3);
    assert_refused(bats_clients_step(clients, fail_at_once, &taken, &err),
                   BATS_ESYS, "the record is gone");
    assert_int_equal(taken, 1);
    bats_clients_close(clients);
    close(fd[0]);
    close(fd[1]);
}

TEST_MAIN(enter_directory, leave_directory)
