/* promise: the chosen schedule's promise, stored with the options of its
 * session. */
#include <jansson.h>
#include <stdlib.h>

#include "bats/estimate.h"
#include "record/state.h"

static json_t *amount(double x)
{
    return json_integer(x > 0 && x < 9e18 ? (json_int_t)x : 0);
}

/* A missing upper bound becomes null. */
static json_t *describe(const struct bats_sched_sampled *sampled,
                        bats_money budget)
{
    const struct bats_schedule *p = sampled->chosen;
    bats_money most = p->cost_high;
    if (budget != BATS_UNLIMITED && budget - sampled->charged < most)
        most = budget - sampled->charged;
    if (most < p->plan.cost)
        most = p->plan.cost;
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "schedule",
        bats_offer_name(p->offer), "chosen_us", (json_int_t)sampled->time,
        "charged_before", (json_int_t)sampled->charged, "cost",
        (json_int_t)p->plan.cost, "cost_high",
        p->is_bounded ? json_integer(most) : json_null(), "makespan_us",
        amount(p->makespan.estimate), "makespan_low_us",
        p->is_bounded ? amount(p->makespan.low) : json_null(),
        "makespan_high_us",
        p->is_bounded ? amount(p->makespan.high) : json_null());
}

int bats_record_promise(struct bats_record *r,
                        const struct bats_sched_sampled *sampled,
                        bats_money budget, struct bats_error *err)
{
    json_t *object = describe(sampled, budget);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    int rc =
        text == NULL
            ? bats_no_memory(err)
            : bats_db_each(&r->db,
                           "UPDATE session SET options = json_set("
                           "coalesce(nullif(options, ''), '{}'), '$.promise',"
                           " json(?)) WHERE id = ?",
                           NULL, NULL, err,
                           BATS_VALUES(BATS_T(text), BATS_I(r->session)));
    free(text);
    json_decref(object);
    return rc;
}
