#include "run/door.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/proto.h"

/* ---- the file ---- */

static int failed(const char *path, struct bats_error *err)
{
    return bats_refuse(err, "%.300s: %s", path, strerror(errno));
}

static bool print(int fd, const struct bats_door *door)
{
    char secret[2 * BATS_TLS_KEY + 1];
    for (size_t i = 0; i < BATS_TLS_KEY; i++)
        sprintf(secret + 2 * i, "%02x", door->secret[i]);
    errno = EILSEQ; /* json_pack refuses text that is not UTF-8 */
    json_t *file =
        json_pack("{s:i, s:s, s:i, s:s}", "bats-mpi", BATS_PROTO_VERSION,
                  "host", door->host, "port", door->port, "secret", secret);
    /* The descriptor stays open, and some network file systems let other hosts
     * see, and complain of, only what was synced or closed. */
    bool written = file != NULL &&
                   json_dumpfd(file, fd, JSON_INDENT(1)) == 0 &&
                   fsync(fd) == 0;
    json_decref(file);
    return written;
}

/* True if a living master holds the file. Some network file systems have no
 * locks: then false. */
static bool is_held(const char *path)
{
    struct flock flock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool held = fd >= 0 && fcntl(fd, F_OFD_GETLK, &flock) == 0 &&
                flock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held;
}

static int publish(int fd, const char *new, const char *path,
                   const struct bats_door *door, struct bats_error *err)
{
    struct flock flock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!print(fd, door))
        return failed(path, err);
    fcntl(fd, F_OFD_SETLK, &flock);
    if (is_held(path))
        return bats_refuse(err,
                           "%.300s: another run uses this file for its "
                           "workers",
                           path);
    return rename(new, path) == 0 ? 0 : failed(path, err);
}

int bats_door_write(const char *path, const struct bats_door *door, int *fd,
                    struct bats_error *err)
{
    char new[PATH_MAX];
    if (snprintf(new, sizeof new, "%s.XXXXXX", path) >= (int)sizeof new)
        return bats_refuse(err, "%.300s...: this name is too long", path);
    *fd = mkostemp(new, O_CLOEXEC); /* makes the file with mode 0600 */
    if (*fd < 0)
        return failed(new, err);
    int rc = publish(*fd, new, path, door, err);
    if (rc < 0) {
        unlink(new);
        close(*fd);
        *fd = -1;
    }
    return rc;
}

void bats_door_remove(const char *path, int fd)
{
    struct stat there, ours;
    if (lstat(path, &there) == 0 && fstat(fd, &ours) == 0 &&
        there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
        unlink(path);
    close(fd);
}

static bool read_secret(const char *digits, uint8_t *secret)
{
    if (strlen(digits) != 2 * BATS_TLS_KEY ||
        strspn(digits, "0123456789abcdef") != 2 * BATS_TLS_KEY)
        return false;
    for (size_t i = 0; i < BATS_TLS_KEY; i++) {
        char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        secret[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return true;
}

/* False: it lacks something, or a value is wrong. */
static bool take(json_t *file, struct bats_door *door)
{
    int version;
    const char *host, *secret;
    return json_unpack(file, "{s:i, s:s, s:i, s:s !}", "bats-mpi", &version,
                       "host", &host, "port", &door->port, "secret",
                       &secret) == 0 &&
           *host != '\0' &&
           (size_t)snprintf(door->host, sizeof door->host, "%s", host) <
               sizeof door->host &&
           door->port > 0 && door->port < 65536 &&
           read_secret(secret, door->secret);
}

static int parse(int fd, const char *path, struct bats_door *door,
                 struct bats_error *err)
{
    json_error_t why;
    json_t *file = json_loadfd(fd, 0, &why);
    const json_t *version = json_object_get(file, "bats-mpi");
    int rc = 0;
    if (file == NULL)
        rc = bats_refuse(err, "%.300s:%d: this is not a file for workers: %s",
                         path, why.line, why.text);
    else if (json_is_integer(version) &&
             json_integer_value(version) != BATS_PROTO_VERSION)
        rc = bats_refuse(
            err,
            "%.300s: the master speaks version %d of the protocol, this is "
            "version %d: both must be the same bats-mpi",
            path, (int)json_integer_value(version), BATS_PROTO_VERSION);
    else if (!take(file, door))
        rc = bats_refuse(err,
                         "%.300s: this is not a file for workers: a value "
                         "is wrong or missing",
                         path);
    json_decref(file);
    return rc;
}

/* Without TLS nobody can prove anything. */
static int check_build(struct bats_error *err)
{
#ifndef BATS_HAVE_GNUTLS
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without GnuTLS");
#endif
    return 0;
}

int bats_door_read(const char *path, struct bats_door *door,
                   struct bats_error *err)
{
    struct stat status;
    *door = (struct bats_door){0};
    if (check_build(err) < 0)
        return BATS_ESYS;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed(path, err);
    int rc = fstat(fd, &status) != 0 ? failed(path, err) : 0;
    if (rc == 0 && (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
                    (status.st_mode & 077) != 0))
        rc = bats_refuse(err,
                         "%.300s: it must be your file, and only you may "
                         "read it (mode 0600)",
                         path);
    if (rc == 0)
        rc = parse(fd, path, door, err);
    close(fd);
    return rc;
}

/* ---- the secret ---- */

int bats_door_draw(struct bats_door *door, struct bats_error *err)
{
    if (check_build(err) < 0)
        return BATS_ESYS;
    if (getrandom(door->secret, BATS_TLS_KEY, 0) == BATS_TLS_KEY)
        return 0;
    return bats_error_set(err, BATS_ESYS, "no random bytes: %s",
                          strerror(errno));
}
