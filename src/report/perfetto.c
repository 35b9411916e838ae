#include "report/perfetto.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/series.h"
#include "util/json.h"

static const char *const kinds[] = {"done",       "stopped", "failed, run again",
                                    "superseded", "checkpointed",
                                    "failed beside a replica", "failed"};

/* Writes one event, and takes ownership of it. */
static int put(FILE *out, bool *is_first, json_t *event, struct bats_error *err)
{
    if (event == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    fputs(*is_first ? "\n" : ",\n", out);
    *is_first = false;
    json_dumpf(event, out, BATS_JSON_SAFE | JSON_COMPACT);
    json_decref(event);
    return 0;
}

static int put_names(FILE *out, bool *is_first,
                     const struct bats_run_history *h, const uint32_t *first,
                     struct bats_error *err)
{
    char name[128];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->n_clusters; i++)
        rc = put(out, is_first,
                 json_pack("{s:s, s:s, s:I, s:{s:o}}", "name", "process_name",
                           "ph", "M", "pid", (json_int_t)i + 1, "args", "name",
                           bats_json_text(h->clusters[i])),
                 err);
    for (size_t i = 0; i < h->n_machines; i++)
        for (uint32_t k = 0; rc == 0 && k < h->machines[i].slots; k++) {
            snprintf(name, sizeof name, "%s/%" PRIu32, h->machines[i].name,
                     k + 1);
            rc = put(out, is_first,
                     json_pack("{s:s, s:s, s:I, s:I, s:{s:o}}", "name",
                               "thread_name", "ph", "M", "pid",
                               (json_int_t)h->machines[i].cluster + 1, "tid",
                               (json_int_t)(first[i] + k + 1), "args", "name",
                               bats_json_text(name)),
                     err);
        }
    return rc;
}

static int put_spans(FILE *out, bool *is_first,
                     const struct bats_run_history *h,
                     const struct bats_bar *bars, struct bats_error *err)
{
    char name[64];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->n_spans; i++) {
        const struct bats_history_span *s = bars[i].span;
        snprintf(name, sizeof name, "task %" PRId64, s->task);
        rc = put(out, is_first,
                 json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:{s:I}}",
                           "name", name, "cat", kinds[bats_series_kind(s)],
                           "ph", "X", "ts", (json_int_t)s->begin, "dur",
                           (json_int_t)(s->end - s->begin), "pid",
                           (json_int_t)h->machines[s->machine].cluster + 1,
                           "tid", (json_int_t)bars[i].row + 1, "args",
                           "attempt", (json_int_t)s->attempt),
                 err);
    }
    return rc;
}

static int put_money(FILE *out, bool *is_first,
                     const struct bats_run_history *h, struct bats_error *err)
{
    double sum = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->n_charges; i++) {
        sum += (double)h->charges[i].amount / BATS_UNIT;
        rc = put(out, is_first,
                 json_pack("{s:s, s:s, s:I, s:I, s:{s:f}}", "name", "charged",
                           "ph", "C", "ts", (json_int_t)h->charges[i].begin,
                           "pid", (json_int_t)1, "args", "charged", sum),
                 err);
    }
    for (size_t i = 0; rc == 0 && i < h->n_decisions; i++)
        rc = put(out, is_first,
                 json_pack("{s:o, s:s, s:s, s:I, s:I, s:I, s:{s:o}}", "name",
                           bats_json_text(h->decisions[i].reason), "ph", "i",
                           "s", "g", "ts", (json_int_t)h->decisions[i].time,
                           "pid", (json_int_t)1, "tid", (json_int_t)1, "args",
                           "machines",
                           bats_json_text(h->decisions[i].machines)),
                 err);
    return rc;
}

int bats_perfetto_write(FILE *out, const struct bats_run_history *h,
                        struct bats_error *err)
{
    uint32_t *first = bats_series_rows(h);
    struct bats_bar *bars = first != NULL ? bats_series_bars(h, first) : NULL;
    bool is_first = true;
    int rc = bars == NULL
                 ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                 : 0;

    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    if (rc == 0)
        rc = put_names(out, &is_first, h, first, err);
    if (rc == 0)
        rc = put_spans(out, &is_first, h, bars, err);
    if (rc == 0)
        rc = put_money(out, &is_first, h, err);
    fputs("\n]}\n", out);
    free(bars);
    free(first);
    return rc;
}
