/*
 * auth: two processes of one user prove to each other who they are.
 *
 * Layer: run. Used by the hub and the gateway. Each side draws a nonce; what is
 * proved is a text of both nonces, the number of the job and the side that
 * proves, so that a proof is good for one connection, one job and one
 * direction. Two ways:
 *
 *   MUNGE   a credential over the text, for this user only, good for a minute.
 *           The daemon says that the text was encoded by the same user, is not
 *           too old and was not decoded before; a user that it does not know
 *           shows as nobody, who is refused. libmunge.
 *   secret  32 random bytes in a file that only the user can read, and
 *           HMAC-SHA256 (RFC 2104) of the text with it. Nettle.
 *
 * The keys that seal the stream afterwards (seal.h), one for each direction,
 * are HMAC-SHA256 of the text with the secret; with MUNGE, with 64 random
 * bytes, of which each side has put 32 into its credential: only a process of
 * the same user can have it decoded. The stream is not encrypted, as that of
 * MPI is not.
 */
#ifndef BATS_AUTH_H
#define BATS_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "proto/proto.h"
#include "run/seal.h"

#define BATS_AUTH_SECRET_BYTES 32

enum bats_auth_way {
    BATS_AUTH_NONE, /* none was compiled in, or works */
    BATS_AUTH_MUNGE,
    BATS_AUTH_SECRET
};

struct bats_auth {
    enum bats_auth_way way;
    char socket[108]; /* of the MUNGE daemon; "": the usual one */
    uint8_t secret[BATS_AUTH_SECRET_BYTES]; /* all zero with MUNGE */
};

/* The parts of the text. */
struct bats_auth_text {
    bool by_master; /* the side that proves */
    const uint8_t *master_nonce;
    const uint8_t *gateway_nonce;
    const char *job;
    uint8_t *half; /* MUNGE: 32 random bytes that go with it, or where they are
                      put by the check; NULL: none are wanted */
};

/* The terms that were said before there was a key. */
struct bats_auth_terms {
    uint32_t n_ranks;   /* beside the gateway's proof */
    int64_t silence_us; /* in the WELCOME */
};

#define BATS_AUTH_HALF 32

/* "munge", "secret". */
const char *bats_auth_name(enum bats_auth_way way);
enum bats_auth_way bats_auth_find(const char *name); /* or NONE */

/* Fills n bytes with random ones. BATS_ESYS. */
int bats_auth_random(uint8_t *bytes, size_t n, struct bats_error *err);

/* For the master: MUNGE if its daemon answers here, else a new secret.
 * BATS_MUNGE_SOCKET in the environment names the daemon's socket; BATS_AUTH
 * demands one of the ways. BATS_EINPUT, BATS_ESYS: there is none. */
int bats_auth_choose(struct bats_auth *auth, struct bats_error *err);

/* *proof is for free(). BATS_ESYS, BATS_ENOMEM. */
int bats_auth_prove(const struct bats_auth *auth,
                    const struct bats_auth_text *text, char **proof, size_t *n,
                    struct bats_error *err);

/* BATS_EINPUT: it is not proved; the sentence may be told to anybody.
 * BATS_ENOMEM. */
int bats_auth_check(const struct bats_auth *auth,
                    const struct bats_auth_text *text, const char *proof,
                    size_t n, struct bats_error *err);

/* The key for what one side says (text->by_master). A side that was told
 * something else before has another one. `halves`: the master's, and the
 * gateway's. BATS_ESYS: it was built without Nettle. */
int bats_auth_key(const struct bats_auth *auth,
                  const struct bats_auth_text *text,
                  const struct bats_auth_terms *terms,
                  const uint8_t halves[2 * BATS_AUTH_HALF],
                  uint8_t key[BATS_SEAL_KEY], struct bats_error *err);

#endif
