#include "report/sbatch.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/words.h"

/* Prints the name of a file as a word for the shell that cannot be taken for
 * an option. */
static void print_file(FILE *out, const char *name)
{
    if (name[0] == '-' && name[1] != '\0')
        fputs("./", out);
    bats_words_put(out, BATS_ENCODE_SHELL, name);
}

/* Sorts the clusters with machines by the names of their partitions. */
static size_t order(const struct bats_sbatch *b, size_t *clusters)
{
    size_t n = 0;
    for (size_t c = 0; c < b->e->n_clusters; c++) {
        if (b->schedule->plan.machines[c] == 0)
            continue;
        size_t at = n++;
        for (; at > 0 &&
               strcmp(b->partition[clusters[at - 1]], b->partition[c]) > 0;
             at--)
            clusters[at] = clusters[at - 1];
        clusters[at] = c;
    }
    return n;
}

/* "H:MM:00", rounded up to minutes, as Slurm counts. */
static void print_time(FILE *out, const struct bats_sbatch *b)
{
    double end =
        b->e->plans == BATS_PLANS_ALLOCATION
            ? b->schedule->makespan.high
            : (double)b->schedule->windows_high * (double)b->e->window;
    double minutes = 1.05 * end / (double)BATS_MINUTE + 5;
    int64_t n = (int64_t)ceil(fmin(minutes, 1e9));
    fprintf(out, "#SBATCH --time=%" PRId64 ":%02d:00\n", n / 60,
            (int)(n % 60));
}

static void print_component(FILE *out, const struct bats_sbatch *b, size_t c,
                            bool first)
{
    uint32_t machines = b->schedule->plan.machines[c];
    uint32_t slots = (uint32_t)ceil(b->ranks[c]);
    if (!first)
        fputs("#SBATCH hetjob\n", out);
    fprintf(out, "#SBATCH --partition=%s", b->partition[c]);
    if (b->by_node[c]) /* +1 rank for the master */
        fprintf(out,
                " --nodes=%" PRIu32 " --ntasks-per-node=%" PRIu32
                " --exclusive\n",
                machines, slots + (first && slots == 1));
    else
        fprintf(out, " --ntasks=%" PRIu32 "\n", machines * slots + first);
    print_time(out, b);
}

static void print_head(FILE *out, const struct bats_sbatch *b)
{
    const struct bats_schedule *s = b->schedule;
    char machines[256];
    const char *name = bats_offer_name(s->offer);
    fputs("#!/bin/bash\n", out);
    bats_words_line(out, "# %s, by 'bats-mpi plan --sbatch': %s,",
                    name[0] != '\0' ? name : "best",
                    bats_words_machines(machines, sizeof machines,
                                        b->e->clusters, b->e->n_clusters,
                                        s->plan.machines, ", "));
    bats_words_line(out, "# billed %s in %s, at most %s in %s.",
                    bats_words_money(s->plan.cost, b->e->currency).s,
                    bats_words_makespan(s->makespan.estimate).s,
                    bats_words_money(s->cost_high, b->e->currency).s,
                    bats_words_makespan(s->makespan.high).s);
    fputs("#SBATCH --job-name=bag\n#SBATCH --output=%x-%j.out\n", out);
}

/* Largest possible charge, including the sample. */
static bats_money budget_of(const struct bats_sbatch *b)
{
    const struct bats_schedule *s = b->schedule;
    bats_money budget =
                   s->cost_high > s->plan.cost ? s->cost_high : s->plan.cost,
               windows;
    if (b->by_window &&
        bats_units_multiply(s->plan.price, s->windows_high, &windows) &&
        windows > budget)
        budget = windows;
    return budget + b->charged;
}

/* The same as in jobscripts/. */
static void print_end(FILE *out, const struct bats_sbatch *b)
{
    fputs("status=$?\n\n"
          "# Where a rank was lost, the exit code of srun is not that of the "
          "run. The record\n"
          "# knows whether a task is left, or has failed.\n"
          "if [ $status -gt 128 ] && [ \"$(bats-mpi status --left ",
          out);
    print_file(out, b->bag);
    fputs(")\" = 0 ]; then\n    bats-mpi status --json ", out);
    print_file(out, b->bag);
    fputs(" | grep -q '\"failed\": *0'\n"
          "    exit\n"
          "fi\n"
          "exit $status\n",
          out);
}

int bats_sbatch_print(FILE *out, const struct bats_sbatch *b,
                      struct bats_error *err)
{
    size_t clusters[BATS_CLUSTERS_MAX];
    size_t n = order(b, clusters);
    for (size_t i = 0; i < n; i++)
        if (!bats_encode_is_word(b->partition[clusters[i]]))
            return bats_refuse(err,
                               "partition '%s' cannot be written into a job "
                               "script: letters, digits and ._-+=:,@%%/ only",
                               b->partition[clusters[i]]);
    print_head(out, b);
    for (size_t i = 0; i < n; i++)
        print_component(out, b, clusters[i], i == 0);
    fputs("\nsrun --mpi=pmix", out);
    for (size_t i = 0; n > 1 && i < n; i++)
        fprintf(out, "%s%zu", i == 0 ? " --het-group=" : ",", i);
    fputs(" bats-mpi run ", out);
    print_file(out, b->bag);
    fputs(" \\\n    --profile ", out);
    print_file(out, b->profile);
    if (b->clusters != NULL) {
        fputs(" --clusters ", out);
        print_file(out, b->clusters);
    }
    fprintf(out, " --budget %s \"$@\"\n", bats_words_amount(budget_of(b)).s);
    print_end(out, b);
    return 0;
}
