/* belief: the prior belief about the clusters' runtimes. See state.h. */
#include "engine/state/state.h"

#include <math.h>

/* If the belief may well be off by a factor of 2, no runtime is expected; the
 * relative speeds alone are the better guide. */
#define SURE 0.7
/* Before results, tasks are assumed to vary as in earlier bags, or by VARIES,
 * with the weight of VARIES_LIKE results. */
#define VARIES 0.5
#define VARIES_LIKE 4

void state_believe(struct state *s, const struct bats_prior *prior)
{
    s->known.believes =
        prior != NULL && bats_prior_is_there(prior, s->n_clusters);
    if (!s->known.believes)
        return;
    s->known.prior = *prior;
    for (size_t i = 0; i < s->n_clusters; i++)
        s->clusters[i].is_believed = s->clusters[i].expected == 0;
    state_belief_note(s);
}

void state_belief(const struct state *s, const double *measured,
                  struct bats_belief *belief)
{
    double n[BATS_CLUSTERS_MAX], mean[BATS_CLUSTERS_MAX];
    double results = 0, squares = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        n[i] = stats->n_done;
        mean[i] = measured != NULL ? measured[i] : stats->mean_done;
        for (uint32_t k = 0; k < stats->n_sample; k++)
            squares += pow((double)stats->sample[k] / stats->mean_done - 1, 2);
        results += stats->n_sample > 0 ? stats->n_sample - 1 : 0;
    }
    double before = s->known.prior.cv > 0 ? s->known.prior.cv : VARIES;
    double cv = sqrt((squares + VARIES_LIKE * before * before) /
                     (results + VARIES_LIKE));
    bats_prior_update(&s->known.prior, s->n_clusters, mean, n, cv, belief);
}

void state_belief_note(struct state *s)
{
    struct bats_belief belief;
    if (!s->known.believes)
        return;
    state_belief(s, NULL, &belief);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].is_believed)
            s->clusters[i].expected =
                belief.error[i] <= SURE &&
                        belief.mean[i] < (double)BATS_LONGEST
                    ? (bats_time)fmax(belief.mean[i], 1)
                    : 0;
}
