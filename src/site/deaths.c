#include "site/deaths.h"

#ifdef BATS_HAVE_PMIX

#include <pmix.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A process has one PMIx client. PMIx calls the handler in its own thread. */
static atomic_bool *died; /* by rank, of n; never freed */
static int n;
static const char *own_namespace;
static atomic_bool asking;

static void note(size_t handler, pmix_status_t status,
                 const pmix_proc_t *source, pmix_info_t info[], size_t n_info,
                 pmix_info_t results[], size_t n_results,
                 pmix_event_notification_cbfunc_fn_t done, void *context)
{
    for (size_t i = 0; i < n_info; i++) {
        if (!PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) ||
            info[i].value.type != PMIX_PROC)
            continue;
        const pmix_proc_t *proc = info[i].value.data.proc;
        if (strcmp(proc->nspace, own_namespace) == 0 &&
            proc->rank < (pmix_rank_t)n)
            atomic_store(&died[proc->rank], true);
    }
    /* Do not call Open MPI's own handler, which ends this process. */
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, context);
}

bool bats_deaths_listen(int n_ranks)
{
    pmix_status_t code = PMIX_ERR_PROC_ABORTED;
    if (died != NULL)
        return n > 0;
    own_namespace = getenv("PMIX_NAMESPACE");
    if (own_namespace == NULL || !PMIx_Initialized())
        return false;
    died = calloc((size_t)n_ranks, sizeof *died);
    if (died == NULL)
        return false;
    n = n_ranks;
    /* The handler stays registered: otherwise events go to Open MPI's
     * handler. */
    if (PMIx_Register_event_handler(&code, 1, NULL, 0, note, NULL, NULL) < 0)
        n = 0;
    return n > 0;
}

static void deregistered(pmix_status_t status, void *context)
{
    atomic_store(&asking, false);
}

static void registered(pmix_status_t status, size_t handler, void *context)
{
    if (status != PMIX_SUCCESS ||
        PMIx_Deregister_event_handler(handler, deregistered, context) < 0)
        atomic_store(&asking, false);
}

void bats_deaths_ask(void)
{
    /* PMIx only reports registrations with a new code to its server. */
    static pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED,
                                    PMIX_EXTERNAL_ERR_BASE - 1};
    if (n == 0 || atomic_exchange(&asking, true))
        return;
    if (PMIx_Register_event_handler(codes, 2, NULL, 0, note, registered,
                                    NULL) < 0)
        atomic_store(&asking, false);
}

bool bats_deaths_known(int rank)
{
    return rank >= 0 && rank < n && atomic_load(&died[rank]);
}

#else

bool bats_deaths_listen(int n_ranks)
{
    return false;
}

void bats_deaths_ask(void)
{
}

bool bats_deaths_known(int rank)
{
    return false;
}

#endif
