#include "cli/emulation.h"

#include <stdlib.h>

#include "report/words.h"

static bool has_commands(const struct bats_bagfile *bag)
{
    char *command = NULL;
    size_t size = 0;
    bool found = false;
    for (uint32_t i = 0; !found && i < bats_bagfile_count(bag); i++) {
        struct bats_error err;
        bool is_builtin;
        bats_time duration;
        found = bats_bagfile_command(bag, i, &command, &size) >= 0 &&
                bats_builtin_parse(command, &is_builtin, &duration, &err) ==
                    0 &&
                !is_builtin;
    }
    free(command);
    return found;
}

void bats_emulation_warn(FILE *out, const struct bats_bagfile *bag,
                         const struct bats_platform *platform)
{
    uint32_t i = 0;
    while (i < platform->n_clusters && platform->speed[i] <= 1)
        i++;
    if (i < platform->n_clusters && has_commands(bag))
        bats_words_line(out,
                        "bats-mpi: cluster %s: speed = %g shortens @sleep "
                        "only; commands take as long as they take on this "
                        "machine",
                        platform->clusters[i].name, platform->speed[i]);
}
