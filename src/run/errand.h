/*
 * errand: a credential of auth.h is checked without waiting for it.
 *
 * Layer: run. Used by the hub. The MUNGE daemon may not answer for a quarter of
 * a minute, so a thread of its own asks it, and wakes the thread that sent it
 * (util/wake.h) when it is back. Where no daemon is asked, it is back at once.
 */
#ifndef BATS_ERRAND_H
#define BATS_ERRAND_H

#include "run/auth.h"

/* The results, once it is back: those of bats_auth_accept. */
struct bats_errand {
    int rc;
    struct bats_error err;
    uint8_t key[BATS_TLS_KEY];
};

/* The credential is copied. BATS_ENOMEM. */
int bats_errand_send(const struct bats_auth *auth, const char *credential,
                     struct bats_errand **errand, struct bats_error *err);

bool bats_errand_is_back(const struct bats_errand *errand);

/* Forgets the errand and its results. NULL is legal. */
void bats_errand_forget(struct bats_errand *errand);

/* Enough errands are under way; send no more now. */
bool bats_errand_is_enough(void);

#endif
