/*
 * Reading messages; proto.h has the format.
 * A reader goes through the bytes once and remembers its first complaint.
 * After that every value is 0 and every text empty, so that the calling code
 * need not check after each step.
 */
#include <math.h>
#include <string.h>

#include "proto/format.h"
#include "proto/proto.h"

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    const char *complaint; /* NULL: none */
};

static void complain(struct reader *r, const char *complaint)
{
    if (r->complaint == NULL)
        r->complaint = complaint;
    r->at = r->end;
}

static uint64_t take(struct reader *r, size_t width)
{
    if ((size_t)(r->end - r->at) < width) {
        complain(r, "is cut short");
        return 0;
    }
    r->at += width;
    return bats_format_load(r->at - width, width);
}

static uint32_t take_u32(struct reader *r)
{
    return (uint32_t)take(r, 4);
}

/* Reads a number of at most `max`. */
static int take_small(struct reader *r, int max)
{
    int value = (int)take(r, 1);
    if (value > max) {
        complain(r, "has a value out of range");
        return 0;
    }
    return value;
}

/* Reads an amount, which must not be negative. */
static int64_t take_amount(struct reader *r)
{
    uint64_t value = take(r, 8);
    if (value > INT64_MAX) {
        complain(r, "has a negative amount");
        return 0;
    }
    return (int64_t)value;
}

static const char *take_bytes(struct reader *r, size_t *n)
{
    *n = take_u32(r);
    if ((size_t)(r->end - r->at) <= *n) {
        complain(r, "is cut short");
    } else if (r->at[*n] != 0) {
        complain(r, "has a text without its end");
    } else {
        r->at += *n + 1;
        return (const char *)r->at - *n - 1;
    }
    *n = 0;
    return "";
}

static const char *take_text(struct reader *r, size_t max)
{
    size_t n;
    const char *text = take_bytes(r, &n);
    if (memchr(text, 0, n) != NULL || n > max) {
        complain(r, n > max ? "has a text that is too long"
                            : "has a NUL inside a text");
        return "";
    }
    return text;
}

/* Takes texts, each with its NUL, of *n bytes in all. */
static const char *take_texts(struct reader *r, size_t *n)
{
    const char *texts = take_bytes(r, n);
    if (*n > 0 && texts[*n - 1] != '\0')
        complain(r, "has a text without its end in a list");
    return texts;
}

/* A whole RESULT message in another one. */
static const char *take_results(struct reader *r, size_t *n)
{
    struct bats_message message;
    const char *bytes = take_bytes(r, n);
    if (*n > 0 && (*bytes != BATS_MESSAGE_RESULT ||
                   bats_proto_open(bytes, *n, &message, NULL) < 0))
        complain(r, "has results that are none");
    return bytes;
}

static void take_hello(struct reader *r, struct bats_hello *hello)
{
    if (take_u32(r) != BATS_FORMAT_MAGIC)
        complain(r, "is not from bats-mpi");
    hello->rank = take_u32(r);
    hello->pid = take_u32(r);
    hello->pid_space = take(r, 8);
    hello->host = take_text(r, BATS_PROTO_HOST - 1);
    hello->partition = take_text(r, BATS_PROTO_PARTITION - 1);
    hello->node = take_u32(r);
    hello->local_rank = take_u32(r);
    hello->model = take_text(r, BATS_PROTO_MODEL - 1);
    hello->packages = take_u32(r);
    hello->cores = take_u32(r);
    hello->threads = take_u32(r);
    hello->memory_bytes = take(r, 8);
    hello->bound = take_text(r, BATS_PROTO_BOUND - 1);
    hello->bound_cores = take_u32(r);
    hello->kept_run = take_text(r, SIZE_MAX);
    hello->task = take_u32(r);
    hello->attempt = take_u32(r);
    hello->results = take_results(r, &hello->n_results);
}

static void take_setup(struct reader *r, struct bats_setup *setup)
{
    uint64_t speed = take(r, 8);
    memcpy(&setup->speed, &speed, sizeof speed);
    if (!isfinite(setup->speed) || setup->speed <= 0)
        complain(r, "has a speed that is not positive");
    setup->grace_ms = take_amount(r);
    setup->notice_ms = take_amount(r);
    setup->look_us = take_amount(r);
    setup->beat_us = take_amount(r);
    setup->master_pid = take_u32(r);
    setup->output = (uint8_t)take_small(r, BATS_PROTO_OUTPUTS - 1);
    setup->hold = take_small(r, 1);
    setup->keep = take_small(r, 1);
    setup->bind = (uint8_t)take_small(r, BATS_PROTO_BINDS - 1);
    setup->share_index = take_u32(r);
    setup->share_count = take_u32(r);
    setup->max_output = take_amount(r);
    setup->nice = (uint8_t)take_small(r, 19);
    setup->memfree = take_amount(r);
    setup->workdir = take_text(r, SIZE_MAX);
    setup->output_path = take_text(r, SIZE_MAX);
    setup->run_id = take_text(r, SIZE_MAX);
    setup->cluster = take_text(r, SIZE_MAX);
    setup->machine = take_text(r, SIZE_MAX);
    setup->task_file = take_text(r, SIZE_MAX);
    setup->number = take_u32(r);
    setup->start = take_texts(r, &setup->n_start);
    setup->stop = take_texts(r, &setup->n_stop);
}

static void take_assign(struct reader *r, struct bats_assign *assign)
{
    assign->task = take_u32(r);
    assign->attempt = take_u32(r);
    assign->replica = take_u32(r);
    assign->once = take_small(r, 1);
    assign->wait_us = take_amount(r);
    assign->sleep_us = take_amount(r);
    assign->lost_us = take_amount(r);
    assign->noticed_us = take_amount(r);
    assign->command = take_text(r, SIZE_MAX);
    assign->variables = take_texts(r, &assign->n_variables);
}

static void take_usage(struct reader *r, struct bats_usage *usage)
{
    usage->exit_status = take_small(r, 255);
    usage->signal = take_small(r, 127);
    usage->start_us = take_amount(r);
    usage->wall_us = take_amount(r);
    usage->user_us = take_amount(r);
    usage->system_us = take_amount(r);
    usage->max_rss_kib = take_amount(r);
    usage->written[0] = take_amount(r);
    usage->written[1] = take_amount(r);
    usage->begin = take_amount(r);
    usage->end = take_amount(r);
}

static void take_result(struct reader *r, struct bats_task_result *result)
{
    result->task = take_u32(r);
    result->attempt = take_u32(r);
    result->cancelled = take_small(r, 1);
    result->asks = take_small(r, 1);
    take_usage(r, &result->usage);
    result->last = take_bytes(r, &result->n_last);
    for (int i = 0; i < 2; i++) {
        result->lines[i] = take_bytes(r, &result->n_lines[i]);
        result->to_come[i] = take_amount(r);
    }
}

static void take_verdict(struct reader *r, struct bats_verdict *verdict)
{
    verdict->task = take_u32(r);
    verdict->attempt = take_u32(r);
    verdict->is_result = take_small(r, 1);
}

static void take_output(struct reader *r, struct bats_output_lines *output)
{
    output->task = take_u32(r);
    output->stream = take_small(r, 2);
    if (output->stream == 0)
        complain(r, "has a value out of range");
    output->bytes = take_bytes(r, &output->n);
}

static const uint8_t *take_nonce(struct reader *r)
{
    static const uint8_t none[BATS_PROTO_NONCE];
    if (r->end - r->at < BATS_PROTO_NONCE) {
        complain(r, "is cut short");
        return none;
    }
    r->at += BATS_PROTO_NONCE;
    return r->at - BATS_PROTO_NONCE;
}

static void take_knock(struct reader *r, struct bats_knock *knock)
{
    if (take_u32(r) != BATS_FORMAT_MAGIC)
        complain(r, "is not from bats-mpi");
    knock->way = (uint8_t)take(r, 1);
    knock->nonce = take_nonce(r);
    knock->job = take_text(r, BATS_PROTO_JOB - 1);
}

static void take_proof(struct reader *r, bool challenge,
                       struct bats_proof *proof)
{
    if (challenge)
        proof->nonce = take_nonce(r);
    else
        proof->n_ranks = take_u32(r);
    proof->bytes = take_bytes(r, &proof->n);
}

/* Checks the items without keeping them, so that taking them cannot fail. */
static void check_items(struct reader *r, struct bats_message *message)
{
    struct bats_assign assign;
    struct bats_task_result result;
    message->left = take_u32(r);
    message->at = r->at;
    for (uint32_t i = 0; i < message->left && r->complaint == NULL; i++)
        if (message->type == BATS_MESSAGE_ASSIGN)
            take_assign(r, &assign);
        else
            take_result(r, &result);
    message->end = r->at;
}

int bats_proto_open(const void *bytes, size_t n, struct bats_message *message,
                    struct bats_error *err)
{
    struct reader r = {.at = bytes, .end = (const uint8_t *)bytes + n};
    memset(message, 0, sizeof *message);
    unsigned type = (unsigned)take(&r, 1);
    unsigned version = (unsigned)take(&r, 1);
    if (r.complaint == NULL && version != BATS_PROTO_VERSION)
        return bats_error_set(err, BATS_EPROTO,
                              "a message of version %u came, this is version "
                              "%d: all ranks must run the same bats-mpi",
                              version, BATS_PROTO_VERSION);
    message->type = type;
    switch (message->type) {
    case BATS_MESSAGE_HELLO:
        take_hello(&r, &message->u.hello);
        break;
    case BATS_MESSAGE_SETUP:
        take_setup(&r, &message->u.setup);
        break;
    case BATS_MESSAGE_ASSIGN:
    case BATS_MESSAGE_RESULT:
        check_items(&r, message);
        break;
    case BATS_MESSAGE_CANCEL:
        message->u.task = take_u32(&r);
        break;
    case BATS_MESSAGE_TAKEN:
        message->u.taken = take_u32(&r);
        break;
    case BATS_MESSAGE_VERDICT:
        take_verdict(&r, &message->u.verdict);
        break;
    case BATS_MESSAGE_STOP:
        message->u.leave = (enum bats_leave)take_small(&r, 4);
        break;
    case BATS_MESSAGE_OUTPUT:
        take_output(&r, &message->u.output);
        break;
    case BATS_MESSAGE_ERROR:
        message->u.sentence = take_text(&r, SIZE_MAX);
        break;
    case BATS_MESSAGE_KNOCK:
        take_knock(&r, &message->u.knock);
        break;
    case BATS_MESSAGE_CHALLENGE:
    case BATS_MESSAGE_PROOF:
        take_proof(&r, message->type == BATS_MESSAGE_CHALLENGE,
                   &message->u.proof);
        break;
    case BATS_MESSAGE_WELCOME:
        message->u.silence_us = take_amount(&r);
        break;
    case BATS_MESSAGE_PARK:
    case BATS_MESSAGE_UNPARK:
    case BATS_MESSAGE_READY:
    case BATS_MESSAGE_NOTICE:
    case BATS_MESSAGE_HEARTBEAT:
        break;
    default:
        complain(&r, "is of an unknown type");
    }
    if (r.at != r.end)
        complain(&r, "is too long");
    if (r.complaint == NULL)
        return 0;
    return bats_error_set(err, BATS_EPROTO,
                          "a message (type %u, %zu bytes) %s", type, n,
                          r.complaint);
}

bool bats_proto_next_assign(struct bats_message *message,
                            struct bats_assign *assign)
{
    if (message->type != BATS_MESSAGE_ASSIGN || message->left == 0)
        return false;
    struct reader r = {.at = message->at, .end = message->end};
    take_assign(&r, assign);
    message->at = r.at;
    message->left--;
    return true;
}

bool bats_proto_next_result(struct bats_message *message,
                            struct bats_task_result *result)
{
    if (message->type != BATS_MESSAGE_RESULT || message->left == 0)
        return false;
    struct reader r = {.at = message->at, .end = message->end};
    take_result(&r, result);
    message->at = r.at;
    message->left--;
    return true;
}
