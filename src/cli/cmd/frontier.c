/* frontier: the verb frontier. Shows the strategies of policy expert that no
 * other one beats in makespan and cost; runs nothing. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/frame.h"
#include "cli/frontier.h"
#include "cli/look.h"
#include "cli/pools_source.h"
#include "report/page.h"
#include "report/strategies.h"
#include "util/json.h"

#define PLAYS 100

static int print_json(const struct bats_strategies *s, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->n; i++)
        rc = bats_look_json(bats_strategies_json(s, &s->list[i]),
                            JSON_REAL_PRECISION(15), err);
    return rc;
}

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    const struct bats_strategies *s = context;
    json_t *data = bats_strategies_page(s);
    json_object_set_new(data, "kind", json_string("strategies"));
    json_object_set_new(data, "title",
                        json_sprintf("Frontier of %s", s->name));
    return bats_page_write(out, data, NULL, NULL, err);
}

static int print(const struct bats_settings *set, struct bats_strategies *s,
                 struct bats_error *err)
{
    int rc = 0;
    if (set->csv)
        bats_strategies_print_csv(stdout, s);
    else if (set->json)
        rc = print_json(s, err);
    else if (set->html != NULL)
        rc = bats_look_write(set->html, write_page, s, err);
    else
        bats_strategies_print(stdout, s);
    return rc == 0 ? bats_flush(err) : rc;
}

/* Checks that a strategy meets the given budget and deadline. */
static int check(const struct bats_strategies *s, struct bats_error *err)
{
    if (s->asked[BATS_MARK_BUDGET] && s->best[BATS_MARK_BUDGET] == s->n)
        return bats_error_set(err, BATS_EBUDGET,
                              "no strategy is within the budget");
    if (s->asked[BATS_MARK_DEADLINE] && s->best[BATS_MARK_DEADLINE] == s->n)
        return bats_error_set(err, BATS_EDEADLINE,
                              "no strategy is within the deadline");
    return 0;
}

int cmd_frontier(const struct bats_settings *set, struct bats_error *err)
{
    struct bats_pools pools = {0};
    struct bats_strategies s = {.n = 0};
    int rc = 0;
    if (set->deadline.text != NULL && set->deadline.duration == 0)
        return bats_refuse(
            err, "--deadline: a frontier has no clock: give a duration");
    rc = bats_pools_read(set->words[0], set->online, &pools, err);
    if (rc == 0 && set->save != NULL)
        rc = bats_pools_save(&pools, set->save, err);
    if (rc == 0)
        rc = bats_frontier_find(set, &pools, set->words[0],
                                set->plays > 0 ? set->plays : PLAYS, &s, err);
    if (rc == 0)
        rc = print(set, &s, err);
    if (rc == 0)
        rc = check(&s, err);
    bats_pools_release(&pools);
    free(s.list);
    return rc;
}
