/*
 * dax: the abstract workflows of Pegasus, DAX 2 and 3 (XML, read with expat).
 * A job has a name, which is its program and category, and in simulations a
 * runtime, which is not part of the language; a negative one, which generators
 * produce, counts as 0. Where a job has an <argument>, its command is the
 * program with that; Pegasus would look it up in a catalogue. <stdin>, <stdout>
 * and <stderr> name files that the shell opens. Jobs that stand for other
 * workflows are refused, and so are entities of the file's own.
 */
#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "util/encode.h"
#include "util/grow.h"

#define NO_JOB UINT32_MAX

struct reader {
    struct bats_workflow *w;
    XML_Parser parser;
    bool in_job, in_argument, has_command;
    uint32_t child; /* of <child>, or NO_JOB */
    char *command;  /* of the job */
    size_t length, room;
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
    char at[BATS_WORKFLOW_AT_SIZE];
    stop(r, bats_error_set(r->err, BATS_EINPUT, "%s%s%.60s%s",
                           bats_workflow_at(r->w, line_of(r), at), what, name,
                           *name != '\0' ? "'" : ""));
}

static const char *attribute(const XML_Char **list, const char *name)
{
    for (; list[0]; list += 2)
        if (strcmp(list[0], name) == 0)
            return list[1];
    return NULL;
}

/* DAX 2 says "file", DAX 3 "name". */
static const char *file_name(const XML_Char **list)
{
    const char *name = attribute(list, "name");
    return name ? name : attribute(list, "file");
}

static void append(struct reader *r, const char *text, size_t n)
{
    if (!bats_grow(&r->command, &r->room, r->length + n + 1, 1)) {
        stop(r, bats_error_set(r->err, BATS_ENOMEM, "out of memory"));
        return;
    }
    memcpy(r->command + r->length, text, n);
    r->length += n;
    r->command[r->length] = '\0';
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
        complain(r, "this is no runtime: '", runtime);
    else
        stop(r, bats_workflow_add(r->w, id, NULL,
                                  !runtime ? -1
                                  : us > 0 ? (bats_time)llround(us)
                                           : 0,
                                  name, line_of(r), r->err));
    r->in_job = true;
    r->has_command = false;
    r->length = 0;
    if (name)
        append(r, name, strlen(name));
}

static void use_file(struct reader *r, const XML_Char **list)
{
    const char *file = file_name(list), *link = attribute(list, "link");
    if (!r->in_job || r->w->n == 0 || !file || !link)
        return; /* also allowed elsewhere: programs, say */
    bool both = strcmp(link, "inout") == 0;
    if (both || strcmp(link, "input") == 0)
        stop(r, bats_workflow_use(r->w, r->w->n - 1, file, false, r->err));
    if (both || strcmp(link, "output") == 0)
        stop(r, bats_workflow_use(r->w, r->w->n - 1, file, true, r->err));
}

/* The shell is to open the file of <stdin>, <stdout> or <stderr>. */
static void redirect(struct reader *r, const char *sign, const XML_Char **list)
{
    char word[4096];
    const char *name = file_name(list);
    if (!name || bats_encode(BATS_ENCODE_QUOTED, word, sizeof word, name) >=
                     sizeof word) {
        complain(r, "no file, or one of too long a name, for '", sign + 1);
        return;
    }
    r->has_command = true;
    append(r, sign, strlen(sign));
    append(r, word, strlen(word));
}

/* The job with this id, which may not be there. */
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
        append(r, " ", 1);
    } else if (r->in_argument && (strcmp(element, "file") == 0 ||
                                  strcmp(element, "filename") == 0)) {
        const char *name = file_name(list);
        append(r, name ? name : "", name ? strlen(name) : 0);
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
            stop(r, bats_workflow_edge(r->w, parent, r->child, r->err));
    }
}

/* The command is known now: it goes behind the others. */
static void end_job(struct reader *r)
{
    struct bats_workflow *w = r->w;
    r->in_job = false;
    if (!r->has_command)
        return;
    if (!bats_grow(&w->text, &w->text_room, w->text_length + r->length + 2,
                   1)) {
        stop(r, bats_error_set(r->err, BATS_ENOMEM, "out of memory"));
        return;
    }
    for (size_t i = 0; i < r->length; i++) /* as a blank between words */
        if (strchr("\t\r\n", r->command[i]))
            r->command[i] = ' ';
    memcpy(w->text + w->text_length, r->command, r->length + 1);
    w->tasks[w->n - 1].command = w->text_length;
    w->text_length += r->length + 1;
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
        append(r, bytes, (size_t)n);
}

static void entity(void *context, const XML_Char *name, int is_parameter,
                   const XML_Char *value, int length, const XML_Char *base,
                   const XML_Char *system, const XML_Char *public,
                   const XML_Char *notation)
{
    (void)is_parameter;
    (void)value;
    (void)length;
    (void)base;
    (void)system;
    (void)public;
    (void)notation;
    complain(context, "entities are not allowed: '", name);
}

/* ---- the file ---- */

static void parse(struct reader *r, const char *bytes, size_t length)
{
    char at[BATS_WORKFLOW_AT_SIZE];
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, begin, end);
    XML_SetCharacterDataHandler(r->parser, text);
    XML_SetEntityDeclHandler(r->parser, entity);
    if (XML_Parse(r->parser, bytes, (int)length, 1) == XML_STATUS_OK ||
        r->rc < 0)
        return;
    enum XML_Error why = XML_GetErrorCode(r->parser);
    r->rc = bats_error_set(
        r->err, why == XML_ERROR_NO_MEMORY ? BATS_ENOMEM : BATS_EINPUT, "%s%s",
        bats_workflow_at(r->w, line_of(r), at), XML_ErrorString(why));
}

int bats_dax_read(struct bats_workflow *w, struct bats_error *err)
{
    struct reader r = {.w = w, .child = NO_JOB, .err = err};
    char *bytes = NULL;
    size_t length;
    int rc = bats_textfile_read(w->path, &bytes, &length, err);
    if (rc == 0 && length > INT_MAX)
        rc = bats_error_set(err, BATS_EINPUT, "%.250s is too long", w->path);
    if (rc == 0 && !(r.parser = XML_ParserCreate(NULL)))
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0) {
        parse(&r, bytes, length);
        rc = r.rc;
    }
    if (r.parser)
        XML_ParserFree(r.parser);
    free(r.command);
    free(bytes);
    return rc;
}
