/* plans: functions shared by all plans. See plans.h. */
#include "estimate/plans.h"

#define CONFIDENCE 0.9

double bats_estimate_confidence(const struct bats_estimator *e)
{
    return e->confidence > 0 ? e->confidence : CONFIDENCE;
}

bool estimate_is_bounded(const struct bats_estimator *e,
                         const uint32_t *machines)
{
    for (size_t i = 0; i < e->n_clusters; i++)
        if (machines[i] > 0 &&
            (e->runtimes[i].n < 2 || e->runtimes[i].is_guess))
            return false;
    return true;
}
