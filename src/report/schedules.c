/* See schedules.h. */
#include "report/schedules.h"

#include <inttypes.h>
#include <string.h>

#include "report/table.h"
#include "report/words.h"
#include "util/text.h"

#define PHRASE 96
#define SENTENCE 512
#define HELD 4096 /* longest text of machine-windows */

/* ---- clusters ---- */

/* (T_m / T_i) (c_m / c_i), m the cheapest known cluster; 0 if nothing is
 * charged or known. */
static double profitability(const struct bats_estimator *e, size_t i)
{
    size_t m = 0;
    for (size_t j = 1; j < e->n_clusters; j++)
        if (e->runtimes[m].mean == 0 ||
            (e->clusters[j].charge < e->clusters[m].charge &&
             e->runtimes[j].mean > 0))
            m = j;
    if (e->clusters[m].charge == 0 || e->runtimes[i].mean == 0)
        return 0;
    return e->runtimes[m].mean / e->runtimes[i].mean *
           ((double)e->clusters[m].charge / (double)e->clusters[i].charge);
}

void bats_schedules_print_clusters(FILE *out, const struct bats_estimator *e)
{
    struct bats_table table = {.n_rows = 0};
    bool sampled = false, guessed = false;
    for (size_t i = 0; i < e->n_clusters; i++)
        sampled = sampled || e->runtimes[i].n > 1;
    bats_table_add(&table, "cluster\tcharge\truntime%s\tprofit.\tmachines",
                   sampled ? "\tfrom\tto\ttasks" : "");
    for (size_t i = 0; i < e->n_clusters; i++) {
        const struct bats_runtimes *r = &e->runtimes[i];
        double profit = profitability(e, i);
        char mean[PHRASE + 1] = "-", bounds[3 * PHRASE] = "", factor[32] = "-";
        if (r->mean > 0)
            snprintf(mean, sizeof mean, "%s%s",
                     r->is_guess ? BATS_WORDS_GUESS : "",
                     bats_words_makespan(r->mean).s);
        if (r->n > 1 && !r->is_guess)
            snprintf(bounds, sizeof bounds, "\t%s\t%s\t%" PRIu32,
                     bats_words_makespan(r->mean_low).s,
                     bats_words_makespan(r->mean_high).s, r->n);
        else if (sampled)
            strcpy(bounds, "\t\t\t");
        if (profit > 0)
            snprintf(factor, sizeof factor, "%.2f", profit);
        guessed = guessed || r->is_guess;
        bats_table_add(&table, "%s\t%s\t%s%s\t%s\t%" PRIu32,
                       e->clusters[i].name,
                       bats_words_amount(e->clusters[i].charge).s, mean,
                       bounds, factor, e->clusters[i].max);
    }
    bats_table_print(out, &table);
    if (guessed)
        fputs(BATS_WORDS_GUESSED, out);
}

/* ---- what is printed ---- */

struct offers {
    FILE *out;
    const struct bats_estimator *e;
    const struct bats_schedule *list;
    size_t n;
    int width;
    bool sampled; /* some of them have bounds */
};

static void say_sure(const struct offers *o, double sure)
{
    char text[SENTENCE];
    snprintf(text, sizeof text,
             "At latest, at most: this holds in %.0f %% of all cases.",
             100 * sure);
    bats_words_wrap(o->out, text, 0, 0, o->width);
}

/* ---- machine-windows ---- */

/* Machines held for `low` windows each, and others for one more. */
struct lots {
    uint32_t rest, longer;
    int64_t windows; /* of those of the rest */
};

static struct lots lots_of(const struct bats_schedule *s, size_t i)
{
    struct lots l = {s->plan.machines[i] - s->longer[i], s->longer[i],
                     s->held[i]};
    if (l.rest > 0 && l.windows > 0 && l.longer > 0)
        return l;
    return l.longer > 0 ? (struct lots){l.longer, 0, l.windows + 1}
                        : (struct lots){l.rest, 0, l.windows};
}

/* "32x4", or "23x4+9x5". */
static const char *lots_text(char *text, const struct lots *l)
{
    snprintf(text, BATS_UNITS_TEXT, "%" PRIu32 "x%" PRId64, l->rest,
             l->windows);
    if (l->longer > 0)
        bats_append(text, BATS_UNITS_TEXT, "+%" PRIu32 "x%" PRId64, l->longer,
                    l->windows + 1);
    return text;
}

/* Appends a cell. *shown: an example for the legend, if it can be of two
 * lots. */
static void append_lots(char *text, size_t size, const struct bats_schedule *s,
                        size_t i, bool is_held, struct lots *shown)
{
    char lots[BATS_UNITS_TEXT];
    struct lots l = lots_of(s, i);
    if (s->plan.machines[i] == 0) {
        bats_append(text, size, "\t-");
        return;
    }
    if (is_held)
        bats_append(text, size, "\t%" PRIu32, s->plan.machines[i]);
    else
        bats_append(text, size, "\t%s", lots_text(lots, &l));
    if (shown->rest == 0 || (shown->longer == 0 && l.longer > 0))
        *shown = l;
}

/* "23x4+9x5: 23 machines for 4 windows each, and 9 for 5." */
static void say_lots(FILE *out, const struct lots *l, int width)
{
    char lots[BATS_UNITS_TEXT], text[SENTENCE], rest[PHRASE] = "";
    if (l->longer > 0)
        snprintf(rest, sizeof rest, ", and %" PRIu32 " for %" PRId64,
                 l->longer, l->windows + 1);
    snprintf(text, sizeof text, "\n%s: %s for %s%s%s.", lots_text(lots, l),
             bats_words_count(l->rest, "machine").s,
             bats_words_count((uint64_t)l->windows, "window").s,
             l->rest > 1 ? " each" : "", rest);
    bats_words_wrap(out, text, 0, 0, width);
}

/* False: it is wider than the screen. */
static bool print_table(const struct offers *o)
{
    const struct bats_estimator *e = o->e;
    struct bats_table table = {.n_rows = 0};
    char text[HELD] = "schedule";
    struct lots shown = {0, 0, 0};
    bool is_held = e->plans != BATS_PLANS_WINDOWS;
    bool is_configuration = e->plans == BATS_PLANS_CONFIGURATIONS;
    if (e->n_clusters + 6 > BATS_TABLE_COLUMNS)
        return false;
    for (size_t i = 0; i < e->n_clusters; i++)
        bats_append(text, sizeof text, "\t%s", e->clusters[i].name);
    bats_table_add(&table, "%s%s\tends in%s", text,
                   is_configuration ? "\twindows" : "",
                   o->sampled ? "\tat latest\tcost\tat most" : "\tcost");
    for (size_t k = 0; k < o->n; k++) {
        const struct bats_schedule *s = &o->list[k];
        snprintf(text, sizeof text, "%zu %s", k + 1,
                 bats_offer_name(s->offer));
        for (size_t i = 0; i < e->n_clusters; i++)
            append_lots(text, sizeof text, s, i, is_held, &shown);
        if (is_configuration)
            bats_append(text, sizeof text, "\t%" PRId64, s->plan.windows);
        bats_append(text, sizeof text, "\t%s",
                    s->plan.feasible
                        ? bats_words_makespan(s->makespan.estimate).s
                        : "impossible");
        if (o->sampled)
            bats_append(text, sizeof text, "\t%s",
                        s->is_bounded ? bats_words_makespan(s->makespan.high).s
                                      : "");
        bats_append(text, sizeof text, "\t%s",
                    bats_words_amount(s->plan.cost).s);
        if (s->is_bounded)
            bats_append(text, sizeof text, "\t%s",
                        bats_words_amount(s->cost_high).s);
        bats_table_add(&table, "%s", text);
    }
    if (bats_table_width(&table) > o->width)
        return false;
    bats_table_print(o->out, &table);
    if (e->plans == BATS_PLANS_ALLOCATION)
        bats_words_wrap(o->out,
                        "\nThe job holds these machines until the bag is "
                        "empty, and is billed for them.",
                        0, 0, o->width);
    else if (!is_held && shown.rest > 0)
        say_lots(o->out, &shown, o->width);
    return true;
}

static void print_list(const struct offers *o)
{
    char text[HELD + SENTENCE];
    for (size_t k = 0; k < o->n; k++) {
        const struct bats_schedule *s = &o->list[k];
        snprintf(text, sizeof text, "%zu %s: %s in %s", k + 1,
                 bats_offer_name(s->offer),
                 bats_words_money(s->plan.cost,
                                  o->e->currency ? o->e->currency : "")
                     .s,
                 bats_words_makespan(s->makespan.estimate).s);
        if (s->is_bounded)
            bats_append(text, sizeof text, ", at most %s in %s",
                        bats_words_amount(s->cost_high).s,
                        bats_words_makespan(s->makespan.high).s);
        bats_words_wrap(o->out, text, 0, 4, o->width);
        fputs("    ", o->out);
        bats_words_wrap(o->out,
                        bats_schedules_machines(text, sizeof text, o->e, s), 4,
                        4, o->width);
    }
}

/* "cheaper and balanced are the same schedule as cheapest here.", where these
 * names have no row of their own. */
static void say_others(const struct offers *o)
{
    for (size_t k = 0; k < o->n; k++) {
        const char *names[BATS_OFFER_KINDS];
        char text[SENTENCE] = "";
        size_t others = 0;
        for (enum bats_offer kind = 0; kind < BATS_OFFER_KINDS; kind++)
            if (kind != o->list[k].offer &&
                bats_offers_find(o->e, o->list, o->n, kind) == k)
                names[others++] = bats_offer_name(kind);
        if (others == 0)
            continue;
        for (size_t i = 0; i < others; i++)
            bats_append(text, sizeof text, "%s%s",
                        i == 0            ? ""
                        : i + 1 == others ? " and "
                                          : ", ",
                        names[i]);
        bats_append(text, sizeof text, " %s the same schedule as %s here.",
                    others > 1 ? "are" : "is",
                    bats_offer_name(o->list[k].offer));
        bats_words_wrap(o->out, text, 0, 0, o->width);
    }
}

void bats_schedules_print(FILE *out, const struct bats_estimator *e,
                          const struct bats_schedule *schedules, size_t n,
                          int width)
{
    struct offers o = {out, e, schedules, n, width, false};
    for (size_t k = 0; k < n; k++)
        o.sampled = o.sampled || schedules[k].is_bounded;
    if (!print_table(&o))
        print_list(&o);
    double sure = 3 * bats_estimate_confidence(e) - 2;
    if (o.sampled && sure > 0)
        say_sure(&o, sure);
    say_others(&o);
}
