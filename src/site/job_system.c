#include "site/job_system.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/grow.h"

static int ask_rules(const struct bats_batch_jobs *jobs,
                     struct bats_job_rules *rules, struct bats_error *err)
{
    struct bats_argv argv = {0};
    char *answer;
    jobs->ask_rules(&argv);
    int rc = bats_query(&argv, NULL, &answer, err);
    if (rc < 0)
        return rc;
    rc = jobs->read_rules(answer, rules, err);
    free(answer);
    return rc;
}

int bats_job_system_find(const char *key,
                         const struct bats_batch_system **system,
                         struct bats_job_rules *rules, struct bats_error *err)
{
    struct bats_error why = {.text = "jobs cannot be submitted to it"};
    int rc = BATS_EINPUT;
    for (size_t i = 0; rc == BATS_EINPUT && bats_batch_systems[i] != NULL;
         i++) {
        *system = bats_batch_systems[i];
        if ((*system)->jobs != NULL &&
            (key == NULL || strcmp((*system)->key, key) == 0))
            rc = ask_rules((*system)->jobs, rules, &why);
    }
    if (rc == BATS_EINPUT)
        return bats_error_set(err, rc,
                              "no batch system to submit jobs to: "
                              "%s",
                              why.text);
    return rc < 0 ? bats_error_set(err, rc, "%s does not answer: %s",
                                   (*system)->name, why.text)
                  : 0;
}

bats_money bats_job_bill(double rate, int64_t seconds)
{
    double amount = rate * (double)seconds * (double)BATS_UNIT / 3600;
    return amount < (double)BATS_LONGEST ? (bats_money)ceil(amount - 1e-6)
                                         : BATS_LONGEST;
}

bats_money bats_job_bill_by_time(const struct bats_job_view *view)
{
    int64_t now_s = (int64_t)time(NULL);
    int64_t end_s =
        view->end_s > 0 && view->end_s < now_s ? view->end_s : now_s;
    if (view->start_s == 0 || end_s < view->start_s || view->rate < 0)
        return 0;
    return bats_job_bill(view->rate, end_s - view->start_s);
}

int bats_job_number(const struct bats_batch_system *system, const char *answer,
                    char id[BATS_JOB_ID], struct bats_error *err)
{
    size_t n = strspn(answer, "0123456789");
    if (n == 0 || n >= BATS_JOB_ID)
        return bats_error_set(err, BATS_ESYS,
                              "%s answers '%.60s', which is not the number of "
                              "a job",
                              system->name, answer);
    snprintf(id, BATS_JOB_ID, "%.*s", (int)n, answer);
    return 0;
}

/* ---- all jobs of a run ---- */

void bats_job_find_mark(struct bats_job_view *view)
{
    char mark[BATS_JOB_ID], *end;
    char *place = strchr(view->mark, '.');
    unsigned long n =
        place != NULL ? strtoul(place + 1, &end, 10) + view->index : 0;
    if (place == NULL || view->index == 0)
        return;
    snprintf(mark, sizeof mark, "%.*s.%lu%s", (int)(place - view->mark),
             view->mark, n, end);
    strcpy(view->mark, mark);
}

int bats_job_system_list(const struct bats_batch_system *system,
                         const char *name, struct bats_job_view **list,
                         size_t *n, struct bats_error *err)
{
    struct bats_argv argv = {0};
    struct bats_job_view view;
    size_t room = 0;
    char *answer;
    *list = NULL;
    *n = 0;
    system->jobs->list(name, &argv);
    int rc = bats_query(&argv, NULL, &answer, err);
    if (rc < 0)
        return rc;
    for (const char *at = answer;
         rc == 0 && system->jobs->read_list(&at, &view);) {
        bats_job_find_mark(&view);
        if (bats_grow(list, &room, *n + 1, sizeof **list))
            (*list)[(*n)++] = view;
        else
            rc = bats_no_memory(err);
    }
    free(answer);
    return rc;
}

bool bats_job_is_billed(const struct bats_job_bill *bill, const char *name,
                        const char *id, int64_t submit_s)
{
    return strcmp(bill->id, id) == 0 && strcmp(bill->name, name) == 0 &&
           (submit_s == 0 || bill->submit_s == submit_s);
}

bool bats_job_bill_is_final(const struct bats_job_bill *bill,
                            const struct bats_job_view *job)
{
    bool has_begun = job->start_s > 0 && job->start_s < job->end_s;
    return bill->is_final && !(has_begun && bill->end_s < job->start_s);
}

struct bills {
    struct bats_job_bill *list;
    size_t n, room;
};

static bool add_bill(struct bills *all, const struct bats_job_bill *bill)
{
    size_t i = 0;
    while (i < all->n &&
           !bats_job_is_billed(bill, all->list[i].name, all->list[i].id,
                               all->list[i].submit_s))
        i++;
    if (i == all->n &&
        !bats_grow(&all->list, &all->room, ++all->n, sizeof *all->list)) {
        all->n--;
        return false;
    }
    all->list[i] = *bill;
    return true;
}

static int add_bills(const struct bats_batch_system *system,
                     struct bats_argv *argv, struct bills *all,
                     struct bats_error *err)
{
    struct bats_job_bill bill;
    char *answer;
    int rc = bats_query(argv, NULL, &answer, err);
    if (rc < 0)
        return rc;
    for (const char *at = answer;
         rc == 0 && system->jobs->read_bills(&at, &bill);)
        if (!add_bill(all, &bill))
            rc = bats_no_memory(err);
    free(answer);
    return rc;
}

static bool is_among(const char *numbers, const char *id)
{
    size_t n = strlen(id);
    for (const char *at = numbers; *at != '\0'; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (length == n && strncmp(at, id, n) == 0)
            return true;
        at += length;
    }
    return false;
}

static int ask_bills(const struct bats_batch_system *system,
                     const struct bats_job_past *past, struct bills *all,
                     struct bats_error *err)
{
    struct bats_argv argv = {0};
    const char **ids = calloc(past->n + 1, sizeof *ids);
    size_t n = 0;
    if (ids == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; i < past->n; i++)
        if (!past->is_taken[i])
            ids[n++] = past->list[i].id;
    if (past->own[0] != '\0')
        ids[n++] = past->own;
    system->jobs->bills(past->name, NULL, 0, &argv);
    int rc = add_bills(system, &argv, all, err);
    if (rc == 0 && n > 0) {
        argv = (struct bats_argv){0};
        system->jobs->bills(NULL, ids, n, &argv);
        rc = add_bills(system, &argv, all, err);
    }
    free(ids);
    return rc;
}

int bats_job_system_bills(const struct bats_batch_system *system,
                          const struct bats_job_past *past, bool by_list,
                          bats_money *sum, size_t *open,
                          struct bats_error *err)
{
    struct bills all = {0};
    *sum = 0;
    *open = 0;
    int rc = ask_bills(system, past, &all, err);
    for (size_t i = 0; i < all.n; i++) {
        const struct bats_job_bill *bill = &all.list[i];
        size_t k = 0;
        while (k < past->n &&
               !bats_job_is_billed(bill, past->name, past->list[k].id,
                                   past->list[k].submit_s))
            k++;
        if (strcmp(bill->id, past->now) == 0 ||
            (k < past->n && past->is_taken[k]) ||
            (strcmp(bill->name, past->name) != 0 &&
             !is_among(past->own, bill->id)))
            continue;
        bool is_final = k < past->n
                            ? bats_job_bill_is_final(bill, &past->list[k])
                            : bill->is_final;
        bool is_known = is_final || !by_list || k == past->n ||
                        past->list[k].phase != BATS_JOB_ENDED;
        *sum += is_known ? bats_job_bill(bill->rate, bill->seconds)
                         : bats_job_bill_by_time(&past->list[k]);
        *open += is_known && !is_final;
    }
    free(all.list);
    return rc;
}

int bats_job_system_cancel(const struct bats_batch_system *system,
                           const char *name, const struct bats_job_view *list,
                           size_t n_list, const bool *is_spared,
                           struct bats_error *err)
{
    struct bats_argv argv = {0};
    const char **ids = calloc(n_list + 1, sizeof *ids);
    char *answer = NULL;
    size_t n = 0;
    if (ids == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; i < n_list; i++)
        if (list[i].phase != BATS_JOB_ENDED && !(is_spared && is_spared[i]))
            ids[n++] = list[i].id;
    int rc = 0;
    if (n > 0) {
        system->jobs->cancel(name, ids, n, &argv);
        rc = bats_query(&argv, NULL, &answer, err);
    }
    free(answer);
    free(ids);
    return rc < 0 ? rc : (int)n;
}

int bats_job_system_nodes(const struct bats_batch_system *system,
                          const char *partition, struct bats_stock *kinds,
                          size_t room, struct bats_error *err)
{
    struct bats_argv argv = {0};
    char *answer;
    system->jobs->ask_nodes(partition, &argv);
    int rc = bats_query(&argv, NULL, &answer, err);
    if (rc < 0)
        return rc;
    rc = (int)system->jobs->read_nodes(answer, kinds, room);
    free(answer);
    return rc;
}

/* ---- a price ---- */

static int ask_rate(const struct bats_batch_system *system,
                    const struct bats_job_request *request, double *rate,
                    bool *whole, struct bats_job_partition *partition,
                    struct bats_error *err)
{
    struct bats_argv argv = {0};
    char *script = NULL, *answer;
    struct bats_job_view job = {.phase = BATS_JOB_WAITS};
    struct bats_job_request held = *request;
    held.held = true;
    system->jobs->submit(&held, &argv, &script);
    if (script == NULL)
        argv.failed = true;
    int rc = bats_query(&argv, script, &answer, err);
    free(script);
    if (rc < 0)
        return rc;
    rc = bats_job_number(system, answer, job.id, err);
    free(answer);
    if (rc < 0)
        return rc;
    rc = system->jobs->price(job.id, rate, whole, partition, err);
    if (rc == 0 && *rate < 0)
        rc = bats_error_set(err, BATS_ESYS,
                            "%s does not say what job %s will be billed",
                            system->name, job.id);
    struct bats_error why;
    if (bats_job_system_cancel(system, request->name, &job, 1, NULL, &why) <
            0 &&
        rc == 0)
        rc = bats_error_set(err, BATS_ESYS, "%s", why.text);
    return rc;
}

int bats_job_system_rate(const struct bats_batch_system *system,
                         const struct bats_job_request *request, double *rate,
                         bool *whole, struct bats_job_partition *partition,
                         struct bats_error *err)
{
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    int rc = ask_rate(system, request, rate, whole, partition, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int bats_job_system_clear(const struct bats_batch_system *system,
                          const char *name, struct bats_error *err)
{
    struct bats_job_view *list;
    size_t n;
    int rc = bats_job_system_list(system, name, &list, &n, err);
    if (rc == 0)
        rc = bats_job_system_cancel(system, name, list, n, NULL, err);
    free(list);
    return rc < 0 ? rc : 0;
}
