#include "run/auth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/wake.h"

#ifdef BATS_HAVE_MUNGE
#include <munge.h>
#endif

/* seconds a credential is valid; clocks of nodes differ */
#define LIFETIME_S 60
#define PURPOSE "bats-mpi worker"
#define MOST 64 /* most threads at a time */

const char *bats_auth_name(enum bats_auth_way way)
{
    return way == BATS_AUTH_MUNGE    ? "munge"
           : way == BATS_AUTH_SECRET ? "secret"
                                     : "none";
}

enum bats_auth_way bats_auth_find(const char *name)
{
    return strcmp(name, "munge") == 0    ? BATS_AUTH_MUNGE
           : strcmp(name, "secret") == 0 ? BATS_AUTH_SECRET
                                         : BATS_AUTH_NONE;
}

static int draw(uint8_t key[BATS_TLS_KEY], struct bats_error *err)
{
    if (getrandom(key, BATS_TLS_KEY, 0) == BATS_TLS_KEY)
        return 0;
    return bats_error_set(err, BATS_ESYS, "no random bytes: %s",
                          strerror(errno));
}

/* ---- MUNGE ---- */

#ifdef BATS_HAVE_MUNGE

/* Payload of a credential. */
struct said {
    char purpose[sizeof PURPOSE];
    uint8_t key[BATS_TLS_KEY];
};

static munge_ctx_t context_of(const struct bats_auth *auth)
{
    munge_ctx_t context = munge_ctx_create();
    if (context == NULL)
        return NULL;
    if (munge_ctx_set(context, MUNGE_OPT_TTL, LIFETIME_S) == EMUNGE_SUCCESS &&
        munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, geteuid()) ==
            EMUNGE_SUCCESS &&
        (auth->socket[0] == '\0' ||
         munge_ctx_set(context, MUNGE_OPT_SOCKET, auth->socket) ==
             EMUNGE_SUCCESS))
        return context;
    munge_ctx_destroy(context);
    return NULL;
}

static int encode(const struct bats_auth *auth, const uint8_t *key,
                  char **credential, struct bats_error *err)
{
    munge_ctx_t context = context_of(auth);
    if (context == NULL)
        return bats_no_memory(err);
    struct said said = {.purpose = PURPOSE};
    memcpy(said.key, key, BATS_TLS_KEY);
    munge_err_t code = munge_encode(credential, context, &said, sizeof said);
    int rc = 0;
    if (code != EMUNGE_SUCCESS)
        rc = bats_error_set(err, BATS_ESYS, "MUNGE: %s",
                            munge_ctx_strerror(context) != NULL
                                ? munge_ctx_strerror(context)
                                : munge_strerror(code));
    munge_ctx_destroy(context);
    return rc;
}

static int decode(const struct bats_auth *auth, const char *credential,
                  uint8_t *key, struct bats_error *err)
{
    munge_ctx_t context = context_of(auth);
    struct said *said = NULL;
    int n = 0, rc = 0;
    uid_t user = (uid_t)-1;
    gid_t group;
    if (context == NULL)
        return bats_no_memory(err);
    munge_err_t code =
        munge_decode(credential, context, (void **)&said, &n, &user, &group);
    if (code != EMUNGE_SUCCESS)
        rc = bats_error_set(err, BATS_EINPUT, "MUNGE: %s",
                            munge_strerror(code));
    else if (user != geteuid())
        rc = bats_error_set(err, BATS_EINPUT,
                            "it runs as another user (%ld, not %ld)",
                            (long)user, (long)geteuid());
    else if (n != sizeof *said ||
             memcmp(said->purpose, PURPOSE, sizeof PURPOSE) != 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "its credential is for something else");
    else
        memcpy(key, said->key, BATS_TLS_KEY);
    free(said);
    munge_ctx_destroy(context);
    return rc;
}

#else

static int encode(const struct bats_auth *auth, const uint8_t *key,
                  char **credential, struct bats_error *err)
{
    (void)auth, (void)key, (void)credential;
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without MUNGE");
}

static int decode(const struct bats_auth *auth, const char *credential,
                  uint8_t *key, struct bats_error *err)
{
    (void)auth, (void)credential, (void)key;
    return bats_error_set(err, BATS_EINPUT,
                          "bats-mpi was built without MUNGE");
}

#endif

/* ---- both ---- */

int bats_auth_offer(const struct bats_auth *auth, uint8_t key[BATS_TLS_KEY],
                    char **credential, struct bats_error *err)
{
    if (auth->way == BATS_AUTH_MUNGE) {
        int rc = draw(key, err);
        return rc < 0 ? rc : encode(auth, key, credential, err);
    }
    memcpy(key, auth->secret, BATS_TLS_KEY);
    *credential = strdup("");
    return *credential != NULL ? 0 : bats_no_memory(err);
}

int bats_auth_accept(const struct bats_auth *auth, const char *credential,
                     uint8_t key[BATS_TLS_KEY], struct bats_error *err)
{
    if (auth->way == BATS_AUTH_MUNGE)
        return decode(auth, credential, key, err);
    memcpy(key, auth->secret, BATS_TLS_KEY);
    return 0;
}

/* Sets up this way of authentication, if it works here. */
static int try(struct bats_auth *auth, enum bats_auth_way way,
               struct bats_error *err)
{
    uint8_t key[BATS_TLS_KEY];
    char *credential;
    auth->way = way;
    if (way == BATS_AUTH_SECRET)
        return draw(auth->secret, err);
    int rc = bats_auth_offer(auth, key, &credential, err);
    if (rc == 0)
        free(credential);
    return rc;
}

int bats_auth_choose(struct bats_auth *auth, struct bats_error *err)
{
    const char *socket = getenv("BATS_MUNGE_SOCKET");
    const char *wanted = getenv("BATS_AUTH");
    *auth = (struct bats_auth){0};
#ifndef BATS_HAVE_GNUTLS
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without GnuTLS");
#endif
    if (socket != NULL &&
        (size_t)snprintf(auth->socket, sizeof auth->socket, "%s", socket) >=
            sizeof auth->socket)
        return bats_error_set(err, BATS_EINPUT,
                              "BATS_MUNGE_SOCKET: the path of a socket cannot "
                              "be this long");
    if (wanted != NULL && bats_auth_find(wanted) == BATS_AUTH_NONE)
        return bats_error_set(err, BATS_EINPUT,
                              "BATS_AUTH is '%s', not munge or secret",
                              wanted);
    if (wanted != NULL)
        return try(auth, bats_auth_find(wanted), err);
    return try(auth, BATS_AUTH_MUNGE, NULL) == 0
               ? 0
               : try(auth, BATS_AUTH_SECRET, err);
}

/* ---- without waiting ---- */

struct errand {
    struct bats_errand base;
    struct bats_auth auth;
    char *credential;
    pthread_t sender;
    atomic_bool is_back;
    atomic_flag is_left; /* set by the first of two threads to let go; the
                          * second one frees */
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
