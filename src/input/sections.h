/*
 * sections: reads INI files by tables of keys.
 *
 * Layer: input. Used by the readers of clusters files and of scenarios.
 *
 *     [WORD] or [WORD NAME]
 *     key = value        # or ; begins a comment, at the start of a line or
 *     key: value         # behind a blank
 *         an indented line without '=' or ':' continues the value above
 *
 * A table says which keys a section has and how each value is stored; those of
 * a cluster that both kinds of files have are read here, into `models`. What
 * depends on several keys is settled by the caller after the last line.
 * Errors: BATS_EINPUT with "path:line: sentence", or BATS_ENOMEM.
 */
#ifndef BATS_INPUT_SECTIONS_H
#define BATS_INPUT_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "input/model.h"

#define BATS_SECTION_KEYS 40 /* of one section, at most */
#define BATS_SECTION_KINDS 3

struct bats_sections;

/* How a value is stored: by a function of its own, or as a member of the
 * object; where the section is a cluster, it is an element of an array. */
enum bats_key_kind {
    BATS_KEY_OWN,
    BATS_KEY_DURATION,
    BATS_KEY_PERIOD, /* a duration above 0 */
    BATS_KEY_FACTOR,
    BATS_KEY_COUNT, /* a whole number from 1 to `most` */
    BATS_KEY_TEXT,  /* of less than `most` bytes */
    BATS_KEY_YES    /* or no */
};

struct bats_key {
    const char *name;
    enum bats_key_kind kind;
    /* Applies the value; the sentence of an error does not name the key. */
    int (*set)(struct bats_sections *r, const char *value,
               struct bats_error *why);
    size_t at;
    uint32_t most;
    bool is_list; /* may go on in indented lines: `set` is called for each */
    bool is_needed;
};

#define BATS_KEY(name, set, is_list, is_needed)                               \
    {                                                                         \
        name, BATS_KEY_OWN, set, 0, 0, is_list, is_needed                     \
    }
#define BATS_KEY_MEMBER(name, kind, type, member, most)                       \
    {                                                                         \
        name, BATS_KEY_##kind, NULL, offsetof(struct type, member), most,     \
            false, false                                                      \
    }

struct bats_section {
    const char *word;
    const struct bats_key *keys; /* the last one has no name */
};

/* Begin with path, object, kinds and err, the rest zero. */
struct bats_sections {
    const char *path;
    void *object; /* to which the members belong */
    /* The last one, [cluster NAME], may be there several times, and also has
     * the keys of a model. */
    const struct bats_section *kinds;
    size_t n_kinds;
    struct bats_error *err;
    bool is_open;               /* a section is, */
    size_t kind, cluster;       /* this one */
    unsigned line;              /* present line, from 1 */
    const struct bats_key *key; /* the last one of the section, or NULL */
    bool of_model;              /* that key */
    size_t n_clusters;
    struct bats_model models[BATS_CLUSTERS_MAX];
    /* 0: not there. Those of the clusters follow the other kinds. */
    unsigned section_line[BATS_SECTION_KINDS + BATS_CLUSTERS_MAX];
    unsigned key_line[BATS_SECTION_KINDS + BATS_CLUSTERS_MAX]
                     [BATS_SECTION_KEYS];
};

/* Reads the file, or `text` (unless NULL) in its place, and checks that the
 * sections from number `needed` on and their keys are there. */
int bats_sections_read(struct bats_sections *r, const char *text,
                       size_t needed);

/* The line of the key, 0 if it is not there; NULL: of the section. */
unsigned bats_sections_line(const struct bats_sections *r, size_t kind,
                            size_t cluster, const char *key);
/* The same of a cluster. */
unsigned bats_sections_cluster(const struct bats_sections *r, size_t cluster,
                               const char *key);

/* Fails for this line of the file. */
#define BATS_SECTIONS_FAIL(r, line, ...)                                      \
    bats_error_at((r)->err, (r)->path, line, __VA_ARGS__)

/* Releases what the models hold that nobody has taken over. */
void bats_sections_release(struct bats_sections *r);

/* Parses a whole number from 1 to `most`; a duration above 0. */
int bats_sections_count(const char *value, uint32_t most, uint32_t *count,
                        struct bats_error *why);
int bats_sections_period(const char *value, bats_time *period,
                         struct bats_error *why);

/* ---- all clusters, after the last line ---- */

extern const struct bats_key bats_model_keys[];

/* Some price is of a kind that only billing = second supports. */
bool bats_sections_by_age(const struct bats_sections *r);

/* The keys contradict neither each other nor the billing. `emulated`: all
 * losses are. */
int bats_sections_check(struct bats_sections *r,
                        enum bats_billing_model billing, bool emulated);

/* Charges become those of a window. */
int bats_sections_settle(struct bats_sections *r, bats_time window,
                         enum bats_billing_model billing);

#endif
