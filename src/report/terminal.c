#include "report/terminal.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool parent_is_mpirun(void)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun",
                                        "prterun"};
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = false;
    if (fgets(name, sizeof name, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    fclose(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || strcmp(name, names[i]) == 0;
    return found;
}

int bats_terminal_open(int fd)
{
    const char *type = getenv("TERM");
    if (type == NULL || strcmp(type, "dumb") == 0)
        return -1;

    /* Open MPI gives standard output a pseudo-terminal of its own, regardless
     * of where mpirun writes, so the parent is asked first. */
    char path[64];
    if (parent_is_mpirun())
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), fd);
    else
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int terminal = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal >= 0 && !isatty(terminal)) {
        close(terminal);
        terminal = -1;
    }
    return terminal;
}

int bats_terminal_columns(int terminal)
{
    struct winsize size;
    if (terminal >= 0 && ioctl(terminal, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0)
        return size.ws_col;
    return 80;
}

int bats_terminal_width(int fd)
{
    int terminal = bats_terminal_open(fd);
    int columns = bats_terminal_columns(terminal);
    if (terminal >= 0)
        close(terminal);
    return columns;
}
