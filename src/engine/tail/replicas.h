/* replicas: the data shared by replicas.c and soonest.c. See bats/tail.h. */
#ifndef BATS_ENGINE_REPLICAS_H
#define BATS_ENGINE_REPLICAS_H

#include "engine/tail/tail.h"
#include "estimate/histogram.h"

#define TAIL_TASKS 192 /* looked at for one event, however many run */

/* A running task. */
struct replicated {
    struct bats_position task;
    uint32_t cluster; /* of its original */
    double total;     /* expected, on the canonical cluster */
    double left;      /* until the first of its executions has ended then */
};

struct replicas {
    enum bats_tail strategy;
    uint64_t random;         /* state of its generator */
    struct replicated *list; /* TAIL_TASKS at most */
    uint32_t n;
    bats_time looked_at;   /* when it was made */
    uint32_t next_busy;    /* where to go on: a word of `busy` */
    bool knows;            /* the list will do for this pass */
    bool is_news;          /* who found nothing may find something now; */
    uint64_t seen_changes; /* or there are more changes than these; else */
    bats_time useless[BATS_CLUSTERS_MAX]; /* who is paid until then does not */
    struct bats_histogram histogram[BATS_CLUSTERS_MAX]; /* of all results */
    size_t canonical; /* the cluster that the histogram is converted to, */
    struct bats_regression to_canonical[BATS_CLUSTERS_MAX]; /* and how */
    struct bats_regression from_canonical[BATS_CLUSTERS_MAX];
    /* soonest.c: */
    bool has_longest; /* these are up to date: */
    double longest;   /* runtime seen, on the canonical cluster, */
    double stuck[BATS_CLUSTERS_MAX]; /* and what is too long on each */
    bats_time (*true_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
    const void *true_context;
};

/* Mean of the results on the cluster; 0 without any. */
static inline double replicas_mean(const struct state *s, size_t cluster)
{
    return s->clusters[cluster].stats.mean_done;
}

/* Converts a runtime on a cluster into that on the canonical one, and the
 * other way round; something has ended on both. */
static inline double replicas_to_canonical(const struct replicas *c,
                                           double time, size_t from)
{
    const struct bats_regression *line = &c->to_canonical[from];
    return line->b0 + line->b1 * time;
}

static inline double replicas_from_canonical(const struct replicas *c,
                                             double time, size_t to)
{
    const struct bats_regression *line = &c->from_canonical[to];
    return line->b0 + line->b1 * time;
}

/* Learns from the histograms, if that is the strategy and there is news. */
void soonest_look(struct replicas *c, const struct state *s);

#endif
