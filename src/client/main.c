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
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/text.h"

#define REFUSED 2
#define NO_RUN 3
#define BATCH 1000 /* lines of standard input that are sent at once */

static volatile sig_atomic_t stop;

static void note(int signal)
{
    stop = signal;
}

static void die(int code, const char *format, const char *what)
{
    fputs("bats-submit: ", stderr);
    fprintf(stderr, format, what);
    putc('\n', stderr);
    exit(code);
}

/* ---- the connection ---- */

static struct {
    int fd;
    char bytes[65536];
    size_t at, n;
} run = {.fd = -1};

static void join(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (path == NULL)
        path = getenv("BATS_SOCKET");
    if (path == NULL)
        die(REFUSED, "%s is not set: start 'bats-mpi run --open' first",
            "BATS_SOCKET");
    if (strlen(path) >= sizeof to.sun_path)
        die(REFUSED, "%s: this name is too long", path);
    strcpy(to.sun_path, path);
    run.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(run.fd, (struct sockaddr *)&to, sizeof to) != 0) {
        fprintf(stderr, "bats-submit: no run listens at %s: %s\n", path,
                strerror(errno));
        exit(NO_RUN);
    }
}

static void say(const struct bats_text *text)
{
    if (text->failed)
        die(NO_RUN, "%s", "out of memory");
    for (size_t at = 0; at < text->n;) {
        ssize_t n = send(run.fd, text->bytes + at, text->n - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            die(NO_RUN, "the run has ended: %s", strerror(errno));
        at += n > 0 ? (size_t)n : 0;
    }
}

/* Returns false if a signal came. */
static bool fill(void)
{
    ssize_t n = recv(run.fd, run.bytes, sizeof run.bytes, 0);
    if (n < 0 && errno == EINTR)
        return false;
    if (n <= 0)
        die(NO_RUN, "%s", "the run ended before it answered");
    run.at = 0;
    run.n = (size_t)n;
    return true;
}

/* The next line, without its end. False: a signal came. */
static bool hear(struct bats_text *line)
{
    bats_text_cut(line, 0);
    for (;;) {
        if (run.at == run.n && !fill())
            return false;
        char *begin = run.bytes + run.at;
        char *end = memchr(begin, '\n', run.n - run.at);
        size_t n = end != NULL ? (size_t)(end - begin) : run.n - run.at;
        bats_text_put(line, begin, n);
        run.at += n + (end != NULL);
        if (end != NULL)
            return true;
    }
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

/* Ends the program if the answer is a refusal. */
static void check(const struct bats_text *line)
{
    static const char head[] = "{\"error\":\"";
    if (line->n > sizeof head &&
        strncmp(line->bytes, head, sizeof head - 1) == 0)
        fprintf(stderr, "bats-submit: %.*s\n",
                (int)(line->n - sizeof head - 1),
                line->bytes + sizeof head - 1),
            exit(REFUSED);
}

/* ---- waiting ---- */

/* Copies the output behind a line to where the task has written it. */
static void copy(long stream, long n)
{
    while (n > 0) {
        if (run.at == run.n && !fill())
            continue;
        size_t left = run.n - run.at;
        size_t some = left < (size_t)n ? left : (size_t)n;
        fwrite(run.bytes + run.at, 1, some, stream == 2 ? stderr : stdout);
        run.at += some;
        n -= (long)some;
    }
    fflush(stream == 2 ? stderr : stdout);
}

static int give_up(long id)
{
    struct bats_text text = {0};
    bats_text_format(&text, "{\"cancel\":[%ld]}\n", id);
    say(&text);
    hear(&text);
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
        if (!hear(line)) {
            if (stop != 0)
                return give_up(id);
            continue;
        }
        copy(number(line->bytes, "stream", 1),
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
    join(NULL);
    add_request(&text, s, command);
    say(&text);
    if (s->waits) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGHUP, &action, NULL);
    }
    while (!hear(&text))
        ;
    check(&text);
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
    join(NULL);
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
        say(&text);
        for (; sent > 0; sent--) {
            while (!hear(&answer))
                ;
            long id = number(answer.bytes, "id", 0);
            if (id > 0)
                printf("%ld\n", id);
            else
                puts(answer.bytes);
            code |= id > 0 ? 0 : REFUSED;
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
        die(REFUSED, "%s", "the command is missing");
    return text.bytes;
}

/* ---- scripts ---- */

/* The bytes of a file that begins with "#!", for free(); or NULL. */
static char *read_script(const char *path)
{
    struct bats_text text = {0};
    char piece[4096];
    size_t n;
    FILE *file = fopen(path, "re");
    while (file != NULL && (n = fread(piece, 1, sizeof piece, file)) > 0) {
        bats_text_put(&text, piece, n);
        if (text.bytes[0] != '#' || (text.n > 1 && text.bytes[1] != '!'))
            break;
    }
    bool is_script = file != NULL && feof(file) && text.n > 2 && !text.failed;
    if (file != NULL)
        fclose(file);
    if (!is_script)
        bats_text_release(&text);
    return text.bytes;
}

/* Snakemake writes its job scripts so: the second line has the needs. */
static char *find_properties(char *script)
{
    static const char head[] = "# properties = ";
    char *line = strchr(script, '\n');
    return line != NULL && strncmp(line + 1, head, sizeof head - 1) == 0
               ? line + sizeof head
               : NULL;
}

/* The script as a command: its interpreter runs its text, for the file may be
 * gone when the task begins. The comments at its head are left out. Jobs of
 * Snakemake wait for the directory of their script. */
static char *command_of_script(char *script, int n, char **words,
                               bool is_snakemake)
{
    struct bats_text text = {0};
    char *line = script, *slash = strrchr(words[0], '/');
    if (is_snakemake && slash != NULL) {
        bats_text_add(&text, "mkdir -p ");
        *slash = '\0';
        bats_text_encode(&text, BATS_ENCODE_QUOTED, words[0]);
        *slash = '/';
        bats_text_add(&text, "\n");
    }
    bats_text_format(&text, "exec %.*s -c ", (int)strcspn(script, "\n") - 2,
                     script + 2);
    while (*line == '#' || *line == '\n')
        line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
    bats_text_encode(&text, BATS_ENCODE_QUOTED, line);
    for (int i = 0; i < n; i++) {
        bats_text_add(&text, " ");
        bats_text_encode(&text, BATS_ENCODE_QUOTED, words[i]);
    }
    return text.bytes;
}

/* The words of a submission: a script of Snakemake, or a command. */
static char *take_words(struct submission *s, int n, char **words)
{
    bool may_be = n > 0 && (s->is_script || words[0][0] == '/');
    char *script = may_be ? read_script(words[0]) : NULL;
    char *properties = script != NULL ? find_properties(script) : NULL;
    if (properties != NULL)
        s->properties = strndup(properties, strcspn(properties, "\n"));
    if (s->is_script && script == NULL)
        die(REFUSED, "%s is no script, which begins with #!",
            n > 0 ? words[0] : "''");
    return s->is_script || properties != NULL
               ? command_of_script(script, n, words, properties != NULL)
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
    return is_wrong ? REFUSED : 0;
}

static int close_bag(const char *path)
{
    struct bats_text text = {0};
    join(path);
    bats_text_add(&text, "{\"close\":true}\n");
    say(&text);
    while (!hear(&text))
        ;
    check(&text);
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
            die(REFUSED, "'%s' is not the number of a task", words[i]);
        bats_text_format(text, "%s%s", i > 0 ? "," : "", words[i]);
    }
}

/* All tasks that have not ended, "ID running" a line. */
static int list_states(void)
{
    struct bats_text text = {0};
    join(NULL);
    bats_text_add(&text, "{\"state\":\"all\"}\n");
    say(&text);
    while (!hear(&text))
        ;
    check(&text);
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
    join(NULL);
    say(&text);
    while (!hear(&text))
        ;
    check(&text);
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
    join(NULL);
    say(&text);
    while (!hear(&text))
        ;
    check(&text);
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
    die(NO_RUN, "/bin/sh: %s", strerror(errno));
    return NO_RUN;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : argv[0];
    int code = strcmp(name, "bats-state") == 0    ? bats_state(argc, argv)
               : strcmp(name, "bats-cancel") == 0 ? bats_cancel(argc, argv)
               : strcmp(name, "bats-shell") == 0  ? bats_shell(argc, argv)
                                                  : bats_submit(argc, argv);
    return fflush(stdout) == 0 ? code : NO_RUN;
}
