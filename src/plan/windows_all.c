/* windows_all: the cost of all machines until the bag is empty, and the loss
 * when a machine is given up. See bats/windows.h. */
#include "bats/windows.h"

#include <math.h>

#include "util/larger.h"

/* Relative precision of an end; means are known no better. */
#define PRECISION 2e-3
/* At most this many held machines are used to find an end. */
#define SAMPLE 512
/* See bats_windows_loss. */
#define LOST 0.5
#define LOST_MOST 5
#define FOREVER 1e9
#define INSTANT 1e-6

double bats_windows_loss(double mean, double cv)
{
    return LOST * mean * fmin(1 + cv * cv, LOST_MOST);
}

/* Once all running tasks have ended, now + rate * time tasks are begun. */
struct line {
    double longest, now, rate;
};

/* Tasks begun by all machines until `time`. The first call, with longest < 0,
 * finds the line. */
static double begun(const struct bats_windows_problem *p, struct line *line,
                    double time)
{
    double n = 0;
    if (line->longest >= 0 && time > line->longest)
        return line->now + line->rate * time;
    bool is_first = line->longest < 0;
    line->longest = larger(line->longest, 0);
    uint32_t stride = p->n_machines / SAMPLE + 1;
    for (uint32_t i = 0; i < p->n_machines; i += stride) {
        const struct bats_windows_machine *m = &p->machines[i];
        double rate = p->types[m->type].rate;
        double like = smaller(stride, p->n_machines - i);
        for (uint32_t k = 0; k < m->n_slots && !m->leaves; k++) {
            double rest = p->slots[m->first_slot + k].rest;
            n += time > rest ? like * ((time - rest) * rate + 0.5) : 0;
            if (!is_first)
                continue;
            line->longest = larger(line->longest, rest);
            line->now += like * (0.5 - rest * rate);
            line->rate += like * rate;
        }
    }
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        n += t->parked * t->slots * (time * t->rate + 1);
        line->now += is_first ? t->parked * t->slots : 0;
        line->rate += is_first ? t->parked * t->slots * t->rate : 0;
    }
    return n;
}

double bats_windows_cost_of_all(const struct bats_windows_problem *p,
                                double pending, double *end)
{
    double empty = 0, cost = 0;
    if (pending > 0) {
        double high = 1, low = 0;
        struct line line = {.longest = -1};
        while (begun(p, &line, high) < pending && high < FOREVER)
            high *= 2;
        while (high - low > PRECISION * high + INSTANT) {
            double middle = (low + high) / 2;
            if (begun(p, &line, middle) < pending)
                low = middle;
            else
                high = middle;
        }
        empty = high;
    }
    *end = 0;
    for (uint32_t i = 0; i < p->n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        const struct bats_windows_type *t = &p->types[m->type];
        double last = 0;
        for (uint32_t k = 0; k < m->n_slots; k++) {
            double rest = p->slots[m->first_slot + k].rest;
            last = larger(last, rest >= empty ? rest : empty + 0.5 / t->rate);
        }
        *end = larger(*end, last);
        if (last > m->paid)
            cost += t->charge * (pending > 0 ? last - m->paid + 0.5
                                             : ceil(last - m->paid));
    }
    for (size_t i = 0; i < p->n_types && pending > 0; i++) {
        const struct bats_windows_type *t = &p->types[i];
        double last = empty + 0.5 / t->rate;
        cost += t->parked * t->charge * fmax(last + 0.5, 1);
        if (t->parked > 0)
            *end = larger(*end, last);
    }
    return cost;
}
