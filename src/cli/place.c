#include "cli/place.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/look.h"
#include "record/read/view.h"

#define KEY "output_dir"

char *bats_place_default(const char *bag)
{
    char *dir;
    if (asprintf(&dir, "%s.out", strcmp(bag, "-") == 0 ? "stdin" : bag) < 0)
        return NULL;
    return dir;
}

static int resolve(const char *name, char path[PATH_MAX],
                   struct bats_error *err)
{
    if (realpath(name, path) != NULL)
        return 0;
    return bats_error_set(err, BATS_ESYS, "%s: %s", name, strerror(errno));
}

/* The index of the file name in a resolved path. */
static size_t name_at(const char *path)
{
    return (size_t)(strrchr(path, '/') - path) + 1;
}

int bats_place_note(json_t *settings, const char *dir, const char *record,
                    struct bats_error *err)
{
    char place[PATH_MAX], beside[PATH_MAX];
    int rc = resolve(dir, place, err);

    if (rc == 0)
        rc = resolve(record, beside, err);
    if (rc < 0)
        return rc;
    size_t n = name_at(beside);
    const char *noted = strncmp(place, beside, n) == 0 ? place + n : place;
    return json_object_set_new(settings, KEY,
                               json_stringn_nocheck(noted, strlen(noted))) == 0
               ? 0
               : bats_no_memory(err);
}

/* The directory noted in the record at `path`; NULL if there is none. */
static int ask(const char *path, char **dir, struct bats_error *err)
{
    struct bats_view *view;
    char real[PATH_MAX], *text = NULL;
    int rc = bats_view_open(path, &view, err);

    *dir = NULL;
    if (rc == 0)
        rc = bats_view_options(view, &text, err);
    bats_view_close(view);
    if (rc == 0)
        rc = resolve(path, real, err);
    json_t *all = rc == 0 ? json_loads(text, 0, NULL) : NULL;
    const char *noted =
        json_string_value(json_object_get(json_object_get(all, "run"), KEY));
    if (noted != NULL &&
        asprintf(dir, "%.*s%s", noted[0] == '/' ? 0 : (int)name_at(real), real,
                 noted) < 0) {
        *dir = NULL;
        rc = bats_no_memory(err);
    }
    json_decref(all);
    free(text);
    return rc;
}

int bats_place_find(const char *run, char **dir, struct bats_error *err)
{
    char record[PATH_MAX];
    struct stat st;
    int rc = 0;

    *dir = NULL;
    if (stat(run, &st) == 0 && S_ISDIR(st.st_mode)) {
        *dir = strdup(run);
        return *dir == NULL ? bats_no_memory(err) : 0;
    }
    bats_look_find(run, record, sizeof record);
    if (bats_look_bag(record) < strlen(record))
        rc = ask(record, dir, err);
    if (rc == BATS_EINPUT) /* a damaged or missing record: use the default */
        rc = 0;
    if (rc == 0 && *dir == NULL && (*dir = bats_place_default(run)) == NULL)
        rc = bats_no_memory(err);
    return rc;
}
