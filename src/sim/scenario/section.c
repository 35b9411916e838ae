#include "sim/scenario/section.h"

int bats_scenario_count(const char *value, uint32_t max, uint32_t *count,
                        struct bats_error *why)
{
    uint64_t n;
    if (bats_count_parse(value, &n, why) || n == 0 || n > max)
        return bats_refuse(why, "'%.60s' is not a whole number from 1 to %u",
                           value, max);
    *count = (uint32_t)n;
    return 0;
}

int bats_scenario_period(const char *value, bats_time *period,
                         struct bats_error *why)
{
    int rc = bats_duration_parse(value, period, why);
    return rc < 0 || *period > 0 ? rc
                                 : bats_refuse(why, "must be longer than 0");
}
