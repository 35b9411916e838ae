#include "run/launcher.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "site/batch_system.h"

#define PATIENCE_MS 10000 /* the other ranks take 3 s to leave */

static bool impatient, by_batch_system;

uint32_t bats_launcher_ranks(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (getenv(sizes[i]) != NULL)
            return (uint32_t)strtoul(getenv(sizes[i]), NULL, 10);
    return 0;
}

void bats_launcher_look(void)
{
    bool mpirun = getenv("OMPI_COMMAND") != NULL;
    impatient = mpirun;
    /* mpirun starts its daemons through the batch system. */
    by_batch_system = !mpirun && bats_batch_launched();
}

bool bats_launcher_is_impatient(void)
{
    return impatient;
}

bool bats_launcher_is_batch_system(void)
{
    return by_batch_system;
}

bool bats_launcher_is_mpirun(void)
{
    char path[40], name[20] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    return read &&
           (strcmp(name, "mpirun\n") == 0 || strcmp(name, "mpiexec\n") == 0 ||
            strcmp(name, "orterun\n") == 0);
}

void bats_launcher_fail(void)
{
    const char *recovery = getenv("OMPI_MCA_orte_enable_recovery");
    if (recovery == NULL || strcmp(recovery, "1") != 0 ||
        !bats_launcher_is_mpirun() || kill(getppid(), SIGTERM) != 0)
        return;
    struct timespec patience = {PATIENCE_MS / 1000, 0};
    nanosleep(&patience, NULL);
}

void bats_launcher_see_off(void)
{
    int fd = bats_launcher_is_mpirun() ? pidfd_open(getppid(), 0) : -1;
    if (fd < 0 || fork() != 0)
        return;
    setsid();
    /* mpirun waits until no process can write to its pipes any more. */
    dup2(fd, 0);
    close_range(1, ~0u, 0);
    struct pollfd ended = {.fd = 0, .events = POLLIN};
    if (poll(&ended, 1, PATIENCE_MS) == 0 &&
        pidfd_send_signal(0, SIGTERM, NULL, 0) == 0 &&
        poll(&ended, 1, PATIENCE_MS) == 0)
        pidfd_send_signal(0, SIGKILL, NULL, 0);
    _exit(0);
}
