#include "cli/emulation.h"

#include <stdlib.h>

#include "report/words.h"

/* most tasks whose @sleep is checked */
#define LOOKED_AT 10000
/* A slot needs 0.1 to 0.2 ms from the end of an @sleep to the next one, a
 * tenth of this time. */
#define SHORTEST_S 0.002

struct naps {
    bool other;    /* there are other commands, too */
    uint32_t n;    /* number of checked naps */
    double length; /* sum of their lengths, virtual seconds */
};

static struct naps look(const struct bats_bagfile *bag)
{
    struct naps naps = {0};
    struct bats_text command = {0};
    for (uint32_t i = 0; i < bag->n_tasks && i < LOOKED_AT; i++) {
        struct bats_error err;
        bool is_nap;
        bats_time duration = 0;
        if (bats_bagfile_command(bag, i, &command) < 0 ||
            bats_builtin_parse(command.bytes, &is_nap, &duration, &err) != 0)
            continue;
        naps.other |= !is_nap;
        naps.n += is_nap;
        naps.length += is_nap ? (double)duration / BATS_SECOND : 0;
    }
    bats_text_release(&command);
    return naps;
}

static void warn_of_speed(FILE *out, const struct bats_platform *platform)
{
    for (uint32_t i = 0; i < platform->n_clusters; i++)
        if (platform->speed[i] > 1) {
            bats_words_line(
                out,
                "bats-mpi: cluster %s: speed = %g shortens @sleep only; "
                "commands take as long as they take on this machine",
                platform->clusters[i].name, platform->speed[i]);
            return;
        }
}

void bats_emulation_warn(FILE *out, const struct bats_bagfile *bag,
                         const struct bats_platform *platform,
                         double time_scale)
{
    struct naps naps = look(bag);
    double speed = 1;
    if (naps.other)
        warn_of_speed(out, platform);
    for (uint32_t i = 0; i < platform->n_clusters; i++)
        speed = platform->speed[i] > speed ? platform->speed[i] : speed;
    double real_s = naps.n > 0 ? naps.length / naps.n / speed / time_scale : 0;
    if (time_scale > 1 && real_s > 0 && real_s < SHORTEST_S)
        bats_words_line(
            out,
            "bats-mpi: the time scale of %g is too fast: an average @sleep "
            "lasts %.2g ms, and starting it takes a tenth of that or more; "
            "%g is slow enough",
            time_scale, 1000 * real_s, time_scale * real_s / SHORTEST_S);
}
