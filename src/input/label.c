#include "input/label.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/sweep.h"
#include "input/sweep/template.h"
#include "input/workflow/names.h"

struct bats_label {
    const struct bats_bagfile *bag;
    struct bats_template *template;
    struct bats_text text, command;
};

int bats_label_create(const char *text, const struct bats_bagfile *bag,
                      struct bats_label **label, struct bats_error *err)
{
    static const struct bats_points none;
    const struct bats_sweep *sweep = bag->sweep;
    struct bats_label *l;
    if (strstr(text, "{%}") != NULL)
        return bats_refuse(
            err, "%s: {%%} is for commands: a task may run in several slots",
            text);
    *label = l = calloc(1, sizeof *l);
    if (l == NULL)
        return bats_no_memory(err);
    l->bag = bag;
    l->template =
        bats_template_create(&text, 1, sweep != NULL ? &sweep->points : &none,
                             BATS_QUOTE_NOTHING, false);
    if (l->template != NULL)
        return 0;
    bats_label_destroy(l);
    *label = NULL;
    return bats_no_memory(err);
}

void bats_label_destroy(struct bats_label *label)
{
    if (label == NULL)
        return;
    bats_template_destroy(label->template);
    bats_text_release(&label->text);
    bats_text_release(&label->command);
    free(label);
}

bool bats_label_varies(const struct bats_label *label)
{
    return bats_template_varies(label->template);
}

const char *bats_label_of(struct bats_label *l, uint32_t i)
{
    const struct bats_sweep *sweep = l->bag->sweep;
    const char *command, *const *items = &command;
    struct bats_values values = {.n = 1};
    if (sweep != NULL) {
        items = bats_sweep_values(sweep, i, &values.n);
    } else {
        if (bats_bagfile_command(l->bag, i, &l->command) < 0)
            return NULL;
        command = l->command.bytes;
    }
    values.item = (const char **)items;
    return items != NULL &&
                   bats_template_expand(l->template, &values, (uint64_t)i + 1,
                                        0, &l->text) >= 0
               ? l->text.bytes
               : NULL;
}

/* ---- directories ---- */

/* Normalizes the path in place: "a/./b//c/../d/" becomes "a/b/d", which is the
 * same unless a part is a link. */
static void normalize(char *path)
{
    char *out = path + (*path == '/'), *begin = out;
    bool ends = *path == '\0';
    for (const char *at = path; !ends;) {
        size_t n = strcspn(at, "/");
        bool up = n == 2 && memcmp(at, "..", 2) == 0;
        ends = at[n] == '\0';
        bool leaves = out == begin ||
                      (out - begin >= 3 && memcmp(out - 3, "../", 3) == 0);
        if (up && !leaves) {
            for (out--; out > begin && out[-1] != '/'; out--)
                ;
        } else if (n > 0 && !(n == 1 && *at == '.')) {
            memmove(out, at, n);
            out += n;
            *out++ = '/';
        }
        at += n + 1;
    }
    *(out > begin ? out - 1 : out) = '\0';
}

int bats_label_check_directories(struct bats_label *l, struct bats_error *err)
{
    struct bats_names names = {0}; /* by task */
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < l->bag->n_tasks; i++) {
        bool is_new = false;
        if (bats_label_of(l, i) == NULL) {
            rc = bats_no_memory(err);
            break;
        }
        if (*l->text.bytes == '\0') {
            rc = bats_refuse(err, "task %" PRIu64 " has no directory",
                             (uint64_t)i + 1);
            break;
        }
        normalize(l->text.bytes);
        uint32_t first = bats_names_add(&names, l->text.bytes, &is_new);
        if (first == BATS_NO_NAME)
            rc = bats_no_memory(err);
        else if (!is_new)
            rc = bats_refuse(err,
                             "tasks %" PRIu64 " and %" PRIu64
                             " have the same directory, %s",
                             (uint64_t)first + 1, (uint64_t)i + 1,
                             bats_label_of(l, i));
    }
    bats_names_release(&names);
    return rc;
}
