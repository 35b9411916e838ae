/* submission: the request of a client for a task. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/process/environment.h"
#include "run/open_state.h"

#define MIB_DEFAULT 1000 /* Snakemake's least default for jobs, MB */
#define MIB_MOST_DEFAULT 8000
#define DISK_DEFAULT 50000

/* Fields recorded with the task. */
static const char *const kept[] = {"key",   "repeats", "class",
                                   "after", "cores",   "memory",
                                   "gpus",  "limit",   "after_any"};

/* ---- Snakemake ---- */

/* Sets the field to `value`, if any, unless the client has set it. */
static int set_new(json_t *request, const char *name, json_t *value)
{
    if (value == NULL || json_object_get(request, name) != NULL) {
        json_decref(value);
        return 0;
    }
    return json_object_set_new(request, name, value);
}

static json_t *text_of(const json_t *value, const char *unit)
{
    return json_is_number(value) && json_number_value(value) > 0
               ? json_sprintf("%.0f%s", ceil(json_number_value(value)), unit)
               : NULL;
}

static json_t *number_of(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0
               ? json_integer(json_integer_value(value))
               : NULL;
}

/* The key of a job: a Snakemake that continues after it was killed remembers
 * the numbers of jobs that had not begun, and submits the others again. */
static json_t *key_of(const json_t *request, const json_t *properties)
{
    static const char *const parts[] = {"rule", "groupid", "wildcards",
                                        "input", "output"};
    json_t *parts_of_it = json_object();
    int bad =
        json_object_set(parts_of_it, "cwd", json_object_get(request, "cwd"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (json_object_get(properties, parts[i]) != NULL)
            bad |= json_object_set(parts_of_it, parts[i],
                                   json_object_get(properties, parts[i]));
    char *text = bad == 0
                     ? json_dumps(parts_of_it, JSON_COMPACT | JSON_SORT_KEYS)
                     : NULL;
    json_t *key = text != NULL ? json_string(text) : NULL;
    free(text);
    json_decref(parts_of_it);
    return key;
}

/* A job has type single and a rule, or type group and a groupid. Snakemake
 * always names the memory. Its default is ignored: 1000 MB, or more if the
 * input is large or jobs form a group; then it is that of the disk, but in
 * Snakemake 8 and 9 at most 8000. (Without input 9 has DISK_DEFAULT.) */
static int take_properties(json_t *request, const json_t *properties)
{
    const json_t *resources = json_object_get(properties, "resources");
    const json_t *mb = json_object_get(resources, "mem_mb");
    const json_t *disk = json_object_get(resources, "disk_mb");
    const json_t *rule = json_object_get(properties, "rule");
    if (!json_is_string(rule))
        rule = json_object_get(properties, "groupid");
    if (json_number_value(mb) == MIB_DEFAULT || json_equal(mb, disk) ||
        (json_number_value(mb) == MIB_MOST_DEFAULT &&
         json_number_value(disk) > MIB_MOST_DEFAULT &&
         json_number_value(disk) != DISK_DEFAULT))
        mb = NULL;
    if (json_object_get(request, "key") == NULL &&
        set_new(request, "repeats", json_true()) != 0)
        return -1;
    return set_new(request, "key", key_of(request, properties)) |
           set_new(request, "class", json_deep_copy(rule)) |
           set_new(request, "cores",
                   number_of(json_object_get(properties, "threads"))) |
           set_new(request, "memory", text_of(mb, "M")) |
           set_new(request, "gpus",
                   number_of(json_object_get(resources, "gpu"))) |
           set_new(request, "limit",
                   text_of(json_object_get(resources, "runtime"), "m"));
}

/* ---- fields ---- */

static int read_number(const json_t *request, const char *name,
                       json_int_t least, uint32_t *number,
                       struct bats_error *err)
{
    const json_t *value = json_object_get(request, name);
    json_int_t n = json_integer_value(value);
    if (value == NULL)
        return 0;
    if (!json_is_integer(value) || n < least || n > INT32_MAX)
        return bats_refuse(err, "%s must be a whole number from %d", name,
                           (int)least);
    *number = (uint32_t)n;
    return 0;
}

static int read_text(const json_t *request, const char *name,
                     const char **text, struct bats_error *err)
{
    const json_t *value = json_object_get(request, name);
    *text = json_string_value(value);
    return value == NULL || (*text != NULL && **text != '\0')
               ? 0
               : bats_refuse(err, "%s must be a text", name);
}

static int read_need(const json_t *request, struct bats_need *need,
                     struct bats_error *err)
{
    const char *memory, *limit;
    int64_t bytes = 0;
    int rc = read_number(request, "cores", 1, &need->cores, err);
    if (rc == 0)
        rc = read_number(request, "gpus", 0, &need->gpus, err);
    if (rc == 0)
        rc = read_text(request, "memory", &memory, err);
    if (rc == 0 && memory != NULL)
        rc = bats_size_parse(memory, &bytes, err);
    if (rc == 0 && memory != NULL)
        need->memory_kib = (bytes + 1023) / 1024;
    if (rc == 0)
        rc = read_text(request, "limit", &limit, err);
    if (rc == 0 && limit != NULL)
        rc = bats_duration_parse(limit, &need->limit, err);
    return rc;
}

int bats_submission_read(json_t *request, const struct bats_need *usual,
                         struct bats_submission *s, struct bats_error *err)
{
    json_t *properties = json_object_get(request, "properties");
    *s = (struct bats_submission){
        .after = {json_object_get(request, "after"),
                  json_object_get(request, "after_any")}};
    if (properties != NULL && take_properties(request, properties) != 0)
        return bats_no_memory(err);
    s->need = *usual;
    s->repeats = json_is_true(json_object_get(request, "repeats"));
    for (int any = 0; any < 2; any++)
        if (s->after[any] != NULL && !json_is_array(s->after[any]))
            return bats_refuse(err, "after must be a list of numbers");
    int rc = read_text(request, "key", &s->key, err);
    if (rc == 0)
        rc = read_text(request, "class", &s->class, err);
    return rc == 0 ? read_need(request, &s->need, err) : rc;
}

char *bats_submission_given(const json_t *request, bool *ok)
{
    json_t *given = json_object();
    char *text = NULL;
    *ok = given != NULL;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        json_t *value = json_object_get(request, kept[i]);
        if (value != NULL)
            *ok &= json_object_set(given, kept[i], value) == 0;
    }
    if (json_object_size(given) > 0)
        *ok &= (text = json_dumps(given, JSON_COMPACT)) != NULL;
    json_decref(given);
    return text;
}

/* ---- the command ---- */

/* Adds a line that sets the variable, unless this process has the same. The
 * client may be a task, or an MPI program such as Makeflow: variables of a run
 * or a launcher are left out. */
static void add_variable(struct bats_text *text, const char *entry)
{
    if (strncmp(entry, "BATS_", 5) == 0 || !bats_environment_keeps(entry))
        return;
    size_t n = strspn(entry, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    char name[256];
    if (n == 0 || n >= sizeof name || entry[n] != '=' ||
        (entry[0] >= '0' && entry[0] <= '9'))
        return;
    memcpy(name, entry, n);
    name[n] = '\0';
    const char *own = getenv(name);
    if (strcmp(name, "_") == 0 || strcmp(name, "PWD") == 0 ||
        strcmp(name, "OLDPWD") == 0 || strcmp(name, "SHLVL") == 0 ||
        (own != NULL && strcmp(own, entry + n + 1) == 0))
        return;
    bats_text_format(text, "export %s=", name);
    bats_text_encode(text, BATS_ENCODE_QUOTED, entry + n + 1);
    bats_text_add(text, "\n");
}

int bats_submission_command(const json_t *request, struct bats_text *text,
                            struct bats_error *err)
{
    const json_t *submit = json_object_get(request, "submit");
    const json_t *env = json_object_get(request, "env");
    const char *command = json_string_value(submit);
    const char *cwd = json_string_value(json_object_get(request, "cwd"));
    char own[4096];
    if (command == NULL || strlen(command) != json_string_length(submit))
        return bats_refuse(err, "a command must be a text without NUL");
    bool is_builtin = command[0] == '@';
    for (size_t i = 0; !is_builtin && i < json_array_size(env); i++) {
        const char *entry = json_string_value(json_array_get(env, i));
        if (entry != NULL)
            add_variable(text, entry);
    }
    if (cwd != NULL && !is_builtin &&
        (getcwd(own, sizeof own) == NULL || strcmp(own, cwd) != 0)) {
        bats_text_add(text, "cd ");
        bats_text_encode(text, BATS_ENCODE_QUOTED, cwd);
        bats_text_add(text, " || exit 1\n");
    }
    bats_text_add(text, command);
    int rc = bats_text_check(text, err);
    if (rc == 0)
        bats_encode_undo_unicode(text->bytes);
    return rc;
}
