#include "run/open_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "bats/rules.h"
#include "input/bagfile.h"
#include "run/needs.h"
#include "util/grow.h"

/* Writes a distinct name for each need of a class. */
static void name(struct bats_text *text, const char *class,
                 const struct bats_need *need)
{
    char part[BATS_NEED_TEXT];
    bats_text_add(text, class != NULL ? class : BATS_NO_CLASS);
    bats_need_format(part, sizeof part, need);
    if (need->cores > 1 || need->gpus > 0 || need->memory_kib > 0)
        bats_text_format(text, ", %s", part);
    if (need->limit > 0)
        bats_text_format(text, ", %s",
                         bats_duration_format(part, need->limit));
}

int bats_open_kinds_find(struct bats_open_kinds *kinds, const char *class,
                         const struct bats_need *need, uint16_t *number,
                         struct bats_error *err)
{
    struct bats_text text = {0};
    bool is_new = false;
    name(&text, class, need);
    int rc = bats_text_check(&text, err);
    uint32_t found =
        rc == 0 ? bats_names_find(&kinds->names, text.bytes) : BATS_NO_NAME;
    bool is_full = kinds->names.n == BATS_CATEGORIES_MAX;
    if (rc == 0 && found == BATS_NO_NAME && is_full && class != NULL) {
        bats_text_release(&text);
        return bats_open_kinds_find(kinds, NULL, need, number, err);
    }
    if (rc == 0 && found == BATS_NO_NAME && is_full)
        rc = bats_error_set(err, BATS_EINPUT,
                            "tasks of this run differ in %d classes and needs "
                            "already",
                            BATS_CATEGORIES_MAX);
    if (rc == 0 && found == BATS_NO_NAME) {
        size_t n = kinds->names.n + 1;
        if (!bats_grow(&kinds->needs, &kinds->room, n, sizeof *kinds->needs) ||
            !bats_grow(&kinds->classes, &kinds->classes_room, n,
                       sizeof *kinds->classes) ||
            (found = bats_names_add(&kinds->names, text.bytes, &is_new)) ==
                BATS_NO_NAME)
            rc = bats_no_memory(err);
    }
    if (rc == 0 && is_new) {
        kinds->needs[found] = *need;
        kinds->classes[found] = class != NULL ? strdup(class) : NULL;
    }
    *number = (uint16_t)found;
    bats_text_release(&text);
    return rc;
}

void bats_open_kinds_release(struct bats_open_kinds *kinds)
{
    for (size_t i = 0; i < kinds->names.n; i++)
        free(kinds->classes[i]);
    free(kinds->classes);
    bats_names_release(&kinds->names);
    free(kinds->needs);
    *kinds = (struct bats_open_kinds){.room = 0};
}
