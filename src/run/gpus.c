#include "run/gpus.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "util/text.h"

size_t bats_gpus_next(const char **at)
{
    *at += strspn(*at, ", ");
    return strcspn(*at, ", ");
}

size_t bats_gpus_count(const char *list)
{
    size_t n = 0;
    for (size_t k; (k = bats_gpus_next(&list)) > 0; list += k)
        n++;
    return n;
}

static bool has_name(const char *list, const char *name, size_t n)
{
    for (size_t k; (k = bats_gpus_next(&list)) > 0; list += k)
        if (k == n && strncmp(list, name, n) == 0)
            return true;
    return false;
}

void bats_gpus_number(struct bats_text *names, uint32_t n)
{
    bats_text_cut(names, 0);
    for (uint32_t k = 0; k < n; k++)
        bats_text_format(names, "%s%" PRIu32, k > 0 ? "," : "", k);
}

void bats_gpus_add(struct bats_text *names, const char *list)
{
    for (size_t k; (k = bats_gpus_next(&list)) > 0; list += k) {
        const char *known = names->bytes != NULL ? names->bytes : "";
        if (!has_name(known, list, k))
            bats_text_format(names, "%s%.*s", *known ? "," : "", (int)k, list);
    }
}
