#include "sim/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bagfile.h"
#include "input/model.h"
#include "sim/scenario/section.h"

static const struct {
    const char *word;
    const struct key *keys;
} sections[SECTIONS] = {[RUN] = {"run", bats_scenario_run_keys},
                        [BAG] = {"bag", bats_scenario_bag_keys},
                        [CLUSTER] = {"cluster", bats_scenario_cluster_keys}};

/* The index at which the lines of the open section are noted. */
static size_t place(const struct reader *r)
{
    return (size_t)r->section + (r->section == CLUSTER ? r->cluster : 0);
}

static int open_cluster(struct reader *r, unsigned line, const char *name)
{
    struct bats_platform *p = &r->scenario->platform;
    struct bats_error why;
    if (p->n_clusters == BATS_CLUSTERS_MAX)
        return FAIL(r, line, "more than %d clusters", BATS_CLUSTERS_MAX);
    r->cluster = p->n_clusters;
    if (bats_cluster_name_parse(name, p->clusters[r->cluster].name, &why))
        return FAIL(r, line, "%s", why.text);
    for (size_t i = 0; i < p->n_clusters; i++)
        if (strcmp(p->clusters[i].name, name) == 0)
            return FAIL(r, line, "cluster '%s' is already on line %u", name,
                        r->section_line[CLUSTER + i]);
    p->n_clusters++;
    p->speed[r->cluster] = 1;
    r->slots[r->cluster] = 1;
    return 0;
}

static int open_section(void *context, unsigned line, const char *word,
                        const char *name)
{
    struct reader *r = context;
    r->section = 0;
    while (r->section < SECTIONS &&
           strcmp(word, sections[r->section].word) != 0)
        r->section++;
    if (r->section == SECTIONS || (r->section != CLUSTER && *name))
        return FAIL(r, line,
                    "unknown section [%.60s%s%.60s]; known are [run], [bag] "
                    "and [cluster NAME]",
                    word, *name ? " " : "", name);
    int rc = r->section == CLUSTER ? open_cluster(r, line, name) : 0;
    if (rc < 0)
        return rc;
    unsigned *first = &r->section_line[place(r)];
    if (*first > 0)
        return FAIL(r, line, "section [%s] is already on line %u", word,
                    *first);
    *first = line;
    return 0;
}

static int store(struct reader *r, const struct key *key, const char *value,
                 struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    void *first = (char *)s + key->at;
    size_t i = r->section == CLUSTER ? r->cluster : 0;
    switch (key->kind) {
    case KEY_DURATION:
        return bats_duration_parse(value, (bats_time *)first + i, why);
    case KEY_PERIOD:
        return bats_scenario_period(value, (bats_time *)first + i, why);
    case KEY_FACTOR:
        return bats_factor_parse(value, (double *)first + i, why);
    case KEY_COUNT:
        return bats_scenario_count(value, key->most, (uint32_t *)first + i,
                                   why);
    case KEY_MODEL:
        return bats_model_set(&s->platform.clusters[i],
                              (enum bats_model_key)key->most, value, r->path,
                              why);
    case KEY_OWN:
        break;
    }
    return 0;
}

static int set_value(struct reader *r, unsigned line, const struct key *key,
                     const char *value)
{
    struct bats_error why;
    int rc = key->kind == KEY_OWN ? key->set(r, value, &why)
                                  : store(r, key, value, &why);
    if (rc == BATS_ENOMEM)
        return bats_error_set(r->err, rc, "%s", why.text);
    return rc < 0 ? FAIL(r, line, "%s: %s", key->name, why.text) : 0;
}

static int complain_of_key(struct reader *r, unsigned line, const char *name)
{
    char known[500] = "";
    const struct key *keys = sections[r->section].keys;
    for (size_t i = 0; i < KEYS_MAX && keys[i].name; i++) {
        size_t used = strlen(known);
        bool last = i + 1 == KEYS_MAX || !keys[i + 1].name;
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0 ? ""
                 : last ? " and "
                        : ", ",
                 keys[i].name);
    }
    return FAIL(r, line, "unknown key '%.60s' in [%s]; known are %s", name,
                sections[r->section].word, known);
}

static int set_key(void *context, unsigned line, const char *name,
                   const char *value)
{
    struct reader *r = context;
    const struct key *keys = sections[r->section].keys;
    size_t i = 0;
    while (i < KEYS_MAX && keys[i].name && strcmp(keys[i].name, name) != 0)
        i++;
    if (i == KEYS_MAX || !keys[i].name)
        return complain_of_key(r, line, name);
    int rc = bats_inifile_once(r->path, line, name, &r->key_line[place(r)][i],
                               r->err);
    return rc < 0 ? rc : set_value(r, line, &keys[i], value);
}

static int more_of_key(void *context, unsigned line, const char *name,
                       const char *value)
{
    struct reader *r = context;
    for (size_t i = 0; i < KEYS_MAX; i++) {
        const struct key *key = &sections[r->section].keys[i];
        if (key->name && key->is_list && strcmp(key->name, name) == 0)
            return set_value(r, line, key, value);
    }
    return FAIL(r, line,
                "an indented line without '=' continues the line above, but "
                "'%.60s' is not a list",
                name);
}

/* ---- after the last line ---- */

static int check_section(struct reader *r, int section, size_t cluster,
                         unsigned last_line)
{
    const char *word = sections[section].word;
    size_t at = (size_t)section + cluster;
    if (r->section_line[at] == 0)
        return FAIL(r, last_line, "the file ends without a section [%s%s]",
                    word, section == CLUSTER ? " NAME" : "");
    for (size_t i = 0; i < KEYS_MAX; i++)
        if (sections[section].keys[i].is_needed && r->key_line[at][i] == 0)
            return FAIL(r, r->section_line[at], "[%s] has no %s", word,
                        sections[section].keys[i].name);
    return 0;
}

static int check_sections(struct reader *r, unsigned last_line)
{
    size_t n = r->scenario->platform.n_clusters;
    int rc = check_section(r, BAG, 0, last_line);
    if (rc == 0)
        rc = bats_scenario_bag_settle(r);
    for (size_t i = 0; rc == 0 && i < (n > 0 ? n : 1); i++)
        rc = check_section(r, CLUSTER, i, last_line);
    return rc;
}

int bats_scenario_load(const char *path, struct bats_scenario **scenario,
                       struct bats_error *err)
{
    static const struct bats_inifile_reader reader = {open_section, set_key,
                                                      more_of_key};
    struct bats_scenario *s = calloc(1, sizeof *s);
    struct reader *r = calloc(1, sizeof *r);
    unsigned lines = 0;
    int rc = 0;
    if (!s || !r) {
        rc = bats_no_memory(err);
    } else {
        s->platform.window = BATS_HOUR;
        s->repeats = 1;
        s->tail = BATS_TAIL_DEFAULT;
        *r = (struct reader){.scenario = s, .path = path, .err = err};
        rc = bats_inifile_read(path, NULL, &reader, r, &lines, err);
    }
    if (rc == 0)
        rc = check_sections(r, lines > 0 ? lines : 1);
    if (rc == 0)
        rc = bats_scenario_clusters_machines(r);
    if (rc == 0)
        rc = bats_scenario_run_goal(r);
    if (rc == 0)
        rc = bats_scenario_clusters_settle(r);
    if (rc == 0)
        rc = bats_scenario_run_settle(r);
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
    bats_bagfile_destroy(scenario->bag);
    bats_graph_release(&scenario->graph);
    free(scenario);
}
