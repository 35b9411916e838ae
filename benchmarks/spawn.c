/*
 * spawn: the floor under any task runner: bare posix_spawn + waitpid.
 *
 *   spawn LOOPS TASKS COMMAND [ARGUMENT...]
 *
 * LOOPS processes at the same time, each starting its share of TASKS one after
 * the other and waiting for each. Prints the seconds that took. Nothing is
 * set up for the tasks and nothing is recorded of them.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void loop(long tasks, char **command)
{
    for (long i = 0; i < tasks; i++) {
        pid_t child;
        int status;
        int code =
            posix_spawn(&child, command[0], NULL, NULL, command, environ);

        if (code != 0 || waitpid(child, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "spawn: %s: %s\n", command[0],
                    code != 0 ? strerror(code) : "failed");
            _exit(1);
        }
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    long loops = argc > 3 ? strtol(argv[1], NULL, 10) : 0;
    long tasks = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
    double start;
    int failed = 0;

    if (loops < 1 || tasks < 1) {
        fputs("usage: spawn LOOPS TASKS COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    start = now();
    for (long i = 0; i < loops; i++)
        if (fork() == 0)
            loop(tasks / loops + (i < tasks % loops), argv + 3);
    for (long i = 0; i < loops; i++) {
        int status;

        failed |= wait(&status) < 0 || status != 0;
    }
    printf("%.6f\n", now() - start);
    return failed;
}
