/*
 * client: asks the run that listens at BATS_SOCKET, which is `bats-mpi run
 * --open`: bats-submit, bats-state, bats-cancel and bats-shell are one program
 * by four names. Without MPI, because it is started for every task.
 *
 * Layer: a program of its own; of the others it uses util alone. Requests and
 * answers: src/doc/open.md.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/asset.h"
#include "util/json.h"
#include "util/text.h"

BATS_ASSET(usage_txt, "client/usage.txt");

#define BATCH 1000 /* lines of standard input that are sent at once */
#define REFUSED 2  /* exit codes */
#define NO_RUN 3

static void die(int code, const char *format, const char *what)
    __attribute__((noreturn));

static void die(int code, const char *format, const char *what)
{
    fputs("bats-submit: ", stderr);
    fprintf(stderr, format, what);
    putc('\n', stderr);
    exit(code);
}

/* ---- the socket of the run ---- */

static struct {
    int fd;
    FILE *answers;
} run;

/* Connects to the socket at `path`; NULL: at BATS_SOCKET. */
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
    run.answers = fdopen(run.fd, "r");
}

static void say(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(run.fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            die(NO_RUN, "the run has ended: %s", strerror(errno));
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
}

/* The next line of the run, to be decref'd. */
static json_t *hear(void)
{
    char *line = NULL;
    size_t room = 0;
    if (run.answers == NULL || getline(&line, &room, run.answers) <= 0)
        die(NO_RUN, "%s", "the run ended before it answered");
    json_t *answer = json_loads(line, 0, NULL);
    free(line);
    return answer;
}

/* The number with this name in an answer; `otherwise` without one. */
static long number(const json_t *answer, const char *name, long otherwise)
{
    const json_t *value = json_object_get(answer, name);
    return value != NULL ? (long)json_integer_value(value) : otherwise;
}

/* The answer to a request, which is taken over. A refusal ends the program. */
static json_t *ask(json_t *request)
{
    struct bats_text line = {0};
    char *text = json_dumps(request, JSON_COMPACT);
    bats_text_format(&line, "%s\n", text != NULL ? text : "");
    if (text == NULL || line.failed)
        die(NO_RUN, "%s", "out of memory");
    say(line.bytes, line.n);
    bats_text_release(&line);
    free(text);
    json_decref(request);
    json_t *answer = hear();
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (error != NULL)
        die(REFUSED, "%s", error);
    return answer;
}

/* ---- waiting ---- */

static volatile sig_atomic_t stop;
static char cancel[64]; /* the request that cancels the task; "": unknown */

/* The second one does not wait for the run, which may hang. */
static void on_signal(int signal)
{
    int before = errno;
    if (stop != 0 && cancel[0] != '\0')
        _exit(128 + stop);
    if (stop == 0)
        send(run.fd, cancel, strlen(cancel), MSG_NOSIGNAL);
    stop = signal;
    errno = before;
}

static void copy(long stream, long n)
{
    char bytes[65536];
    FILE *out = stream == 2 ? stderr : stdout;
    while (n > 0) {
        size_t most = n < (long)sizeof bytes ? (size_t)n : sizeof bytes;
        size_t got = fread(bytes, 1, most, run.answers);
        if (got == 0)
            die(NO_RUN, "%s", "the run ended before it answered");
        fwrite(bytes, 1, got, out);
        n -= (long)got;
    }
    fflush(out);
}

/* Waits until the task of the answer has ended; returns its exit status, as a
 * shell's. A signal cancels it. */
static int await(json_t *answer)
{
    char text[sizeof cancel];
    snprintf(text, sizeof text, "{\"cancel\":[%ld]}\n",
             number(answer, "id", 0));
    memcpy(cancel, text, sizeof cancel);
    if (stop != 0)
        say(cancel, strlen(cancel));
    for (;;) {
        if (json_object_get(answer, "exit") != NULL) {
            long status = number(answer, "exit", 0);
            long signal = number(answer, "signal", 0);
            json_decref(answer);
            return status < 0   ? 124
                   : signal > 0 ? 128 + (int)signal
                                : (int)status;
        }
        copy(number(answer, "stream", 1), number(answer, "bytes", 0));
        json_decref(answer);
        answer = hear();
        if (stop != 0)
            return 128 + stop;
    }
}

/* ---- submitting ---- */

/* Options with a value, and their names in a request; NULL: not in it. A number
 * is sent as one. SAY: printed before the number of the task, also if it waits;
 * for sbatch. */
enum { CLASS, CLASS_SHORT, KEY, CORES, MEMORY, GPUS, LIMIT, SAY, N_VALUES };
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
    [SAY] = {"--say", NULL, false},
};

struct submission {
    bool waits, with_env, is_script, is_list;
    const char *value[N_VALUES];
    struct {
        char **words;
        int n;
    } after[2]; /* tasks that are to be done, and to end, before it begins */
    json_t *properties; /* of a job script of Snakemake; or NULL */
};

extern char **environ;

static json_t *numbers(char **words, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(strtoll(words[i], NULL, 10)));
    return list;
}

static json_t *request_of(const struct submission *s, const char *command)
{
    static const char *const after[] = {"after", "after_any"};
    struct bats_text all = {0};
    char cwd[4096];
    json_t *env = json_array(), *r = json_object();
    if (s->with_env) /* as a job of a batch system has it */
        bats_text_add(&all, "JOB_ID=$BATS_TASK_ID; export JOB_ID\n");
    bats_text_add(&all, command);
    json_object_set_new(r, "submit", bats_json_text(all.bytes));
    bats_text_release(&all);
    if (getcwd(cwd, sizeof cwd) != NULL)
        json_object_set_new(r, "cwd", bats_json_text(cwd));
    for (int i = 0; i < N_VALUES; i++)
        if (s->value[i] != NULL && values[i].name != NULL)
            json_object_set_new(r, values[i].name,
                                values[i].is_number
                                    ? json_integer(atoll(s->value[i]))
                                    : bats_json_text(s->value[i]));
    if (s->properties != NULL)
        json_object_set(r, "properties", s->properties);
    for (int k = 0; k < 2; k++)
        if (s->after[k].n > 0)
            json_object_set_new(r, after[k],
                                numbers(s->after[k].words, s->after[k].n));
    for (char **e = environ; s->with_env && *e != NULL; e++)
        json_array_append_new(env, bats_json_text(*e));
    if (s->with_env)
        json_object_set(r, "env", env);
    json_decref(env);
    if (s->waits)
        json_object_set_new(r, "wait", json_true());
    return r;
}

static int submit(const struct submission *s, const char *command)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = SA_RESTART};
    join(NULL);
    if (s->waits) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGHUP, &action, NULL);
    }
    const char *say = s->value[SAY];
    json_t *answer = ask(request_of(s, command));
    if (say != NULL || !s->waits)
        printf("%s%ld\n", say != NULL ? say : "", number(answer, "id", 0));
    fflush(stdout);
    if (s->waits)
        return await(answer);
    json_decref(answer);
    return 0;
}

/* Reads the answers to n submissions; returns the exit code. */
static int hear_all(int n)
{
    int code = 0;
    for (; n > 0; n--) {
        json_t *answer = hear();
        long id = number(answer, "id", 0);
        if (id > 0) {
            printf("%ld\n", id);
        } else {
            json_dumpf(answer, stdout, JSON_COMPACT);
            putchar('\n');
            code = REFUSED;
        }
        json_decref(answer);
    }
    return code;
}

/* A command, or an object as the run takes it, per line. */
static int submit_lines(const struct submission *s)
{
    struct bats_text text = {0};
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
            json_t *request = *line == '{' ? NULL : request_of(s, line);
            char *made =
                request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
            bats_text_format(&text, "%s\n", made != NULL ? made : line);
            free(made);
            json_decref(request);
            sent++;
        }
        if (text.failed)
            die(NO_RUN, "%s", "out of memory");
        say(text.bytes, text.n);
        code |= hear_all(sent);
    }
    free(line);
    bats_text_release(&text);
    return code;
}

/* ---- scripts as commands ---- */

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

/* The properties in the second line of a job script of Snakemake; NULL: the
 * script is another one. */
static char *properties_of(char *script)
{
    static const char head[] = "# properties = ";
    char *line = strchr(script, '\n');
    return line != NULL && strncmp(line + 1, head, sizeof head - 1) == 0
               ? line + sizeof head
               : NULL;
}

/* The script as a command, for free(): its interpreter runs its text, for the
 * file may be gone when the task begins. The comments at its head are left out.
 * Jobs of Snakemake wait for the directory of their script. */
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

static char *take_words(struct submission *s, int n, char **words)
{
    bool may_be = n > 0 && (s->is_script || words[0][0] == '/');
    char *script = may_be ? read_script(words[0]) : NULL;
    char *properties = script != NULL ? properties_of(script) : NULL;
    if (properties != NULL)
        s->properties =
            json_loadb(properties, strcspn(properties, "\n"), 0, NULL);
    if (properties != NULL && s->properties == NULL)
        die(REFUSED, "the properties in the script %s are not JSON", words[0]);
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

static void check_numbers(char **words, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_number(words[i]))
            die(REFUSED, "'%s' is not the number of a task", words[i]);
}

static int usage(bool is_wrong)
{
    bats_asset_write(is_wrong ? stderr : stdout, &usage_txt);
    return is_wrong ? REFUSED : 0;
}

static int close_bag(const char *path)
{
    join(path);
    json_decref(ask(json_pack("{s:b}", "close", 1)));
    return 0;
}

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
            s.is_list = true;
        } else if (strcmp(option, "--close") == 0) {
            return close_bag(has_value ? argv[i + 1] : NULL);
        } else if (strcmp(option, "--help") == 0) {
            return usage(false);
        } else if (strcmp(option, "--after") == 0 ||
                   strcmp(option, "--after-any") == 0) {
            int any = strcmp(option, "--after-any") == 0;
            s.after[any].words = argv + i + 1;
            for (; i + 1 < argc && argv[i + 1][0] != '-'; i++)
                check_numbers(s.after[any].words, ++s.after[any].n);
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
    if (s.is_list)
        return i < argc ? usage(true) : submit_lines(&s);
    return submit(&s, take_words(&s, argc - i, argv + i));
}

/* Without a number: all tasks that have not ended, "ID running" a line. */
static int bats_state(int argc, char **argv)
{
    size_t i;
    json_t *task;
    if (argc > 2)
        return usage(true);
    check_numbers(argv + 1, argc - 1);
    json_t *id = argc == 1 ? json_string("all")
                           : json_integer(strtoll(argv[1], NULL, 10));
    join(NULL);
    json_t *answer = ask(json_pack("{s:o}", "state", id));
    json_array_foreach(json_object_get(answer, "running"), i, task)
        printf("%ld running\n", (long)json_integer_value(task));
    const char *state = json_string_value(json_object_get(answer, "state"));
    if (argc == 2 && state == NULL)
        die(NO_RUN, "%s", "the run answered without a state");
    if (argc == 2)
        puts(state);
    json_decref(answer);
    return 0;
}

static int bats_cancel(int argc, char **argv)
{
    if (argc < 2)
        return usage(true);
    check_numbers(argv + 1, argc - 1);
    join(NULL);
    json_decref(
        ask(json_pack("{s:o}", "cancel", numbers(argv + 1, argc - 1))));
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
