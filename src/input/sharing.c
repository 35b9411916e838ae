#include "input/sharing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

#define BLANKS " \t"

static int add(struct bats_sharing *s, const char *name, size_t length,
               uint32_t first, struct bats_error *err)
{
    if (!bats_grow(&s->list, &s->room, s->n + (size_t)1, sizeof *s->list) ||
        !bats_grow(&s->first, &s->first_room, s->n + (size_t)1,
                   sizeof *s->first))
        return bats_no_memory(err);
    char *copy = strndup(name, length);
    if (!copy)
        return bats_no_memory(err);
    s->list[s->n] =
        (struct bats_purse){.name = copy, .budget = BATS_UNLIMITED};
    s->first[s->n++] = first;
    return 0;
}

int bats_sharing_option(struct bats_sharing *s, const char *word,
                        struct bats_error *why)
{
    struct bats_purse *p = &s->list[s->n - 1];
    if (strncmp(word, "budget=", 7) == 0)
        return bats_money_parse(word + 7, &p->budget, why);
    if (strncmp(word, "begin=", 6) == 0)
        return bats_duration_parse(word + 6, &p->begin, why);
    if (strncmp(word, "deadline=", 9) != 0)
        return bats_refuse(why,
                           "'%.60s' is not one of budget=AMOUNT, "
                           "deadline=DURATION and begin=DURATION",
                           word);
    int rc = bats_duration_parse(word + 9, &p->deadline, why);
    return rc == 0 && p->deadline == 0 ? bats_refuse(why, "the deadline is 0")
                                       : rc;
}

int bats_sharing_begin(struct bats_sharing *s, const char *name, size_t n,
                       uint32_t n_tasks, struct bats_error *err)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (strlen(s->list[i].name) == n &&
            memcmp(s->list[i].name, name, n) == 0)
            return bats_refuse(err, "this workflow is named twice");
    return s->n == BATS_PURSES_MAX
               ? bats_refuse(err, "more than 1024 workflows")
               : add(s, name, n, n_tasks, err);
}

int bats_sharing_note(struct bats_sharing *s, const char *text,
                      uint32_t n_tasks, struct bats_error *err)
{
    char word[100];
    size_t n = strcspn(text, BLANKS);
    if (n == 0 || memchr(text, '=', n))
        return bats_refuse(err, "the workflow has no name");
    int rc = s->n == 0 && n_tasks > 0 ? add(s, "others", 6, 0, err) : 0;
    if (rc == 0)
        rc = bats_sharing_begin(s, text, n, n_tasks, err);
    while (rc == 0 && *(text += n + strspn(text + n, BLANKS)) != '\0') {
        n = strcspn(text, BLANKS);
        if (n >= sizeof word)
            return bats_refuse(err, "this word is too long");
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        rc = bats_sharing_option(s, word, err);
    }
    return rc;
}

int bats_sharing_finish(struct bats_sharing *s, uint32_t n_tasks,
                        struct bats_error *err)
{
    if (s->n == 0)
        return 0;
    s->of = malloc((n_tasks + (size_t)1) * sizeof *s->of);
    if (!s->of)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t end = i + 1 < s->n ? s->first[i + 1] : n_tasks;
        for (uint32_t k = s->first[i]; k < end; k++)
            s->of[k] = (uint16_t)i;
    }
    return 0;
}

void bats_sharing_release(struct bats_sharing *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free((char *)s->list[i].name);
    free(s->list);
    free(s->first);
    free(s->of);
}
