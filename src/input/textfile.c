#include "input/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/grow.h"

const char *bats_textfile_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static int read_all(const char *name, int fd, char **text, size_t *length,
                    struct bats_error *err)
{
    struct stat st;
    size_t room = 0, size = 1 << 16;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        size = (size_t)st.st_size;
    *length = 0;
    for (;;) { /* room for a NUL, and for one byte to detect the end */
        size = *length < size ? size : *length;
        if (!bats_grow(text, &room, size + 2, 1))
            return bats_no_memory(err);
        ssize_t n = read(fd, *text + *length, room - 1 - *length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return bats_error_file(err, name);
        if (n == 0)
            break;
        *length += (size_t)n;
    }
    (*text)[*length] = '\0';
    return 0;
}

static int refuse_nul(const char *name, const char *text, size_t length,
                      struct bats_error *err)
{
    const char *nul = memchr(text, '\0', length);
    if (nul == NULL)
        return 0;
    size_t line = 1;
    for (const char *c = text; (c = memchr(c, '\n', (size_t)(nul - c))); c++)
        line++;
    return bats_error_at(err, name, line, "a NUL byte; is this a text file?");
}

static int read_file(const char *path, bool nul, char **text, size_t *length,
                     struct bats_error *err)
{
    const char *name = bats_textfile_name(path);
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *text = NULL;
    if (fd < 0)
        return bats_error_file(err, name);
    int rc = read_all(name, fd, text, length, err);
    if (!is_stdin)
        close(fd);
    if (rc == 0 && !nul)
        rc = refuse_nul(name, *text, *length, err);
    if (rc < 0) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

int bats_textfile_read(const char *path, char **text, size_t *length,
                       struct bats_error *err)
{
    return read_file(path, false, text, length, err);
}

int bats_textfile_read_nul(const char *path, char **text, size_t *length,
                           struct bats_error *err)
{
    return read_file(path, true, text, length, err);
}

int bats_textfile_lines(const char *path, const char *text,
                        int (*take)(void *context, char *line,
                                    struct bats_error *err),
                        void *context, struct bats_error *err)
{
    unsigned number = 0;
    char *copy = text ? strdup(text) : NULL;
    size_t length;
    int rc = !text  ? bats_textfile_read(path, &copy, &length, err)
             : copy ? 0
                    : bats_no_memory(err);
    for (char *line = copy, *next; rc == 0 && *line != '\0'; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        line[n > 0 && line[n - 1] == '\r' ? n - 1 : n] = '\0';
        rc = bats_error_prefix(err, take(context, line, err),
                               "%s:%u: ", bats_textfile_name(path), ++number);
    }
    free(copy);
    return rc;
}

int bats_textfile_write(const char *path,
                        int (*write)(void *context, FILE *out,
                                     struct bats_error *err),
                        void *context, struct bats_error *err)
{
    char next[4096];
    struct stat st;
    bool is_beside = lstat(path, &st) != 0 || S_ISREG(st.st_mode);
    if (snprintf(next, sizeof next, "%s%s", path, is_beside ? ".new" : "") >=
        (int)sizeof next)
        return bats_refuse(err, "%s: the name is too long", path);
    if (write == NULL && !is_beside && !S_ISDIR(st.st_mode))
        return 0; /* to open a pipe would be to wait for its reader */
    FILE *out = fopen(next, "we");
    if (out == NULL)
        return bats_error_file(err, path);
    int rc = write != NULL ? write(context, out, err) : 0;
    bool good = fflush(out) == 0 && ferror(out) == 0 &&
                (!is_beside || fsync(fileno(out)) == 0);
    good = fclose(out) == 0 && good;
    bool is_new = is_beside && rc == 0 && good && write != NULL;
    if (rc == 0 && (!good || (is_new && rename(next, path) != 0)))
        rc = bats_error_set(err, BATS_ESYS, "%s: %s", path, strerror(errno));
    if (is_beside && (rc < 0 || write == NULL))
        unlink(next);
    return rc;
}

char *bats_textfile_beside(const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    char *path;
    return asprintf(&path, "%.*s%s",
                    slash && *name != '/' ? (int)(slash + 1 - from) : 0, from,
                    name) < 0
               ? NULL
               : path;
}
