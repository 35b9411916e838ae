/*
 * Feeds arbitrary bytes to the reader of messages (libFuzzer):
 *
 *     clang -g -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude \
 *         -Isrc tests/fuzz/fuzz_proto.c src/proto/read.c src/util/error.c -lm
 */
#include <string.h>

#include "proto/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct bats_message message;
    struct bats_assign assign;
    struct bats_task_result result;
    if (bats_proto_open(bytes, n, &message, NULL) != 0)
        return 0;
    volatile size_t length = 0;
    while (bats_proto_next_assign(&message, &assign))
        length = length + strlen(assign.command);
    while (bats_proto_next_result(&message, &result))
        length = length + (size_t)result.exit_status;
    return 0;
}
