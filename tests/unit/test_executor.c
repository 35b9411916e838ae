/* One slot: an emulated loss is noticed when it is due, and the SETUP of
 * another master counts before the next task. */
#include "exec/process/runner.h"
#include "helpers/directory.h"
#include "run/executor.h"

static struct bats_executor *slot;
static unsigned n_results;
static int exit_status; /* of the last one */

static int make_directory(void **state)
{
    return enter_directory(state) | setenv("TMPDIR", directory, 1);
}

static void take(void *context, const struct bats_task_result *result)
{
    n_results++;
    exit_status = result->usage.exit_status;
}

static struct bats_setup setup(void)
{
    return (struct bats_setup){.speed = 1,
                               .output = BATS_OUTPUT_NONE,
                               .workdir = "",
                               .output_path = "",
                               .run_id = "run",
                               .cluster = "c",
                               .machine = "c-0",
                               .task_file = "",
                               .start = "",
                               .stop = ""};
}

static void begin(void)
{
    struct bats_setup first = setup();
    n_results = 0;
    assert_ok(bats_executor_create(
        &first, &(struct bats_executor_sink){NULL, take, NULL}, &slot, &err));
}

static void assign(struct bats_assign a)
{
    struct bats_text packet = {0};
    struct bats_message message;
    a.attempt = 1;
    a.variables = a.outputs = a.holds = "";
    bats_proto_assign(&packet, &a);
    assert_ok(bats_proto_open(packet.bytes, packet.n, &message, &err));
    assert_ok(bats_executor_obey(slot, &message, &err));
    bats_text_release(&packet);
}

/* Until there is a result, or so many times. */
static void poll_slot(int times, int64_t us)
{
    for (int i = 0; i < times && n_results == 0; i++)
        assert_true(bats_executor_poll(slot, us, &err) >= 0);
}

TEST(a_loss_is_noticed_when_it_is_due_however_short_the_sleep)
{
    static const int64_t due_us[] = {INT64_MAX / 4, 1};
    for (unsigned i = 0; i < 2; i++) {
        begin();
        assign((struct bats_assign){
            .lost_us = 1, .noticed_us = due_us[i], .command = ""});
        poll_slot(i == 0 ? 3 : 1000, 1000 * i);
        assert_int_equal(n_results, i);
        bats_executor_destroy(slot);
    }
}

TEST(the_first_command_of_the_node_comes_before_the_tasks_of_another_master)
{
    struct bats_setup next = setup();
    next.start = "touch made";
    next.n_start = sizeof "touch made";
    begin();
    assert_ok(bats_executor_change(slot, &next, &err));
    assign((struct bats_assign){.command = "rm made"});
    poll_slot(1000, 10000);
    assert_int_equal(n_results, 1);
    assert_int_equal(exit_status, 0);
    bats_executor_stop(slot, 0);
    while (!bats_executor_leave(slot, 10000))
        ;
    bats_executor_destroy(slot);
}

TEST_MAIN(make_directory, leave_directory)
