/* wire, tls: frames travel whole; by TLS only those of the other side, each
 * once and in order. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers/test.h"
#include "run/wire.h"

#define RECORD (5 + 8 + 5 + 1 + 16) /* TLS 1.3 of the frame of "hello" */

/* Whatever the two say passes `between`. */
static struct line {
    struct bats_wire here, there;
    int between[2];
} the_line, *const l = &the_line;

static int connect_both(void **state)
{
    *l = (struct line){.between = {0}};
    int pair[2];
    struct bats_wire *const end[2] = {&l->here, &l->there};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        assert_true(bats_wire_open(end[i], pair[0]));
        l->between[i] = pair[1];
    }
    return 0;
}

static int hang_up(void **state)
{
    bats_wire_close(&l->here);
    bats_wire_close(&l->there);
    close(l->between[0]);
    close(l->between[1]);
    return 0;
}

#define TEST_ON_LINE(name) TEST_WITH(name, connect_both, hang_up)

static size_t catch (int from, char bytes[4096])
{
    ssize_t n = recv(l->between[from], bytes, 4096, MSG_DONTWAIT);
    return n > 0 ? (size_t)n : 0;
}

static void pass_on(int to, const char *bytes, size_t n)
{
    assert_int_equal(send(l->between[to], bytes, n, MSG_NOSIGNAL), n);
}

static void carry(void)
{
    char bytes[4096];
    for (int from = 0; from < 2; from++) {
        size_t n = catch (from, bytes);
        if (n > 0)
            pass_on(!from, bytes, n);
    }
}

static void say(struct bats_wire *w, const char *text)
{
    assert_true(bats_wire_put(w, 3, text, strlen(text)));
    bats_wire_flush(w);
}

/* Returns what bats_wire_next or bats_wire_fill says; a frame has to be of this
 * text. */
static int hear(struct bats_wire *w, const char *text)
{
    uint32_t rank;
    const void *bytes;
    size_t n;
    int rc = bats_wire_next(w, &rank, &bytes, &n);
    if (rc == 0 && (rc = bats_wire_fill(w)) > 0)
        rc = bats_wire_next(w, &rank, &bytes, &n);
    if (rc == 1) {
        assert_int_equal(rank, 3);
        assert_int_equal(n, strlen(text));
        assert_memory_equal(bytes, text, n);
    }
    return rc;
}

/* The handshake, until `there` hears "knock". */
static int secure(uint8_t key, uint8_t other_key)
{
    const uint8_t keys[2][BATS_TLS_KEY] = {{key}, {other_key}};
    int rc = 0;
    assert_true(bats_wire_secure(&l->here, false, keys[0]));
    assert_true(bats_wire_secure(&l->there, true, keys[1]));
    say(&l->here, "knock");
    for (int i = 0; i < 9 && rc == 0; i++) {
        carry();
        rc = hear(&l->there, "knock");
        int error = errno;
        carry();
        if (rc == 0 && hear(&l->here, "") == 0)
            bats_wire_flush(&l->here);
        errno = error;
    }
    return rc;
}

TEST_ON_LINE(frames_travel_in_the_clear_and_by_tls)
{
    say(&l->here, "early");
    carry();
    assert_int_equal(hear(&l->there, "early"), 1);
    assert_int_equal(secure(1, 1), 1);
    for (int i = 0; i < 3; i++) {
        say(&l->here, "hello");
        say(&l->there, "and back");
    }
    carry();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hear(&l->there, "hello"), 1);
        assert_int_equal(hear(&l->here, "and back"), 1);
    }
    assert_int_equal(hear(&l->there, ""), 0);
}

TEST_ON_LINE(a_long_frame_travels_whole)
{
    static char text[300001];
    int rc = 0;
    memset(text, 'x', sizeof text - 1);
    l->there.limit = sizeof text;
    assert_int_equal(secure(1, 1), 1);
    say(&l->here, text);
    assert_true(bats_wire_unsent(&l->here) > 0);
    for (int i = 0; i < 1000 && rc == 0; i++) {
        carry();
        assert_true(bats_wire_flush(&l->here));
        rc = hear(&l->there, text);
    }
    assert_int_equal(rc, 1);
}

TEST_ON_LINE(another_key_opens_nothing)
{
    assert_int_equal(secure(1, 2), -1);
    assert_int_equal(errno, EKEYREJECTED);
    carry();
    assert_int_equal(bats_wire_fill(&l->here), -1);
    assert_int_equal(errno, EKEYREJECTED);
}

enum change { NOTHING, CHANGED_TEXT, CHANGED_MARK, DROPPED, REPEATED };

/* Two frames are sent; something is done to their records on the way. */
static int second(enum change change)
{
    char bytes[4096];
    connect_both(NULL);
    assert_int_equal(secure(1, 1), 1);
    say(&l->here, "hello");
    say(&l->here, "hello");
    assert_int_equal(catch (0, bytes), 2 * RECORD);
    bytes[RECORD + 15] ^= change == CHANGED_TEXT;
    bytes[2 * RECORD - 1] ^= change == CHANGED_MARK;
    if (change == DROPPED)
        memmove(bytes, bytes + RECORD, RECORD);
    if (change == REPEATED)
        memcpy(bytes + RECORD, bytes, RECORD);
    pass_on(1, bytes, 2 * RECORD);
    int rc = 1;
    for (int i = 0; i < 3 && rc >= 0; i++)
        rc = hear(&l->there, "hello");
    int error = errno;
    hang_up(NULL);
    return rc < 0 ? error : 0;
}

TEST(what_was_changed_on_its_way_is_refused)
{
    assert_int_equal(second(NOTHING), 0);
    for (enum change change = CHANGED_TEXT; change <= REPEATED; change++)
        assert_int_equal(second(change), EBADMSG);
}

TEST_ON_LINE(what_one_has_said_is_not_heard_from_the_other)
{
    char bytes[4096];
    assert_int_equal(secure(1, 1), 1);
    say(&l->here, "hello");
    size_t n = catch (0, bytes);
    pass_on(0, bytes, n);
    assert_int_equal(hear(&l->here, ""), -1);
    assert_int_equal(errno, EBADMSG);
}

int main(void)
{
#ifndef BATS_HAVE_GNUTLS
    puts("1..0 # SKIP built without GnuTLS");
    return 0;
#endif
    return run_cases(NULL, NULL);
}
