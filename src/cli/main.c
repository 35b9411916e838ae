/*
 * main: finds the verb and calls it. A first argument that is not a verb
 * belongs to `run`, so that `srun bats-mpi bag.txt` just works.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "run/run.h"
#include "run/watchdog.h"

#define refuse(...) (bats_tell(__VA_ARGS__), BATS_EXIT_USAGE)

static int explain(const char *name, void (*all)(FILE *),
                   void (*one)(FILE *, enum bats_verb))
{
    enum bats_verb verb;
    if (name == NULL)
        all(stdout);
    else if (bats_verb_find(name, &verb))
        one(stdout, verb);
    else
        return refuse("'%s' is not a verb", name);
    return BATS_EXIT_OK;
}

/* Answers --help and other questions about the program itself; -1 if there is
 * none. */
static int answer(int argc, char **argv)
{
    char library[256];
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        bats_help_program(stdout);
    } else if (strcmp(argv[1], "--version") == 0) {
        bats_mpi_library(library, sizeof library);
        bats_help_version(stdout, library);
    } else if (strcmp(argv[1], "--man") == 0) {
        return explain(argv[2], bats_help_man, bats_help_man_verb);
    } else if (strcmp(argv[1], "help") == 0) {
        return explain(argv[2], bats_help_program, bats_help_verb);
    } else if (strcmp(argv[1], "--completion") == 0) {
        if (!bats_complete_script(stdout, argc > 2 ? argv[2] : "bash"))
            return refuse("there is no completion for %s, but for bash, zsh "
                          "and fish",
                          argv[2]);
    } else if (strcmp(argv[1], "--complete") == 0) {
        bats_complete_words(stdout, argc - 2, argv + 2);
    } else {
        return -1;
    }
    return BATS_EXIT_OK;
}

/* True for `bats-mpi submit` and `bats-mpi close BAG`: bats-submit, next to
 * this program, carries them out. */
static bool is_for_client(const char *verb)
{
    return strcmp(verb, "submit") == 0 || strcmp(verb, "close") == 0;
}

static int run_client(int argc, char **argv)
{
    char path[4096], socket[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
    char *words[] = {"bats-submit", "--close", socket, NULL};
    while (n > 0 && path[n - 1] != '/')
        n--;
    strcpy(path + (n > 0 ? n : 0), "bats-submit");
    if (strcmp(argv[0], "close") == 0) {
        const char *bag = argv[argc - 1];
        snprintf(socket, sizeof socket, "%s%s.sock", bag,
                 bats_text_ends(bag, ".bats") ? "" : ".bats");
        words[2] = argc > 1 ? socket : NULL;
        argv = words;
    }
    execv(path, argv);
    bats_tell("%s: %s", path, strerror(errno));
    return BATS_EXIT_SYSTEM;
}

/* `bats-mpi lease SECONDS COMMAND...`: the batch script of a job that alloc
 * has bought. */
static int keep_watch(int argc, char **argv)
{
    struct bats_error err;
    int64_t seconds = argc > 2 ? strtoll(argv[1], NULL, 10) : 0;
    if (seconds <= 0 || seconds > BATS_LONGEST / BATS_SECOND) {
        bats_tell("lease needs a number of seconds and a command");
        return BATS_EXIT_USAGE;
    }
    int code = bats_watchdog_run(seconds * 1000000, argv + 2, &err);
    return code < 0 ? bats_complain(&err) : code;
}

/* Opens closed standard streams (<&-), whose numbers the next file or socket
 * would get. The substitutes fail to be read or written; messages vanish. */
static void open_closed_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", modes[fd]); /* gets the lowest free number */
}

int main(int argc, char **argv)
{
    enum bats_verb verb;
    open_closed_streams();
    if (argc > 1) {
        int code = answer(argc, argv);
        if (code >= 0) {
            bats_must(bats_flush(&bats_why));
            return code;
        }
    }
    if (argc > 2 && strcmp(argv[1], "lease") == 0)
        return keep_watch(argc - 1, argv + 1);
    gsl_set_error_handler_off(); /* otherwise a lack of memory is an abort */
    if (argc > 1 && is_for_client(argv[1]))
        return run_client(argc - 1, argv + 1);
    if (argc < 2 || !bats_verb_find(argv[1], &verb))
        return bats_verb_carry_out(BATS_VERB_RUN, argc, argv);
    return bats_verb_carry_out(verb, argc - 1, argv + 1);
}
