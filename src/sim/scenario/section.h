/*
 * section: what the readers of the sections of a scenario share. Values become
 * part of the scenario as they are read (`keys`); what depends on several keys
 * is settled after the last line.
 *
 * Layer: sim. Used by sim/scenario and the files beside this one. Errors:
 * BATS_EINPUT with "path:line: sentence", of a key's value without path, line
 * and key; BATS_ENOMEM.
 */
#ifndef BATS_SIM_SECTION_H
#define BATS_SIM_SECTION_H

#include <stddef.h>

#include "input/inifile.h"
#include "sim/scenario.h"

#define BLANKS " \t"
#define KEYS_MAX 24

enum { RUN, BAG, CLUSTER, SECTIONS };

/* State while the file is read. */
struct reader {
    struct bats_scenario *scenario;
    const char *path;
    struct bats_error *err;
    int section;    /* open: RUN, BAG or CLUSTER */
    size_t cluster; /* the last one */
    bool minimizes; /* [run] says what */
    bool has_strategy;
    bool has_billing;
    bool by_hour[BATS_CLUSTERS_MAX];     /* the charge is */
    bool is_reliable[BATS_CLUSTERS_MAX]; /* the section says so */
    uint32_t machines[BATS_CLUSTERS_MAX], slots[BATS_CLUSTERS_MAX];
    /* Lines of the sections, 0: not there. Those of the clusters follow RUN
     * and BAG. */
    unsigned section_line[CLUSTER + BATS_CLUSTERS_MAX];
    bool has_runtime;
    unsigned key_line[CLUSTER + BATS_CLUSTERS_MAX][KEYS_MAX];
};

/* How a value is stored: by a function of its own, or as a number of the
 * scenario, which is one of several if the key is of a cluster. */
enum key_kind {
    KEY_OWN,
    KEY_DURATION,
    KEY_PERIOD, /* a duration above 0 */
    KEY_FACTOR,
    KEY_COUNT, /* a whole number from 1 to `most` */
    KEY_MODEL  /* `most` is an enum bats_model_key */
};

struct key {
    const char *name;
    enum key_kind kind;
    /* Applies the value; the sentence of an error does not name the key. */
    int (*set)(struct reader *r, const char *value, struct bats_error *why);
    size_t at; /* of the number, in struct bats_scenario */
    uint32_t most;
    bool is_list;
    bool is_needed;
};

#define OWN(name, set, is_list, is_needed)                                    \
    {                                                                         \
        name, KEY_OWN, set, 0, 0, is_list, is_needed                          \
    }
#define NUMBER(name, kind, member, most)                                      \
    {                                                                         \
        name, KEY_##kind, NULL, offsetof(struct bats_scenario, member), most, \
            false, false                                                      \
    }
#define MODEL(name, key)                                                      \
    {                                                                         \
        name, KEY_MODEL, NULL, 0, BATS_MODEL_##key, false, false              \
    }

/* By section; unused entries have no name. */
extern const struct key bats_scenario_run_keys[KEYS_MAX];
extern const struct key bats_scenario_bag_keys[KEYS_MAX];
extern const struct key bats_scenario_cluster_keys[KEYS_MAX];

/* Fails for this line of the file. */
#define FAIL(r, line, ...)                                                    \
    bats_error_at((r)->err, (r)->path, line, __VA_ARGS__)

/* Parses a whole number from 1 to `max`. */
int bats_scenario_count(const char *value, uint32_t max, uint32_t *count,
                        struct bats_error *why);

/* Parses a duration of more than 0. */
int bats_scenario_period(const char *value, bats_time *period,
                         struct bats_error *why);

/* Goal and strategy, and that they suit each other. */
int bats_scenario_run_goal(struct reader *r);

/* The runs: policies, budgets and seeds, by default one each, and no more than
 * can be done; and the grace time, once the window is known. */
int bats_scenario_run_settle(struct reader *r);

/* The number of tasks: the key `tasks`, or the number of runtimes in the file
 * or of tasks in the workflow. */
int bats_scenario_bag_settle(struct reader *r);

/* The machines of all clusters. */
int bats_scenario_clusters_machines(struct reader *r);

/* Losses and charges of all clusters, once billing and window are known. */
int bats_scenario_clusters_settle(struct reader *r);

#endif
