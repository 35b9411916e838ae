#include "exec/process/made.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define YIELD 85
#define TOLD 10 /* so many names fit into a pipe, which nobody reads now */

int bats_made_check(const char *outputs, size_t n, int status, int fd)
{
    const char *end = outputs + n;
    int n_missing = 0;
    for (const char *f = outputs; status == 0 && f < end; f += strlen(f) + 1)
        if (access(f, F_OK) != 0 && ++n_missing <= TOLD)
            dprintf(fd, "%s was not made\n", f);
    if (n_missing > 0)
        status = 1;
    for (const char *f = outputs; f < end; f += strlen(f) + 1)
        if (status != 0 && status != YIELD)
            unlink(f);
    return status;
}
