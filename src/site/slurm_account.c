/* slurm_account: the amount that Slurm will still bill to a user. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "site/slurm.h"

#define DEPTH 32 /* a longer chain of accounts is circular */

/* Copies the name at `key`, without the number in brackets after it. */
static void get_name(const char *line, const char *key,
                     char name[BATS_ACCOUNT_NAME])
{
    char value[2 * BATS_ACCOUNT_NAME];
    bats_slurm_get(line, key, value, sizeof value);
    value[strcspn(value, "(")] = '\0';
    snprintf(name, BATS_ACCOUNT_NAME, "%.*s", BATS_ACCOUNT_NAME - 1, value);
}

/* Parses "GrpTRESMins=cpu=N(3),billing=1000(220)"; false: no limit. */
static bool get_limit(const char *line, int64_t *limit, int64_t *used)
{
    const char *at = bats_slurm_find(line, "GrpTRESMins");
    const char *item = at != NULL ? bats_slurm_item(at, "billing") : NULL;
    if (item == NULL || *item == 'N')
        return false;
    char *rest;
    *limit = strtoll(item, &rest, 10);
    *used = *rest == '(' ? strtoll(rest + 1, NULL, 10) : 0;
    return true;
}

enum owner { ACCOUNT, USER, QOS };

static void take_less(const char *line, const char *name, enum owner owner,
                      struct bats_account *account)
{
    struct bats_account a = {
        .of_user = owner == USER, .of_qos = owner == QOS, .limited = true};
    snprintf(a.account, sizeof a.account, "%s", name);
    if (get_limit(line, &a.limit, &a.used) &&
        (!account->limited ||
         a.limit - a.used < account->limit - account->used))
        *account = a;
}

/* True if the association is for the job: it may be for one partition only. */
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
    struct bats_account least = *account;
    char above[BATS_ACCOUNT_NAME] = "";
    bool own = strcmp(name, job->account) == 0;
    bool any = false, found = false, user_found = !own;
    for (const char *line = text; line != NULL;
         line = bats_answer_next(line)) {
        char of[BATS_ACCOUNT_NAME], user[BATS_ACCOUNT_NAME];
        char partition[BATS_ACCOUNT_NAME];
        if (!bats_slurm_begins(line, "ClusterName", of, sizeof of))
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

/* Reads the QOS of the job: its limit, and its factor for all that its jobs
 * are billed, also in the accounts; 0: they are not billed. */
static int ask_quality(const char *name, struct bats_account *account,
                       struct bats_error *err)
{
    char *answer, *end;
    if (name[0] == '\0' || strcmp(name, "N/A") == 0)
        return 0;
    int rc = bats_ask(&answer, err,
                      "scontrol -o show assoc_mgr flags=qos qos=%s", name);
    if (rc < 0)
        return rc;
    const char *line = strstr(answer, "QOS=");
    if (line != NULL)
        take_less(line, name, QOS, account);
    free(answer);
    if (bats_ask(&answer, NULL,
                 "sacctmgr -n -P show qos %s format=UsageFactor", name) < 0)
        return 0; /* a node may have no sacctmgr: factor 1 */
    account->factor = strtod(answer, &end);
    if (end != answer && account->factor <= 0)
        account->limited = false;
    free(answer);
    return 0;
}

static int ask_associations(const struct bats_allocation *job,
                            struct bats_account *least, struct bats_error *err)
{
    char name[BATS_ACCOUNT_NAME];
    int rc = 0;
    snprintf(name, sizeof name, "%s", job->account);
    for (int i = 0; rc == 0 && (i == 0 || name[0] != '\0'); i++) {
        char *answer;
        if (i == DEPTH)
            return bats_error_set(err, BATS_EINPUT,
                                  "--budget account: the accounts above %s "
                                  "are circular",
                                  job->account);
        /* A job without an account asks for all accounts. */
        rc =
            bats_ask(&answer, err,
                     name[0] != '\0'
                         ? "scontrol -o show assoc_mgr flags=assoc accounts=%s"
                         : "scontrol -o show assoc_mgr flags=assoc%s",
                     name);
        if (rc < 0)
            break;
        rc = bats_slurm_account_read(answer, job, name, least, name, err);
        free(answer);
    }
    return rc;
}

static int fill_in(struct bats_allocation *job, struct bats_error *err)
{
    const struct passwd *me = getpwuid(getuid());
    char *answer;
    snprintf(job->user, sizeof job->user, "%s", me != NULL ? me->pw_name : "");
    if (job->account[0] != '\0')
        return 0;
    if (bats_ask(&answer, err,
                 "sacctmgr -n -P show user %s format=DefaultAccount",
                 job->user) < 0)
        return BATS_EINPUT;
    snprintf(job->account, sizeof job->account, "%.*s",
             (int)strcspn(answer, "\n"), answer);
    free(answer);
    return 0;
}

int bats_slurm_account(const struct bats_allocation *job,
                       struct bats_account *account, struct bats_error *err)
{
    struct bats_allocation of = *job;
    struct bats_account least = {.limited = false};
    int rc = of.user[0] == '\0' ? fill_in(&of, err) : 0;
    strcpy(least.account, of.account);
    if (rc == 0)
        rc = ask_associations(&of, &least, err);
    if (rc == 0)
        rc = ask_quality(of.qos, &least, err);
    if (rc == 0)
        *account = least;
    return rc;
}
