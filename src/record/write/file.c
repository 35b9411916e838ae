/* file: the file of a record that is not open here. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/write/record.h"

static int move(const char *from, const char *to, const char *suffix,
                struct bats_error *err)
{
    char old[4096], new[4096];

    snprintf(old, sizeof old, "%s%s", from, suffix);
    snprintf(new, sizeof new, "%s%s", to, suffix);
    if (rename(old, new) == 0 || (errno == ENOENT && suffix[0] != '\0'))
        return 0;
    return bats_error_set(err, BATS_ESYS, "%s: %s", old, strerror(errno));
}

int bats_record_set_aside(const char *path, char *moved, size_t size,
                          struct bats_error *err)
{
    moved[0] = '\0';
    if (access(path, F_OK) != 0)
        return 0;
    if (bats_record_is_live(path))
        return bats_error_set(err, BATS_EINPUT, "%s is in use by another run",
                              path);
    for (int i = 1; moved[0] == '\0' || access(moved, F_OK) == 0; i++)
        if (snprintf(moved, size, "%s.%d", path, i) >= (int)size)
            return bats_error_set(err, BATS_EINPUT, "%s: the name is too long",
                                  path);
    int rc = move(path, moved, "", err);
    if (rc == 0)
        rc = move(path, moved, "-wal", err);
    if (rc == 0)
        rc = move(path, moved, "-journal", err);
    return rc;
}

bool bats_record_is_live(const char *path)
{
    /* SQLite locks these bytes, whatever the size of the file. */
    struct flock lock = {
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = 0x40000000,
        .l_len = 512,
    };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_live =
        fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

    if (fd >= 0)
        close(fd);
    return is_live;
}
