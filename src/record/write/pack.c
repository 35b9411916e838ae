#include "record/write/pack.h"

#include <stdlib.h>
#include <string.h>

#include "record/schema.h"
#include "util/grow.h"

#define ROW_MAX 512 /* bytes of a row without its host: 19 numbers */
#define ESCAPED 6   /* bytes of a character, at most: \\u001f */

/* ---- values, each with a comma after it; they return the next position
 * ---- */

char *bats_pack_number(char *at, int64_t number)
{
    if (number >= 0 && number < 10) { /* the usual case */
        at[0] = (char)('0' + number);
        at[1] = ',';
        return at + 2;
    }
    char digits[20];
    char *first = digits + sizeof digits;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;

    if (number < 0)
        *at++ = '-';
    for (; left > 0; left /= 10)
        *--first = (char)('0' + left % 10);
    size_t n = (size_t)(digits + sizeof digits - first);
    memcpy(at, first, n);
    at[n] = ',';
    return at + n + 1;
}

static char *put_null(char *at)
{
    memcpy(at, "null,", 5);
    return at + 5;
}

static char *put_text(char *at, const char *text)
{
    static const char hex[] = "0123456789abcdef";

    *at++ = '"';
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == '"' || c == '\\') {
            memcpy(at, "\\u00", 4);
            at[4] = hex[c >> 4];
            at[5] = hex[c & 15];
            at += ESCAPED;
        } else {
            *at++ = (char)c;
        }
    }
    memcpy(at, "\",", 2);
    return at + 2;
}

/* Tasks that are not in the bag, such as BATS_NO_TASK, become null. */
static char *put_task(char *at, const struct bats_record *r, uint32_t task)
{
    return task < r->n_tasks ? bats_pack_number(at, r->id[task])
                             : put_null(at);
}

/* ---- rows; the views read NULL for missing values at the end ---- */

static char *put_event(char *at, const struct bats_record *r,
                       const struct bats_event *e)
{
    bool of_task =
        e->type == BATS_EVENT_DONE || e->type == BATS_EVENT_FAILED ||
        e->type == BATS_EVENT_PREEMPTED || e->type == BATS_EVENT_YIELDED ||
        e->type == BATS_EVENT_FOUND;

    at = put_text(at, bats_schema_events[e->type]);
    if (e->type == BATS_EVENT_CHOSEN) {
        for (int i = 0; i < 4; i++)
            at = put_null(at);
        at = bats_pack_number(at, e->choice.offer);
        return bats_pack_number(at, e->choice.offer == BATS_OFFER_DEADLINE
                                        ? e->choice.deadline
                                    : e->choice.offer == BATS_OFFER_STRATEGY
                                        ? e->choice.strategy
                                        : e->choice.budget);
    }
    if (of_task || e->type == BATS_EVENT_JOINED ||
        e->type == BATS_EVENT_LOST || bats_is_job_event(e->type))
        at = bats_pack_number(at, e->machine);
    if (bats_is_job_event(e->type)) {
        if (e->type == BATS_EVENT_CLOSED || e->type == BATS_EVENT_RETIRED)
            return at;
        at = put_null(put_null(at));
        return bats_pack_number(at, e->type == BATS_EVENT_BILLED ? e->amount
                                                                 : e->runtime);
    }
    if (!of_task)
        return at;
    at = put_task(bats_pack_number(at, e->slot), r, e->task);
    if (e->type == BATS_EVENT_DONE || e->type == BATS_EVENT_FAILED)
        at = bats_pack_number(at, e->runtime);
    return at;
}

static char *put_command(char *at, const struct bats_record *r,
                         const struct bats_command *c)
{
    at = put_text(at, c->replica > 0 ? BATS_SCHEMA_COPY
                                     : bats_schema_commands[c->type]);
    if (c->type == BATS_NOTICE_SAMPLED)
        return at;
    if (c->type == BATS_NOTICE_FINISHED) {
        for (int i = 0; i < 4; i++)
            at = put_null(at);
        return put_text(at, bats_schema_finishes[c->finish]);
    }
    at = c->machine != BATS_NO_MACHINE ? bats_pack_number(at, c->machine)
                                       : put_null(at);
    if (c->type == BATS_NOTICE_SHARE)
        return bats_pack_number(
            bats_pack_number(put_null(put_null(at)), c->purse + 1),
            c->amount);
    if (c->type == BATS_COMMAND_ACQUIRE && c->time > 0)
        return bats_pack_number(put_null(put_null(put_null(at))), c->time);
    if (!bats_log_of_slot(c))
        return at;
    at = put_task(bats_pack_number(at, c->slot), r, c->task);
    if (c->replica > 0)
        at = bats_pack_number(at, c->replica);
    const char *why = bats_log_why(c);
    if (c->replica == 0 && *why != '\0')
        at = put_null(at);
    return *why != '\0' ? put_text(at, why) : at;
}

static char *put_attempt(char *at, const struct bats_record *r,
                         const struct bats_record_attempt *a, const char *host)
{
    const struct bats_usage *u = &a->usage;
    const int64_t numbers[] = {
        u->start_us,    u->wall_us, u->user_us, u->system_us,  u->max_rss_kib,
        u->exit_status, u->signal,  a->outcome, u->written[0], u->written[1],
        a->stream,      u->begin,   u->end};
    size_t n = sizeof numbers / sizeof *numbers;

    at = put_task(at, r, a->task);
    at = bats_pack_number(at, a->attempt);
    at = bats_pack_number(at, a->machine);
    at = host != NULL ? put_text(at, host) : put_null(at);
    if (a->stream < 0)
        n -= 3;
    for (size_t i = 0; i < n; i++)
        at = bats_pack_number(at, numbers[i]);
    return at;
}

/* ---- groups ---- */

static bool reserve(struct bats_pack_column *c, size_t more)
{
    return bats_grow(&c->text, &c->capacity, c->size + more, 1);
}

bool bats_pack_add(struct bats_pack *pack, const struct bats_record *r,
                   const struct bats_row *row)
{
    struct bats_pack_column *c = &pack->columns[row->kind];

    if (!reserve(c, ROW_MAX +
                        (row->text != NULL ? ESCAPED * strlen(row->text) : 0)))
        return false;
    char *at = c->text + c->size;
    *at++ = c->size == 0 ? '[' : ',';
    *at++ = '[';
    at = bats_pack_number(bats_pack_number(at, row->seq), row->now);
    if (row->kind == BATS_ROW_EVENT)
        at = put_event(at, r, &row->u.event);
    else if (row->kind == BATS_ROW_COMMAND)
        at = put_command(at, r, &row->u.command);
    else
        at = put_attempt(at, r, &row->u.attempt, row->text);
    at[-1] = ']'; /* replaces the last comma */
    c->size = (size_t)(at - c->text);
    pack->last = row->seq;
    pack->n++;
    return true;
}

const char *bats_pack_text(struct bats_pack *pack, enum bats_row_kind kind,
                           size_t *size)
{
    struct bats_pack_column *c = &pack->columns[kind];

    *size = c->size + 1;
    if (c->size == 0)
        return NULL;
    c->text[c->size] = ']'; /* there is room, see ROW_MAX */
    return c->text;
}

void bats_pack_clear(struct bats_pack *pack)
{
    for (int i = 0; i < BATS_ROWS_PACKED; i++)
        pack->columns[i].size = 0;
    pack->n = 0;
}

void bats_pack_release(struct bats_pack *pack)
{
    for (int i = 0; i < BATS_ROWS_PACKED; i++)
        free(pack->columns[i].text);
    *pack = (struct bats_pack){0};
}
