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

#include "bats/error.h"
#include "bats/units.h"
#include "cli/deadline.h"
#include "cli/verbs.h"
#include "input/sweep/sweep.h"
#include "run/run.h"

/* most repetitions of an option that adds to a list */
#define BATS_OPTIONS_LIST 32
#define BATS_OPTIONS_MAX  160 /* rows of the table */

/* The values of a verb's options, with defaults in brackets. Strings point
 * into argv. */
struct bats_settings {
    bool help;
    const char *given[BATS_OPTIONS_MAX]; /* by row of the table: the argument
                                          * as it was written, "" for a flag;
                                          * NULL: not given */
    /* Options stored directly in the run's options: [budget: BATS_BUDGET, else
     * BATS_UNLIMITED; silence_us: 60 s; time_scale: 1; sync_us: 100 ms;
     * sync_events: 1000; else 0]. */
    struct bats_run_options run;
    const char *clusters;    /* [NULL] */
    const char *budget_from; /* --budget, BATS_BUDGET [NULL] */
    const char *budget_text; /* "30%", or NULL [NULL] */
    double budget_share;     /* 0.3: of the way from the cost of the cheapest
                              * schedule to that of the fastest; budget is 0
                              * until it is computed */
    const char *bind;        /* none, core or numa ["core"] */
    const char *policy;      /* ["bats"] */
    bool policy_given;       /* [false] */
    const char *strategy;    /* [NULL] */
    const char *utility;     /* [NULL] */
    uint32_t plays;          /* [0] */
    bool online;             /* [false] */
    bool seed_given;         /* [false] */
    const char *record;      /* [NULL] */
    bool no_record;          /* [false] */
    const char *history;     /* [NULL] */
    bool no_history;         /* [false] */
    const char *cluster;     /* history: cluster of imported tasks [NULL] */
    bool resume;             /* [false] */
    bool resume_failed;      /* [false] */
    bool retry_failed;       /* [false] */
    bats_time grace;         /* [5 s] */
    const char *welcome;     /* [NULL] */
    const char *host;        /* [NULL] */
    uint64_t port;           /* [0] */
    const char *join;        /* worker: [NULL] */
    const char *job;         /* worker: [NULL] */
    const char *tail;        /* [none] */
    bool no_replicate;       /* [false] */
    bool dry_run;            /* [false] */
    bool tag;                /* [false] */
    const char *output;      /* lines, stream or none [NULL] */
    const char *output_dir;  /* directory of stream [NULL] */
    int64_t memory;          /* bytes; 0: not given [0] */
    const char *results;     /* [NULL] */
    const char *tagstring;   /* [NULL] */
    const char *joblog;      /* [NULL] */
    const char *json_file;   /* run: [NULL] */
    bool quiet;              /* [false] */
    bool once;               /* [false] */
    const char *out;         /* [NULL] */
    bool wfformat;           /* [false] */
    const char *html;        /* [NULL] */
    bool progress;           /* [false] */
    bool bar;                /* [false] */
    const char *tasks;       /* plan: [NULL] */
    const char *save;        /* clusters, sample: [NULL] */
    const char *choose;      /* [NULL] */
    const char *profile;     /* [NULL] */
    bool cushion;            /* [false] */
    uint32_t sample_on;      /* [0] */
    bool ranks;              /* clusters: [false] */
    const char *runtime; /* plan: as written, "slow=15m,fast=3.75m" [NULL] */
    struct bats_deadline deadline; /* [none] */
    const char *minimize;          /* cost or time [NULL] */
    double confidence;             /* [0] */
    bool frontier;                 /* plan: [false] */
    bool points;                   /* plan: [false] */
    const char *sbatch;            /* plan: [NULL] */
    bool json;                     /* plan: [false] */
    bool csv;                      /* simulate, plan: [false] */
    bool trace;                    /* simulate: [false] */
    uint32_t jobs;          /* simulate, frontier; 0: one per core [0] */
    const char *workers;    /* run: --jobs, as written [NULL] */
    const char *order;      /* run: file, random, longest [NULL: as needed] */
    bool shuffle;           /* run: --shuf, --order random [false] */
    bool keep_order;        /* run: [false] */
    bool verbose;           /* run: [false] */
    uint32_t retries;       /* most executions of a failing task [1] */
    const char *partition;  /* alloc: as written [NULL] */
    const char *system;     /* alloc: key of a batch system [NULL: any] */
    const char *unreliable; /* alloc: as written [NULL] */
    const char *account;    /* alloc: [NULL] */
    uint32_t nodes;         /* alloc: of a job [1] */
    uint32_t slots;         /* alloc: of each node [1] */
    uint64_t max_jobs;      /* alloc: [8] */
    bats_time least;        /* alloc: --time-min [0] */
    bats_time poll;         /* alloc: [10 s] */
    const char *guarantee;  /* alloc: lease, node or limit [lease] */
    bool open;              /* run: [false] */
    bats_time idle;         /* run: [0] */
    uint64_t in_all;        /* run: --expect [0] */
    char *const *driver;    /* run: words after --; NULL: none */
    const char *bag;        /* run: the argument BAG; NULL with help */
    const char *task[BATS_OPTIONS_LIST]; /* output: lists of numbers */
    size_t n_task;                       /* [0] */
    bool all;                            /* output: [false] */
    bool failed;                         /* output: [false] */
    bool err;                            /* output: [false] */
    bool sizes;             /* tasks: by class, memory requested and used */
    uint64_t slowest;       /* tasks: [0] */
    const char *state;      /* tasks: [NULL] */
    const char *where;      /* tasks: [NULL] */
    const char *on_machine; /* log: a name [NULL] */
    uint64_t last;          /* log: entries [0] */
    bool left;              /* status: [false] */
    const char *words[BATS_WORDS_MAX]; /* all arguments; NULL: not given */
    const char *const *files;          /* run: the words of several bags, */
    size_t n_files;                    /* [0] */
    bool is_sweep;                     /* run: a sweep instead of BAG
                                          * [false] */
    struct bats_sweep_spec sweep;
    struct bats_sweep_source
        source[BATS_OPTIONS_LIST]; /* run: sweep.sources */
    const char *header;            /* run: ":" [NULL] */
    const char *max_args;          /* run: as written [NULL] */
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
    BATS_OPTION_ENV,      /* names of variables; nothing is stored */
    BATS_OPTION_LIST,     /* a text, appended to a list */
    BATS_OPTION_SOURCE,   /* values of a sweep, appended to a list */
    BATS_OPTION_COUNT,    /* an integer in 0 .. 2^63 - 1 */
    BATS_OPTION_SMALL,    /* an integer in 0 .. 255 */
    BATS_OPTION_SCALE,    /* a number from 1e-6 to 1e6 */
    BATS_OPTION_MORE,     /* a number from 1.01 to 1000 */
    BATS_OPTION_LEVEL,    /* a number from 0.5 to 0.9999 */
    BATS_OPTION_SYNC,     /* sync* */
    BATS_OPTION_DEADLINE, /* see cli/deadline.h */
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
    const char *help; /* a phrase without a final stop */
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

/* True if the run continues from the sample in --profile. (For policy expert a
 * profile only describes the pools.) */
bool bats_settings_go_on(const struct bats_settings *settings);

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
