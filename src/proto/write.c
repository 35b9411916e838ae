/* Writing messages; proto.h has the format. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "proto/format.h"
#include "proto/proto.h"
#include "util/grow.h"

void bats_packet_release(struct bats_packet *packet)
{
    free(packet->bytes);
    *packet = (struct bats_packet){0};
}

/* Returns room for n more bytes, or NULL. */
static uint8_t *extend(struct bats_packet *p, size_t n)
{
    if (p->failed)
        return NULL;
    if (p->capacity - p->n < n &&
        !bats_grow(&p->bytes, &p->capacity, p->n + n, 1)) {
        p->failed = true;
        return NULL;
    }
    p->n += n;
    return p->bytes + p->n - n;
}

static void store(uint8_t *to, uint64_t value, size_t width)
{
    value = htole64(value);
    memcpy(to, &value, width);
}

static void put(struct bats_packet *p, uint64_t value, size_t width)
{
    uint8_t *to = extend(p, width);
    if (to != NULL)
        store(to, value, width);
}

static void put_bytes(struct bats_packet *p, const char *bytes, size_t n)
{
    put(p, n, 4);
    uint8_t *to = n <= UINT32_MAX ? extend(p, n + 1) : NULL;
    if (to == NULL) {
        p->failed = true;
        return;
    }
    if (n > 0)
        memcpy(to, bytes, n);
    to[n] = 0;
}

static void put_text(struct bats_packet *p, const char *text)
{
    put_bytes(p, text, strlen(text));
}

static void begin(struct bats_packet *p, enum bats_message_type type)
{
    put(p, type, 1);
    put(p, BATS_PROTO_VERSION, 1);
}

/* Begins a list, or counts one more item of it. */
static void begin_item(struct bats_packet *p, enum bats_message_type type)
{
    if (p->n == 0) {
        begin(p, type);
        put(p, 1, 4);
    } else if (!p->failed) {
        uint32_t count = (uint32_t)bats_format_load(p->bytes + 2, 4);
        store(p->bytes + 2, count + 1, 4);
    }
}

void bats_proto_hello(struct bats_packet *p, const struct bats_hello *hello)
{
    begin(p, BATS_MESSAGE_HELLO);
    put(p, BATS_FORMAT_MAGIC, 4);
    put(p, hello->rank, 4);
    put(p, hello->pid, 4);
    put(p, hello->pid_space, 8);
    put_text(p, hello->host);
    put_text(p, hello->partition);
    put(p, hello->node, 4);
    put(p, hello->local_rank, 4);
    put_text(p, hello->model);
    put(p, hello->packages, 4);
    put(p, hello->cores, 4);
    put(p, hello->threads, 4);
    put(p, hello->memory_bytes, 8);
    put_text(p, hello->bound);
    put(p, hello->bound_cores, 4);
    put_text(p, hello->kept_run);
    put(p, hello->task, 4);
    put(p, hello->attempt, 4);
    put_bytes(p, hello->results, hello->n_results);
}

void bats_proto_setup(struct bats_packet *p, const struct bats_setup *setup)
{
    uint64_t speed;
    memcpy(&speed, &setup->speed, sizeof speed);
    begin(p, BATS_MESSAGE_SETUP);
    put(p, speed, 8);
    put(p, (uint64_t)setup->grace_ms, 8);
    put(p, (uint64_t)setup->notice_ms, 8);
    put(p, (uint64_t)setup->look_us, 8);
    put(p, (uint64_t)setup->beat_us, 8);
    put(p, setup->master_pid, 4);
    put(p, setup->output, 1);
    put(p, setup->hold, 1);
    put(p, setup->keep, 1);
    put(p, setup->bind, 1);
    put(p, setup->share_index, 4);
    put(p, setup->share_count, 4);
    put(p, (uint64_t)setup->max_output, 8);
    put(p, setup->nice, 1);
    put(p, (uint64_t)setup->memfree, 8);
    put_text(p, setup->workdir);
    put_text(p, setup->output_path);
    put_text(p, setup->run_id);
    put_text(p, setup->cluster);
    put_text(p, setup->machine);
    put_text(p, setup->task_file);
    put(p, setup->number, 4);
    put_bytes(p, setup->start, setup->n_start);
    put_bytes(p, setup->stop, setup->n_stop);
}

void bats_proto_assign(struct bats_packet *p, const struct bats_assign *assign)
{
    begin_item(p, BATS_MESSAGE_ASSIGN);
    put(p, assign->task, 4);
    put(p, assign->attempt, 4);
    put(p, assign->replica, 4);
    put(p, assign->once, 1);
    put(p, (uint64_t)assign->wait_us, 8);
    put(p, (uint64_t)assign->sleep_us, 8);
    put(p, (uint64_t)assign->lost_us, 8);
    put(p, (uint64_t)assign->noticed_us, 8);
    put_text(p, assign->command);
    put_bytes(p, assign->variables, assign->n_variables);
}

static void put_usage(struct bats_packet *p, const struct bats_usage *usage)
{
    put(p, (uint64_t)usage->exit_status, 1);
    put(p, (uint64_t)usage->signal, 1);
    put(p, (uint64_t)usage->start_us, 8);
    put(p, (uint64_t)usage->wall_us, 8);
    put(p, (uint64_t)usage->user_us, 8);
    put(p, (uint64_t)usage->system_us, 8);
    put(p, (uint64_t)usage->max_rss_kib, 8);
    put(p, (uint64_t)usage->written[0], 8);
    put(p, (uint64_t)usage->written[1], 8);
    put(p, (uint64_t)usage->begin, 8);
    put(p, (uint64_t)usage->end, 8);
}

void bats_proto_result(struct bats_packet *p,
                       const struct bats_task_result *result)
{
    begin_item(p, BATS_MESSAGE_RESULT);
    put(p, result->task, 4);
    put(p, result->attempt, 4);
    put(p, result->cancelled, 1);
    put(p, result->asks, 1);
    put_usage(p, &result->usage);
    put_bytes(p, result->last, result->n_last);
    for (int i = 0; i < 2; i++) {
        put_bytes(p, result->lines[i], result->n_lines[i]);
        put(p, (uint64_t)result->to_come[i], 8);
    }
}

void bats_proto_cancel(struct bats_packet *p, uint32_t task)
{
    begin(p, BATS_MESSAGE_CANCEL);
    put(p, task, 4);
}

void bats_proto_taken(struct bats_packet *p, uint32_t n)
{
    begin(p, BATS_MESSAGE_TAKEN);
    put(p, n, 4);
}

void bats_proto_verdict(struct bats_packet *p,
                        const struct bats_verdict *verdict)
{
    begin(p, BATS_MESSAGE_VERDICT);
    put(p, verdict->task, 4);
    put(p, verdict->attempt, 4);
    put(p, verdict->is_result, 1);
}

void bats_proto_stop(struct bats_packet *p, enum bats_leave leave)
{
    begin(p, BATS_MESSAGE_STOP);
    put(p, leave, 1);
}

void bats_proto_plain(struct bats_packet *p, enum bats_message_type type)
{
    begin(p, type);
}

void bats_proto_output(struct bats_packet *p,
                       const struct bats_output_lines *output)
{
    begin(p, BATS_MESSAGE_OUTPUT);
    put(p, output->task, 4);
    put(p, (uint64_t)output->stream, 1);
    put_bytes(p, output->bytes, output->n);
}

void bats_proto_error(struct bats_packet *p, const char *sentence)
{
    begin(p, BATS_MESSAGE_ERROR);
    put_text(p, sentence);
}

static void put_nonce(struct bats_packet *p, const uint8_t *nonce)
{
    uint8_t *to = extend(p, BATS_PROTO_NONCE);
    if (to != NULL)
        memcpy(to, nonce, BATS_PROTO_NONCE);
}

void bats_proto_knock(struct bats_packet *p, const struct bats_knock *knock)
{
    begin(p, BATS_MESSAGE_KNOCK);
    put(p, BATS_FORMAT_MAGIC, 4);
    put(p, knock->way, 1);
    put_nonce(p, knock->nonce);
    put_text(p, knock->job);
}

void bats_proto_proof(struct bats_packet *p, const struct bats_proof *proof)
{
    begin(p, proof->nonce != NULL ? BATS_MESSAGE_CHALLENGE
                                  : BATS_MESSAGE_PROOF);
    if (proof->nonce != NULL)
        put_nonce(p, proof->nonce);
    else
        put(p, proof->n_ranks, 4);
    put_bytes(p, proof->bytes, proof->n);
}

void bats_proto_welcome(struct bats_packet *p, int64_t silence_us)
{
    begin(p, BATS_MESSAGE_WELCOME);
    put(p, (uint64_t)silence_us, 8);
}
