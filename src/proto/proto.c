/* proto: the layout of messages; proto.h has the format. */
#include "proto/proto.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "util/grow.h"

/* ---- the parts that messages consist of ----
 *
 * Each function takes a value. When writing, it appends and returns that
 * value; when reading, it returns the value read. So the layout of a message
 * is defined once for both. A reader remembers its first complaint. After that
 * every value is 0 and every text empty, so that callers need not check after
 * each step. */

struct codec {
    struct bats_text *packet; /* to write to; NULL: read from `at` */
    const uint8_t *at, *end;
    const char *complaint; /* NULL: none */
};

/* Returns room for n more bytes, or NULL. */
static inline char *codec_extend(struct bats_text *p, size_t n)
{
    p->failed = p->failed || (p->room - p->n < n &&
                              !bats_grow(&p->bytes, &p->room, p->n + n, 1));
    if (p->failed)
        return NULL;
    p->n += n;
    return p->bytes + p->n - n;
}

static inline void codec_complain(struct codec *c, const char *complaint)
{
    if (c->complaint == NULL)
        c->complaint = complaint;
    c->at = c->end;
}

/* A little-endian number of `width` <= 8 bytes. A constant width compiles to
 * one load or store. */
static inline uint64_t codec_number(struct codec *c, uint64_t value,
                                    size_t width)
{
    uint64_t bits = htole64(value);
    if (c->packet != NULL) {
        char *to = codec_extend(c->packet, width);
        if (to != NULL)
            memcpy(to, &bits, width);
        return value;
    }
    if ((size_t)(c->end - c->at) < width) {
        codec_complain(c, "is cut short");
        return 0;
    }
    bits = 0;
    memcpy(&bits, c->at, width);
    c->at += width;
    return le64toh(bits);
}

/* A number in one byte, at most `max`. */
static inline int codec_small(struct codec *c, int value, int max)
{
    value = (int)codec_number(c, (uint64_t)value, 1);
    if (c->packet == NULL && value > max) {
        codec_complain(c, "has a value out of range");
        return 0;
    }
    return value;
}

/* A number that is not negative. */
static inline int64_t codec_amount(struct codec *c, int64_t value)
{
    uint64_t amount = codec_number(c, (uint64_t)value, 8);
    if (c->packet == NULL && amount > INT64_MAX) {
        codec_complain(c, "has a negative amount");
        return 0;
    }
    return (int64_t)amount;
}

static inline const char *codec_bytes(struct codec *c, const char *bytes,
                                      size_t *n)
{
    size_t length = (uint32_t)codec_number(c, *n, 4);
    if (c->packet != NULL) {
        char *to = length == *n ? codec_extend(c->packet, length + 1) : NULL;
        c->packet->failed |= to == NULL;
        if (to != NULL && length > 0)
            memcpy(to, bytes, length);
        if (to != NULL)
            to[length] = 0;
        return bytes;
    }
    *n = 0;
    if ((size_t)(c->end - c->at) <= length) {
        codec_complain(c, "is cut short");
        return "";
    }
    if (c->at[length] != 0) {
        codec_complain(c, "has a text without its end");
        return "";
    }
    *n = length;
    c->at += length + 1;
    return (const char *)c->at - length - 1;
}

static inline const char *codec_text(struct codec *c, const char *text,
                                     size_t max)
{
    size_t n = c->packet != NULL ? strlen(text) : 0;
    text = codec_bytes(c, text, &n);
    if (c->packet == NULL && (n > max || memchr(text, 0, n) != NULL)) {
        codec_complain(c, n > max ? "has a text that is too long"
                                  : "has a NUL inside a text");
        return "";
    }
    return text;
}

/* A text in an array of `size` bytes. */
static inline void codec_name(struct codec *c, char *name, size_t size)
{
    const char *text = codec_text(c, name, size - 1);
    if (c->packet == NULL)
        memcpy(name, text, strlen(text) + 1);
}

/* Texts, each with its NUL, *n bytes in all. */
static inline const char *codec_texts(struct codec *c, const char *texts,
                                      size_t *n)
{
    texts = codec_bytes(c, texts, n);
    if (c->packet == NULL && *n > 0 && texts[*n - 1] != '\0')
        codec_complain(c, "has a text without its end in a list");
    return texts;
}

#define U32(x) ((x) = (uint32_t)codec_number(c, x, 4))
#define U64(x) ((x) = codec_number(c, x, 8))
#define SMALL(x, max) ((x) = codec_small(c, (int)(x), max))
#define BYTE(x, max) ((x) = (uint8_t)codec_small(c, x, max))
#define AMOUNT(x) ((x) = codec_amount(c, x))
#define TEXT(x, max) ((x) = codec_text(c, x, max))
#define NAME(x) codec_name(c, x, sizeof(x))
#define ANY_TEXT(x) TEXT(x, SIZE_MAX)
#define TEXTS(x, n) ((x) = codec_texts(c, x, &(n)))
#define BYTES(x, n) ((x) = codec_bytes(c, x, &(n)))

/* ---- layouts ---- */

static void code_node(struct codec *c, struct bats_node *n)
{
    struct bats_hardware *h = &n->hardware;
    U32(n->pid);
    U64(n->pid_space);
    NAME(n->host);
    NAME(n->partition);
    U32(n->id);
    U32(n->local_rank);
    NAME(h->model);
    U32(h->packages);
    U32(h->cores);
    U32(h->threads);
    U64(h->memory_bytes);
    NAME(h->bound);
    U32(h->bound_cores);
    U64(n->usable_bytes);
    NAME(n->gpus);
}

static void code_hello(struct codec *c, struct bats_hello *h)
{
    struct bats_message message;
    code_node(c, &h->node);
    AMOUNT(h->age_us);
    ANY_TEXT(h->kept_run);
    U32(h->task);
    U32(h->attempt);
    BYTES(h->results, h->n_results);
    if (c->packet == NULL && h->n_results > 0 &&
        (*h->results != BATS_MESSAGE_RESULT ||
         bats_proto_open(h->results, h->n_results, &message, NULL) < 0))
        codec_complain(c, "has invalid results");
}

static void code_setup(struct codec *c, struct bats_setup *s)
{
    uint64_t speed;
    memcpy(&speed, &s->speed, sizeof speed);
    U64(speed);
    memcpy(&s->speed, &speed, sizeof speed);
    if (c->packet == NULL && (!isfinite(s->speed) || s->speed <= 0))
        codec_complain(c, "has a speed that is not positive");
    AMOUNT(s->grace_ms);
    AMOUNT(s->notice_ms);
    AMOUNT(s->beat_us);
    U32(s->master_pid);
    BYTE(s->output, BATS_PROTO_OUTPUTS - 1);
    SMALL(s->hold, 1);
    SMALL(s->keep, 1);
    BYTE(s->bind, BATS_PROTO_BINDS - 1);
    U32(s->share_index);
    U32(s->share_count);
    BYTE(s->nice, 19);
    AMOUNT(s->memfree);
    ANY_TEXT(s->workdir);
    ANY_TEXT(s->output_path);
    ANY_TEXT(s->run_id);
    ANY_TEXT(s->cluster);
    ANY_TEXT(s->machine);
    ANY_TEXT(s->task_file);
    U32(s->number);
    TEXTS(s->start, s->n_start);
    TEXTS(s->stop, s->n_stop);
}

static void code_assign(struct codec *c, struct bats_assign *a)
{
    U32(a->task);
    U32(a->attempt);
    U32(a->replica);
    SMALL(a->once, 1);
    AMOUNT(a->wait_us);
    AMOUNT(a->sleep_us);
    AMOUNT(a->lost_us);
    AMOUNT(a->noticed_us);
    ANY_TEXT(a->command);
    TEXTS(a->variables, a->n_variables);
    TEXTS(a->outputs, a->n_outputs);
    AMOUNT(a->memory_kib);
    U32(a->cores);
    ANY_TEXT(a->holds);
}

static void code_result(struct codec *c, struct bats_task_result *r)
{
    struct bats_usage *usage = &r->usage;
    U32(r->task);
    U32(r->attempt);
    SMALL(r->cancelled, 1);
    SMALL(r->out_of_memory, 1);
    SMALL(r->asks, 1);
    SMALL(usage->exit_status, 255);
    SMALL(usage->signal, 127);
    AMOUNT(usage->start_us);
    AMOUNT(usage->wall_us);
    AMOUNT(usage->user_us);
    AMOUNT(usage->system_us);
    AMOUNT(usage->max_rss_kib);
    AMOUNT(usage->written[0]);
    AMOUNT(usage->written[1]);
    AMOUNT(usage->begin);
    AMOUNT(usage->end);
    BYTES(r->last, r->n_last);
    for (int i = 0; i < 2; i++) {
        BYTES(r->lines[i], r->n_lines[i]);
        AMOUNT(r->to_come[i]);
    }
}

static void code_verdict(struct codec *c, struct bats_verdict *v)
{
    U32(v->task);
    U32(v->attempt);
    SMALL(v->is_result, 1);
}

static void code_output(struct codec *c, struct bats_output_lines *o)
{
    U32(o->task);
    if (SMALL(o->stream, 2) == 0)
        codec_complain(c, "has a value out of range");
    BYTES(o->bytes, o->n);
}

static void code_knock(struct codec *c, struct bats_knock *k)
{
    U32(k->n_ranks);
    TEXT(k->job, BATS_PROTO_JOB - 1);
}

/* Checks the items without keeping them, so that taking them cannot fail. */
static void check_items(struct codec *c, struct bats_message *message)
{
    struct bats_assign assign = {0};
    struct bats_task_result result = {0};
    U32(message->left);
    message->at = c->at;
    for (uint32_t i = 0; i < message->left && c->complaint == NULL; i++)
        if (message->type == BATS_MESSAGE_ASSIGN)
            code_assign(c, &assign);
        else
            code_result(c, &result);
    message->end = c->at;
}

static void code_body(struct codec *c, struct bats_message *m)
{
    int leave = (int)m->u.leave;
    switch (m->type) {
    case BATS_MESSAGE_HELLO:
        code_hello(c, &m->u.hello);
        break;
    case BATS_MESSAGE_SETUP:
        code_setup(c, &m->u.setup);
        break;
    case BATS_MESSAGE_ASSIGN:
    case BATS_MESSAGE_RESULT:
        check_items(c, m);
        break;
    case BATS_MESSAGE_CANCEL:
        U32(m->u.task);
        break;
    case BATS_MESSAGE_TAKEN:
        U32(m->u.taken);
        break;
    case BATS_MESSAGE_VERDICT:
        code_verdict(c, &m->u.verdict);
        break;
    case BATS_MESSAGE_STOP:
        m->u.leave = (enum bats_leave)SMALL(leave, BATS_LEAVE_AGAIN);
        break;
    case BATS_MESSAGE_OUTPUT:
        code_output(c, &m->u.output);
        break;
    case BATS_MESSAGE_ERROR:
        ANY_TEXT(m->u.sentence);
        break;
    case BATS_MESSAGE_KNOCK:
        code_knock(c, &m->u.knock);
        break;
    case BATS_MESSAGE_WELCOME:
        AMOUNT(m->u.silence_us);
        break;
    case BATS_MESSAGE_LEASE:
        AMOUNT(m->u.age_us);
        break;
    case BATS_MESSAGE_READY:
    case BATS_MESSAGE_NOTICE:
    case BATS_MESSAGE_HEARTBEAT:
        break;
    default:
        codec_complain(c, "is of an unknown type");
    }
}

/* ---- reading ---- */

int bats_proto_open(const void *bytes, size_t n, struct bats_message *message,
                    struct bats_error *err)
{
    struct codec c = {.at = bytes, .end = (const uint8_t *)bytes + n};
    memset(message, 0, sizeof *message);
    unsigned type = (unsigned)codec_number(&c, 0, 1);
    unsigned version = (unsigned)codec_number(&c, 0, 1);
    if (c.complaint == NULL && version != BATS_PROTO_VERSION)
        return bats_error_set(err, BATS_EPROTO,
                              "a message of version %u came, this is version "
                              "%d: all ranks must run the same bats-mpi",
                              version, BATS_PROTO_VERSION);
    message->type = type;
    code_body(&c, message);
    if (c.at != c.end)
        codec_complain(&c, "is too long");
    if (c.complaint == NULL)
        return 0;
    return bats_error_set(err, BATS_EPROTO,
                          "a message (type %u, %zu bytes) %s", type, n,
                          c.complaint);
}

/* Takes the next item of a list of this type. False: no item is left. */
static bool next(struct bats_message *m, enum bats_message_type type,
                 struct codec *c)
{
    *c = (struct codec){.at = m->at, .end = m->end};
    return m->type == type && m->left > 0;
}

static bool took(struct bats_message *m, const struct codec *c)
{
    m->at = c->at;
    m->left--;
    return true;
}

bool bats_proto_next_assign(struct bats_message *message,
                            struct bats_assign *assign)
{
    struct codec c;
    if (!next(message, BATS_MESSAGE_ASSIGN, &c))
        return false;
    *assign = (struct bats_assign){0};
    code_assign(&c, assign);
    return took(message, &c);
}

bool bats_proto_next_result(struct bats_message *message,
                            struct bats_task_result *result)
{
    struct codec c;
    if (!next(message, BATS_MESSAGE_RESULT, &c))
        return false;
    *result = (struct bats_task_result){0};
    code_result(&c, result);
    return took(message, &c);
}

/* ---- writing ---- */

static struct codec begin(struct bats_text *p, enum bats_message_type type)
{
    struct codec c = {.packet = p};
    codec_number(&c, type, 1);
    codec_number(&c, BATS_PROTO_VERSION, 1);
    return c;
}

void bats_proto_put(struct bats_text *p, const struct bats_message *message)
{
    struct codec c = begin(p, message->type);
    struct bats_message copy = *message;
    code_body(&c, &copy);
}

/* Begins a list, or counts one more item of it. */
static struct codec begin_item(struct bats_text *p,
                               enum bats_message_type type)
{
    struct codec c = {.packet = p};
    uint32_t count = 0;
    if (p->n == 0) {
        begin(p, type);
        codec_number(&c, 1, 4);
    } else if (!p->failed) {
        memcpy(&count, p->bytes + 2, sizeof count);
        count = htole32(le32toh(count) + 1);
        memcpy(p->bytes + 2, &count, sizeof count);
    }
    return c;
}

void bats_proto_assign(struct bats_text *p, const struct bats_assign *assign)
{
    struct codec c = begin_item(p, BATS_MESSAGE_ASSIGN);
    struct bats_assign item = *assign;
    code_assign(&c, &item);
}

void bats_proto_result(struct bats_text *p,
                       const struct bats_task_result *result)
{
    struct codec c = begin_item(p, BATS_MESSAGE_RESULT);
    struct bats_task_result item = *result;
    code_result(&c, &item);
}
