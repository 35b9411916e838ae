/*
 * html: a single-file page: tables readable without scripts, data, and the
 * scripts that draw them.
 *
 * Layer: report. Used by the pages of run, plan, frontier and simulation. The
 * page has a strict Content-Security-Policy: nothing is loaded, and only
 * scripts and styles with the page's random nonce run, never text of a command
 * or file name. All text is escaped here. Charts are drawn by uPlot (MIT),
 * included in the page with its notice.
 */
#ifndef BATS_HTML_H
#define BATS_HTML_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/error.h"

struct bats_html {
    FILE *out;
    char nonce[33];
};

/* Writes the head of a page about `what` ("Plan of ") `name`, with its title.
 * BATS_ESYS: no nonce. */
int bats_html_begin(struct bats_html *html, FILE *out, const char *what,
                    const char *name, struct bats_error *err);

/* The sentence below the title. */
void bats_html_lead(struct bats_html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the data (decref'd here; NULL: out of memory) and the scripts, and
 * ends the page. BATS_ENOMEM; the caller checks the file for write errors. */
int bats_html_end(struct bats_html *html, json_t *data,
                  struct bats_error *err);

/* Text, escaped. */
void bats_html_text(struct bats_html *html, const char *text);
void bats_html_textf(struct bats_html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "<h2>heading</h2>", followed by an element for the script to draw in. */
void bats_html_section(struct bats_html *html, const char *heading,
                       const char *id);
void bats_html_note(struct bats_html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A list of facts: begin, one call per fact, end. `more` may be NULL. */
void bats_html_facts(struct bats_html *html);
void bats_html_fact(struct bats_html *html, const char *name,
                    const char *value, const char *more);
void bats_html_facts_end(struct bats_html *html);

/* A table with heads separated by '|'; those that begin with '<' are flush
 * left. Rows of cells follow. */
void bats_html_table(struct bats_html *html, const char *caption,
                     const char *heads);
void bats_html_row(struct bats_html *html);
void bats_html_cell(struct bats_html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Cells flush left; the second function sets code. */
void bats_html_words(struct bats_html *html, const char *text);
void bats_html_code(struct bats_html *html, const char *text);
void bats_html_table_end(struct bats_html *html);

/* ---- the pages ---- */

struct bats_view;
struct bats_causes;
struct bats_estimator;
struct bats_schedule;

struct bats_strategies;

/* The page of a recorded run. command: of its last session, or NULL;
 * strategies: time and cost of the other strategies, or NULL. Errors: those of
 * the view, BATS_ENOMEM. */
int bats_html_run(FILE *out, struct bats_view *view, const char *command,
                  const struct bats_causes *causes,
                  const struct bats_strategies *strategies,
                  struct bats_error *err);

struct bats_run_history;

/* The part about dependencies; empty without any. */
int bats_html_graph(struct bats_html *html, struct bats_view *view,
                    const struct bats_run_history *history,
                    struct bats_error *err);

/* The part about the parameters of a sweep; empty without any. */
int bats_html_sweep(struct bats_html *html, struct bats_view *view,
                    struct bats_error *err);

/* The page of a frontier of strategies, the part of a run's page about it, and
 * that part's data (strategies.h). */
int bats_html_strategies(FILE *out, const struct bats_strategies *strategies,
                         struct bats_error *err);
void bats_html_strategies_part(struct bats_html *html,
                               const struct bats_strategies *strategies);
json_t *bats_html_strategies_data(const struct bats_strategies *strategies);

/* Memory requested per task: from the bag, else from --memory, else from the
 * batch job. */
struct bats_html_asked {
    int64_t each;     /* KiB; 0: unknown */
    int64_t *by_task; /* by number - 1, KiB; or NULL */
    int64_t n;
};

/* From the options of a run in its record. BATS_ENOMEM. */
int bats_html_asked_init(struct bats_html_asked *asked, const json_t *run,
                         int64_t n_tasks, struct bats_error *err);
void bats_html_asked_release(struct bats_html_asked *asked);

/* Memory requested by task `number`; 0: unknown. */
int64_t bats_html_asked_kib(const struct bats_html_asked *asked,
                            int64_t number);

/* A cell with an amount of memory; 0: unknown. */
void bats_html_kib(struct bats_html *html, int64_t kib);

/* The part about memory, requested and used; empty if no task is known to have
 * used more than bats-mpi itself. */
int bats_html_memory(struct bats_html *html,
                     const struct bats_run_history *history,
                     const struct bats_html_asked *asked,
                     struct bats_error *err);

/* The page of a plan: the schedules on offer, and the frontier. */
struct bats_html_plan {
    const char *name;          /* of the profile or the bag */
    const char *profile, *bag; /* NULL: made from given runtimes */
    const struct bats_estimator *e;
    const struct bats_schedule *offers, *frontier;
    size_t n_offers, n_frontier;
    bool complete;        /* the frontier is complete */
    const uint32_t *path; /* the longest chain of tasks, counted from 0 */
    uint32_t n_path;
};
int bats_html_plan(FILE *out, const struct bats_html_plan *plan,
                   struct bats_error *err);

#endif
