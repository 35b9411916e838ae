#include "history/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/believe.h"
#include "util/text.h"

/* Weight of a bag relative to the next one. */
#define FADES 0.5

/* ---- as text ---- */

/* Visits each stored number: the upper triangles of the matrices. */
static bool each(struct bats_factors *f, bool (*visit)(void *, double *),
                 void *context)
{
    for (int k = 0; k < 2; k++)
        for (int fold = 0; fold < BATS_FACTOR_FOLDS; fold++)
            for (uint32_t i = 0; i < f->n + 2; i++)
                for (uint32_t j = i; j < f->n + 2; j++) {
                    double *sum = &f->sums[k][fold][i][j];
                    if (!visit(context, sum))
                        return false;
                    f->sums[k][fold][j][i] = *sum;
                }
    return true;
}

static bool put(void *context, double *sum)
{
    struct bats_text *text = context;
    bats_text_format(text, " %.15g", *sum);
    return true;
}

static bool get(void *context, double *sum)
{
    const char **at = context;
    char *end;
    *sum = strtod(*at, &end);
    bool is_there = end != *at;
    *at = end;
    return is_there;
}

char *bats_past_sweep_text(const struct bats_past_sweep *sweep)
{
    struct bats_text text = {0};
    struct bats_factors sums = sweep->sums;
    bats_text_format(&text, "%s\n%u", sweep->names, sums.n);
    each(&sums, put, &text);
    if (bats_text_check(&text, NULL) < 0)
        bats_text_release(&text);
    return text.bytes;
}

struct bats_past_sweep *bats_past_sweep_parse(const char *text)
{
    const char *at = strchr(text, '\n');
    struct bats_past_sweep *s = at != NULL ? calloc(1, sizeof *s) : NULL;
    if (s == NULL)
        return NULL;
    double n = 0;
    snprintf(s->names, sizeof s->names, "%.*s", (int)(at - text), text);
    bool is_whole = get(&at, &n) && n >= 1 && n <= BATS_FACTORS;
    s->sums.n = is_whole ? (uint32_t)n : 0;
    if (is_whole && each(&s->sums, get, &at))
        return s;
    free(s);
    return NULL;
}

/* ---- models ---- */

static struct bats_factor_model model_of(const struct bats_past *past,
                                         const struct bats_prior_past *speeds,
                                         const char *kind, const char *names)
{
    struct bats_factors all = {.n = 0};
    uint32_t island = 0;
    int64_t run = 0;
    double weight = 1;
    for (size_t i = past->n_rows; i-- > 0;) {
        const struct bats_past_row *r = &past->rows[i];
        if (r->sweep == NULL || strcmp(past->kinds[r->kind], kind) != 0 ||
            strcmp(r->sweep->names, names) != 0)
            continue;
        if (all.n == 0) {
            all.n = r->sweep->sums.n;
            island = speeds->island[r->place];
            run = r->run;
        }
        if (r->sweep->sums.n != all.n || speeds->island[r->place] != island)
            continue;
        weight *= r->run != run ? FADES : 1;
        run = r->run;
        bats_factors_add(&all, &r->sweep->sums, weight,
                         exp(speeds->speed[r->place]));
    }
    return bats_factors_fit(&all);
}

int bats_history_models(const struct bats_past *past,
                        const struct bats_task_kinds *kinds, const char *names,
                        struct bats_past_model *models, struct bats_error *err)
{
    struct bats_prior_past speeds;
    int rc = bats_history_speeds(past, &speeds, err);
    for (size_t k = 0; rc == 0 && k < kinds->n; k++)
        models[k] = (struct bats_past_model){
            .model = model_of(past, &speeds, kinds->kind[k].name, names)};
    if (rc == 0)
        bats_prior_past_release(&speeds);
    return rc;
}
