#include "record/verify/replay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/view_state.h"
#include "record/schema.h"
#include "record/state.h"
#include "record/verify/rebuild.h"
#include "util/grow.h"

#define PHRASE 200

struct player {
    struct bats_db *db;
    struct bats_rebuilt built;
    struct bats_replay *replay;
    struct bats_sched *sched;
    bats_time now; /* of the last event */
    int64_t event; /* seq of the event in the record */
};

/* Rows of the session in order, in the columns below. */
static const char rows_sql[] =
    "SELECT seq, 1, time_us, type, machine, slot, task, runtime_us, NULL, 0,"
    "  offer, allowed FROM event WHERE session = ?1 UNION ALL "
    "SELECT seq, 2, time_us, type, machine, slot, task, copy, why, 0, NULL,"
    "  NULL FROM command WHERE session = ?1 UNION ALL "
    "SELECT seq, 3, time_us, NULL, machine, NULL, NULL, amount, NULL,"
    "  cushion, NULL, NULL FROM ledger WHERE session = ?1 ORDER BY seq";
enum {
    SEQ,
    KIND,
    TIME,
    TYPE,
    MACHINE,
    SLOT,
    TASK,
    NUMBER,
    WHY,
    CUSHION,
    OFFER,
    ALLOWED
};
enum { EVENT = 1, COMMAND, CHARGE };

/* ---- words ---- */

#define CUSHION_TEXT " with %" PRId64 " from the cushion"

static void differ(struct player *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Only the first difference counts, because later ones follow from it. */
static void differ(struct player *p, const char *format, ...)
{
    va_list args;

    if (p->replay->differs)
        return;
    p->replay->differs = true;
    va_start(args, format);
    vsnprintf(p->replay->difference, sizeof p->replay->difference, format,
              args);
    va_end(args);
}

static const char *type_of(const struct bats_command *c)
{
    if (c->type == BATS_NOTICE_CHARGE)
        return "charge";
    return c->replica > 0 ? BATS_SCHEMA_COPY : bats_schema_commands[c->type];
}

static const char *why_of(const struct bats_command *c)
{
    if (c->type == BATS_NOTICE_FINISHED)
        return bats_schema_finishes[c->finish];
    return bats_log_why(c);
}

static bool of_machine(const struct bats_command *c)
{
    return c->type != BATS_NOTICE_FINISHED && c->type != BATS_NOTICE_SAMPLED &&
           c->machine != BATS_NO_MACHINE;
}

static const char *describe(const struct player *p, char text[PHRASE],
                            const struct bats_command *c)
{
    size_t used = (size_t)snprintf(text, PHRASE, "%s", type_of(c));

    if (of_machine(c))
        used += (size_t)snprintf(text + used, PHRASE - used, " machine %lu",
                                 (unsigned long)c->machine);
    if (bats_log_of_slot(c))
        used += (size_t)snprintf(
            text + used, PHRASE - used, " slot %lu task %" PRIu64,
            (unsigned long)c->slot, (uint64_t)c->task + 1);
    if (c->replica > 0)
        used += (size_t)snprintf(text + used, PHRASE - used, " copy %lu",
                                 (unsigned long)c->replica);
    if (c->type == BATS_NOTICE_SHARE)
        used += (size_t)snprintf(text + used, PHRASE - used, " copy %lu",
                                 (unsigned long)c->purse + 1);
    if (c->type == BATS_NOTICE_CHARGE || c->type == BATS_NOTICE_SHARE)
        used += (size_t)snprintf(text + used, PHRASE - used,
                                 " %" PRId64 " millionths", c->amount);
    if (c->cushion > 0)
        used += (size_t)snprintf(text + used, PHRASE - used, CUSHION_TEXT,
                                 c->cushion);
    if (c->time > 0)
        used += (size_t)snprintf(text + used, PHRASE - used,
                                 " for %" PRId64 " us", c->time);
    snprintf(text + used, PHRASE - used, "%s%s at %" PRId64 " us",
             why_of(c)[0] != '\0' ? " because of " : "", why_of(c), p->now);
    return text;
}

/* The same for a row that is a command or a charge. */
static const char *describe_row(const struct player *p, char text[PHRASE],
                                sqlite3_stmt *s)
{
    bool charge = sqlite3_column_int(s, KIND) == CHARGE;
    const char *why = bats_view_text(s, WHY);
    size_t used = (size_t)snprintf(
        text, PHRASE, "%.40s", charge ? "charge" : bats_view_text(s, TYPE));

    if (sqlite3_column_type(s, MACHINE) != SQLITE_NULL)
        used +=
            (size_t)snprintf(text + used, PHRASE - used, " machine %" PRId64,
                             (int64_t)sqlite3_column_int64(s, MACHINE));
    if (sqlite3_column_type(s, SLOT) != SQLITE_NULL)
        used += (size_t)snprintf(
            text + used, PHRASE - used, " slot %" PRId64 " task %" PRId64,
            (int64_t)sqlite3_column_int64(s, SLOT),
            bats_rebuilt_task(&p->built, sqlite3_column_int64(s, TASK)) + 1);
    if (sqlite3_column_type(s, NUMBER) != SQLITE_NULL)
        used += (size_t)snprintf(text + used, PHRASE - used,
                                 charge ? " %" PRId64 " millionths"
                                        : " copy %" PRId64,
                                 (int64_t)sqlite3_column_int64(s, NUMBER));
    if (sqlite3_column_int64(s, CUSHION) > 0)
        used += (size_t)snprintf(text + used, PHRASE - used, CUSHION_TEXT,
                                 (int64_t)sqlite3_column_int64(s, CUSHION));
    snprintf(text + used, PHRASE - used, "%s%.40s at %" PRId64 " us",
             why[0] != '\0' ? " because of " : "", why,
             (int64_t)sqlite3_column_int64(s, TIME));
    return text;
}

/* ---- the engine's answers ---- */

/* Commands of the engine that the record lacks. */
static void expect_no_more(struct player *p)
{
    struct bats_command command;
    char text[PHRASE];

    if (!p->replay->differs && bats_sched_next(p->sched, &command))
        differ(p,
               "after event %" PRId64 " the engine says '%s', which is not in "
               "the record",
               p->event, describe(p, text, &command));
}

/* Older sessions do not say for how long a job was to work. */
static bool is_same_reason(sqlite3_stmt *s, const struct bats_command *c)
{
    if (c->type == BATS_COMMAND_ACQUIRE)
        return sqlite3_column_type(s, WHY) == SQLITE_NULL ||
               sqlite3_column_int64(s, WHY) == c->time;
    return strcmp(bats_view_text(s, WHY), why_of(c)) == 0;
}

static bool is_same(const struct player *p, sqlite3_stmt *s,
                    const struct bats_command *c)
{
    bool charge = sqlite3_column_int(s, KIND) == CHARGE;

    if (sqlite3_column_int64(s, TIME) != p->now ||
        charge != (c->type == BATS_NOTICE_CHARGE) ||
        (charge &&
         of_machine(c) == (sqlite3_column_type(s, MACHINE) == SQLITE_NULL)))
        return false;
    if (of_machine(c) && sqlite3_column_int64(s, MACHINE) != c->machine)
        return false;
    if (charge)
        return sqlite3_column_int64(s, NUMBER) == c->amount &&
               sqlite3_column_int64(s, CUSHION) == c->cushion;
    if (c->type == BATS_NOTICE_SHARE)
        return strcmp(bats_view_text(s, TYPE), type_of(c)) == 0 &&
               sqlite3_column_int64(s, NUMBER) == (int64_t)c->purse + 1 &&
               sqlite3_column_int64(s, WHY) == c->amount;
    return strcmp(bats_view_text(s, TYPE), type_of(c)) == 0 &&
           is_same_reason(s, c) &&
           sqlite3_column_int64(s, NUMBER) == c->replica &&
           (!bats_log_of_slot(c) ||
            (sqlite3_column_int64(s, SLOT) == c->slot &&
             bats_rebuilt_task(&p->built, sqlite3_column_int64(s, TASK)) ==
                 c->task));
}

static void compare_command(struct player *p, sqlite3_stmt *s)
{
    struct bats_command command;
    char ours[PHRASE], theirs[PHRASE];

    describe_row(p, theirs, s);
    if (!bats_sched_next(p->sched, &command))
        differ(p,
               "after event %" PRId64 " the record has '%s', which the engine "
               "does not say",
               p->event, theirs);
    else if (!is_same(p, s, &command))
        differ(p,
               "after event %" PRId64 " the engine says '%s', the record has "
               "'%s'",
               p->event, describe(p, ours, &command), theirs);
    else if (sqlite3_column_int(s, KIND) == CHARGE)
        p->replay->charges++;
    else
        p->replay->commands++;
}

static int replay_event(struct player *p, sqlite3_stmt *s,
                        struct bats_error *err)
{
    struct bats_error why;
    struct bats_event event = {
        .machine = (uint32_t)sqlite3_column_int64(s, MACHINE),
        .slot = (uint32_t)sqlite3_column_int64(s, SLOT),
        .task = (uint32_t)bats_rebuilt_task(&p->built,
                                            sqlite3_column_int64(s, TASK)),
        .runtime = sqlite3_column_int64(s, NUMBER),
    };
    int type = 0;

    int64_t offer = sqlite3_column_int64(s, OFFER);

    event.choice = (struct bats_choice){
        .offer = (enum bats_offer)offer,
        .budget = sqlite3_column_int64(s, ALLOWED),
        .deadline = sqlite3_column_int64(s, ALLOWED),
        .strategy = (uint32_t)sqlite3_column_int64(s, ALLOWED),
    };
    while (type <= BATS_EVENT_NOTICE &&
           strcmp(bats_schema_events[type], bats_view_text(s, TYPE)) != 0)
        type++;
    expect_no_more(p);
    p->event = sqlite3_column_int64(s, SEQ);
    p->now = sqlite3_column_int64(s, TIME);
    event.type = (enum bats_event_type)type;
    if (event.type == BATS_EVENT_BILLED) {
        event.amount = event.runtime;
        event.runtime = 0;
    }
    bool chosen = event.type == BATS_EVENT_CHOSEN;
    if (type > BATS_EVENT_NOTICE || offer < 0 || offer >= BATS_OFFER_KINDS ||
        event.runtime > BATS_REBUILT_TIME_MAX) {
        differ(p, "event %" PRId64 " is none", p->event);
        return 0;
    }
    int rc = bats_sched_handle(p->sched, p->now, &event, &why);
    if (rc == BATS_ENOMEM)
        return bats_error_set(err, rc, "%s", why.text);
    if (rc < 0 && !chosen) /* CHOSEN may be refused */
        differ(p, "event %" PRId64 ": the engine refuses it: %s", p->event,
               why.text);
    p->replay->events += !p->replay->differs;
    return 0;
}

static int replay_rows(struct player *p, int64_t session,
                       struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(p->db, rows_sql, &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, session);
    int64_t before = 0;
    while (!p->replay->differs && (rc = bats_db_step(p->db, s, err)) > 0) {
        int64_t seq = sqlite3_column_int64(s, SEQ);
        if (seq <= before) /* otherwise pages in a circle would never end */
            differ(p, "row %" PRId64 " comes after row %" PRId64, seq, before);
        else if (sqlite3_column_int(s, KIND) == EVENT)
            rc = replay_event(p, s, err);
        else
            compare_command(p, s);
        before = seq;
        if (rc < 0)
            break;
    }
    sqlite3_finalize(s);
    expect_no_more(p);
    return rc < 0 ? rc : 0;
}

/* ---- its decisions ---- */

/* Formats a decision like a row of the record, to compare and to show it. */
static void print_decision(char text[BATS_LOG_MACHINES + PHRASE],
                           const struct bats_decision *d, size_t n_clusters)
{
    char machines[BATS_LOG_MACHINES];

    bats_log_machines(machines, d, n_clusters);
    snprintf(text, BATS_LOG_MACHINES + PHRASE,
             "%" PRId64 " us, %s, feasible %d, left %" PRId64 ", paid %" PRId64
             ", budget %" PRId64 ", windows %" PRId64 ", machines %s",
             d->time, bats_reason_name(d->reason), d->feasible, d->tasks_left,
             d->tasks_paid,
             d->budget_left == BATS_UNLIMITED ? -1 : d->budget_left,
             d->windows, machines);
}

static int replay_decisions(struct player *p, int64_t session,
                            struct bats_error *err)
{
    char ours[BATS_LOG_MACHINES + PHRASE];
    size_t n, i = 0;
    const struct bats_decision *list = bats_sched_decisions(p->sched, &n);
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        p->db,
        "SELECT printf('%d us, %s, feasible %d, left %d, paid %d, budget %d, "
        "windows %d, machines %s', time_us, reason, feasible, tasks_left, "
        "coalesce(tasks_paid, -1), coalesce(budget_left, -1), windows, "
        "machines) FROM decision WHERE session = ? ORDER BY seq",
        &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, session);
    while (!p->replay->differs && (rc = bats_db_step(p->db, s, err)) > 0) {
        snprintf(ours, sizeof ours, "none");
        if (i < n)
            print_decision(ours, &list[i], p->built.options.n_clusters);
        if (strcmp(ours, bats_view_text(s, 0)) != 0)
            differ(p,
                   "decision %zu of the engine: %.200s; of the record: %.200s",
                   i + 1, ours, bats_view_text(s, 0));
        else
            p->replay->decisions++;
        i++;
    }
    sqlite3_finalize(s);
    if (i < n)
        differ(p, "the engine takes %zu decisions, the record has %zu", n, i);
    return rc < 0 ? rc : 0;
}

static int play(struct player *p, int64_t session, struct bats_error *err)
{
    *p->replay = (struct bats_replay){0};
    int rc = bats_rebuild(p->db, session, &p->built, err);
    if (rc == 0) {
        snprintf(p->replay->version, sizeof p->replay->version, "%s",
                 p->built.version);
        rc = bats_sched_create(&p->built.options, &p->sched, err);
    }
    if (rc == 0)
        rc = replay_rows(p, session, err);
    return rc == 0 ? replay_decisions(p, session, err) : rc;
}

static void release(struct player *p)
{
    bats_sched_destroy(p->sched);
    bats_rebuilt_release(&p->built);
}

int bats_replay_session(struct bats_view *view, int64_t session,
                        struct bats_replay *replay, struct bats_error *err)
{
    struct player p = {.db = &view->db, .replay = replay};
    int rc = bats_view_unpack(view, err);
    if (rc == 0)
        rc = play(&p, session, err);
    release(&p);
    return rc;
}

int bats_replay_killed(struct bats_db *db, int64_t session,
                       struct bats_replay_end *end, struct bats_error *err)
{
    const struct bats_event killed = {.type = BATS_EVENT_KILLED};
    struct bats_replay replay;
    struct player p = {.db = db, .replay = &replay};
    struct bats_command command;
    size_t room = 0;

    *end = (struct bats_replay_end){0};
    int rc = play(&p, session, err);
    end->differs = rc == 0 && replay.differs;
    end->now = p.now;
    if (rc == 0 && !end->differs)
        rc = bats_sched_handle(p.sched, p.now, &killed, err);
    while (rc == 0 && !end->differs && bats_sched_next(p.sched, &command)) {
        if (!bats_grow(&end->commands, &room, end->n + 1,
                       sizeof *end->commands))
            rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
        else
            end->commands[end->n++] = command;
    }
    release(&p);
    return rc;
}
