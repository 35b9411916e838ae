/* sizing: proposes other requests for memory, from the history. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/past.h"
#include "input/clusters_file.h"
#include "report/words.h"

#define SPARE 1.05      /* a request above what was used */
#define WORTHWHILE 0.95 /* of the cost: a proposal must be cheaper */
#define SEEN 100000     /* most tasks of the bag that are looked at */

/* The tasks of a kind in the bag. */
struct kind {
    double tasks;
    int64_t asked_kib; /* the most that any asks for; 0: none */
};

static int look(struct bats_learner *l, struct kind *kinds)
{
    const struct bats_bagfile *bag = l->kinds.bag;
    uint32_t every = bag->n_tasks / SEEN + 1;
    struct bats_text command = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < bag->n_tasks; i += every) {
        struct bats_need need = l->need;
        rc = bats_bagfile_command(bag, i, &command) < 0 ? BATS_ENOMEM : 0;
        uint32_t k = rc < 0 ? BATS_NO_KIND
                            : bats_bag_kinds_of(&l->kinds, i, command.bytes);
        if (k == BATS_NO_KIND || k >= l->kinds.kinds.n)
            continue;
        bats_bagfile_need(bag, i, &need);
        kinds[k].tasks += every;
        if (need.memory_kib > kinds[k].asked_kib)
            kinds[k].asked_kib = need.memory_kib;
    }
    bats_text_release(&command);
    return rc;
}

/* The cluster whose machines charge least, and its charge per machine-second,
 * in millionths; the machines have so many slots. */
static size_t cheapest(const struct bats_clusters_file *file, int64_t slots,
                       double *price)
{
    size_t best = 0;
    *price = INFINITY;
    for (size_t i = 0; i < file->n_sections; i++) {
        double here = (double)file->sections[i].model.cluster.charge /
                      ((double)file->window / (double)BATS_SECOND) *
                      (file->sections[i].by_node ? 1 : (double)slots);
        if (here < *price) {
            *price = here;
            best = i;
        }
    }
    return best;
}

static struct bats_phrase size_of(int64_t kib)
{
    struct bats_phrase p;
    int64_t unit = kib >= 10 << 20 ? 1 << 20 : kib >= 10 << 10 ? 1 << 10 : 1;
    char text[BATS_UNITS_TEXT];
    snprintf(p.s, sizeof p.s, "%s",
             bats_size_format(text, (kib + unit - 1) / unit * unit * 1024));
    return p;
}

/* "8G: 212 SU; 4G with 3 % tried again: 131 SU" */
static void propose(const struct bats_learner *l,
                    const struct bats_clusters_file *file, const char *name,
                    uint32_t past_kind, const struct kind *kind, double factor,
                    struct bats_text *text)
{
    const struct bats_past_size *list = l->past.sizes;
    double again, price, best_again = 0;
    double now = bats_size_cost(list, l->past.n_sizes, past_kind,
                                kind->asked_kib, factor, &again);
    double best = INFINITY;
    int64_t best_kib = 0, slots = 1;
    for (size_t i = 0; i < l->past.n_sizes; i++) {
        int64_t kib = (int64_t)ceil((double)list[i].used_kib * SPARE);
        double share;
        if (list[i].kind != past_kind)
            continue;
        slots = list[i].slots > slots ? list[i].slots : slots;
        double cost = bats_size_cost(list, l->past.n_sizes, past_kind, kib,
                                     factor, &share);
        if (cost >= 0 && (cost < best || (cost <= best && kib < best_kib))) {
            best = cost;
            best_kib = kib;
            best_again = share;
        }
    }
    size_t c = cheapest(file, slots, &price);
    if (now < 0 || best > WORTHWHILE * now || best_kib >= kind->asked_kib)
        return;
    bats_money before = (bats_money)llround(now * price * kind->tasks);
    bats_money after = (bats_money)llround(best * price * kind->tasks);
    bats_text_format(
        text, "memory of %s, on %s: %s: %s; %s", name,
        file->sections[c].model.cluster.name, size_of(kind->asked_kib).s,
        bats_words_money(before, file->currency).s, size_of(best_kib).s);
    if (best_again > 0)
        bats_text_format(text, " with %.2g %% tried again", 100 * best_again);
    bats_text_format(text, ": %s\n",
                     bats_words_money(after, file->currency).s);
}

int bats_learner_sizes(struct bats_learner *l,
                       const struct bats_clusters_file *file, double factor,
                       struct bats_text *text, struct bats_error *err)
{
    struct kind *kinds = calloc(l->kinds.kinds.n + 1, sizeof *kinds);
    int rc = kinds == NULL         ? BATS_ENOMEM
             : l->past.n_sizes > 0 ? look(l, kinds)
                                   : 0;
    for (size_t k = 0; rc == 0 && k < l->kinds.kinds.n; k++)
        for (uint32_t i = 0; i < l->past.n_kinds; i++)
            if (kinds[k].asked_kib > 0 &&
                strcmp(l->past.kinds[i], l->kinds.kinds.kind[k].name) == 0)
                propose(l, file, l->past.kinds[i], i, &kinds[k], factor, text);
    free(kinds);
    return rc < 0 || text->failed ? bats_no_memory(err) : 0;
}
