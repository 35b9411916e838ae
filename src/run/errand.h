/*
 * errand: a proof of auth.h is made or checked without waiting for it.
 *
 * Layer: run. Used by the hub. The MUNGE daemon may not answer for a quarter of
 * a minute, so a thread of its own asks it, and wakes the thread that sent it
 * (util/wake.h) when it is back. Where no daemon is asked, it is back at once.
 */
#ifndef BATS_ERRAND_H
#define BATS_ERRAND_H

#include "run/auth.h"

/* The results, once it is back. */
struct bats_errand {
    int rc;
    struct bats_error err;
    char *proof; /* n bytes: made, or checked */
    size_t n;
    uint8_t half[BATS_AUTH_HALF];
};

/* Makes a proof of the text, or, if `proof` is not NULL, checks it. All is
 * copied. BATS_ENOMEM, BATS_ESYS. */
int bats_errand_send(const struct bats_auth *auth,
                     const struct bats_auth_text *text, const char *proof,
                     size_t n, struct bats_errand **errand,
                     struct bats_error *err);

bool bats_errand_is_back(const struct bats_errand *errand);

/* Its results are not wanted any more. NULL is legal. */
void bats_errand_forget(struct bats_errand *errand);

/* So many are on their way that no more should be sent now. */
bool bats_errand_is_enough(void);

#endif
