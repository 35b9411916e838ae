/*
 * door: the file by which worker jobs find the master.
 *
 * Layer: run. Written by the hub, read by gateways. Each line is a name, a
 * blank and a value:
 *
 *     bats-mpi 4              version of the protocol
 *     host login1
 *     port 40123
 *     auth munge              or secret
 *     socket /run/x.socket    of the MUNGE daemon, unless the default
 *     secret 64 hexadecimal digits, if auth is secret
 *
 * The file belongs to the user and has mode 0600. Any other file is refused,
 * so that nobody else can make a job join their run.
 */
#ifndef BATS_DOOR_H
#define BATS_DOOR_H

#include "bats/error.h"
#include "run/auth.h"

#define BATS_DOOR_HOST 256

struct bats_door {
    char host[BATS_DOOR_HOST];
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

/* BATS_EINPUT, with file and line: the file is missing, malformed, of another
 * version, or accessible to others. */
int bats_door_read(const char *path, struct bats_door *door,
                   struct bats_error *err);

#endif
