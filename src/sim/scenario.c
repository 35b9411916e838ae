#include "sim/scenario.h"

#include <stdlib.h>

#include "input/bagfile.h"
#include "sim/scenario/section.h"

static int read_all(struct bats_sections *r)
{
    int rc = bats_sections_read(r, NULL, BAG);
    if (rc == 0)
        rc = bats_scenario_bag_settle(r);
    if (rc == 0)
        rc = bats_scenario_run_goal(r);
    if (rc == 0)
        rc = bats_scenario_clusters_settle(r);
    if (rc == 0)
        rc = bats_scenario_needs_settle(r);
    return rc == 0 ? bats_scenario_run_settle(r) : rc;
}

int bats_scenario_load(const char *path, struct bats_scenario **scenario,
                       struct bats_error *err)
{
    static const struct bats_section kinds[KINDS] = {
        [RUN] = {"run", bats_scenario_run_keys},
        [BAG] = {"bag", bats_scenario_bag_keys},
        [CLUSTER] = {"cluster", bats_scenario_cluster_keys}};
    struct bats_scenario *s = calloc(1, sizeof *s);
    struct bats_sections *r = calloc(1, sizeof *r);
    int rc = s && r ? 0 : bats_no_memory(err);
    if (rc == 0) {
        s->platform.window = BATS_HOUR;
        s->repeats = 1;
        s->engine.tail = BATS_TAIL_DEFAULT;
        *r = (struct bats_sections){.path = path,
                                    .object = s,
                                    .kinds = kinds,
                                    .n_kinds = KINDS,
                                    .err = err};
        rc = read_all(r);
        bats_sections_release(r);
    }
    free(r);
    if (rc == 0)
        *scenario = s;
    else
        bats_scenario_destroy(s);
    return rc;
}

void bats_scenario_destroy(struct bats_scenario *scenario)
{
    if (!scenario)
        return;
    bats_platform_release(&scenario->platform);
    free(scenario->seeds);
    free(scenario->measured);
    free(scenario->planned);
    free(scenario->category);
    free(scenario->own);
    free(scenario->needs);
    free(scenario->stocks);
    bats_bagfile_destroy(scenario->bag);
    bats_graph_release(&scenario->graph);
    free(scenario);
}
