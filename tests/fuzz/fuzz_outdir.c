/* fuzz_outdir: the reader of a run's output, of damaged files too. The input
 * is two indexes and the two files they belong to, of two runs, with 0xff
 * between them (index, output, index, output). */
#include <string.h>

#include "exec/output/outdir.h"
#include "fuzz.h"

static const char *const names[] = {"stream-1-1.index", "stream-1-1.out",
                                    "stream-2-1.index", "stream-2-1.out"};

static bool take(void *context, const char *bytes, size_t n)
{
    uint64_t *sum = context;
    *sum += n;
    return bytes != NULL && n > 0;
}

static void check(const struct bats_outdir *d)
{
    struct bats_error err;
    for (size_t i = 0; i < d->n; i++) {
        const struct bats_outdir_entry *e = &d->entries[i];
        if ((i > 0 && e[-1].task >= e->task) ||
            bats_outdir_from(d, e->task) != i)
            abort();
        for (int stream = 1; stream <= 2; stream++) {
            uint64_t sum = 0;
            if (bats_outdir_read(d, e, stream, take, &sum, &err) < 0 ||
                sum > (uint64_t)(e->end - e->begin))
                abort();
        }
    }
}

static void ignore(void *context, const char *sentence)
{
    *(size_t *)context += strlen(sentence);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    size_t heard = 0;
    struct bats_outdir d = {.complain = ignore, .context = &heard};
    struct bats_error err;

    fuzz_make_directory();
    for (int i = 0; i < 4; i++) {
        const uint8_t *end = n > 0 && i < 3 ? memchr(bytes, 0xff, n) : NULL;
        size_t length = end != NULL ? (size_t)(end - bytes) : n;
        char path[64];
        snprintf(path, sizeof path, "%s/%s", fuzz_dir, names[i]);
        fuzz_write(path, bytes, length);
        bytes += end != NULL ? length + 1 : length;
        n -= end != NULL ? length + 1 : length;
    }
    must(bats_outdir_open(&d, fuzz_dir, &err) >= 0);
    check(&d);
    bats_outdir_release(&d);
    return 0;
}
