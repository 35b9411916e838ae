#include "engine/money/lease.h"

struct lease_terms lease_terms_of(enum bats_billing_model model)
{
    static const struct lease_terms terms[] = {
        [BATS_BILLING_WINDOW] = {.prolongs = true, .ahead = true},
        [BATS_BILLING_USE] = {.prolongs = true, .idle_is_free = true},
        [BATS_BILLING_SECOND] = {.prolongs = true,
                                 .returns = true,
                                 .ahead = true},
        [BATS_BILLING_JOB] = {.waits = true,
                              .returns = true,
                              .ahead = true,
                              .later = true},
        [BATS_BILLING_ALLOCATION] = {.lasts = true},
    };
    return terms[model];
}
