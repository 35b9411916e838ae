#include "run/door.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/proto.h"

static int failed(const char *path, struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT, "%.300s: %s", path,
                          strerror(errno));
}

static bool print(FILE *file, const struct bats_door *door)
{
    fprintf(file, "bats-mpi %d\nhost %s\nport %d\nauth %s\n",
            BATS_PROTO_VERSION, door->host, door->port,
            bats_auth_name(door->auth.way));
    if (door->auth.socket[0] != '\0')
        fprintf(file, "socket %s\n", door->auth.socket);
    if (door->auth.way == BATS_AUTH_SECRET) {
        fputs("secret ", file);
        for (size_t i = 0; i < sizeof door->auth.secret; i++)
            fprintf(file, "%02x", door->auth.secret[i]);
        fputc('\n', file);
    }
    return fflush(file) == 0 && ferror(file) == 0;
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

/* Writes `new` and renames it to `path`. */
static int publish(int fd, const char *new, const char *path,
                   const struct bats_door *door, struct bats_error *err)
{
    struct flock flock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int copy = dup(fd);
    FILE *file = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool written = file != NULL && print(file, door);
    if (file != NULL)
        written = fclose(file) == 0 && written;
    else if (copy >= 0)
        close(copy);
    fcntl(fd, F_OFD_SETLK, &flock);
    if (is_held(path))
        return bats_error_set(err, BATS_EINPUT,
                              "%.300s: another run uses this file for its "
                              "workers",
                              path);
    return written && rename(new, path) == 0 ? 0 : failed(path, err);
}

int bats_door_write(const char *path, const struct bats_door *door, int *fd,
                    struct bats_error *err)
{
    char new[PATH_MAX];
    if (snprintf(new, sizeof new, "%s.XXXXXX", path) >= (int)sizeof new)
        return bats_error_set(err, BATS_EINPUT,
                              "%.300s...: this name is too long", path);
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

static bool copy(char *to, size_t size, const char *value)
{
    return value[0] != '\0' && (size_t)snprintf(to, size, "%s", value) < size;
}

/* Returns false if the line is not understood. */
static bool take(struct bats_door *door, const char *name, const char *value)
{
    char *end;
    if (strcmp(name, "host") == 0)
        return copy(door->host, sizeof door->host, value);
    if (strcmp(name, "socket") == 0)
        return copy(door->auth.socket, sizeof door->auth.socket, value);
    if (strcmp(name, "secret") == 0)
        return read_secret(value, door->auth.secret);
    if (strcmp(name, "auth") == 0)
        return (door->auth.way = bats_auth_find(value)) != BATS_AUTH_NONE;
    if (strcmp(name, "port") != 0)
        return false;
    long port = strtol(value, &end, 10);
    door->port = (int)port;
    return *end == '\0' && port > 0 && port < 65536;
}

static int parse(FILE *file, const char *path, struct bats_door *door,
                 struct bats_error *err)
{
    char line[512];
    int number = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, ' ');
        if (value != NULL)
            *value++ = '\0';
        if (value != NULL && number == 1 && strcmp(line, "bats-mpi") == 0 &&
            strtol(value, NULL, 10) != BATS_PROTO_VERSION)
            return bats_error_set(
                err, BATS_EINPUT,
                "%.300s:1: the master speaks version %.20s of the protocol, "
                "this is version %d: both must be the same bats-mpi",
                path, value, BATS_PROTO_VERSION);
        if (value == NULL ||
            (number == 1) != (strcmp(line, "bats-mpi") == 0) ||
            (number > 1 && !take(door, line, value)))
            return bats_error_set(err, BATS_EINPUT,
                                  "%.300s:%d: this line does not belong in a "
                                  "file for workers",
                                  path, number);
    }
    if (door->port > 0 && door->host[0] != '\0' &&
        door->auth.way != BATS_AUTH_NONE)
        return 0;
    return bats_error_set(err, BATS_EINPUT,
                          "%.300s:%d: host, port or auth is missing", path,
                          number);
}

int bats_door_read(const char *path, struct bats_door *door,
                   struct bats_error *err)
{
    struct stat status;
    *door = (struct bats_door){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed(path, err);
    FILE *file = fdopen(fd, "r");
    if (file == NULL || fstat(fd, &status) != 0) {
        failed(path, err);
        close(fd);
        return BATS_EINPUT;
    }
    int rc;
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & 077) != 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%.300s: it must be your file, and only you may "
                            "read it (mode 0600)",
                            path);
    else
        rc = parse(file, path, door, err);
    fclose(file);
    return rc;
}
