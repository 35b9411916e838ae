#include "history/kinds.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/error.h"
#include "util/encode.h"
#include "util/grow.h"
#include "util/text.h"

#define WORD 64  /* bytes of a word of a name */
#define STEMS 64 /* further programs share one kind */

/* A program with the names of its options. */
struct bats_kind_stem {
    char program[2 * WORD], options[BATS_KIND];
    char word[WORD]; /* after the program; "": none, or not plain */
    uint32_t n;      /* number of commands */
    bool differs;    /* the commands differ in the word */
};

/* ---- words of a command ---- */

/* Copies the next word, cut to fit and without quotes, and advances; false at
 * the end of the command or at a pipe. */
static bool next_word(const char **at, char *word, size_t size)
{
    const char *p = *at + strspn(*at, " \t");
    size_t n = 0;
    char quote = '\0';
    if (*p == '\0' || strchr("|;&<>()", *p) != NULL) {
        *at = p;
        return false;
    }
    for (; *p != '\0' && (quote != '\0' || strchr(" \t|;&<>()", *p) == NULL);
         p++) {
        if (quote == '\0' && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else if (*p == quote) {
            quote = '\0';
        } else if (n + 1 < size) {
            word[n++] = *p;
        }
    }
    word[n] = '\0';
    *at = p;
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_assignment(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz_0123456789");
    return n > 0 && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

/* The program runs another one, or a script. */
static bool is_wrapper(const char *program)
{
    static const char names[] =
        " bash env java julia mpiexec mpirun nice nohup octave perl "
        "python python2 python3 Rscript ruby sh srun time timeout "
        "apptainer singularity ";
    return bats_text_lists(names, program);
}

/* Only letters: a sub-command, not a value. */
static bool is_plain(const char *word)
{
    size_t n = strlen(word);
    return n > 1 && n < WORD - 1 &&
           strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "abcdefghijklmnopqrstuvwxyz_-") == n;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && (isalpha((unsigned char)word[1]) ||
                              (word[1] == '-' && word[2] != '\0'));
}

/* Adds an option; repeated ones count once. */
static void add_option(char *options, const char *word)
{
    char name[WORD + 2];
    size_t n = strlen(options), length = strcspn(word, "=");
    snprintf(name, sizeof name, " %.*s", (int)length, word);
    const char *at = strstr(options, name);
    size_t end = strlen(name);
    if (at != NULL && (at[end] == '\0' || at[end] == ' '))
        return;
    if (n + end < BATS_KIND)
        strcpy(options + n, name);
}

/* Skips "cd DIRECTORY;" or "&&", "export NAME=VALUE;" and assignments. */
static const char *skip_start(const char *command)
{
    char word[WORD];
    const char *at = command, *before = command;
    while (next_word(&at, word, sizeof word)) {
        bool is_cd = strcmp(word, "cd") == 0;
        if (is_cd || strcmp(word, "export") == 0) {
            const char *end = at;
            while (next_word(&end, word, sizeof word))
                ;
            size_t n = strspn(end, ";& \t");
            if (end[n] == '\0' || n == 0)
                return before;
            at = end + n;
        } else if (!is_assignment(word)) {
            return before;
        }
        before = at;
    }
    return before;
}

/* Extracts the parts of a command that define its kind. */
static void dissect(const char *command, struct bats_kind_stem *stem)
{
    char word[WORD];
    const char *at = skip_start(command);
    bool is_whole = false, after_option = false, is_first = true;
    *stem = (struct bats_kind_stem){.n = 1};
    if (!next_word(&at, word, sizeof word))
        strcpy(word, "?");
    snprintf(stem->program, sizeof stem->program, "%s", last_part(word));
    is_whole = !is_wrapper(stem->program);
    while (next_word(&at, word, sizeof word)) {
        if (is_option(word)) {
            add_option(stem->options, word);
            after_option = strchr(word, '=') == NULL;
            /* An inline script follows. */
            if (strcmp(word, "-c") == 0 || strcmp(word, "-e") == 0)
                is_whole = true;
            continue;
        }
        bool has_name = isalpha((unsigned char)last_part(word)[0]);
        if (!is_whole && has_name && !after_option) {
            size_t n = strlen(stem->program);
            snprintf(stem->program + n, sizeof stem->program - n, " %s",
                     last_part(word));
            is_whole = !is_wrapper(last_part(word));
            is_first = is_whole;
        } else if (is_first && !after_option) {
            if (is_plain(word))
                strcpy(stem->word, word);
            is_first = false;
        }
        after_option = false;
    }
}

/* ---- kinds ---- */

static struct bats_kind_stem *find_stem(const struct bats_task_kinds *kinds,
                                        const struct bats_kind_stem *stem)
{
    for (size_t i = 0; i < kinds->n_stems; i++)
        if (strcmp(kinds->stems[i].program, stem->program) == 0 &&
            strcmp(kinds->stems[i].options, stem->options) == 0)
            return &kinds->stems[i];
    return NULL;
}

int bats_task_kinds_see(struct bats_task_kinds *kinds, const char *command)
{
    struct bats_kind_stem stem;
    dissect(command, &stem);
    struct bats_kind_stem *known = find_stem(kinds, &stem);
    if (known != NULL) {
        known->n++;
        known->differs |= strcmp(known->word, stem.word) != 0;
        return 0;
    }
    if (kinds->n_stems == STEMS)
        return 0;
    if (!bats_grow(&kinds->stems, &kinds->stems_room, kinds->n_stems + 1,
                   sizeof *kinds->stems))
        return BATS_ENOMEM;
    kinds->stems[kinds->n_stems++] = stem;
    return 0;
}

uint32_t bats_task_kinds_number(struct bats_task_kinds *kinds,
                                const char *command)
{
    struct bats_kind_stem stem;
    char name[2 * BATS_KIND + 3 * WORD];
    dissect(command, &stem);
    const struct bats_kind_stem *known = find_stem(kinds, &stem);
    bool has_word = known != NULL && known->n > 1 && !known->differs &&
                    known->word[0] != '\0';
    if (known == NULL)
        strcpy(name, "(other programs)");
    else
        snprintf(name, sizeof name, "%s%s%s%s", known->program,
                 has_word ? " " : "", has_word ? known->word : "",
                 known->options);
    return bats_task_kinds_named(kinds, name);
}

uint32_t bats_task_kinds_named(struct bats_task_kinds *kinds, const char *name)
{
    char clean[BATS_KIND];
    bats_encode(BATS_ENCODE_UNICODE, clean, sizeof clean, name);
    for (size_t i = kinds->n; i-- > 0;)
        if (strcmp(kinds->kind[i].name, clean) == 0) {
            kinds->kind[i].tasks++;
            return (uint32_t)i;
        }
    if (!bats_grow(&kinds->kind, &kinds->room, kinds->n + 1,
                   sizeof *kinds->kind))
        return BATS_NO_KIND;
    struct bats_task_kind *kind = &kinds->kind[kinds->n];
    *kind = (struct bats_task_kind){.tasks = 1};
    strcpy(kind->name, clean);
    return (uint32_t)kinds->n++;
}

void bats_task_kinds_release(struct bats_task_kinds *kinds)
{
    free(kinds->kind);
    free(kinds->stems);
    *kinds = (struct bats_task_kinds){0};
}
