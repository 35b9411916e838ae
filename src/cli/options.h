/*
 * options: the one table of all command-line options.
 *
 * Layer: cli. Used by every verb. The table feeds the parser, --help, the man
 * page and the completion (help.h), so that they cannot disagree.
 */
#ifndef BATS_OPTIONS_H
#define BATS_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "bats/error.h"
#include "bats/estimate.h"
#include "cli/verbs.h"
#include "input/sweep/sweep.h"
#include "run/run.h"

/* most repetitions of an option that adds to a list */
#define BATS_OPTIONS_LIST 32
#define BATS_OPTIONS_MAX 160 /* rows of the table */

/*
 * --deadline: a duration from the start of the run ("4h", "1-12:00:00"); a
 * moment in local time: "18:30", the next time that a clock shows it, or
 * "2026-11-22T18:30" (:SS may follow, and the time may be missing); or a
 * percentage: 0% is the soonest possible end, 100% that of the cheapest
 * schedule. ("18:30" is not a duration here, unlike elsewhere.)
 */
struct bats_deadline {
    const char *text;   /* as given; NULL: no deadline */
    bats_time duration; /* > 0; 0: not a duration */
    time_t moment;      /* 0: not a moment */
    bool is_share;
    double share; /* 0 .. 1 */
};

/* The values of a verb's options: zero and NULL unless they are given, or a
 * default in brackets. Strings point into argv. */
struct bats_settings {
    bool help;
    const char *given[BATS_OPTIONS_MAX]; /* by row of the table: the argument
                                          * as it was written, "" for a flag;
                                          * NULL: not given */
    /* Options stored directly in the run's options: [budget: BATS_BUDGET, else
     * BATS_UNLIMITED; silence_us: 60 s; time_scale: 1; sync_us: 100 ms;
     * sync_events: 1000]. */
    struct bats_run_options run;

    /* Money, machines and policies */
    const char *clusters;
    const char *budget_from; /* --budget or BATS_BUDGET */
    const char *budget_text; /* "30%", or NULL */
    double budget_share;     /* 0.3: of the way from the cost of the cheapest
                              * schedule to that of the fastest; budget is 0
                              * until it is computed */
    struct bats_deadline deadline;
    const char *minimize; /* cost or time */
    const char *choose, *profile;
    const char *save; /* clusters, sample, run, frontier */
    uint32_t sample_on;
    double confidence;
    const char *policy; /* ["bats"] */
    const char *strategy, *utility;
    const char *tail; /* [BATS_TAIL_DEFAULT] */
    bool no_replicate;

    /* A run */
    bool dry_run, quiet, verbose, progress, bar;
    bool resume, resume_failed, retry_failed;
    bool shuffle;       /* --shuf */
    const char *order;  /* file, random, longest; NULL: as needed */
    uint32_t retries;   /* most executions of a failing task [1] */
    bats_time grace;    /* [5 s] */
    const char *bind;   /* none, core or numa ["core"] */
    const char *record; /* file */
    bool no_record;
    const char *history; /* file */
    bool no_history;
    const char *workers;          /* --jobs, as written */
    const char *output;           /* lines, stream or none */
    const char *output_dir;       /* directory of stream */
    const char *results, *joblog; /* directory, file */
    const char *json_file;        /* --json FILE */
    bool tag, keep_order;         /* tag: of the verb output, too */
    const char *tagstring;
    const char *welcome, *host; /* for worker jobs */
    uint64_t port;
    const char *bag;          /* the argument BAG; NULL with help */
    const char *const *files; /* the words of several bags, */
    size_t n_files;
    bool open;
    bats_time idle;
    uint64_t in_all;     /* --expect */
    char *const *driver; /* words after --; NULL: none */

    /* A sweep instead of BAG */
    bool is_sweep;
    struct bats_sweep_spec sweep;
    struct bats_sweep_source source[BATS_OPTIONS_LIST]; /* sweep.sources */
    const char *header;                                 /* ":" */
    const char *max_args;                               /* as written */

    /* alloc */
    const char *partition, *unreliable; /* as written */
    const char *system;                 /* key of a batch system; NULL: any */
    const char *account;
    uint32_t nodes;        /* of a job [1] */
    uint32_t slots;        /* of each node [1] */
    uint64_t max_jobs;     /* [8] */
    bats_time least;       /* --time-min */
    bats_time poll;        /* [10 s] */
    const char *guarantee; /* lease, node or limit ["lease"] */

    /* Other verbs */
    const char *words[BATS_WORDS_MAX]; /* all arguments; NULL: not given */
    bool json, csv;
    const char *html, *out;              /* files */
    const char *tasks, *runtime;         /* plan: as written */
    bool frontier, points;               /* plan */
    const char *sbatch;                  /* alloc */
    uint32_t jobs;                       /* threads; 0: one per core */
    uint32_t plays;                      /* frontier */
    bool online;                         /* frontier */
    bool ranks;                          /* clusters */
    const char *cluster;                 /* history: of imported tasks */
    const char *join, *job;              /* worker */
    bool once;                           /* top */
    bool left;                           /* status */
    bool wfformat;                       /* export */
    bool failed;                         /* output, tasks */
    const char *state, *where;           /* tasks */
    bool sizes;                          /* tasks */
    uint64_t slowest;                    /* tasks */
    const char *on_machine;              /* log: a name */
    uint64_t last;                       /* log: entries */
    bool err;                            /* output */
    const char *task[BATS_OPTIONS_LIST]; /* output: lists of numbers */
    size_t n_task;
};

enum bats_option_kind {
    BATS_OPTION_FLAG,
    BATS_OPTION_TEXT,
    BATS_OPTION_CHOICE,   /* one of the words in `argument`, as in "a|b" */
    BATS_OPTION_MONEY,    /* an amount or "unlimited" */
    BATS_OPTION_BUDGET,   /* an amount, "unlimited" or "account" */
    BATS_OPTION_DURATION, /* >= 0 */
    BATS_OPTION_PERIOD,   /* a duration > 0 */
    BATS_OPTION_OUTPUT,   /* as BATS_OPTION_CHOICE, or "stream:DIR" */
    BATS_OPTION_SIZE,     /* bytes > 0 */
    BATS_OPTION_KIB,      /* the same, stored in KiB, rounded up */
    BATS_OPTION_ENV,      /* names of variables; nothing is stored */
    BATS_OPTION_LIST,     /* a text, appended to a list */
    BATS_OPTION_SOURCE,   /* values of a sweep, appended to a list */
    BATS_OPTION_COUNT,    /* an integer in 0 .. 2^63 - 1 */
    BATS_OPTION_SMALL,    /* an integer in 0 .. 255 */
    BATS_OPTION_SCALE,    /* a number from 1e-6 to 1e6 */
    BATS_OPTION_MORE,     /* a number from 1.01 to 1000 */
    BATS_OPTION_LEVEL,    /* a number from 0.5 to 0.9999 */
    BATS_OPTION_SYNC,     /* sync* */
    BATS_OPTION_DEADLINE, /* struct bats_deadline */
    BATS_OPTION_TIMEOUT,  /* timeout* of struct bats_sched_rules */
    BATS_OPTION_HALT      /* halt_* of struct bats_sched_rules */
};

/* In the order of the help. */
enum bats_option_group {
    BATS_GROUP_PLAN,   /* description of the bag (plan) */
    BATS_GROUP_SELECT, /* selection of output (output) */
    BATS_GROUP_TASKS,  /* selection of tasks (tasks) */
    BATS_GROUP_MONEY,  /* money and machines */
    BATS_GROUP_RUN,    /* how tasks are run */
    BATS_GROUP_FAULT,  /* when things go wrong */
    BATS_GROUP_OUTPUT, /* what is written */
    BATS_GROUP_SWEEP,  /* values of a sweep (run) */
    BATS_GROUP_PAPERS, /* policies and tails of papers */
    BATS_GROUPS
};

struct bats_option {
    const char *name;
    char letter;          /* short option, or 0 */
    const char *argument; /* name of the argument in the help; NULL: none */
    enum bats_option_kind kind;
    size_t offset;  /* offset of the value in struct bats_settings; for a
                     * source, its enum bats_source_kind */
    unsigned verbs; /* one bit per enum bats_verb */
    enum bats_option_group group;
};

extern const struct bats_option bats_options[]; /* options_table.c */
extern const size_t bats_options_n;

/*
 * Parses the options and arguments of `verb` from argv[1] on (argv may be
 * permuted). BATS_EINPUT with one sentence: an option that is unknown or
 * ambiguous, a missing or invalid value, a wrong number of arguments, an
 * invalid BATS_BUDGET. With --help, nothing else is checked.
 */
int bats_options_parse(enum bats_verb verb, int argc, char **argv,
                       struct bats_settings *settings, struct bats_error *err);

/* options_value.c: stores `text`, which must outlive *settings, where `option`
 * keeps its value; a flag has no text. BATS_EINPUT: an invalid value; the
 * sentence names the option. */
int bats_option_store(const struct bats_option *option, const char *text,
                      struct bats_settings *settings, struct bats_error *err);

/* The same for a budget, without a name in the sentence. Only
 * BATS_OPTION_BUDGET accepts "account": a plan belongs to no job. */
int bats_option_budget(enum bats_option_kind kind, const char *text,
                       struct bats_settings *settings, struct bats_error *err);

/* ---- deadline.c ---- */

/* `now`: the wall clock. BATS_EINPUT with a sentence. */
int bats_deadline_parse(const char *text, time_t now,
                        struct bats_deadline *deadline,
                        struct bats_error *err);

/* Virtual time from `now` to the deadline, at least 1; 0: no deadline, or a
 * share. */
bats_time bats_deadline_from(const struct bats_deadline *deadline, time_t now,
                             double time_scale);

/* Converts a share of the way from the soonest to the latest end on offer.
 * Errors: those of bats_estimate_offers. */
int bats_deadline_of_share(const struct bats_deadline *deadline,
                           const struct bats_estimator *e, bats_time *left,
                           struct bats_error *err);

/* refused.c, about options of GNU parallel and xargs that bats-mpi does not
 * have. `letter` (or 0), or the option `name` of n bytes: BATS_EINPUT with what
 * to do instead; 0 if it is none of these. */
int bats_refused_option(int letter, const char *name, size_t n,
                        struct bats_error *err);

/* BATS_EINPUT if a word of a sweep has {= PERL =}. */
int bats_refused_words(const char *const *words, size_t n,
                       struct bats_error *err);

/* True if an option of this name is given. */
bool bats_settings_given(const struct bats_settings *settings,
                         const char *name);

/* True if the run has neither a budget nor a deadline, and no schedule to
 * choose. */
bool bats_settings_is_plain(const struct bats_settings *settings);

/* True for a plain run on this machine, with --jobs and without a clusters
 * file or --verbose: it shows only output, failures and a line at the end. */
bool bats_settings_is_local(const struct bats_settings *settings);

/* True if the goal is the least cost by the deadline. */
bool bats_settings_thrifty(const struct bats_settings *settings);

/* The part of a command line that the record keeps, as an object that the
 * caller releases: "verb"; "bag", or "workflows" if there are several;
 * "given", the options as they were written (true: a flag); "memory_kib", if
 * each task may have so much, by --memory or in the batch job. NULL: out of
 * memory. */
json_t *bats_options_json(enum bats_verb verb,
                          const struct bats_settings *settings);

/* The options given in such an object, quoted for the shell: "--retries 2
 * --timeout 300%", without the budget. For free(); NULL: out of memory, or no
 * object. */
char *bats_options_given(const json_t *options);

/* Prints the sentence and how to get help; returns the exit code (2). */
int bats_options_complain(enum bats_verb verb, const struct bats_error *err);

#endif
