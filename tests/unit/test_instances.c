/* instances: the queues of a strategy, by hand; and the names of strategies. */
#include <math.h>

#include "engine/tail/papers/instances.h"
#include "helpers/test.h"

static struct instances x; /* those of the present test */

/* Tasks whose instances of the throughput phase were sent at 0, 1, 2, ... */
static void begin(uint32_t n, struct instances_rules r)
{
    instances_release(&x);
    assert_true(instances_init(&x, n));
    for (uint32_t i = 0; i < n; i++)
        x.tasks[i].last = i;
    instances_begin(&x, &r, n);
}

/* The first one of the queue is sent, and is this task. */
static void sends(enum pool pool, bats_time now, uint32_t task)
{
    instances_update(&x, now);
    assert_int_equal(instances_peek(&x, pool, 0), task);
    if (task != NO_INSTANCE)
        instances_send(&x, pool, 0, now);
}

TEST(n_instances_come_before_one_in_the_reliable_pool)
{
    begin(1, (struct instances_rules){.n = 2, .t = 10, .n_reliable = 1});
    assert_true(instances_wakeup(&x) == 10);
    sends(POOL_UNRELIABLE, 9, NO_INSTANCE);
    sends(POOL_UNRELIABLE, 10, 0);
    sends(POOL_UNRELIABLE, 19, NO_INSTANCE);
    sends(POOL_UNRELIABLE, 25, 0);
    assert_true(instances_wakeup(&x) == 35);
    sends(POOL_UNRELIABLE, 35, NO_INSTANCE);
    sends(POOL_RELIABLE, 35, 0);
    assert_true(instances_wakeup(&x) == BATS_NEVER);
    assert_int_equal(x.sent_reliable, 1);
}

TEST(a_queued_instance_is_withdrawn_a_sent_one_is_not)
{
    begin(3, (struct instances_rules){.n = 0, .t = 0, .n_reliable = 1});
    sends(POOL_RELIABLE, 3, 0);
    assert_int_equal(x.longest_queue, 3);
    sends(POOL_RELIABLE, 3, NO_INSTANCE); /* the only slot is taken */
    instances_end(&x, 1, POOL_UNRELIABLE, true);
    instances_end(&x, 0, POOL_UNRELIABLE, true);
    assert_int_equal(x.n_reliable, 1);
    instances_end(&x, 0, POOL_RELIABLE, true);
    sends(POOL_RELIABLE, 4, 2); /* not 1 */
    assert_int_equal(x.most_reliable, 1);
}

TEST(a_reliable_instance_that_fails_is_sent_again)
{
    begin(1, (struct instances_rules){.n = 0, .t = 5, .n_reliable = 2});
    sends(POOL_RELIABLE, 5, 0);
    instances_end(&x, 0, POOL_RELIABLE, false);
    sends(POOL_RELIABLE, 6, 0);
}

TEST(without_a_pool_its_queue_goes_to_the_other)
{
    begin(2, (struct instances_rules){.n = 0, .t = 0, .n_reliable = 1});
    instances_update(&x, 2);
    instances_change(&x, &(struct instances_rules){.n = 0, .t = 0});
    sends(POOL_UNRELIABLE, 2, 0);
    instances_change(
        &x, &(struct instances_rules){
                .n = 9, .t = 0, .n_reliable = 1, .no_unreliable = true});
    sends(POOL_RELIABLE, 3, 1);
}

TEST(a_noticed_loss_need_not_wait)
{
    begin(2, (struct instances_rules){.n = BATS_INSTANCES_INFINITE, .t = 100});
    for (bats_time now = 1; now < 90;
         now++) { /* more often than there is room */
        instances_hurry(&x, 1);
        sends(POOL_UNRELIABLE, now, 1);
    }
    sends(POOL_UNRELIABLE, 99, NO_INSTANCE);
    sends(POOL_UNRELIABLE, 100, 0);
    sends(POOL_UNRELIABLE, 188, NO_INSTANCE);
    sends(POOL_UNRELIABLE, 189, 1);
}

/* ---- names ---- */

TEST(names_are_read_as_they_are_written)
{
    static const char *const names[] = {"AR",
                                        "TRR",
                                        "TR",
                                        "AUR",
                                        "CNinf",
                                        "CN1T0",
                                        "N=3,T=1x,D=2x,Mr=0.02",
                                        "N=0,T=0x,D=1.5x",
                                        "N=inf,T=35m,D=2x",
                                        "N=1,T=2x,D=inf",
                                        "N=inf,T=inf,D=inf"};
    char text[BATS_STRATEGY_TEXT];
    struct bats_strategy s;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ok(bats_strategy_parse(names[i], &s, &err));
        assert_string_equal(bats_strategy_format(text, &s), names[i]);
    }
    assert_ok(bats_strategy_parse("N=3,T=1x,D=2x,Mr=0.02", &s, &err));
    assert_int_equal(s.n, 3);
    assert_true(bats_span_time(&s.t, 2066e6) == 2066 * BATS_SECOND);
    assert_true(bats_span_time(&s.d, 2066e6) == 4132 * BATS_SECOND);
}

TEST(wrong_names_are_refused)
{
    static const char *const wrong[][2] = {
        {"ARR", "'ARR' is not a strategy"},
        {"N=3,T=1x", "N, T and D must be given"},
        {"N=3,T=3x,D=2x", "T is longer than D"},
        {"N=3,T=2h,D=1h", "T is longer than D"},
        {"N=3,T=inf,D=1h", "T is longer than D"},
        {"N=inf,T=0x,D=2x", "never ends sending"},
        {"N=-1,T=1x,D=2x", "N: '-1' is neither"},
        {"N=3,T=1x,D=0x", "D must be longer than 0"},
        {"N=3,T=x,D=2x", "T: 'x' is neither"},
        {"N=3,N=2,T=1x,D=2x", "N is given twice"},
        {"N=3,T=1x,D=2x,Mr=0", "Mr: '0' is not a number above 0"},
        {"N=3,T=1x,D=nanx", "D: 'nanx' is neither"},
        {"B=7", "'B' is not a strategy"},
        {"", "N, T and D must be given"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bats_strategy s;
        assert_says(bats_strategy_parse(wrong[i][0], &s, &err), BATS_EINPUT,
                    wrong[i][1]);
    }
}

TEST_MAIN(NULL, NULL)
