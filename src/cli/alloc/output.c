/* output: what the jobs themselves print, for instance why they could not
 * start. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/alloc/state.h"

#define LINES 3 /* lines shown */

static int open_output(const struct bats_alloc *a, const char *id,
                       char path[PATH_MAX])
{
    if (id[0] == '\0' ||
        snprintf(path, PATH_MAX, "%s.%s", a->log, id) >= PATH_MAX)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

void bats_alloc_last_output(const struct bats_alloc *a, const char *id,
                            char *text, size_t size)
{
    char path[PATH_MAX];
    int fd = open_output(a, id, path);
    off_t length = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    off_t from = length > (off_t)size - 1 ? length - (off_t)size + 1 : 0;
    ssize_t n = fd >= 0 ? pread(fd, text, size - 1, from) : 0;
    if (fd >= 0)
        close(fd);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n > 0 ? n : 0] = '\0';
    char *first = text + strlen(text);
    for (int lines = 0; first > text; first--)
        if (first[-1] == '\n' && ++lines == LINES)
            break;
    memmove(text, first, strlen(first) + 1);
    for (char *at = text; *at != '\0'; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
}

/* A file that cannot be read or written stays. */
void bats_alloc_keep_output(const struct bats_alloc *a, const char *id)
{
    char path[PATH_MAX], block[4096];
    int from = open_output(a, id, path);
    if (from < 0)
        return;
    ssize_t n = read(from, block, sizeof block);
    bool well = n >= 0;
    if (n > 0) {
        FILE *log = fopen(a->log, "ae");
        well = log != NULL && fprintf(log, "---- job %s\n", id) > 0;
        for (; well && n > 0; n = read(from, block, sizeof block))
            well = fwrite(block, 1, (size_t)n, log) == (size_t)n;
        well &= n == 0;
        if (log != NULL)
            well &= fclose(log) == 0;
    }
    close(from);
    if (well)
        unlink(path);
}
