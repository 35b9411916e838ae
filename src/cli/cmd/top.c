/*
 * top: the verb top. Watches a run by its status file. A screen of text needs
 * no library: it is written from the top with the oldest escape sequences
 * (home, erase to the end of the line and of the screen).
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "cli/verbs.h"
#include "record/write/record.h"
#include "report/live.h"
#include "util/now.h"

#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define ERASE_LINE "\033[K"
#define ERASE_REST "\033[J"
#define EVERY_MS 1000

static volatile sig_atomic_t ended; /* a signal */

/* A change of the window only interrupts the poll. */
static void on_signal(int sig)
{
    if (sig != SIGWINCH)
        ended = sig;
}

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

/* Keys come at once, are not echoed, and Ctrl-Z does not stop a program that
 * has the screen. Returns how the terminal was. */
static struct termios set_up(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
    static const struct sigaction noted = {.sa_handler = on_signal};
    struct termios before, raw;
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        bats_die(BATS_EINPUT, "top needs a terminal: --once prints the state "
                              "once, --json for programs");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &noted, NULL);
    raw = before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs(ENTER, stdout);
    return before;
}

/* Waits for a key, at most a second. True: it is q, or the terminal is gone. */
static bool is_left(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;
    return poll(&in, 1, EVERY_MS) > 0 &&
           (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q');
}

static void draw(const json_t *object)
{
    int rows, columns;
    measure(&rows, &columns);
    fputs(HOME, stdout);
    bats_live_print(stdout, object, rows - 1, columns,
                    bats_now_us(CLOCK_REALTIME), ERASE_LINE "\r\n");
    fputs("q quits" ERASE_REST, stdout);
    fflush(stdout);
}

/* The status file goes with the run, a little before the record is closed.
 * Returns whether the run is over. */
static bool watch(const char *record, const char *path, json_t *object)
{
    bool is_over = false;
    do {
        json_t *next;
        if (bats_live_read(path, &next, NULL) == 0) {
            json_decref(object);
            object = next;
        } else {
            is_over = !bats_record_is_live(record);
        }
        draw(object);
    } while (!is_over && !is_left() && !ended);
    json_decref(object);
    return is_over;
}

static int watch_screen(const struct bats_settings *set, const char *record,
                        const char *path, json_t *object)
{
    struct termios before = set_up();
    bool is_over = watch(record, path, object);
    fputs(LEAVE, stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return is_over      ? bats_look_answer(cmd_status, set)
           : ended != 0 ? 128 + (int)ended
                        : 0;
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
        bats_live_print(stdout, object, 1000, columns,
                        bats_now_us(CLOCK_REALTIME), "\n");
        json_decref(object);
    } else {
        return watch_screen(set, record, path, object);
    }
    return 0;
}
