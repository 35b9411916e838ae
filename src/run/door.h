/*
 * door: how worker jobs find the master, and how both prove who they are.
 *
 * Layer: run. Used by the hub and the gateway. The master writes a file, which
 * belongs to the user and has mode 0600. Any other file is refused, so that
 * nobody else can make a job join their run. It is a JSON object:
 *
 *     "bats-mpi"  version of the protocol
 *     "host", "port"
 *     "secret"    64 hexadecimal digits, drawn for this run: the key of TLS
 *                 (wire.h), which proves to each side who the other one is
 */
#ifndef BATS_DOOR_H
#define BATS_DOOR_H

#include <stdint.h>

#include "bats/error.h"
#include "run/wire.h"

struct bats_door {
    char host[256];
    int port;
    uint8_t secret[BATS_TLS_KEY];
};

/* For the master: draws a new secret. BATS_ESYS, also from a build without
 * GnuTLS. */
int bats_door_draw(struct bats_door *door, struct bats_error *err);

/* Replaces the file in one step, and keeps it open and locked as *fd, so that
 * no other master takes its place. BATS_EINPUT: it cannot be written, or
 * belongs to a living master. */
int bats_door_write(const char *path, const struct bats_door *door, int *fd,
                    struct bats_error *err);

/* Closes the file, and removes it if it is still the one that was written. */
void bats_door_remove(const char *path, int fd);

/* BATS_EINPUT, naming the file: it is missing, malformed, of another version,
 * or accessible to others. BATS_ESYS: this build has no GnuTLS. */
int bats_door_read(const char *path, struct bats_door *door,
                   struct bats_error *err);

#endif
