/*
 * client: asks the run that listens at BATS_SOCKET, which is `bats-mpi run
 * --open`: bats-submit, bats-state, bats-cancel and bats-shell are one program
 * by four names. Without MPI, because it is started for every task.
 *
 * Layer: a program of its own; of the others it uses util alone. Requests and
 * answers: src/doc/open.md.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"

#define BATCH 1000 /* lines of standard input that are sent at once */

static volatile sig_atomic_t stop;

static void note(int signal)
{
    stop = signal;
}

/* ---- JSON, as far as it is needed ---- */

static void add_string(struct bats_text *text, const char *string)
{
    struct bats_text safe = {0};
    bats_text_encode(&safe, BATS_ENCODE_UNICODE, string);
    bats_text_add(text, "\"");
    for (size_t i = 0; i < safe.n; i++) {
        unsigned char c = (unsigned char)safe.bytes[i];
        if (c == '"' || c == '\\')
            bats_text_format(text, "\\%c", c);
        else if (c < ' ')
            bats_text_format(text, "\\u%04x", c);
        else
            bats_text_put(text, (char *)&c, 1);
    }
    bats_text_add(text, "\"");
    text->failed |= safe.failed;
    bats_text_release(&safe);
}

/* The number with this name in an answer; `otherwise` without one. */
static long number(const char *line, const char *name, long otherwise)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(line, quoted);
    return at != NULL ? strtol(at + strlen(quoted), NULL, 10) : otherwise;
}

/* ---- waiting ---- */

static int give_up(long id)
{
    struct bats_text text = {0};
    bats_text_format(&text, "{\"cancel\":[%ld]}\n", id);
    bats_client_say(&text);
    bats_client_hear(&text);
    return 128 + stop;
}

/* Until the task has ended; its exit status, as a shell's. */
static int await(struct bats_text *line)
{
    long id = number(line->bytes, "id", 0), status, signal;
    for (;;) {
        status = number(line->bytes, "exit", -1000);
        signal = number(line->bytes, "signal", 0);
        if (status != -1000)
            break;
        if (stop != 0)
            return give_up(id);
        if (!bats_client_hear(line))
            continue;
        bats_client_copy(number(line->bytes, "stream", 1),
                         number(line->bytes, "bytes", 0));
    }
    return status < 0 ? 124 : signal > 0 ? 128 + (int)signal : (int)status;
}

/* ---- submitting ---- */

/* Options with a value, and their names in a request. A number is sent as
 * one. */
enum { CLASS, CLASS_SHORT, KEY, CORES, MEMORY, GPUS, LIMIT, N_VALUES };
static const struct {
    const char *option, *name;
    bool is_number;
} values[N_VALUES] = {
    [CLASS] = {"--class", "class", false},
    [CLASS_SHORT] = {"-N", "class", false},
    [KEY] = {"--key", "key", false},
    [CORES] = {"--cores", "cores", true},
    [MEMORY] = {"--memory", "memory", false},
    [GPUS] = {"--gpus", "gpus", true},
    [LIMIT] = {"--limit", "limit", false},
};

struct submission {
    bool waits, with_env, is_script;
    const char *value[N_VALUES];
    struct {
        char **words;
        int n;
    } after[2]; /* tasks that are to be done, and to end, before it begins */
    const char *properties; /* of a job script of Snakemake, JSON; or NULL */
};

extern char **environ;

static void add_request(struct bats_text *text, const struct submission *s,
                        const char *command)
{
    char cwd[4096];
    bats_text_add(text, "{\"submit\":");
    if (s->with_env) { /* as a job of a batch system has it */
        struct bats_text all = {0};
        bats_text_format(&all, "JOB_ID=$BATS_TASK_ID; export JOB_ID\n%s",
                         command);
        add_string(text, all.bytes);
        bats_text_release(&all);
    } else {
        add_string(text, command);
    }
    if (getcwd(cwd, sizeof cwd) != NULL) {
        bats_text_add(text, ",\"cwd\":");
        add_string(text, cwd);
    }
    for (int i = 0; i < N_VALUES; i++) {
        if (s->value[i] == NULL)
            continue;
        bats_text_format(text, ",\"%s\":", values[i].name);
        if (values[i].is_number)
            bats_text_add(text, s->value[i]);
        else
            add_string(text, s->value[i]);
    }
    if (s->properties != NULL)
        bats_text_format(text, ",\"properties\":%s", s->properties);
    for (int k = 0; k < 2; k++) {
        const char *name = k == 0 ? ",\"after\":[" : ",\"after_any\":[";
        for (int i = 0; i < s->after[k].n; i++)
            bats_text_format(text, "%s%ld", i == 0 ? name : ",",
                             strtol(s->after[k].words[i], NULL, 10));
        bats_text_add(text, s->after[k].n > 0 ? "]" : "");
    }
    for (char **e = environ; s->with_env && *e != NULL; e++) {
        bats_text_add(text, e == environ ? ",\"env\":[" : ",");
        add_string(text, *e);
    }
    if (s->with_env && *environ != NULL)
        bats_text_add(text, "]");
    bats_text_add(text, s->waits ? ",\"wait\":true}\n" : "}\n");
}

static int submit(const struct submission *s, const char *command)
{
    struct bats_text text = {0};
    struct sigaction action = {.sa_handler = note};
    bats_client_join(NULL);
    add_request(&text, s, command);
    if (s->waits) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGHUP, &action, NULL);
    }
    bats_client_ask(&text);
    int code = 0;
    if (s->waits)
        code = await(&text);
    else
        printf("%ld\n", number(text.bytes, "id", 0));
    bats_text_release(&text);
    return code;
}

/* A command, or an object as the run takes it, per line. */
static int submit_lines(const struct submission *s)
{
    struct bats_text text = {0}, answer = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t n = 0;
    int code = 0;
    bats_client_join(NULL);
    while (n >= 0) {
        int sent = 0;
        bats_text_cut(&text, 0);
        while (sent < BATCH && (n = getline(&line, &room, stdin)) >= 0) {
            line[strcspn(line, "\r\n")] = '\0';
            if (*line == '\0')
                continue;
            if (*line == '{')
                bats_text_format(&text, "%s\n", line);
            else
                add_request(&text, s, line);
            sent++;
        }
        bats_client_say(&text);
        for (; sent > 0; sent--) {
            while (!bats_client_hear(&answer))
                ;
            long id = number(answer.bytes, "id", 0);
            if (id > 0)
                printf("%ld\n", id);
            else
                puts(answer.bytes);
            code |= id > 0 ? 0 : BATS_CLIENT_REFUSED;
        }
    }
    free(line);
    return code;
}

/* ---- the four names ---- */

/* One word is a line for the shell, several are the words of a command. */
static char *command_of(int n, char **words)
{
    struct bats_text text = {0};
    for (int i = 0; i < n; i++) {
        bats_text_add(&text, i > 0 ? " " : "");
        if (n == 1)
            bats_text_add(&text, words[i]);
        else
            bats_text_encode(&text, BATS_ENCODE_QUOTED, words[i]);
    }
    if (n == 0)
        bats_client_die(BATS_CLIENT_REFUSED, "%s", "the command is missing");
    return text.bytes;
}

/* The words of a submission: a script of Snakemake, or a command. */
static char *take_words(struct submission *s, int n, char **words)
{
    bool may_be = n > 0 && (s->is_script || words[0][0] == '/');
    char *script = may_be ? bats_client_script(words[0]) : NULL;
    char *properties = script != NULL ? bats_client_properties(script) : NULL;
    if (properties != NULL)
        s->properties = strndup(properties, strcspn(properties, "\n"));
    if (s->is_script && script == NULL)
        bats_client_die(BATS_CLIENT_REFUSED,
                        "%s is no script, which begins with #!",
                        n > 0 ? words[0] : "''");
    return s->is_script || properties != NULL
               ? bats_client_command(script, n, words, properties != NULL)
               : command_of(n, words);
}

static bool is_number(const char *word)
{
    return *word != '\0' && word[strspn(word, "0123456789")] == '\0';
}

static int usage(bool is_wrong)
{
    fputs("bats-submit [--wait] [--cores N] [--memory SIZE] [--gpus N]\n"
          "            [--limit TIME] [--class NAME] [--key KEY]\n"
          "            [--after ID...] [--after-any ID...]\n"
          "            [--env] [--] COMMAND...     prints the task's number\n"
          "bats-submit --script FILE [ARGUMENT...] the same for a copy of it\n"
          "bats-submit --stdin                     a command a line\n"
          "bats-submit --close [SOCKET]            nothing more will come\n"
          "bats-state ID                           running, success, failed\n"
          "bats-state                              all that have not ended\n"
          "bats-cancel ID...\n"
          "bats-shell -c COMMAND                   as a shell, for make\n",
          is_wrong ? stderr : stdout);
    return is_wrong ? BATS_CLIENT_REFUSED : 0;
}

static int close_bag(const char *path)
{
    struct bats_text text = {0};
    bats_client_join(path);
    bats_text_add(&text, "{\"close\":true}\n");
    bats_client_ask(&text);
    return 0;
}

/* The option that takes this value, or N_VALUES. */
static int find_value(const char *option)
{
    int i = 0;
    while (i < N_VALUES && strcmp(values[i].option, option) != 0)
        i++;
    return i;
}

static int bats_submit(int argc, char **argv)
{
    struct submission s = {.waits = false};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *option = argv[i];
        bool has_value = i + 1 < argc;
        int value = find_value(option);
        if (strcmp(option, "--") == 0) {
            i++;
            break;
        } else if (strcmp(option, "--wait") == 0) {
            s.waits = true;
        } else if (strcmp(option, "--env") == 0) {
            s.with_env = true;
        } else if (strcmp(option, "--script") == 0) {
            s.is_script = true;
        } else if (strcmp(option, "--stdin") == 0) {
            return submit_lines(&s);
        } else if (strcmp(option, "--close") == 0) {
            return close_bag(has_value ? argv[i + 1] : NULL);
        } else if (strcmp(option, "--help") == 0) {
            return usage(false);
        } else if (strcmp(option, "--after") == 0 ||
                   strcmp(option, "--after-any") == 0) {
            int any = strcmp(option, "--after-any") == 0;
            s.after[any].words = argv + i + 1;
            while (i + 1 < argc && is_number(argv[i + 1])) {
                s.after[any].n++;
                i++;
            }
        } else if (has_value && value < N_VALUES &&
                   (!values[value].is_number || is_number(argv[i + 1]))) {
            s.value[value] = argv[++i];
            /* A name with a number at its end is that of one job. */
            char *name = value == CLASS_SHORT ? argv[i] : "";
            for (size_t n = strlen(name);
                 n > 1 && strchr("0123456789", name[n - 1]) != NULL;)
                name[--n] = '\0';
        } else {
            fprintf(stderr,
                    "bats-submit: unknown option, or one without "
                    "its value: %s\n",
                    option);
            return usage(true);
        }
    }
    return submit(&s, take_words(&s, argc - i, argv + i));
}

static void add_numbers(struct bats_text *text, int n, char **words)
{
    for (int i = 0; i < n; i++) {
        if (!is_number(words[i]))
            bats_client_die(BATS_CLIENT_REFUSED,
                            "'%s' is not the number of a task", words[i]);
        bats_text_format(text, "%s%s", i > 0 ? "," : "", words[i]);
    }
}

/* All tasks that have not ended, "ID running" a line. */
static int list_states(void)
{
    struct bats_text text = {0};
    bats_client_join(NULL);
    bats_text_add(&text, "{\"state\":\"all\"}\n");
    bats_client_ask(&text);
    char *at = strchr(text.bytes, '[');
    while (at != NULL && at[1] != ']' && *at != ']')
        printf("%ld running\n", strtol(at + 1, &at, 10));
    return 0;
}

static int bats_state(int argc, char **argv)
{
    static const char head[] = "{\"state\":\"";
    struct bats_text text = {0};
    if (argc == 1)
        return list_states();
    if (argc != 2)
        return usage(true);
    bats_text_add(&text, "{\"state\":");
    add_numbers(&text, 1, argv + 1);
    bats_text_add(&text, "}\n");
    bats_client_join(NULL);
    bats_client_ask(&text);
    printf("%.*s\n", (int)strcspn(text.bytes + sizeof head - 1, "\""),
           text.bytes + sizeof head - 1);
    return 0;
}

static int bats_cancel(int argc, char **argv)
{
    struct bats_text text = {0};
    if (argc < 2)
        return usage(true);
    bats_text_add(&text, "{\"cancel\":[");
    add_numbers(&text, argc - 1, argv + 1);
    bats_text_add(&text, "]}\n");
    bats_client_join(NULL);
    bats_client_ask(&text);
    return 0;
}

/* A recipe runs another make, which submits its own. */
static bool is_make(const char *command)
{
    size_t n = strcspn(command, " \t\n");
    while (n > 0 && memchr(command, '/', n) != NULL) {
        command++;
        n--;
    }
    return (n == 4 && strncmp(command, "make", n) == 0) ||
           (n == 5 && strncmp(command, "gmake", n) == 0);
}

/* A command that make runs while it reads the makefile, $(shell ...), is not a
 * recipe: it has no MAKELEVEL, and is run at once. */
static int bats_shell(int argc, char **argv)
{
    struct submission s = {.waits = true, .with_env = true};
    bool is_recipe = argc == 3 && strcmp(argv[1], "-c") == 0 &&
                     getenv("MAKELEVEL") != NULL && !is_make(argv[2]);
    if (is_recipe)
        return submit(&s, argv[2]);
    argv[0] = "sh";
    execv("/bin/sh", argv);
    bats_client_die(BATS_CLIENT_NO_RUN, "/bin/sh: %s", strerror(errno));
    return BATS_CLIENT_NO_RUN;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : argv[0];
    int code = strcmp(name, "bats-state") == 0    ? bats_state(argc, argv)
               : strcmp(name, "bats-cancel") == 0 ? bats_cancel(argc, argv)
               : strcmp(name, "bats-shell") == 0  ? bats_shell(argc, argv)
                                                  : bats_submit(argc, argv);
    return fflush(stdout) == 0 ? code : BATS_CLIENT_NO_RUN;
}
