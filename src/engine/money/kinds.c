/* kinds: the lease kind of each billing model. See kinds.h. */
#include "engine/money/kinds.h"

const struct lease_kind *lease_kind_of(enum bats_billing_model model)
{
    static const struct lease_kind *const kinds[] = {
        [BATS_BILLING_WINDOW] = &lease_window,
        [BATS_BILLING_ALLOCATION] = &lease_free,
        [BATS_BILLING_USE] = &lease_use,
        [BATS_BILLING_JOB] = &lease_job,
        [BATS_BILLING_SECOND] = &lease_second,
    };
    return kinds[model];
}

struct bats_lease_terms bats_lease_terms(enum bats_billing_model model)
{
    return lease_kind_of(model)->terms;
}
