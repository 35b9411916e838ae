/* wire, seal: frames travel whole, and once they are sealed, only those of the
 * other side, each once and in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/wire.h"

#define FRAME (8 + 5 + BATS_SEAL_BYTES) /* of "hello" */

struct line {
    struct bats_wire here, there;
};

static void connect_both(struct line *l)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(bats_wire_open(&l->here, pair[0]));
    assert_true(bats_wire_open(&l->there, pair[1]));
}

static void seal_both(struct line *l)
{
    const uint8_t one[BATS_SEAL_KEY] = {1}, two[BATS_SEAL_KEY] = {2};
    bats_wire_seal(&l->here, one, two);
    bats_wire_seal(&l->there, two, one);
}

static void hang_up(struct line *l)
{
    bats_wire_close(&l->here);
    bats_wire_close(&l->there);
}

static void say(struct bats_wire *w, const char *text)
{
    assert_true(bats_wire_put(w, 3, text, strlen(text)));
}

/* Returns what bats_wire_next says; a frame has to be of this text. */
static int hear(struct bats_wire *w, const char *text)
{
    uint32_t rank;
    const void *bytes;
    size_t n;
    int rc = bats_wire_next(w, &rank, &bytes, &n);
    if (rc == 0 && bats_wire_fill(w) > 0)
        rc = bats_wire_next(w, &rank, &bytes, &n);
    if (rc == 1) {
        assert_int_equal(rank, 3);
        assert_int_equal(n, strlen(text));
        assert_memory_equal(bytes, text, n);
    }
    return rc;
}

static void frames_travel_sealed_or_not(void **state)
{
    (void)state;
    struct line l;
    connect_both(&l);
    say(&l.here, "early");
    assert_true(bats_wire_flush(&l.here));
    seal_both(&l);
    l.there.theirs.is_on = false;
    assert_int_equal(hear(&l.there, "early"), 1);
    l.there.theirs.is_on = true;
    for (int i = 0; i < 3; i++) {
        say(&l.here, "hello");
        say(&l.there, "and back");
    }
    assert_true(bats_wire_flush(&l.here));
    assert_true(bats_wire_flush(&l.there));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hear(&l.there, "hello"), 1);
        assert_int_equal(hear(&l.here, "and back"), 1);
    }
    assert_int_equal(hear(&l.there, ""), 0);
    hang_up(&l);
}

/* Two frames are sent; `change` does something to their bytes on the way. */
static int second(void (*change)(struct bats_wire *))
{
    struct line l;
    connect_both(&l);
    seal_both(&l);
    say(&l.here, "hello");
    say(&l.here, "hello");
    if (change != NULL)
        change(&l.here);
    assert_true(bats_wire_flush(&l.here));
    int rc = hear(&l.there, "hello");
    if (rc == 1)
        rc = hear(&l.there, "hello");
    hang_up(&l);
    return rc;
}

static void change_text(struct bats_wire *w) { w->out[FRAME + 8] ^= 1; }
static void change_rank(struct bats_wire *w) { w->out[FRAME + 4] ^= 1; }
static void change_seal(struct bats_wire *w) { w->out[2 * FRAME - 1] ^= 1; }
static void drop_first(struct bats_wire *w) { w->out_at = FRAME; }
static void say_again(struct bats_wire *w)
{
    memcpy(w->out + FRAME, w->out, FRAME);
}
static void say_own(struct bats_wire *w) /* as the other side would seal it */
{
    w->out_end = FRAME;
    w->ours = (struct bats_seal){.is_on = true, .key = {2}, .n = 1};
    say(w, "hello");
}

static void what_was_changed_on_its_way_is_refused(void **state)
{
    (void)state;
    assert_int_equal(second(NULL), 1);
    assert_int_equal(second(change_text), -2);
    assert_int_equal(second(change_rank), -2);
    assert_int_equal(second(change_seal), -2);
    assert_int_equal(second(drop_first), -2);
    assert_int_equal(second(say_again), -2);
    assert_int_equal(second(say_own), -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_travel_sealed_or_not),
        cmocka_unit_test(what_was_changed_on_its_way_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
