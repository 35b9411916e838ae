#include "report/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"
#include "util/json.h"

#define BINS BATS_SERIES_POINTS
#define KIND_FAILED 6
#define WINDOWS_MAX 20000 /* beyond this many, windows are joined */

static json_t *numbers(const double *values, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

/* ---- series ---- */

/* The axis, in equal parts. */
struct axis {
    double step; /* microseconds */
    size_t n;
};

static struct axis axis_of(const struct bats_run_history *h)
{
    double end = h->end > 0 ? (double)h->end : 1;
    return (struct axis){end / BINS, BINS};
}

static json_t *times(struct axis a)
{
    double t[BINS];

    for (size_t i = 0; i < a.n; i++)
        t[i] = (double)(i + 1) * a.step / BATS_SECOND;
    return numbers(t, a.n);
}

static size_t bin_of(struct axis a, double time)
{
    double i = time / a.step;
    return i < 0 ? 0 : i >= (double)a.n ? a.n - 1 : (size_t)i;
}

/* Adds `weight` from begin to end, split among the bins by time. */
static void add_area(struct axis a, double *bins, double begin, double end,
                     double weight)
{
    size_t first = bin_of(a, begin), last = bin_of(a, end);

    for (size_t i = first; i <= last; i++) {
        double from = fmax(begin, (double)i * a.step);
        double to = fmin(end, (double)(i + 1) * a.step);
        if (to > from)
            bins[i] += weight * (to - from) / a.step;
    }
}

json_t *bats_series_money(const struct bats_run_history *h, bats_money rate)
{
    struct axis a = axis_of(h);
    double charged[BINS] = {0}, reserved[BINS], sum = 0;

    for (size_t i = 0; i < h->n_charges; i++)
        charged[bin_of(a, (double)h->charges[i].begin)] +=
            (double)h->charges[i].amount / BATS_UNIT;
    for (size_t i = 0; i < a.n; i++) {
        sum += charged[i];
        charged[i] = sum;
        reserved[i] = (double)rate / BATS_UNIT *
                      ceil((double)(i + 1) * a.step / (double)h->window);
    }
    return json_pack("{s:o, s:o, s:o}", "t", times(a), "charged",
                     numbers(charged, a.n), "reserved",
                     rate > 0 ? numbers(reserved, a.n) : json_null());
}

json_t *bats_series_machines(const struct bats_run_history *h)
{
    struct axis a = axis_of(h);
    json_t *list = json_array();

    for (uint32_t k = 0; k < h->n_clusters; k++) {
        double held[BINS] = {0}, busy[BINS] = {0};
        for (size_t i = 0; i < h->n_holds; i++) {
            const struct bats_history_hold *x = &h->holds[i];
            if (h->machines[x->machine].cluster == k)
                add_area(a, held, (double)x->begin, (double)x->end, 1);
        }
        for (size_t i = 0; i < h->n_spans; i++) {
            const struct bats_history_span *s = &h->spans[i];
            const struct bats_history_machine *m = &h->machines[s->machine];
            if (m->cluster == k)
                add_area(a, busy, (double)s->begin, (double)s->end,
                         1.0 / m->slots);
        }
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name",
                                              bats_json_text(h->clusters[k]),
                                              "held", numbers(held, a.n),
                                              "busy", numbers(busy, a.n)));
    }
    return list;
}

void bats_series_use(const struct bats_run_history *h,
                     struct bats_series_use use[BATS_CLUSTERS_MAX])
{
    memset(use, 0, BATS_CLUSTERS_MAX * sizeof *use);
    for (size_t i = 0; i < h->n_holds; i++) {
        const struct bats_history_hold *x = &h->holds[i];
        const struct bats_history_machine *m = &h->machines[x->machine];
        use[m->cluster].paid += (double)(x->paid_end - x->begin) * m->slots;
    }
    for (size_t i = 0; i < h->n_spans; i++)
        use[h->machines[h->spans[i].machine].cluster].used +=
            (double)(h->spans[i].end - h->spans[i].begin);
}

/* ---- runtimes ---- */

#define BARS 32

struct runtimes {
    double edge[BARS + 1], counts[BARS];
    double least, most, sum, sampled;
    size_t n, n_sampled;
};

static bool is_runtime(const struct bats_run_history *h,
                       const struct bats_history_span *s, uint32_t cluster)
{
    return s->outcome == 0 && !s->failed &&
           h->machines[s->machine].cluster == cluster;
}

static void measure(const struct bats_run_history *h, uint32_t cluster,
                    struct runtimes *r)
{
    *r = (struct runtimes){.least = INFINITY};
    for (size_t i = 0; i < h->n_spans; i++) {
        const struct bats_history_span *s = &h->spans[i];
        double time = (double)(s->end - s->begin) / BATS_SECOND;
        if (!is_runtime(h, s, cluster))
            continue;
        r->n++;
        r->sum += time;
        r->least = fmin(r->least, time);
        r->most = fmax(r->most, time);
        if (s->end <= h->sampled_at) {
            r->n_sampled++;
            r->sampled += time;
        }
    }
}

/* Beyond two orders of magnitude, the bars widen geometrically. */
static void set_edges(struct runtimes *r)
{
    double low = fmax(r->least, r->most / 1e4);
    bool by_factor = r->most > 50 * low;
    double mean = r->sum / (double)r->n;

    if (!by_factor) { /* so that the bars' labels differ even for equal
                         runtimes */
        low = fmin(low, 0.9 * mean);
        r->most = fmax(r->most, 1.1 * mean);
    }
    for (int i = 0; i <= BARS; i++) {
        double share = (double)i / BARS;
        r->edge[i] = by_factor ? low * pow(r->most / low, share)
                               : low + (r->most - low) * share;
    }
    if (by_factor)
        r->edge[0] = fmin(low, r->least);
}

static void count(const struct bats_run_history *h, uint32_t cluster,
                  struct runtimes *r)
{
    for (size_t i = 0; i < h->n_spans; i++) {
        const struct bats_history_span *s = &h->spans[i];
        double time = (double)(s->end - s->begin) / BATS_SECOND;
        int bar = 0;
        if (!is_runtime(h, s, cluster))
            continue;
        while (bar < BARS - 1 && time >= r->edge[bar + 1])
            bar++;
        r->counts[bar]++;
    }
}

json_t *bats_series_runtimes(const struct bats_run_history *h)
{
    json_t *list = json_array();

    for (uint32_t k = 0; k < h->n_clusters; k++) {
        struct runtimes r;
        measure(h, k, &r);
        if (r.n == 0)
            continue;
        set_edges(&r);
        count(h, k, &r);
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:I, s:f, s:o}", "cluster",
                            bats_json_text(h->clusters[k]), "edges",
                            numbers(r.edge, BARS + 1), "counts",
                            numbers(r.counts, BARS), "n", (json_int_t)r.n,
                            "mean", r.sum / (double)r.n, "estimate",
                            r.n_sampled > 0
                                ? json_real(r.sampled / (double)r.n_sampled)
                                : json_null()));
    }
    return list;
}

/* ---- the Gantt chart ---- */

struct bytes {
    unsigned char *at;
    size_t n, capacity;
    bool failed;
};

static void put(struct bytes *b, uint64_t value)
{
    if (!bats_grow(&b->at, &b->capacity, b->n + 10, 1)) {
        b->failed = true;
        return;
    }
    for (; value >= 128; value >>= 7)
        b->at[b->n++] = (unsigned char)(value | 128);
    b->at[b->n++] = (unsigned char)value;
}

/* Base64; frees the bytes. NULL: memory was short. */
static json_t *take_bytes(struct bytes *b)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = b->failed ? NULL : malloc((b->n + 2) / 3 * 4 + 1);
    char *to = text;

    for (size_t i = 0; text != NULL && i < b->n; i += 3) {
        uint32_t three = (uint32_t)b->at[i] << 16;
        if (i + 1 < b->n)
            three |= (uint32_t)b->at[i + 1] << 8;
        if (i + 2 < b->n)
            three |= b->at[i + 2];
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < b->n ? digits[three >> 6 & 63] : '=';
        *to++ = i + 2 < b->n ? digits[three & 63] : '=';
    }
    json_t *json =
        text != NULL ? json_stringn(text, (size_t)(to - text)) : NULL;
    free(text);
    free(b->at);
    *b = (struct bytes){0};
    return json;
}

/* Rows of machine i begin at result[i]; result[n_machines] is their number. For
 * free(). NULL: memory is short. */
static uint32_t *list_rows(const struct bats_run_history *h)
{
    uint32_t *first = calloc(h->n_machines + 1, sizeof *first);

    for (size_t i = 0; first != NULL && i < h->n_machines; i++)
        first[i + 1] = first[i] + h->machines[i].slots;
    return first;
}

static uint32_t row_of(const struct bats_history_span *s,
                       const uint32_t *first)
{
    return first[s->machine] + s->slot;
}

/* All n_spans executions by row, a slot of a machine; those of a row are in
 * order of time already. For free(). NULL: memory is short. */
static uint32_t *list_bars(const struct bats_run_history *h,
                           const uint32_t *first)
{
    uint32_t *bars = malloc((h->n_spans + 1) * sizeof *bars);
    size_t *end = calloc((size_t)first[h->n_machines] + 1, sizeof *end);
    size_t before = 0;

    for (size_t i = 0; bars != NULL && end != NULL && i < h->n_spans; i++)
        end[row_of(&h->spans[i], first)]++;
    for (uint32_t row = 0; end != NULL && row < first[h->n_machines]; row++) {
        before += end[row];
        end[row] = before - end[row];
    }
    for (size_t i = 0; bars != NULL && end != NULL && i < h->n_spans; i++)
        bars[end[row_of(&h->spans[i], first)]++] = (uint32_t)i;
    if (end == NULL) {
        free(bars);
        bars = NULL;
    }
    free(end);
    return bars;
}

static unsigned kind_of(const struct bats_history_span *s)
{
    return s->outcome == 0 ? (s->failed ? KIND_FAILED : 0)
                           : s->outcome % KIND_FAILED;
}

static uint64_t ticks(double tick, bats_time time)
{
    return time <= 0 ? 0 : (uint64_t)((double)time / tick + 0.5);
}

static void put_bars(struct bytes *b, const struct bats_run_history *h,
                     const uint32_t *first, const uint32_t *bars, double tick)
{
    size_t i = 0;

    for (uint32_t row = 0; row < first[h->n_machines]; row++) {
        size_t n = 0;
        uint64_t at = 0;
        while (i + n < h->n_spans &&
               row_of(&h->spans[bars[i + n]], first) == row)
            n++;
        put(b, n);
        for (size_t end = i + n; i < end; i++) {
            const struct bats_history_span *s = &h->spans[bars[i]];
            uint64_t begin = ticks(tick, s->begin), stop = ticks(tick, s->end);
            if (begin < at)
                begin = at; /* the master hears of a result slightly later */
            if (stop < begin)
                stop = begin;
            uint64_t kind = kind_of(s);
            put(b, begin - at);
            put(b, (stop - begin) * 8 + kind);
            put(b, (uint64_t)s->task);
            at = stop;
        }
    }
}

/* Returns the window that begins with hold *i and advances *i; very many
 * consecutive windows are joined. */
static struct bats_history_hold next_window(const struct bats_run_history *h,
                                            size_t *i)
{
    struct bats_history_hold w = h->holds[(*i)++];
    for (; h->n_holds > WINDOWS_MAX && *i < h->n_holds &&
           h->holds[*i].machine == w.machine &&
           h->holds[*i].begin <= w.end + BATS_SECOND;
         ++*i)
        w.end = h->holds[*i].end;
    return w;
}

static void put_windows(struct bytes *b, const struct bats_run_history *h,
                        double tick)
{
    size_t i = 0;

    for (uint32_t m = 0; m < h->n_machines; m++) {
        size_t count = 0;
        uint64_t at = 0;
        for (size_t k = i; k < h->n_holds && h->holds[k].machine == m; count++)
            next_window(h, &k);
        put(b, count);
        for (; count > 0; count--) {
            struct bats_history_hold w = next_window(h, &i);
            uint64_t begin = ticks(tick, w.begin), stop = ticks(tick, w.end);
            begin = begin < at ? at : begin;
            stop = stop < begin ? begin : stop;
            put(b, begin - at);
            put(b, stop - begin);
            at = stop;
        }
    }
}

static json_t *rows_json(const struct bats_run_history *h)
{
    json_t *list = json_array();
    char label[128];

    for (uint32_t i = 0; i < h->n_machines; i++)
        for (uint32_t k = 0; k < h->machines[i].slots; k++) {
            snprintf(label, sizeof label,
                     h->machines[i].slots > 1 ? "%s/%u" : "%s",
                     h->machines[i].name, k + 1);
            json_array_append_new(list,
                                  json_pack("[o, I, I]", bats_json_text(label),
                                            (json_int_t)h->machines[i].cluster,
                                            (json_int_t)i));
        }
    return list;
}

json_t *bats_series_gantt(const struct bats_run_history *h)
{
    uint32_t *first = list_rows(h);
    uint32_t *bars = first != NULL ? list_bars(h, first) : NULL;
    struct bytes spans = {0}, windows = {0};
    double n_ticks = h->n_spans > 20000 ? 1 << 16 : 1 << 22;
    double tick = h->end > 0 ? (double)h->end / n_ticks : 1;
    json_t *o = NULL;

    if (tick < 1)
        tick = 1;
    if (bars != NULL) {
        put_bars(&spans, h, first, bars, tick);
        put_windows(&windows, h, tick);
        o = json_pack("{s:o, s:f, s:f, s:o, s:o}", "rows", rows_json(h),
                      "tick", tick / BATS_SECOND, "ticks",
                      (double)h->end / tick, "spans", take_bytes(&spans),
                      "windows", take_bytes(&windows));
    }
    free(spans.at);
    free(windows.at);
    free(bars);
    free(first);
    return o;
}
