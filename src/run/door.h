/*
 * door: how worker jobs find the master, and how both prove who they are.
 *
 * Layer: run. Used by the hub and the gateway. The master writes a file, which
 * belongs to the user and has mode 0600. Any other file is refused, so that
 * nobody else can make a job join their run. It is a JSON object:
 *
 *     "bats-mpi"  version of the protocol
 *     "host", "port"
 *     "auth"      "munge" or "secret"
 *     "socket"    of the MUNGE daemon, unless the default
 *     "secret"    64 hexadecimal digits, if "auth" is "secret"
 *
 * Two processes of one user agree on a key, in one of two ways. With it, TLS
 * (wire.h) proves to each of them who the other one is.
 *
 *   MUNGE   the gateway draws a key for its connection and sends it in a
 *           credential for this user only, good for a minute. The master's
 *           daemon checks that the same user made it, that it is not too old
 *           and was not decoded before. A user unknown to the daemon shows as
 *           nobody and is refused. libmunge.
 *   secret  the key is that of the run, in the file.
 */
#ifndef BATS_DOOR_H
#define BATS_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "run/wire.h"

enum bats_auth_way {
    BATS_AUTH_NONE, /* none was compiled in, or none works */
    BATS_AUTH_MUNGE,
    BATS_AUTH_SECRET
};

struct bats_auth {
    enum bats_auth_way way;
    char socket[108];             /* of the MUNGE daemon; "": the default
                                   * one */
    uint8_t secret[BATS_TLS_KEY]; /* all zero with MUNGE */
};

struct bats_door {
    char host[256];
    int port;
    struct bats_auth auth;
};

/* Replaces the file in one step, and keeps it open and locked as *fd, so that
 * no other master takes its place. BATS_EINPUT: it cannot be written, or
 * belongs to a living master. */
int bats_door_write(const char *path, const struct bats_door *door, int *fd,
                    struct bats_error *err);

/* Closes the file, and removes it if it is still the one that was written. */
void bats_door_remove(const char *path, int fd);

/* BATS_EINPUT, naming the file: it is missing, malformed, of another version,
 * or accessible to others. */
int bats_door_read(const char *path, struct bats_door *door,
                   struct bats_error *err);

/* For the master: MUNGE if its daemon answers here, else a new secret.
 * BATS_MUNGE_SOCKET in the environment names the daemon's socket; BATS_AUTH
 * demands one of the ways. BATS_EINPUT, BATS_ESYS if that is not available. */
int bats_auth_choose(struct bats_auth *auth, struct bats_error *err);

/* For the gateway: a key, and the credential for it ("" for a secret), for
 * free(). BATS_ESYS, BATS_ENOMEM. */
int bats_auth_offer(const struct bats_auth *auth, uint8_t key[BATS_TLS_KEY],
                    char **credential, struct bats_error *err);

/* For the master: the key in the gateway's credential. BATS_EINPUT: the
 * credential is invalid; the sentence holds no secret. BATS_ENOMEM. */
int bats_auth_accept(const struct bats_auth *auth, const char *credential,
                     uint8_t key[BATS_TLS_KEY], struct bats_error *err);

/* ---- without waiting ----
 *
 * The MUNGE daemon may take up to 15 seconds to answer. So a separate thread,
 * the errand, asks it and then wakes the sender (util/wake.h). Without MUNGE
 * the errand is back at once. */

/* A finished check of a credential: the results of bats_auth_accept. */
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

/* True if enough errands are under way: send no more now. */
bool bats_errand_is_enough(void);

#endif
