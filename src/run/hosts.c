#include "run/hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/master.h"
#include "util/encode.h"

static const char *host_of(const struct master *m, uint32_t machine)
{
    return m->crew.workers[m->member[m->first[machine]]].host;
}

uint32_t *bats_hosts_nodes(const struct master *m, uint32_t *keep)
{
    uint32_t n = m->survey.platform.n_machines;
    uint32_t *nodes = malloc(n * sizeof *nodes);
    *keep = UINT32_MAX;
    for (uint32_t i = 0; nodes != NULL && i < n; i++) {
        nodes[i] = i;
        for (uint32_t k = 0; k < i && nodes[i] == i; k++)
            if (strcmp(host_of(m, k), host_of(m, i)) == 0)
                nodes[i] = nodes[k];
        if (strcmp(host_of(m, i), m->survey.nodes[0].host) == 0)
            *keep = nodes[i];
    }
    return nodes;
}

/* Writes all lines but the first. */
static bool write_workers(const struct master *m, FILE *file)
{
    bool good = true;
    for (size_t i = 0; i < m->crew.n; i++)
        if (m->crew.workers[i].rank != 0 &&
            (m->sched == NULL ||
             bats_sched_keeps(m->sched, m->survey.platform.places[i].machine)))
            good &= fprintf(file, "%s\n", m->crew.workers[i].host) > 0;
    return good;
}

int bats_hosts_write(const struct master *m, struct bats_error *err)
{
    const char *path = m->options->hosts_file;
    char new[PATH_MAX];
    for (size_t i = 0; i < m->crew.n; i++)
        if (!bats_encode_is_word(m->crew.workers[i].host))
            return bats_error_set(err, BATS_EINPUT,
                                  "host '%s' cannot be written into a list "
                                  "of hosts",
                                  m->crew.workers[i].host);
    if (snprintf(new, sizeof new, "%s.new", path) >= (int)sizeof new)
        return bats_error_set(err, BATS_EINPUT, "%s: this name is too long",
                              path);
    FILE *file = fopen(new, "we");
    bool good = file != NULL;
    if (good)
        good = fprintf(file, "%s\n", m->survey.nodes[0].host) > 0 &&
               write_workers(m, file);
    if (file != NULL && fclose(file) != 0)
        good = false;
    if (!good || rename(new, path) != 0)
        return bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(errno));
    return 0;
}
