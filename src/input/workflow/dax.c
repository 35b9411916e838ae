/*
 * dax: the abstract workflows of Pegasus, DAX 2 and 3 (XML, read with expat).
 * A job has a name, which is its program and category, and in simulations a
 * runtime, which is not part of the language; negative runtimes, which
 * generators produce, count as 0. The command of a job is the program with its
 * <argument>; Pegasus would look it up in a catalogue. The shell opens the
 * files of <stdin>, <stdout> and <stderr>. Jobs that stand for other
 * workflows, and entities declared in the file, are refused.
 */
#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "input/workflow/workflow.h"

#define NO_JOB UINT32_MAX

struct reader {
    struct bats_workflow *w;
    XML_Parser parser;
    bool in_job, in_argument, has_command;
    uint32_t child;           /* the current <child>, or NO_JOB */
    struct bats_text command; /* of the current job */
    int rc;
    struct bats_error *err;
};

static uint32_t line_of(const struct reader *r)
{
    return (uint32_t)XML_GetCurrentLineNumber(r->parser);
}

/* Stops the parser with this error. */
static void stop(struct reader *r, int rc)
{
    if (rc < 0 && r->rc == 0) {
        r->rc = rc;
        XML_StopParser(r->parser, XML_FALSE);
    }
}

static void complain(struct reader *r, const char *what, const char *name)
{
    stop(r, bats_error_at(r->err, r->w->path, line_of(r), "%s%.60s%s", what,
                          name, *name != '\0' ? "'" : ""));
}

static const char *attribute(const XML_Char **list, const char *name)
{
    for (; list[0]; list += 2)
        if (strcmp(list[0], name) == 0)
            return list[1];
    return NULL;
}

/* The name of a file: attribute "file" in DAX 2, "name" in DAX 3. */
static const char *file_name(const XML_Char **list)
{
    const char *name = attribute(list, "name");
    return name ? name : attribute(list, "file");
}

/* ---- elements ---- */

static void begin_job(struct reader *r, const XML_Char **list)
{
    const char *id = attribute(list, "id"), *name = attribute(list, "name");
    const char *runtime = attribute(list, "runtime");
    char *end = NULL;
    double us = runtime ? strtod(runtime, &end) * 1e6 : -1;
    if (r->in_job)
        complain(r, "a job within a job", "");
    else if (!id || !name || *id == '\0' || *name == '\0')
        complain(r, "a job without an id or a name", "");
    else if (runtime && (end == runtime || *end != '\0' ||
                         !(fabs(us) < (double)BATS_LONGEST)))
        complain(r, "this is not a runtime: '", runtime);
    else
        stop(r, bats_workflow_add(r->w, id, NULL,
                                  !runtime ? -1
                                  : us > 0 ? (bats_time)llround(us)
                                           : 0,
                                  name, line_of(r), r->err));
    r->in_job = true;
    r->has_command = false;
    bats_text_cut(&r->command, 0);
    bats_text_add(&r->command, name ? name : "");
}

static void use_file(struct reader *r, const XML_Char **list)
{
    const char *file = file_name(list), *link = attribute(list, "link");
    if (!r->in_job || r->w->n == 0 || !file || !link)
        return; /* also allowed elsewhere, for programs for example */
    bool both = strcmp(link, "inout") == 0;
    if (both || strcmp(link, "input") == 0)
        bats_workflow_use(r->w, file, false);
    if (both || strcmp(link, "output") == 0)
        bats_workflow_use(r->w, file, true);
}

/* Makes the shell open the file of <stdin>, <stdout> or <stderr>. */
static void redirect(struct reader *r, const char *sign, const XML_Char **list)
{
    const char *name = file_name(list);
    if (!name || strlen(name) >= PATH_MAX) {
        complain(r, "no file, or too long a name, for '", sign + 1);
        return;
    }
    r->has_command = true;
    bats_text_add(&r->command, sign);
    bats_text_encode(&r->command, BATS_ENCODE_QUOTED, name);
}

/* The job with this id, or an error if there is none. */
static uint32_t find_job(struct reader *r, const XML_Char **list)
{
    const char *ref = attribute(list, "ref");
    uint32_t job = bats_names_find(&r->w->names, ref ? ref : "");
    if (job == BATS_NO_NAME)
        complain(r, "there is no job '", ref ? ref : "?");
    return job;
}

static void begin(void *context, const XML_Char *element,
                  const XML_Char **list)
{
    struct reader *r = context;
    if (r->rc < 0)
        return;
    if (strcmp(element, "job") == 0) {
        begin_job(r, list);
    } else if (strcmp(element, "dag") == 0 || strcmp(element, "dax") == 0) {
        complain(r, "a job that is a workflow cannot be run: '", element);
    } else if (strcmp(element, "uses") == 0) {
        use_file(r, list);
    } else if (strcmp(element, "argument") == 0 && r->in_job) {
        r->in_argument = r->has_command = true;
        bats_text_add(&r->command, " ");
    } else if (r->in_argument && (strcmp(element, "file") == 0 ||
                                  strcmp(element, "filename") == 0)) {
        const char *name = file_name(list);
        bats_text_add(&r->command, name ? name : "");
    } else if (r->in_job && strcmp(element, "stdin") == 0) {
        redirect(r, " <", list);
    } else if (r->in_job && strcmp(element, "stdout") == 0) {
        redirect(r, " >", list);
    } else if (r->in_job && strcmp(element, "stderr") == 0) {
        redirect(r, " 2>", list);
    } else if (strcmp(element, "child") == 0) {
        r->child = find_job(r, list);
    } else if (strcmp(element, "parent") == 0 && r->child != NO_JOB) {
        uint32_t parent = find_job(r, list);
        if (r->rc == 0)
            bats_edges_add(&r->w->edges, parent, r->child);
    }
}

/* Appends the complete command to the text of all commands. */
static void end_job(struct reader *r)
{
    struct bats_workflow *w = r->w;
    r->in_job = false;
    if (!r->has_command)
        return;
    for (size_t i = 0; i < r->command.n; i++) /* whitespace becomes blanks */
        if (strchr("\t\r\n", r->command.bytes[i]))
            r->command.bytes[i] = ' ';
    w->tasks[w->n - 1].command = w->text.n;
    w->text.failed |= r->command.failed;
    bats_text_put(&w->text, r->command.bytes, r->command.n + 1);
    stop(r, bats_text_check(&w->text, r->err));
}

static void end(void *context, const XML_Char *element)
{
    struct reader *r = context;
    if (r->rc < 0)
        return;
    if (strcmp(element, "job") == 0)
        end_job(r);
    else if (strcmp(element, "argument") == 0)
        r->in_argument = false;
    else if (strcmp(element, "child") == 0)
        r->child = NO_JOB;
}

static void text(void *context, const XML_Char *bytes, int n)
{
    struct reader *r = context;
    if (r->in_argument && r->rc == 0)
        bats_text_put(&r->command, bytes, (size_t)n);
}

static void entity(void *context, const XML_Char *name,
                   __attribute__((unused)) int is_parameter,
                   __attribute__((unused)) const XML_Char *value,
                   __attribute__((unused)) int length,
                   __attribute__((unused)) const XML_Char *base,
                   __attribute__((unused)) const XML_Char *system,
                   __attribute__((unused)) const XML_Char *public,
                   __attribute__((unused)) const XML_Char *notation)
{
    complain(context, "entities are not allowed: '", name);
}

/* ---- the file ---- */

static void parse(struct reader *r, const char *bytes, size_t length)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, begin, end);
    XML_SetCharacterDataHandler(r->parser, text);
    XML_SetEntityDeclHandler(r->parser, entity);
    if (XML_Parse(r->parser, bytes, (int)length, 1) == XML_STATUS_OK ||
        r->rc < 0)
        return;
    enum XML_Error why = XML_GetErrorCode(r->parser);
    r->rc = why == XML_ERROR_NO_MEMORY
                ? bats_no_memory(r->err)
                : bats_error_at(r->err, r->w->path, line_of(r), "%s",
                                XML_ErrorString(why));
}

int bats_dax_read(struct bats_workflow *w, struct bats_error *err)
{
    struct reader r = {.w = w, .child = NO_JOB, .err = err};
    char *bytes = NULL;
    size_t length;
    int rc = bats_textfile_read(w->path, &bytes, &length, err);
    if (rc == 0 && length > INT_MAX)
        rc = bats_error_at(err, w->path, 0, "this is too long");
    if (rc == 0 && !(r.parser = XML_ParserCreate(NULL)))
        rc = bats_no_memory(err);
    if (rc == 0) {
        parse(&r, bytes, length);
        rc = r.rc;
    }
    if (r.parser)
        XML_ParserFree(r.parser);
    bats_text_release(&r.command);
    free(bytes);
    return rc;
}
