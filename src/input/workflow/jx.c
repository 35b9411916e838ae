/*
 * jx: JX, Makeflow's other language, as plain JSON.
 *
 *     {"rules": [{"command": "sort a >b", "inputs": ["a"], "outputs": ["b"],
 *                 "category": "sort", "resources": {"memory": 100},
 *                 "environment": {"LC_ALL": "C"}}],
 *      "categories": {"sort": {"memory": 200, "environment": {}}},
 *      "default_category": "default", "environment": {}}
 *
 * A rule without a category belongs to "default". Values missing in a rule
 * come from its category, then from the default category, then from the top.
 * local_job, disk and members not named here have no effect. Rules have
 * numbers instead of lines.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "input/workflow/workflow.h"

/* longest command with its environment, bytes */
#define COMMAND_MOST ((size_t)1 << 20)
#define ALL_MOST ((size_t)1 << 30)

struct reader {
    struct bats_workflow *w;
    const json_t *document, *categories;
    const char *fallback; /* the default category */
    struct bats_text command;
    struct bats_error *err;
};

static int complain(struct reader *r, const char *what, const char *name)
{
    return bats_error_at(r->err, r->w->path, 0, "rule %u: %s%.60s%s",
                         r->w->n + 1, what, name, *name != '\0' ? "'" : "");
}

/* Checks the length after an addition. */
static int check_length(struct reader *r)
{
    size_t n = r->command.n;
    if (n > COMMAND_MOST || r->w->text.n + n > ALL_MOST)
        return complain(r,
                        "with its environment, the command is longer than "
                        "1 MiB, or all of them than 1 GiB",
                        "");
    return bats_text_check(&r->command, r->err);
}

/* Adds the variables of `object` to `all`. */
static int add_environment(struct reader *r, json_t *all, const json_t *object)
{
    json_t *set = json_object_get(object, "environment"), *value;
    const char *name;
    if (set && !json_is_object(set))
        return complain(r, "\"environment\" is not an object", "");
    json_object_foreach(set, name, value)
    {
        if (!bats_text_is_name(name))
            return complain(r, "this is not the name of a variable: '", name);
        if (!json_is_string(value))
            return complain(r, "the value is not a string: '", name);
        if (json_object_set(all, name, value) < 0)
            return bats_no_memory(r->err);
    }
    return 0;
}

static int append_exports(struct reader *r, const json_t *const level[4])
{
    json_t *all = json_object(), *value;
    const char *name;
    int rc = all ? 0 : bats_no_memory(r->err);
    for (int i = 3; rc == 0 && i >= 0; i--)
        rc = add_environment(r, all, level[i]);
    json_object_foreach(all, name, value)
    {
        if (rc < 0)
            break;
        bats_text_format(&r->command, "export %s=", name);
        bats_text_encode(&r->command, BATS_ENCODE_QUOTED,
                         json_string_value(value));
        bats_text_add(&r->command, "; ");
        rc = check_length(r);
    }
    json_decref(all);
    return rc;
}

/* Takes each resource from the first level that has it; 0: none has. */
static int read_need(struct reader *r, const json_t *const level[3],
                     struct bats_need *need)
{
    static const char *const names[] = {"cores", "gpus", "memory", "disk"};
    static const json_int_t most[] = {BATS_CORES_MOST, BATS_GPUS_MOST,
                                      INT64_MAX / 1024, INT64_MAX};
    json_int_t n[] = {0, 0, 0, 0};
    for (int i = 2; i >= 0; i--)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const json_t *value = json_object_get(level[i], names[k]);
            if (!value)
                continue;
            n[k] = json_integer_value(value);
            if (!json_is_integer(value) || n[k] < 0 || n[k] > most[k])
                return complain(r, "this resource is not a whole number: '",
                                names[k]);
        }
    *need = (struct bats_need){.cores = (uint32_t)n[0],
                               .gpus = (uint32_t)n[1],
                               .memory_kib = n[2] * 1024};
    return 0;
}

static int use_files(struct reader *r, const json_t *list, bool writes)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = bats_workflow_use(r->w, r->w->n - 1,
                               json_string_value(json_array_get(list, i)),
                               writes, r->err);
    return rc;
}

static int check_files(struct reader *r, const json_t *rule, const char *which)
{
    const json_t *list = json_object_get(rule, which);
    if (list && !json_is_array(list))
        return complain(r, "this is not a list: '", which);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *file = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(file, "name"));
        if (json_is_object(file))
            return complain(r,
                            "a file cannot have another name on the "
                            "machine: '",
                            name ? name : "?");
        if (json_string_length(file) == 0)
            return complain(r, "a file is not a string: '", which);
    }
    return 0;
}

static int check_rule(struct reader *r, const json_t *rule)
{
    const json_t *category = json_object_get(rule, "category");
    const json_t *resources = json_object_get(rule, "resources");
    const json_t *local = json_object_get(rule, "local_job");
    if (json_object_get(rule, "makeflow"))
        return complain(
            r, "a rule that runs another makeflow is not supported", "");
    if (!json_is_string(json_object_get(rule, "command")))
        return complain(r, "it has no \"command\" string", "");
    if (category && !json_is_string(category))
        return complain(r, "\"category\" is not a string", "");
    if (resources && !json_is_object(resources))
        return complain(r, "\"resources\" is not an object", "");
    if (local && !json_is_boolean(local))
        return complain(r, "\"local_job\" is neither true nor false", "");
    int rc = check_files(r, rule, "outputs");
    return rc < 0 ? rc : check_files(r, rule, "inputs");
}

static int read_rule(struct reader *r, const json_t *rule)
{
    int rc = check_rule(r, rule);
    if (rc < 0)
        return rc;
    const char *given = json_string_value(json_object_get(rule, "category"));
    const char *category = given ? given : "default";
    const json_t *own = json_object_get(r->categories, category);
    const json_t *other = json_object_get(r->categories, r->fallback);
    struct bats_need need;
    rc = read_need(
        r, (const json_t *[]){json_object_get(rule, "resources"), own, other},
        &need);
    bats_text_cut(&r->command, 0);
    if (rc == 0)
        rc = append_exports(r,
                            (const json_t *[]){rule, own, other, r->document});
    if (rc == 0) {
        bats_text_add(&r->command,
                      json_string_value(json_object_get(rule, "command")));
        rc = check_length(r);
    }
    if (rc == 0)
        rc = bats_workflow_add(r->w, NULL, r->command.bytes, -1, category, 0,
                               r->err);
    if (rc < 0)
        return rc;
    r->w->tasks[r->w->n - 1].need = need;
    rc = use_files(r, json_object_get(rule, "outputs"), true);
    return rc < 0 ? rc : use_files(r, json_object_get(rule, "inputs"), false);
}

/* Checks the defaults of the rules. */
static int check_document(const struct bats_workflow *w,
                          const json_t *document, struct bats_error *err)
{
    json_t *categories = json_object_get(document, "categories"), *category;
    const json_t *fallback = json_object_get(document, "default_category");
    const char *name;
    const char *what = !json_is_array(json_object_get(document, "rules"))
                           ? "there is no list of \"rules\""
                       : fallback && !json_is_string(fallback)
                           ? "\"default_category\" is not a string"
                       : categories && !json_is_object(categories)
                           ? "\"categories\" is not an object"
                           : NULL;
    if (what)
        return bats_error_at(err, w->path, 0, "%s", what);
    json_object_foreach(categories, name, category) if (
        !json_is_object(
            category)) return bats_error_at(err, w->path, 0,
                                            "category '%.60s' is not an object",
                                            name);
    return 0;
}

int bats_jx_read(struct bats_workflow *w, const json_t *document,
                 struct bats_error *err)
{
    const json_t *rules = json_object_get(document, "rules");
    const char *fallback =
        json_string_value(json_object_get(document, "default_category"));
    struct reader r = {.w = w,
                       .document = document,
                       .categories = json_object_get(document, "categories"),
                       .fallback = fallback ? fallback : "default",
                       .err = err};
    int rc = check_document(w, document, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(rules); i++)
        rc = read_rule(&r, json_array_get(rules, i));
    bats_text_release(&r.command);
    return rc < 0 ? rc : bats_workflow_connect(w, err);
}
