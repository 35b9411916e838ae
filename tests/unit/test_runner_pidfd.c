/* The runner where the system knows no pidfd_open. */
#include "helpers/runner_fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* As the kernel before 5.3, for the rest of this process's life. */
static void forbid_pidfd_open(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        skip();
    assert_int_equal(pidfd_open(getpid(), 0), -1);
}

TEST_WITH(a_task_runs_to_its_end, set_up, tear_down)
{
    forbid_pidfd_open();
    start("echo out; sleep 0.05; exit 7");
    struct bats_runner_result r = finish();
    assert_false(r.cancelled);
    assert_int_equal(r.usage.exit_status, 7);
    assert_string_equal(output(1), "out\n");
}

TEST_WITH(a_task_is_cancelled_with_all_it_left_behind, set_up, tear_down)
{
    forbid_pidfd_open();
    replace_runner((struct bats_runner_options){.grace_ms = 50});
    start("setsid sleep 1000 & echo $!; exec sleep 1000");
    wait_for_line();
    bats_runner_cancel(f->runner);
    struct bats_runner_result r = finish();
    assert_true(r.cancelled);
    /* The kernel keeps the signal that came first, however late it acts. */
    assert_int_equal(r.usage.signal, SIGTERM);
    assert_true(is_gone(output(1)));
}

int main(void)
{
    alarm(60);
    return run_cases(NULL, NULL);
}
