/* fuzz_bagfile: the reader of bags. */
#include "fuzz.h"
#include "input/bagfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[32];
    int fd = fuzz_file(bytes, n, path);
    struct bats_bagfile *bag;
    struct bats_error err;

    if (bats_bagfile_load(path, &bag, &err) == 0) {
        struct bats_text command = {0};
        uint32_t count = bag->n_tasks;
        /* A directive may repeat a command four thousand million times. */
        for (uint32_t k = 0; k < 200 && k < count; k++) {
            uint32_t i = k < 100 ? k : count - 1 - (k - 100);
            bool is_builtin;
            bats_time duration;
            must(bats_bagfile_command(bag, i, &command) >= 0 &&
                 bats_builtin_parse(command.bytes, &is_builtin, &duration,
                                    &err) == 0 &&
                 bats_bagfile_line(bag, i) > 0);
        }
        bats_text_release(&command);
        bats_bagfile_destroy(bag);
    }
    close(fd);
    return 0;
}
