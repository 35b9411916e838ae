#include "report/causes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"
#include "util/grow.h"
#include "util/json.h"
#include "util/text.h"

#define WIDTH 80
#define TEXT 1024

static struct bats_cause *find(struct bats_causes *causes, uint64_t key)
{
    for (size_t i = 0; i < causes->n; i++)
        if (causes->list[i].key == key)
            return &causes->list[i];
    if (causes->n == BATS_CAUSES_MAX ||
        !bats_grow(&causes->list, &causes->capacity, causes->n + 1,
                   sizeof *causes->list))
        return NULL;
    struct bats_cause *c = &causes->list[causes->n++];
    *c = (struct bats_cause){.key = key};
    return c;
}

static void add_host(struct bats_cause *c, const char *host)
{
    size_t i;
    for (i = 0; i < c->n_hosts; i++)
        if (strcmp(c->hosts[i].name, host) == 0)
            break;
    if (i == c->n_hosts && i < BATS_CAUSE_HOSTS &&
        (c->hosts[i].name = strdup(host)) != NULL)
        c->hosts[c->n_hosts++].n = 0;
    if (i < c->n_hosts)
        c->hosts[i].n++;
    else
        c->elsewhere++;
}

void bats_causes_add(struct bats_causes *causes, int64_t task, int exit_status,
                     int signal, const char *host, const char *bytes, size_t n)
{
    uint64_t key = bats_complaint_key(exit_status, signal, NULL, bytes, n);
    struct bats_cause *c = find(causes, key);
    if (c == NULL) {
        causes->others++;
        return;
    }
    if (c->n++ == 0) {
        c->exit_status = exit_status;
        c->signal = signal;
        c->first = task;
        bats_complaint_line(c->line, bytes, n);
    }
    add_host(c, host);
}

static int by_number(const void *a, const void *b)
{
    const struct bats_cause *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

void bats_causes_sort(struct bats_causes *causes)
{
    if (causes->n > 1)
        qsort(causes->list, causes->n, sizeof *causes->list, by_number);
}

/* "n7", "n7 and n8", "n7 (398), n1 (13) and others (1)". */
static void name_hosts(char *text, size_t size, const struct bats_cause *c)
{
    size_t shown = c->n_hosts < 3 ? c->n_hosts : 3;
    uint64_t rest = c->n;
    text[0] = '\0';
    if (c->n_hosts == 1 && c->elsewhere == 0) {
        snprintf(text, size, "%s", c->hosts[0].name);
        return;
    }
    for (size_t i = 0; i < shown; i++) {
        rest -= c->hosts[i].n;
        bats_append(text, size, "%s%s (%" PRIu64 ")", i > 0 ? ", " : "",
                    c->hosts[i].name, c->hosts[i].n);
    }
    if (rest > 0)
        bats_append(text, size, " and others (%" PRIu64 ")", rest);
}

const char *bats_causes_text(char *text, size_t size,
                             const struct bats_cause *c)
{
    char count[96], hosts[512];
    name_hosts(hosts, sizeof hosts, c);
    if (c->n == 1)
        snprintf(count, sizeof count, "task %" PRId64, c->first);
    else
        snprintf(count, sizeof count, "%s", bats_words_count(c->n, "task").s);
    snprintf(text, size, "%s on %s, %s%s%s%s", count, hosts,
             bats_words_end(c->exit_status, c->signal).s,
             bats_words_advice(c->exit_status),
             c->line[0] != '\0' ? ": " : ", nothing on standard error",
             c->line);
    if (c->n > 1)
        bats_append(text, size, " (first: task %" PRId64 ")", c->first);
    return text;
}

void bats_causes_print(FILE *out, const struct bats_causes *causes,
                       size_t limit)
{
    char text[TEXT], line[2 * TEXT];
    size_t n = causes->n < limit ? causes->n : limit;
    uint64_t rest = causes->others;
    for (size_t i = 0; i < n; i++) {
        bats_causes_text(text, sizeof text, &causes->list[i]);
        fputs("  ", out);
        bats_words_wrap(out, bats_encode_terminal(line, sizeof line, text), 2,
                        6, WIDTH);
    }
    for (size_t i = n; i < causes->n; i++)
        rest += causes->list[i].n;
    if (rest > 0)
        fprintf(out, "  %" PRIu64 " more, for other reasons\n", rest);
}

static json_t *hosts_json(const struct bats_cause *c)
{
    json_t *hosts = json_array();
    for (size_t i = 0; i < c->n_hosts; i++)
        json_array_append_new(hosts,
                              json_pack("{s:o, s:I}", "host",
                                        bats_json_text(c->hosts[i].name),
                                        "tasks", (json_int_t)c->hosts[i].n));
    return hosts;
}

json_t *bats_causes_json(const struct bats_causes *causes)
{
    json_t *all = json_array();
    for (size_t i = 0; i < causes->n; i++) {
        const struct bats_cause *c = &causes->list[i];
        json_array_append_new(
            all, json_pack("{s:I, s:s, s:s, s:i, s:i, s:o, s:I, s:o}", "tasks",
                           (json_int_t)c->n, "end",
                           bats_words_end(c->exit_status, c->signal).s,
                           "advice", bats_words_advice(c->exit_status),
                           "exit_status", c->exit_status, "signal", c->signal,
                           "last_line", bats_json_text(c->line), "first_task",
                           (json_int_t)c->first, "hosts", hosts_json(c)));
    }
    return all;
}

void bats_causes_release(struct bats_causes *causes)
{
    for (size_t i = 0; i < causes->n; i++)
        for (size_t k = 0; k < causes->list[i].n_hosts; k++)
            free(causes->list[i].hosts[k].name);
    free(causes->list);
    *causes = (struct bats_causes){0};
}

/* ---- tasks that failed ---- */

void bats_failures_add(struct bats_failures *failures,
                       const struct bats_failure *failure)
{
    if (failures->list == NULL)
        failures->list = calloc(BATS_FAILURES_KEPT, sizeof *failures->list);
    if (failures->list == NULL || failures->n == BATS_FAILURES_KEPT)
        return;
    struct bats_failure copy = *failure;
    copy.host = strdup(failure->host);
    copy.command = strdup(failure->command);
    if (copy.host == NULL || copy.command == NULL) {
        free(copy.host);
        free(copy.command);
        return;
    }
    failures->list[failures->n++] = copy;
}

void bats_failures_release(struct bats_failures *failures)
{
    for (size_t i = 0; i < failures->n; i++) {
        free(failures->list[i].host);
        free(failures->list[i].command);
    }
    free(failures->list);
    *failures = (struct bats_failures){0};
}
