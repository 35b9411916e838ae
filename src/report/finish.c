#include "report/finish.h"

static const struct bats_finish_row rows[] = {
    [BATS_FINISH_NOT_YET] = {"unfinished", "not finished", BATS_EXIT_SYSTEM},
    [BATS_FINISH_ALL_DONE] = {"all_done", "every task has a result",
                              BATS_EXIT_OK},
    [BATS_FINISH_BUDGET] = {"budget_exhausted", "budget exhausted",
                            BATS_EXIT_BUDGET},
    [BATS_FINISH_STOPPED] = {"stopped", "stopped", BATS_EXIT_SYSTEM},
    [BATS_FINISH_NO_MACHINES] = {"no_machines", "no machine is left",
                                 BATS_EXIT_SYSTEM},
    [BATS_FINISH_HALTED] = {"halted", "too many tasks failed (--halt)",
                            BATS_EXIT_FAILED},
    [BATS_FINISH_SAMPLED] = {"sampled", "sampled", BATS_EXIT_OK},
    [BATS_FINISH_TIME_LIMIT] = {"deadline", "the time limit is reached",
                                BATS_EXIT_DEADLINE},
    [BATS_FINISH_TOO_LATE] = {"too_late",
                              "no task that is left can end by the deadline",
                              BATS_EXIT_DEADLINE},
};

static const struct bats_finish_row some_failed = {
    "tasks_failed", "every task has a result", BATS_EXIT_FAILED};

const struct bats_finish_row *bats_finish_row(enum bats_finish finish,
                                              uint32_t failed)
{
    return finish == BATS_FINISH_ALL_DONE && failed > 0 ? &some_failed
                                                        : &rows[finish];
}
