#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

const char *bats_mpi_library(char *text, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    /* One of the few functions that may be called before MPI_Init. Open MPI
     * appends its build details after commas, MPICH on further lines. */
    if (MPI_Get_library_version(version, &n) != MPI_SUCCESS)
        strcpy(version, "unknown MPI library");
    version[strcspn(version, ",\n")] = '\0';
    snprintf(text, size, "%s", version);
    return text;
}
