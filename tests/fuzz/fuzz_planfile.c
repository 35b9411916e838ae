/* fuzz_planfile: the reader of plan files, and of scripts with parameters. */
#include <string.h>

#include "fuzz.h"
#include "input/sweep/sweep.h"

/* Expands the first tasks and the last ones. */
static void expand(struct bats_sweep *sweep)
{
    struct bats_text text = {0};
    size_t n;
    uint32_t count = (uint32_t)sweep->points.n;

    for (uint32_t k = 0; k < 40 && k < count; k++) {
        uint32_t i = k < 20 ? k : count - 1 - (k - 20);
        must(bats_sweep_command(sweep, i, 1, &text) >= 0 &&
             bats_sweep_variables(sweep, i, &text) >= 0 &&
             bats_sweep_values(sweep, i, &n) != NULL && n > 0);
    }
    bats_text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    struct bats_sweep *sweep;
    struct bats_error err;

    must(text != NULL);
    memcpy(text, bytes, n);
    text[n] = '\0';
    for (int i = 0; i < 2; i++)
        if (bats_sweep_of_plan("plan", text, i == 0 ? NULL : "/bin/sh", &sweep,
                               &err) == 0) {
            expand(sweep);
            bats_sweep_destroy(sweep);
        }
    free(text);
    return 0;
}
