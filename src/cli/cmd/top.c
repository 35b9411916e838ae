/*
 * top: the verb top. Watches a run by its status file. A screen of text needs
 * no library: it is written from the top with the oldest escape sequences
 * (home, erase to the end of the line and of the screen), and only changed
 * lines are written, so that a slow connection keeps up.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "record/read/view.h"
#include "record/write/record.h"
#include "report/live.h"
#include "util/now.h"

#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define ERASE_LINE "\033[K"
#define ERASE_REST "\033[J"
#define EVERY_MS 1000

static struct termios before;
static volatile sig_atomic_t ended; /* a signal */
static volatile sig_atomic_t stops; /* Ctrl-Z */

/* A change of the window only interrupts the poll. */
static void on_signal(int sig)
{
    if (sig == SIGTSTP)
        stops = sig;
    else if (sig != SIGWINCH)
        ended = sig;
}

static const struct sigaction noted = {.sa_handler = on_signal};

static void measure(int *rows, int *columns)
{
    struct winsize size;

    *rows = 24;
    *columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0) {
        *rows = size.ws_row;
        *columns = size.ws_col;
    }
}

/* ---- the screen ---- */

static void enter(void)
{
    struct termios raw;
    sigaction(SIGTSTP, &noted, NULL);
    tcgetattr(STDIN_FILENO, &before);
    raw = before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs(ENTER, stdout);
}

static void set_up(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        bats_die(BATS_EINPUT, "top needs a terminal: --once prints the state "
                              "once, --json for programs");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &noted, NULL);
    enter();
}

static void take_down(void)
{
    fputs(LEAVE, stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* Gives the shell its screen back, and waits for SIGCONT. */
static void stop(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    stops = 0;
    take_down();
    sigaction(SIGTSTP, &usual, NULL);
    raise(SIGTSTP);
    enter();
}

/* Text of the last screen. */
struct frame {
    char *text; /* its lines, each with a newline; NULL: nothing yet */
    int rows, columns;
    enum bats_live_page page;
    bool is_over;
};

/* Writes the lines of `text` that differ from those of `old` ("": none). True:
 * `old` had more lines, and they have been erased. */
static bool put_lines(const char *text, const char *old)
{
    int below = 0; /* lines to move down */

    fputs(HOME, stdout);
    while (*text != '\0') {
        size_t n = strcspn(text, "\n"), m = strcspn(old, "\n");
        if (n != m || memcmp(text, old, n) != 0 || *old == '\0') {
            for (; below > 0; below--)
                fputs("\r\n", stdout);
            fwrite(text, 1, n, stdout);
            fputs(ERASE_LINE, stdout);
        }
        below++;
        text += n + 1;
        old += m + (old[m] == '\n');
    }
    if (*old == '\0')
        return false;
    for (; below > 0; below--)
        fputs("\r\n", stdout);
    fputs(ERASE_REST, stdout);
    return true;
}

static void put_keys(const struct frame *f)
{
    fprintf(stdout, "\033[%d;1H" ERASE_LINE "%.*s", f->rows, f->columns - 1,
            f->is_over        ? "The run is over. q leaves."
            : f->columns < 60 ? "pages: o t f d  q quit"
                              : "o overview  t tasks  f failures  "
                                "d decisions  q quit");
}

static void draw(struct frame *last, const json_t *object,
                 enum bats_live_page page, bool is_over)
{
    struct frame f = {.page = page, .is_over = is_over};
    size_t size;

    measure(&f.rows, &f.columns);
    FILE *out = open_memstream(&f.text, &size);
    if (out == NULL)
        return;
    bats_live_print(out, object, page, f.rows - 1, f.columns,
                    bats_now_us(CLOCK_REALTIME), "\n");
    if (fclose(out) != 0)
        return;
    bool is_new = last->text == NULL || last->rows != f.rows ||
                  last->columns != f.columns || last->page != page ||
                  last->is_over != is_over;
    if (is_new) {
        fputs(HOME ERASE_REST, stdout);
        put_keys(&f);
    }
    if (put_lines(f.text, is_new ? "" : last->text))
        put_keys(&f);
    fflush(stdout);
    free(last->text);
    *last = f;
}

/* Waits for a key, at most a second; 0: none. */
static char wait_for_key(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;

    if (poll(&in, 1, EVERY_MS) > 0 && read(STDIN_FILENO, &key, 1) <= 0)
        key = 'q'; /* the terminal is gone */
    return key;
}

/* Reads the outcome from the record, since the status file has gone with the
 * run. False: the record does not have it yet. */
static bool read_end(const char *record, json_t *object)
{
    struct bats_view *view;
    struct bats_view_status status;
    bool is_over = false;

    if (bats_view_open(record, &view, NULL) != 0)
        return false;
    if (bats_view_status(view, &status, NULL) == 0 && !status.is_live) {
        bats_live_end(object, &status, bats_look_state(&status).s);
        is_over = true;
    }
    bats_view_close(view);
    return is_over;
}

static void watch(const char *record, const char *path, json_t *object)
{
    static const char keys[BATS_LIVE_PAGES] = {'o', 't', 'f', 'd'};
    enum bats_live_page page = BATS_LIVE_ALL;
    struct frame last = {.text = NULL};
    bool is_over = false;

    while (!ended) {
        json_t *next;
        if (bats_live_read(path, &next, NULL) == 0) {
            json_decref(object);
            object = next;
            is_over = false;
        } else if (!is_over) {
            is_over = read_end(record, object);
        }
        draw(&last, object, page, is_over);
        char key = wait_for_key();
        if (key == 'q')
            break;
        if (stops != 0) {
            stop();
            free(last.text);
            last.text = NULL; /* redraw everything */
        }
        if (key == '\t' || key == ' ')
            page = (enum bats_live_page)((page + 1) % BATS_LIVE_PAGES);
        for (int i = 0; i < BATS_LIVE_PAGES; i++)
            if (key == keys[i])
                page = (enum bats_live_page)i;
    }
    free(last.text);
    json_decref(object);
}

/* ---- the verb ---- */

static int explain(const char *word, const char *record, int code)
{
    if (access(record, F_OK) != 0)
        bats_tell("there is neither a record %s nor %s" BATS_LOOK_SUFFIX, word,
                  word);
    else if (bats_record_is_live(record))
        bats_tell("the run goes on, but has written no status yet: try again "
                  "in a few seconds");
    else
        bats_tell("the run is over: 'bats-mpi status %s' tells how it ended",
                  word);
    return code;
}

int cmd_top(const struct bats_settings *set)
{
    char record[4096], path[4096 + sizeof BATS_LIVE_SUFFIX];
    json_t *object;
    int rows, columns;
    bats_look_find(set->words[0], record, sizeof record);
    snprintf(path, sizeof path, "%s" BATS_LIVE_SUFFIX, record);
    int rc = bats_live_read(path, &object, &bats_why);
    if (rc < 0 && access(path, F_OK) != 0)
        return explain(set->words[0], record, bats_exit_of(rc));
    bats_must(rc);
    if (set->json) {
        bats_look_json(object, JSON_INDENT(2));
    } else if (set->once) {
        measure(&rows, &columns);
        bats_live_print(stdout, object, BATS_LIVE_ALL, 1000, columns,
                        bats_now_us(CLOCK_REALTIME), "\n");
        json_decref(object);
    } else {
        set_up();
        watch(record, path, object);
        take_down();
    }
    return ended ? 128 + (int)ended : 0;
}
