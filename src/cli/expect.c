#include "cli/past.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/words.h"
#include "util/text.h"

/* most points of a bag that are checked */
#define LOOKS 10000

/* Mean and variation of each model over the points of the bag. */
static int see_points(struct bats_learner *l)
{
    struct bats_text command = {0};
    uint32_t every = l->points.bag->n_tasks / LOOKS + 1;
    double x[BATS_FACTORS], *n = calloc(l->kinds.kinds.n + 1, sizeof *n);
    int rc = n != NULL ? 0 : BATS_ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < l->points.bag->n_tasks; i += every) {
        if (bats_bagfile_command(l->points.bag, i, &command) < 0)
            rc = BATS_ENOMEM;
        uint32_t k = rc == 0 ? bats_bag_kinds_of(&l->kinds, i, command.bytes)
                             : BATS_NO_KIND;
        if (k == BATS_NO_KIND || !bats_bag_points_at(&l->points, i, x))
            continue;
        struct bats_past_model *m = &l->models[k];
        double t = bats_factors_at(&m->model, x);
        n[k]++;
        m->mean += t;
        m->cv += t * t;
    }
    for (size_t k = 0; rc == 0 && k < l->kinds.kinds.n; k++) {
        struct bats_past_model *m = &l->models[k];
        m->mean /= fmax(n[k], 1);
        m->cv = sqrt(fmax(m->cv / fmax(n[k], 1) - m->mean * m->mean, 0)) /
                fmax(m->mean, 1e-300);
        m->model.is_there &= n[k] > 0;
    }
    bats_text_release(&command);
    free(n);
    return rc;
}

int bats_learner_models(struct bats_learner *l, struct bats_error *err)
{
    if (l->points.n == 0 || l->past.n_rows == 0)
        return 0;
    if (bats_bag_kinds_count(&l->kinds) < 0)
        return bats_no_memory(err);
    l->models = calloc(l->kinds.kinds.n + 1, sizeof *l->models);
    if (l->models == NULL)
        return bats_no_memory(err);
    int rc = bats_history_models(&l->past, &l->kinds.kinds, l->points.names,
                                 l->models, err);
    return rc == 0 && see_points(l) < 0 ? bats_no_memory(err) : rc;
}

/* The seconds that the model of its kind predicts for the point of task i; 0:
 * no prediction. */
static double explained(struct bats_learner *l, uint32_t i, uint32_t kind)
{
    double x[BATS_FACTORS];
    return l->models != NULL && l->models[kind].model.is_there &&
                   bats_bag_points_at(&l->points, i, x)
               ? bats_factors_at(&l->models[kind].model, x)
               : 0;
}

double bats_learner_task(struct bats_learner *l, uint32_t i,
                         const char *command)
{
    uint32_t kind = l->past.n_rows > 0
                        ? bats_bag_kinds_of(&l->kinds, i, command)
                        : BATS_NO_KIND;
    if (kind == BATS_NO_KIND)
        return 0;
    double seconds = explained(l, i, kind);
    return (double)BATS_SECOND *
           (seconds > 0
                ? seconds
                : bats_history_last(&l->past, l->kinds.kinds.kind[kind].name));
}

/* Like bats_learner_task, on a cluster with a belief. */
static double task_on(struct bats_learner *l, uint32_t i, const char *command,
                      size_t cluster)
{
    uint32_t kind = bats_bag_kinds_of(&l->kinds, i, command);
    if (!l->believes || kind == BATS_NO_KIND)
        return 0;
    double seconds = explained(l, i, kind);
    double mean = l->believed.kinds[kind].mean[cluster];
    return isfinite(l->believed.kinds[kind].level)
               ? mean * (seconds > 0 ? seconds / l->models[kind].mean : 1)
               : 0;
}

/* Prints the columns of a task. A window of a cluster is charged per
 * machine. */
static void list_task(FILE *out, struct bats_learner *l, uint32_t i,
                      const char *command, const struct bats_cluster *clusters,
                      bats_time window)
{
    fprintf(out, "%" PRIu64, (uint64_t)i + 1);
    for (size_t c = 0; c < l->n_clusters; c++) {
        double time = task_on(l, i, command, c);
        double price = time / (double)window * (double)clusters[c].charge;
        if (time > 0)
            fprintf(out, "\t%.4g\t%.4g", time / (double)BATS_SECOND,
                    price / (double)BATS_UNIT);
        else
            fputs("\t\t", out);
    }
    putc('\t', out);
    bats_words_put(out, BATS_ENCODE_UNICODE, command);
    putc('\n', out);
}

int bats_learner_list(FILE *out, struct bats_learner *l,
                      const struct bats_cluster *clusters, bats_time window,
                      struct bats_error *err)
{
    struct bats_text command = {0};
    int rc = 0;
    fputs("task", out);
    for (size_t c = 0; c < l->n_clusters; c++)
        fprintf(out, "\t%s_s\t%s_cost", clusters[c].name, clusters[c].name);
    fputs("\tcommand\n", out);
    for (uint32_t i = 0; rc == 0 && i < l->points.bag->n_tasks; i++)
        if (bats_bagfile_command(l->points.bag, i, &command) < 0)
            rc = bats_no_memory(err);
        else
            list_task(out, l, i, command.bytes, clusters, window);
    bats_text_release(&command);
    return rc;
}
