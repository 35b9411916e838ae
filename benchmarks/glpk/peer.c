/*
 * peer: the planner beside GLPK's branch and cut, on the same instances.
 *
 *   peer KIND DECIMALS CLUSTERS MACHINES INSTANCES
 *
 * GLPK is told how many windows our plan has and asked for the most rate that
 * this share of the budget can buy, with a limit of two seconds; presolver and
 * all kinds of cuts on. Prints
 *
 *   MEAN MEDIAN LONGEST MEAN MEDIAN LONGEST SOLVED SAME BETTER
 *
 * milliseconds of CPU of ours and of GLPK's, the instances that GLPK solved,
 * those where both rates are equal to 1e-7 (its tolerance), and those where
 * GLPK's plan, its counts rounded and its price added up exactly, is faster
 * than ours by more than 1e-9.
 */
#include <glpk.h>

#include "../instances.h"

#define LIMIT_MS 2000

static glp_prob *make_problem(const struct instance *in, int64_t windows)
{
    glp_prob *p = glp_create_prob();
    int columns = (int)in->n;
    glp_set_obj_dir(p, GLP_MAX);
    glp_add_rows(p, 1);
    glp_set_row_bnds(p, 1, GLP_UP, 0, (double)(in->budget / windows) / 1e6);
    glp_add_cols(p, columns);
    for (int j = 1; j <= columns; j++) {
        const struct bats_plan_item *item = &in->items[j - 1];
        int row[] = {0, 1};
        double price[] = {0, (double)item->charge / 1e6};
        glp_set_col_kind(p, j, GLP_IV);
        glp_set_col_bnds(p, j, GLP_DB, 0, item->max);
        glp_set_obj_coef(p, j, item->rate);
        glp_set_mat_col(p, j, 1, row, price);
    }
    return p;
}

/* The rate of GLPK's plan; 0 if it cannot be paid exactly. */
static double rounded_rate(const struct instance *in, glp_prob *p,
                           int64_t windows)
{
    bats_money price = 0;
    double rate = 0;
    for (size_t i = 0; i < in->n; i++) {
        int64_t count = llround(glp_mip_col_val(p, (int)i + 1));
        price += count * in->items[i].charge;
        rate += (double)count * in->items[i].rate;
    }
    return price <= in->budget / windows ? rate : 0;
}

int main(int argc, char **argv)
{
    enum kind kind;
    int decimals, instances, solved = 0, same = 0, better = 0;
    size_t n;
    uint32_t machines;
    if (!read_case(argc, argv, &kind, &decimals, &n, &machines, &instances)) {
        fputs("usage: peer KIND DECIMALS CLUSTERS MACHINES INSTANCES\n",
              stderr);
        return 2;
    }
    double *ours = allocate((size_t)instances, sizeof *ours);
    double *theirs = allocate((size_t)instances, sizeof *theirs);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    glp_iocp options;
    glp_term_out(GLP_OFF);
    glp_init_iocp(&options);
    options.presolve = options.gmi_cuts = options.mir_cuts = options.cov_cuts =
        options.clq_cuts = GLP_ON;
    options.tm_lim = LIMIT_MS;
    gsl_rng_set(rng, 1);
    for (int i = 0; i < instances; i++) {
        struct instance in;
        struct bats_plan plan;
        draw_instance(rng, kind, decimals, n, machines, &in);
        double start = cpu_seconds();
        if (bats_plan_solve(in.items, n, in.n_tasks, in.budget, &plan, NULL) <
            0)
            return 1;
        double middle = cpu_seconds();
        glp_prob *p = make_problem(&in, plan.windows);
        bool done =
            glp_intopt(p, &options) == 0 && glp_mip_status(p) == GLP_OPT;
        theirs[i] = cpu_seconds() - middle;
        ours[i] = middle - start;
        solved += done;
        same +=
            done && fabs(glp_mip_obj_val(p) - plan.rate) <= 1e-7 * plan.rate;
        better += rounded_rate(&in, p, plan.windows) > plan.rate * (1 + 1e-9);
        glp_delete_prob(p);
    }
    print_times(ours, instances);
    print_times(theirs, instances);
    printf(" %d %d %d\n", solved, same, better);
    glp_free_env();
    gsl_rng_free(rng);
    free(theirs);
    free(ours);
    return 0;
}
