/*
 * progress: shows the state of the run on standard error while it lasts.
 *
 * Layer: report. Used by cli. On a terminal one line is redrawn in place;
 * elsewhere plain lines are written, at each decision carried out and at
 * intervals that grow from 2 to 60 seconds.
 *
 * A launcher may copy standard output and standard error to the terminal in
 * any order. So any text written while the line is shown begins with
 * BATS_PROGRESS_CLEAR and ends with a newline.
 */
#ifndef BATS_PROGRESS_H
#define BATS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/snapshot.h"

/* Back to the first column and erase to the end of the line. */
#define BATS_PROGRESS_CLEAR "\r\033[K"

enum bats_progress_style {
    BATS_PROGRESS_NONE,
    BATS_PROGRESS_PLAIN,
    BATS_PROGRESS_LINE
};

struct bats_progress {
    enum bats_progress_style style;
    FILE *out;
    int terminal;         /* LINE: see bats_terminal_open; not owned */
    bool is_drawn;        /* LINE: the line is on the screen */
    int64_t next_us;      /* when to write again */
    int64_t interval_us;  /* PLAIN: current interval between lines */
    size_t n_decisions;   /* PLAIN: written so far */
    bool bar;             /* LINE: with a bar, if there is room [false] */
    double per_hour;      /* recent rate of ended tasks; 0: unknown */
    bats_time rated_at;   /* time of the last update of per_hour */
    uint64_t rated_ended; /* tasks ended by then */
};

void bats_progress_init(struct bats_progress *progress,
                        enum bats_progress_style style, FILE *out,
                        int terminal);

/* Updates per_hour, which others may show too. Call now and then from the
 * start of the run. */
void bats_progress_rate(struct bats_progress *progress,
                        const struct bats_sched_status *status);

/* Shows `snapshot` if it is due; now_us: real time in microseconds from any
 * start. */
void bats_progress_show(struct bats_progress *progress, int64_t now_us,
                        const struct bats_snapshot *snapshot);

/* Removes the line at the end of the run; in PLAIN, writes the remaining
 * decisions. `snapshot` NULL: there are none. */
void bats_progress_finish(struct bats_progress *progress,
                          const struct bats_snapshot *snapshot);

/* Removes the line from the screen before something else is written. */
void bats_progress_clear(struct bats_progress *progress);

/* Formats the line, without a newline: time, share and number of tasks that
 * have ended, rate (0: unknown), time to the estimated end, charged of the
 * budget, machines held: "1h5m 51% 512/1000 57 running 7.9/min ~3h27m left
 * 288/600 SU slow 32 fast 25". Shows as many of these as fit into `width`
 * columns; share, end, money, failures and rate have priority. Returns
 * `text`. */
const char *bats_progress_text(char *text, size_t size, size_t width,
                               const struct bats_snapshot *snapshot,
                               double per_hour);

/*
 * ---- the terminal ----
 *
 * mpirun gives every process pipes and copies their contents to its own
 * terminal, so rank 0 looks at the parent's descriptor if the parent is mpirun.
 * srun starts tasks from a daemon that has no terminal, so the user must ask
 * for progress (--progress).
 */

/* Opens the terminal behind descriptor `fd` (1 or 2) of this process; -1
 * without one, or if it cannot redraw a line. The caller closes it. */
int bats_terminal_open(int fd);

/* Columns of the terminal behind `fd`; 80 if unknown or there is none. */
int bats_terminal_width(int fd);

#endif
