/* messages: one of each message, for test_proto.c and fuzz_proto.c, with texts
 * that have a zero byte and numbers that are as large as they may be. */
#ifndef BATS_MESSAGES_H
#define BATS_MESSAGES_H

#include "proto/proto.h"

/* Types are numbers from 1 to this. */
#define KINDS 16

static const struct bats_assign assigns[] = {
    {0, 1, 0, false, 0, 0, 0, 0, "echo \"hi\"", "a=1\0b=", 7, "f\0g", 4,
     INT64_MAX - 1, 2, "0-3:0:2 0-3:1:2"},
    {UINT32_MAX - 1, 3, 2, true, 9, INT64_MAX, 7, 8, "", NULL, 0, NULL, 0, 0,
     1, ""}};

static const struct bats_task_result results[] = {
    {.task = 5,
     .attempt = 8,
     .usage.exit_status = 255,
     .last = "no\0 space",
     .n_last = 9,
     .usage.start_us = 1,
     .usage.wall_us = 2,
     .lines = {"\0ut\n", "e\n"},
     .n_lines = {4, 2}},
    {.task = 6,
     .cancelled = true,
     .out_of_memory = true,
     .usage.signal = 15,
     .usage.user_us = 3},
    {.task = 7,
     .asks = true,
     .usage.system_us = 4,
     .usage.max_rss_kib = INT64_MAX,
     .usage.written = {11, INT64_MAX},
     .usage.begin = 12,
     .usage.end = 13,
     .to_come = {INT64_MAX, 1}}};

static const struct bats_message messages[KINDS + 1] = {
    [BATS_MESSAGE_HELLO].u.hello = {.node = {.pid = 4711,
                                             .pid_space = 0x1122334455667788,
                                             .host = "node7",
                                             .partition = "fast",
                                             .id = 2,
                                             .local_rank = 3,
                                             .hardware = {.model = "EPYC",
                                                          .packages = 4,
                                                          .cores = 5,
                                                          .threads = 6,
                                                          .memory_bytes =
                                                              UINT64_MAX,
                                                          .bound = "0-3",
                                                          .bound_cores = 8},
                                             .usable_bytes = UINT64_MAX - 1,
                                             .gpus = "0,1"},
                                    .age_us = 12,
                                    .kept_run = "run-0",
                                    .task = 10,
                                    .attempt = 11},
    [BATS_MESSAGE_SETUP].u.setup = {.speed = 0.25,
                                    .grace_ms = 5000,
                                    .notice_ms = 7000,
                                    .beat_us = 10000000,
                                    .master_pid = 4711,
                                    .output = 2,
                                    .hold = true,
                                    .keep = true,
                                    .bind = 1,
                                    .share_index = 6,
                                    .share_count = 7,
                                    .nice = 19,
                                    .memfree = 1 << 30,
                                    .workdir = "/there",
                                    .output_path = "out/stream",
                                    .run_id = "run-1",
                                    .cluster = "slow",
                                    .machine = "slow-3",
                                    .task_file = "bag.txt",
                                    .number = 77,
                                    .start = "a\0b",
                                    .n_start = 4,
                                    .stop = "c",
                                    .n_stop = 2},
    [BATS_MESSAGE_CANCEL].u.task = 0x01020304,
    [BATS_MESSAGE_TAKEN].u.taken = 0x01020304,
    [BATS_MESSAGE_STOP].u.leave = BATS_LEAVE,
    [BATS_MESSAGE_OUTPUT].u.output = {9, 2, "a\0b\n", 4},
    [BATS_MESSAGE_ERROR].u.sentence = "no more processes",
    [BATS_MESSAGE_VERDICT].u.verdict = {3, 4, true},
    [BATS_MESSAGE_KNOCK].u.knock = {5, "4711"},
    [BATS_MESSAGE_WELCOME].u.silence_us = 60000000,
    [BATS_MESSAGE_LEASE].u.age_us = 90000000,
};

/* Nothing, if there is no such type. */
static void write_message(unsigned type, struct bats_text *p)
{
    struct bats_text kept = {0};
    if (type < 1 || type > KINDS)
        return;
    struct bats_message message = messages[type];
    message.type = type;
    if (type == BATS_MESSAGE_HELLO) {
        bats_proto_result(&kept, &results[2]);
        message.u.hello.results = kept.bytes;
        message.u.hello.n_results = kept.n;
    }
    for (size_t i = 0; type == BATS_MESSAGE_ASSIGN && i < 2; i++)
        bats_proto_assign(p, &assigns[i]);
    for (size_t i = 0; type == BATS_MESSAGE_RESULT && i < 3; i++)
        bats_proto_result(p, &results[i]);
    if (p->n == 0)
        bats_proto_put(p, &message);
    bats_text_release(&kept);
}

/* What was read. */
static void write_again(struct bats_message *m, struct bats_text *p)
{
    struct bats_assign assign;
    struct bats_task_result result;
    while (bats_proto_next_assign(m, &assign))
        bats_proto_assign(p, &assign);
    while (bats_proto_next_result(m, &result))
        bats_proto_result(p, &result);
    if (m->type != BATS_MESSAGE_ASSIGN && m->type != BATS_MESSAGE_RESULT)
        bats_proto_put(p, m);
}

#endif
