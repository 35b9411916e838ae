#include "bats/utility.h"

#include <string.h>

#include "bats/units.h"
#include "util/expression.h"

/* The expression for a word. */
static const char *expression(const char *text)
{
    return strcmp(text, "cheapest") == 0  ? "cost"
           : strcmp(text, "fastest") == 0 ? "makespan"
           : strcmp(text, "product") == 0 ? "makespan * cost"
                                          : text;
}

int bats_utility_value(const char *text, double makespan, double tail,
                       double cost, uint32_t n_tasks, double *value,
                       struct bats_error *err)
{
    static const char *const names[] = {"makespan", "tail", "cost",
                                        "task_cost"};
    const double values[] = {makespan / 1e6, tail / 1e6,
                             cost / (double)BATS_UNIT,
                             cost / (double)BATS_UNIT / n_tasks};
    return bats_expression_value(expression(text), names, values, 4, value,
                                 err);
}

int bats_utility_check(const char *text, struct bats_error *err)
{
    double value;
    return bats_utility_value(text, 1, 1, 1, 1, &value, err);
}
