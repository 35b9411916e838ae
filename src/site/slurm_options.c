/* slurm_options: options of sbatch that break what a run relies on when it
 * submits jobs: one job for each submission, which it finds and holds money
 * for. Options that only say what a job needs, when it may start or who pays
 * are passed on. Not detected: an option of two words whose second one begins
 * with a dash, and the name of a script. */
#include "site/slurm.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
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

/* ---- the words that say what a node of the job has ---- */

/* The value of the option `name`, in its word or the next one; NULL: it is
 * another option. */
static const char *value_of(const char *const *word, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(*word, name, n) != 0)
        return NULL;
    return (*word)[n] == '='    ? *word + n + 1
           : (*word)[n] == '\0' ? word[1]
                                : NULL;
}

/* "4G" or "4g", or a number of MiB. */
static int64_t memory_in(const char *text)
{
    char *unit;
    int64_t n = strtoll(text, &unit, 10);
    int letter = toupper((unsigned char)*unit);
    return letter == 'K'   ? n
           : letter == 'G' ? n << 20
           : letter == 'T' ? n << 30
                           : n << 10;
}

uint32_t bats_slurm_gpus(const char *list)
{
    uint32_t sum = 0;
    while (*list != '\0') {
        size_t n = strcspn(list, ",(");
        if (strncmp(list, "gpu", 3) == 0 && strchr(":=,(", list[3]) != NULL) {
            const char *number = list + n;
            while (number > list && number[-1] >= '0' && number[-1] <= '9')
                number--;
            /* the digits of a type, as in "gpu:a100", are no number */
            bool counts =
                number < list + n && (number[-1] == ':' || number[-1] == '=');
            sum += counts ? (uint32_t)strtoul(number, NULL, 10) : 1;
        }
        list += n;
        if (*list == '(')
            list += strcspn(list, ")");
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return sum;
}

void bats_slurm_requests(const char *const *more, struct bats_stock *node)
{
    const char *value;
    for (; more != NULL && *more != NULL; more++) {
        if ((value = value_of(more, "--mem")) != NULL)
            node->memory_kib = memory_in(value);
        if ((value = value_of(more, "--gres")) != NULL)
            node->gpus = bats_slurm_gpus(value);
        if ((value = value_of(more, "--gpus-per-node")) != NULL)
            node->gpus = (uint32_t)strtoul(
                strrchr(value, ':') != NULL ? strrchr(value, ':') + 1 : value,
                NULL, 10);
    }
}
