#include "site/slurm_account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/fields.h"
#include "site/query.h"

#define DEPTH 32 /* a longer chain of accounts is a circle */

/* The name at `key`, without the number in brackets after it. */
static void get_name(const char *line, const char *key,
                     char name[BATS_ACCOUNT_NAME])
{
    char value[2 * BATS_ACCOUNT_NAME];
    bats_field_get(line, bats_field_line_end(line), key, value, sizeof value);
    value[strcspn(value, "(")] = '\0';
    snprintf(name, BATS_ACCOUNT_NAME, "%.*s", BATS_ACCOUNT_NAME - 1, value);
}

/* Parses "GrpTRESMins=cpu=N(3),billing=1000(220)"; false: no limit. */
static bool get_limit(const char *line, int64_t *limit, int64_t *used)
{
    static const char billing[] = "billing=";
    const char *at =
        bats_field_find(line, bats_field_line_end(line), "GrpTRESMins");
    const char *end = at != NULL ? at + strcspn(at, " \n") : NULL;
    while (at != NULL && strncmp(at, billing, sizeof billing - 1) != 0) {
        at = memchr(at, ',', (size_t)(end - at));
        at += at != NULL;
    }
    if (at == NULL || at[sizeof billing - 1] == 'N')
        return false;
    char *rest;
    *limit = strtoll(at + sizeof billing - 1, &rest, 10);
    *used = *rest == '(' ? strtoll(rest + 1, NULL, 10) : 0;
    return true;
}

enum owner { ACCOUNT, USER, QOS };

static void take_less(const char *line, const char *name, enum owner owner,
                      struct bats_account *account)
{
    struct bats_account a = {.of_user = owner == USER,
                             .of_qos = owner == QOS,
                             .limited = true};
    snprintf(a.account, sizeof a.account, "%s", name);
    if (get_limit(line, &a.limit, &a.used) &&
        (!account->limited ||
         a.limit - a.used < account->limit - account->used))
        *account = a;
}

/* An association may be for one partition only. */
static bool is_of_job(const struct bats_allocation *job, const char *user,
                      const char *partition)
{
    bool has = partition[0] == '\0';
    for (size_t i = 0; i < job->n_parts; i++)
        has |= strcmp(job->parts[i].partition, partition) == 0;
    return has && strcmp(job->user, user) == 0;
}

int bats_slurm_account_read(const char *text,
                            const struct bats_allocation *job,
                            const char *name, struct bats_account *account,
                            char parent[BATS_ACCOUNT_NAME],
                            struct bats_error *err)
{
    static const char first[] = "ClusterName=";
    struct bats_account least = *account;
    char above[BATS_ACCOUNT_NAME] = "";
    bool own = strcmp(name, job->account) == 0;
    bool any = false, found = false, user_found = !own;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        char of[BATS_ACCOUNT_NAME], user[BATS_ACCOUNT_NAME];
        char partition[BATS_ACCOUNT_NAME];
        line += *line == '\n';
        if (strncmp(line, first, sizeof first - 1) != 0)
            continue;
        any = true;
        get_name(line, "Account", of);
        get_name(line, "UserName", user);
        get_name(line, "Partition", partition);
        if (strcmp(of, name) != 0)
            continue;
        if (user[0] == '\0') {
            found = true;
            get_name(line, "ParentAccount", above);
            take_less(line, name, ACCOUNT, &least);
        } else if (own && is_of_job(job, user, partition)) {
            user_found = true;
            take_less(line, name, USER, &least);
        }
    }
    if (!any && own)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget account: this Slurm keeps no accounts "
                              "(it knows no associations): give an amount");
    if (!user_found)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget account: Slurm shows no association "
                              "of user %s with account %s: give an amount",
                              job->user, name);
    if (!found)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget account: Slurm does not show what "
                              "account %s has left (PrivateData in slurm.conf "
                              "may hide it): give an amount",
                              name);
    *account = least;
    strcpy(parent, above);
    return 0;
}

/* The job's QOS has a limit of its own, and a factor by which all that its jobs
 * are billed counts, here and above; 0: it does not count. */
static int ask_quality(const char *name, struct bats_account *account,
                       struct bats_error *err)
{
    char which[BATS_ACCOUNT_NAME + 8], *answer;
    const char *limits[] = {"scontrol",  "-o",  "show", "assoc_mgr",
                            "flags=qos", which, NULL};
    const char *factors[] = {"sacctmgr", "-n", "-P", "show", "qos", name,
                             "format=UsageFactor", NULL};
    if (name[0] == '\0' || strcmp(name, "N/A") == 0)
        return 0;
    snprintf(which, sizeof which, "qos=%s", name);
    int rc = bats_ask(limits, NULL, NULL, &answer, err);
    if (rc < 0)
        return rc;
    const char *line = strstr(answer, "QOS=");
    if (line != NULL)
        take_less(line, name, QOS, account);
    free(answer);
    if (bats_ask(factors, NULL, NULL, &answer, NULL) < 0)
        return 0; /* a node may have no sacctmgr: then it counts once */
    char *end;
    account->factor = strtod(answer, &end);
    if (end != answer && account->factor <= 0)
        account->limited = false;
    free(answer);
    return 0;
}

int bats_slurm_account_ask(const struct bats_allocation *job,
                           struct bats_account *account,
                           struct bats_error *err)
{
    struct bats_account least = {0};
    char name[BATS_ACCOUNT_NAME];
    int rc = 0;
    snprintf(name, sizeof name, "%s", job->account);
    snprintf(least.account, sizeof least.account, "%s", job->account);
    for (int i = 0; rc == 0 && (i == 0 || name[0] != '\0'); i++) {
        char accounts[BATS_ACCOUNT_NAME + 16], *answer;
        snprintf(accounts, sizeof accounts, "accounts=%s", name);
        /* A job without an account has no value to ask for. */
        const char *argv[] = {"scontrol",    "-o",
                              "show",        "assoc_mgr",
                              "flags=assoc", name[0] != '\0' ? accounts : NULL,
                              NULL};
        if (i == DEPTH)
            return bats_error_set(err, BATS_EINPUT,
                                  "--budget account: the accounts above %s "
                                  "do not end",
                                  job->account);
        rc = bats_ask(argv, NULL, NULL, &answer, err);
        if (rc == 0) {
            rc = bats_slurm_account_read(answer, job, name, &least, name, err);
            free(answer);
        }
    }
    if (rc == 0)
        rc = ask_quality(job->qos, &least, err);
    if (rc == 0)
        *account = least;
    return rc;
}
