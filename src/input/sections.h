/*
 * sections: reads INI files by tables of keys.
 *
 * Layer: input. Used by the readers of clusters files and of scenarios.
 *
 *     [WORD] or [WORD NAME]
 *     key = value        # or ; begins a comment, at the start of a line or
 *     key: value         # after a blank
 *         an indented line without '=' or ':' continues the value above
 *
 * A table lists the keys of a section and how each value is stored. The
 * cluster keys that both kinds of files have are read here, into `models`. The
 * caller settles what depends on several keys after the last line. Errors:
 * BATS_EINPUT with "path:line: sentence", or BATS_ENOMEM.
 */
#ifndef BATS_INPUT_SECTIONS_H
#define BATS_INPUT_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "input/model.h"

#define BATS_SECTION_KEYS 40 /* most keys of a section */
#define BATS_SECTION_KINDS 3

struct bats_sections;

/* How a value is stored: by its own function, or as a member of the object; in
 * a cluster's section, of an element of an array. */
enum bats_key_kind {
    BATS_KEY_OWN,
    BATS_KEY_ITEMS, /* "a, b,c": each item by its own function */
    BATS_KEY_DURATION,
    BATS_KEY_PERIOD, /* a duration above 0 */
    BATS_KEY_FACTOR,
    BATS_KEY_COUNT, /* a whole number from 1 to `most` */
    BATS_KEY_TEXT,  /* shorter than `most` bytes */
    BATS_KEY_YES    /* yes or no */
};

struct bats_key {
    const char *name;
    enum bats_key_kind kind;
    /* Applies the value; the sentence of an error does not name the key. */
    int (*set)(struct bats_sections *r, const char *value,
               struct bats_error *why);
    int (*add)(struct bats_sections *r, char *item, struct bats_error *why);
    size_t at;
    uint32_t most;
    bool is_list; /* may continue in indented lines: `set` is called for
                   * each */
    bool is_needed;
};

#define BATS_KEY(name, set, is_list, is_needed)                               \
    {                                                                         \
        name, BATS_KEY_OWN, set, NULL, 0, 0, is_list, is_needed               \
    }
#define BATS_KEY_EACH(name, add, is_list, is_needed)                          \
    {                                                                         \
        name, BATS_KEY_ITEMS, NULL, add, 0, 0, is_list, is_needed             \
    }
#define BATS_KEY_MEMBER(name, kind, type, member, most)                       \
    {                                                                         \
        name, BATS_KEY_##kind, NULL, NULL, offsetof(struct type, member),     \
            most, false, false                                                \
    }

struct bats_section {
    const char *word;
    const struct bats_key *keys; /* ended by a key without a name */
};

/* Set path, object, kinds and err; the rest is zero. */
struct bats_sections {
    const char *path;
    void *object; /* the object whose members are set */
    /* The last kind, [cluster NAME], may occur several times, and also has the
     * keys of a model. */
    const struct bats_section *kinds;
    size_t n_kinds;
    struct bats_error *err;
    bool is_open;               /* a section has begun, */
    size_t kind, cluster;       /* namely this one */
    unsigned line;              /* current line, from 1 */
    const struct bats_key *key; /* the last key of the section, or NULL */
    bool of_model;              /* it is a model's key */
    size_t n_clusters;
    struct bats_model models[BATS_CLUSTERS_MAX];
    /* 0: missing. Clusters follow the other kinds. */
    unsigned section_line[BATS_SECTION_KINDS + BATS_CLUSTERS_MAX];
    unsigned key_line[BATS_SECTION_KINDS + BATS_CLUSTERS_MAX]
                     [BATS_SECTION_KEYS];
};

/* Reads the file, or `text` instead unless NULL, and checks that the sections
 * from number `needed` on and their keys are present. */
int bats_sections_read(struct bats_sections *r, const char *text,
                       size_t needed);

/* The line of the key (NULL: of the section); 0 if it is missing. */
unsigned bats_sections_line(const struct bats_sections *r, size_t kind,
                            size_t cluster, const char *key);
/* The same for a cluster. */
unsigned bats_sections_cluster(const struct bats_sections *r, size_t cluster,
                               const char *key);

/* Returns an error about this line of the file. */
#define BATS_SECTIONS_FAIL(r, line, ...)                                      \
    bats_error_at((r)->err, (r)->path, line, __VA_ARGS__)

/* ---- all clusters, after the last line ---- */

extern const struct bats_key bats_model_keys[];

/* True if some price needs billing = second. */
bool bats_sections_by_age(const struct bats_sections *r);

/* Checks that the keys contradict neither each other nor the billing.
 * `emulated`: all losses are emulated. */
int bats_sections_check(struct bats_sections *r,
                        enum bats_billing_model billing, bool emulated);

/* Converts charges into charges per window. */
int bats_sections_settle(struct bats_sections *r, bats_time window,
                         enum bats_billing_model billing);

#endif
