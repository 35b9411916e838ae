#include "run/errand.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/wake.h"

#define MOST 64 /* threads */

struct errand {
    struct bats_errand base;
    struct bats_auth auth;
    char *credential;
    pthread_t sender;
    atomic_bool is_back;
    atomic_flag is_left; /* by one of the two threads; the other frees */
};

static atomic_int n_away;

static void run(struct errand *e)
{
    e->base.rc =
        bats_auth_accept(&e->auth, e->credential, e->base.key, &e->base.err);
    atomic_store(&e->is_back, true);
}

static void leave(struct errand *e)
{
    if (!atomic_flag_test_and_set(&e->is_left))
        return;
    free(e->credential);
    free(e);
}

static void *run_away(void *errand)
{
    struct errand *e = errand;
    pthread_t sender = e->sender;
    run(e);
    leave(e);
    atomic_fetch_sub(&n_away, 1);
    pthread_kill(sender, BATS_WAKE_SIGNAL);
    return NULL;
}

static bool start_thread(struct errand *e)
{
    sigset_t all, before;
    pthread_t thread;
    atomic_fetch_add(&n_away, 1);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, run_away, e) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    else
        atomic_fetch_sub(&n_away, 1);
    return started;
}

int bats_errand_send(const struct bats_auth *auth, const char *credential,
                     struct bats_errand **errand, struct bats_error *err)
{
    struct errand *e = malloc(sizeof *e);
    char *copy = strdup(credential);
    if (e == NULL || copy == NULL) {
        free(e);
        free(copy);
        return bats_no_memory(err);
    }
    *e = (struct errand){.auth = *auth,
                         .credential = copy,
                         .sender = pthread_self(),
                         .is_left = ATOMIC_FLAG_INIT};
    *errand = &e->base;
    if (auth->way == BATS_AUTH_MUNGE && start_thread(e))
        return 0;
    run(e);
    leave(e);
    return 0;
}

bool bats_errand_is_back(const struct bats_errand *errand)
{
    return atomic_load(&((struct errand *)(uintptr_t)errand)->is_back);
}

void bats_errand_forget(struct bats_errand *errand)
{
    if (errand != NULL)
        leave((struct errand *)errand);
}

bool bats_errand_is_enough(void)
{
    return atomic_load(&n_away) >= MOST;
}
