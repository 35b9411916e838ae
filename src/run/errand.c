#include "run/errand.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/wake.h"

#define MOST 64 /* threads */

struct errand {
    struct bats_errand base;
    struct bats_auth auth;
    struct bats_auth_text text;
    uint8_t nonces[2][BATS_PROTO_NONCE];
    char job[BATS_PROTO_JOB];
    bool checks;
    pthread_t sender;
    atomic_bool is_back;
    atomic_flag is_left; /* by one of the two threads; the other frees */
};

static atomic_int n_away;

static void run(struct errand *e)
{
    struct bats_errand *b = &e->base;
    b->rc =
        e->checks
            ? bats_auth_check(&e->auth, &e->text, b->proof, b->n, &b->err)
            : bats_auth_prove(&e->auth, &e->text, &b->proof, &b->n, &b->err);
    if (b->rc < 0 && !e->checks)
        b->proof = NULL;
    atomic_store(&e->is_back, true);
}

static void leave(struct errand *e)
{
    if (!atomic_flag_test_and_set(&e->is_left))
        return;
    free(e->base.proof);
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

int bats_errand_send(const struct bats_auth *auth,
                     const struct bats_auth_text *text, const char *proof,
                     size_t n, struct bats_errand **errand,
                     struct bats_error *err)
{
    struct errand *e = calloc(1, sizeof *e);
    char *copy = proof != NULL ? malloc(n + 1) : NULL;
    if (e == NULL || (proof != NULL && copy == NULL)) {
        free(e);
        free(copy);
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    }
    *e = (struct errand){.base = {.proof = copy, .n = n},
                         .auth = *auth,
                         .text = *text,
                         .checks = proof != NULL,
                         .sender = pthread_self(),
                         .is_left = ATOMIC_FLAG_INIT};
    if (proof != NULL) {
        memcpy(copy, proof, n);
        copy[n] = '\0';
    }
    memcpy(e->nonces[0], text->master_nonce, BATS_PROTO_NONCE);
    memcpy(e->nonces[1], text->gateway_nonce, BATS_PROTO_NONCE);
    if (text->half != NULL)
        memcpy(e->base.half, text->half, BATS_AUTH_HALF);
    snprintf(e->job, sizeof e->job, "%s", text->job);
    e->text.master_nonce = e->nonces[0];
    e->text.gateway_nonce = e->nonces[1];
    e->text.job = e->job;
    e->text.half = e->base.half;
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
