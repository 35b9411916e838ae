/* slurm_options: options of sbatch that break what a run relies on when it
 * submits jobs: one job for each submission, which it finds and holds money
 * for. Options that only say what a job needs, when it may start or who pays
 * are passed on. Not detected: an option of two words whose second one begins
 * with a dash, and the name of a script. */
#include "site/slurm.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    char letter;
    const char *reason;
} refused[] = {
    {"array", 'a',
     "one submission would be many jobs, and the run expects "
     "one"},
    {"requeue", 0,
     "a job that is queued again is billed for both of its "
     "lives, and money is held for one"},
    {"hold", 'H', "the job would never start"},
    {"wait", 'W', "the run would not hear of the job before its end"},
    {"test-only", 0, "nothing would be submitted"},
    {"wrap", 0, "a job has to run bats-mpi worker"},
    {"nodes", 'N', "use --nodes of bats-mpi"},
    {"ntasks", 'n', "use --slots of bats-mpi"},
    {"ntasks-per-node", 0, "use --slots of bats-mpi"},
    {"time", 't', "use --window of bats-mpi"},
    {"time-min", 0, "use --time-min of bats-mpi"},
    {"partition", 'p', "use --partition of bats-mpi"},
    {"account", 'A', "use --account of bats-mpi"},
    {"job-name", 'J', "the run finds its jobs by it"},
    {"comment", 0, "the run finds its jobs by it"},
    {"output", 'o', "the run looks there for the reason of a failure"},
    {"clusters", 'M', "the run does not see the jobs of other clusters"},
    {"uid", 0, "the run does not see the jobs of other users"},
};

/* sbatch accepts abbreviations of long names. */
static bool is_name(const char *word, const char *name)
{
    size_t n = strcspn(word, "=");
    return n > 0 && strncmp(word, name, n) == 0;
}

/* Letters without an argument may be followed by others. */
static bool has_letter(const char *word, char letter)
{
    const char *end = word + strspn(word, "hHkOQsVvW");
    return letter != '\0' &&
           (memchr(word, letter, (size_t)(end - word)) || *end == letter);
}

const char *bats_slurm_refuses(const char *word)
{
    bool is_long = strncmp(word, "--", 2) == 0;
    if (strcmp(word, ":") == 0)
        return "a job of several parts would join as one machine";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_long
                ? is_name(word + 2, refused[i].name)
                : word[0] == '-' && has_letter(word + 1, refused[i].letter))
            return refused[i].reason;
    return NULL;
}
