/*
 * play_fixture: shared by the tests of the engine that play the machines
 * themselves, event by event. Machines of one slot, which run one task at a
 * time. A test fills in `p`, the play, lets its machines join(), and tells in
 * steps() what happens and what is answered. The engine's invariants are
 * checked after every event.
 */
#ifndef BATS_PLAY_FIXTURE_H
#define BATS_PLAY_FIXTURE_H

#include "bats/policy.h"
#include "bats/sample.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "test.h"
#include "util/text.h"

#define MACHINES_MOST 321
#define MINUTES(n) ((n)*BATS_MINUTE)

static struct play {
    struct bats_sched *s; /* until the next one is created */
    struct bats_sched_options o;
    struct bats_cluster clusters[3];
    struct bats_machine_spec machines[MACHINES_MOST];
    /* By machine: */
    uint32_t runs[MACHINES_MOST]; /* its task; BATS_NO_TASK */
    bats_time started[MACHINES_MOST];
    uint32_t replicas[MACHINES_MOST]; /* the replica number of that */
    uint32_t cancels[MACHINES_MOST], parks[MACHINES_MOST];
    uint32_t n_run, acquired;
    bats_money charged;
    bats_money shared[2]; /* by workflow, if there are some */
    uint32_t unpaid;      /* skipped, for their workflow cannot pay */
    enum bats_finish finish;
    char answer[4096]; /* to the last event, in words */
} the_play, *const p = &the_play;

static inline void put_answer(const struct bats_command *c)
{
    static const char *const words[] = {
        [BATS_COMMAND_ACQUIRE] = "acquire",
        [BATS_COMMAND_RUN] = "run",
        [BATS_COMMAND_CANCEL] = "cancel",
        [BATS_COMMAND_PARK] = "park",
        [BATS_NOTICE_CHARGE] = "charge",
        [BATS_NOTICE_QUARANTINE] = "quarantine",
        [BATS_NOTICE_LOSE] = "lose",
        [BATS_NOTICE_SAMPLED] = "sampled",
        [BATS_NOTICE_FINISHED] = "finish",
        [BATS_NOTICE_SKIP] = "skip",
        [BATS_NOTICE_READMIT] = "readmit",
        [BATS_NOTICE_SHARE] = "share"};
    const char *word = c->type == BATS_COMMAND_RUN && c->replica > 0
                           ? "copy"
                           : words[c->type];
    bool is_of_task = c->type == BATS_NOTICE_SKIP;
    if (c->type == BATS_COMMAND_RELEASE)
        return; /* as all are in the end */
    bats_append(p->answer, sizeof p->answer, "%s%s",
                p->answer[0] != '\0' ? ", " : "", word);
    if (c->type != BATS_NOTICE_FINISHED && c->type != BATS_NOTICE_SAMPLED)
        bats_append(p->answer, sizeof p->answer, " %u",
                    is_of_task ? c->task : c->machine);
}

static inline void tell(bats_time now, struct bats_event ev)
{
    struct bats_command c;
    assert_ok(bats_sched_handle(p->s, now, &ev, &err));
    check_sched(p->s);
    p->answer[0] = '\0';
    while (bats_sched_next(p->s, &c)) {
        put_answer(&c);
        if (c.type == BATS_COMMAND_RUN) {
            assert_int_equal(p->runs[c.machine], BATS_NO_TASK);
            p->runs[c.machine] = c.task;
            p->started[c.machine] = now;
            p->replicas[c.machine] = c.replica;
            p->n_run++;
        } else if (c.type == BATS_COMMAND_CANCEL) {
            assert_int_equal(p->runs[c.machine], c.task);
            p->cancels[c.machine]++;
        } else if (c.type == BATS_COMMAND_ACQUIRE) {
            p->acquired++;
        } else if (c.type == BATS_COMMAND_PARK) {
            p->parks[c.machine]++;
        } else if (c.type == BATS_NOTICE_CHARGE) {
            p->charged += c.amount;
        } else if (c.type == BATS_NOTICE_SHARE) {
            assert_true(c.purse < 2);
            p->shared[c.purse] += c.amount;
        } else if (c.type == BATS_NOTICE_SKIP) {
            p->unpaid += c.unpaid;
        } else if (c.type == BATS_NOTICE_FINISHED) {
            p->finish = c.finish;
        }
    }
}

static inline struct bats_sched_status run_status(void)
{
    struct bats_sched_status st;
    bats_sched_status(p->s, &st);
    return st;
}

/* The execution on the machine ends. Its runtime is given here, and may differ
 * from the time that has passed. */
static inline void end(bats_time now, uint32_t machine,
                       enum bats_event_type type, bats_time runtime)
{
    uint32_t task = p->runs[machine];
    assert_int_not_equal(task, BATS_NO_TASK);
    p->runs[machine] = BATS_NO_TASK;
    tell(now, (struct bats_event){.type = type,
                                  .machine = machine,
                                  .task = task,
                                  .runtime = runtime});
}

/* Something happens to the machine that needs no more words. */
static inline void happen(bats_time now, enum bats_event_type type,
                          uint32_t machine)
{
    tell(now, (struct bats_event){.type = type, .machine = machine});
}

static inline void lose(bats_time now, uint32_t machine)
{
    p->runs[machine] = BATS_NO_TASK;
    happen(now, BATS_EVENT_LOST, machine);
}

/* The task of the machine is done. */
static inline void done(bats_time now, uint32_t machine, bats_time runtime)
{
    end(now, machine, BATS_EVENT_DONE, runtime);
}

/* Nothing happens but that time passes. */
static inline void tick(bats_time now)
{
    happen(now, BATS_EVENT_TICK, 0);
}

static inline int create(struct bats_error *err)
{
    static struct bats_sched *s;
    bats_sched_destroy(s);
    s = NULL;
    p->o.clusters = p->clusters;
    p->o.machines = p->machines;
    for (uint32_t i = 0; i < MACHINES_MOST; i++)
        p->runs[i] = BATS_NO_TASK;
    int rc = bats_sched_create(&p->o, &s, err);
    p->s = s;
    return rc;
}

static inline void join(void)
{
    assert_ok(create(&err));
    for (uint32_t i = 0; i < p->o.n_machines; i++)
        happen(0, BATS_EVENT_JOINED, i);
}

/* One step: the time, what happens, to which machine, and the runtime, the
 * amount of its bill, or the task that is found there; or which task is
 * added. */
static inline void step(const char *words)
{
    static const struct {
        const char *word;
        enum bats_event_type type;
    } events[] = {{"joins", BATS_EVENT_JOINED},
                  {"lost", BATS_EVENT_LOST},
                  {"done", BATS_EVENT_DONE},
                  {"fails", BATS_EVENT_FAILED},
                  {"stopped", BATS_EVENT_PREEMPTED},
                  {"yields", BATS_EVENT_YIELDED},
                  {"tick", BATS_EVENT_TICK},
                  {"hold", BATS_EVENT_HOLD},
                  {"go", BATS_EVENT_GO},
                  {"adds", BATS_EVENT_ADDED},
                  {"finds", BATS_EVENT_FOUND},
                  {"bill", BATS_EVENT_BILLED},
                  {"retire", BATS_EVENT_RETIRED},
                  {"notice", BATS_EVENT_NOTICE},
                  {"stop", BATS_EVENT_STOP},
                  {"drain", BATS_EVENT_DRAIN}};
    char at[16], word[16], rest[16] = "";
    struct bats_event ev = {.machine = 0};
    bats_time now;
    size_t i = 0;
    assert_true(sscanf(words, "%15s%15s%u%15s", at, word, &ev.machine, rest) >=
                2);
    assert_ok(bats_duration_parse(at, &now, &err));
    while (strcmp(word, events[i].word) != 0)
        assert_true(++i < sizeof events / sizeof *events);
    ev.type = events[i].type;
    ev.need.cores = 1;
    ev.runtime = now - p->started[ev.machine];
    if (ev.type == BATS_EVENT_FOUND)
        ev.task = (uint32_t)atoi(rest);
    else if (ev.type == BATS_EVENT_ADDED)
        ev.task = ev.machine;
    else if (ev.type == BATS_EVENT_BILLED && rest[0] != '\0')
        assert_ok(bats_money_parse(rest, &ev.amount, &err));
    else if (rest[0] != '\0')
        assert_ok(bats_duration_parse(rest, &ev.runtime, &err));
    if (ev.type >= BATS_EVENT_DONE && ev.type <= BATS_EVENT_YIELDED)
        end(now, ev.machine, ev.type, ev.runtime);
    else if (ev.type == BATS_EVENT_LOST)
        lose(now, ev.machine);
    else
        tell(now, ev);
}

/* Events, divided by semicolons; behind a colon all that the engine answers:
 * "20m done 1: run 1; 21m lost 0". */
__attribute__((format(printf, 1, 2))) static inline void
steps(const char *format, ...)
{
    char text[2048], *rest = text, *words;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    while ((words = strsep(&rest, ";")) != NULL) {
        char *answer = strchr(words, ':');
        if (answer != NULL)
            *answer++ = '\0';
        step(words);
        if (answer != NULL && strcmp(p->answer, answer + (*answer == ' ')))
            fail_msg("%s: '%s', not '%s'", words, p->answer, answer);
    }
}

#endif
