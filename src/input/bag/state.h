/*
 * state: what a bag is made of, shared by its parts.
 *
 * Layer: input, private to bagfile.c and bag/. bagfile.c loads a bag of any
 * kind: read.c reads a text and the directives in it, traits.c those with keys
 * and values; look.c reports the content of the bag.
 */
#ifndef BATS_BAG_STATE_H
#define BATS_BAG_STATE_H

#include "input/bagfile.h"
#include "input/dependencies.h"

#define BLANKS " \t"

/* Values of "#BATS KEY=VALUE" for the tasks below it, or of a sweep's columns
 * for one task. */
struct bats_bag_traits {
    struct bats_need need; /* member 0: unspecified, except gpus if says_gpus
                            * is set */
    bool says_gpus;
    bats_time time; /* runtime of a task; 0: unspecified */
    uint16_t class; /* number of the name; 0: none */
};

/*
 * The tasks from `first` on that share prefix, suffix and origin: either plain
 * lines, each with its entry in the tables, or the n repetitions of one
 * directive, which are not expanded. So a bag takes its text, 12 bytes a line,
 * and almost nothing for repetitions.
 */
struct bats_bag_group {
    uint32_t first;
    bool repeated;
    bool once;
    uint32_t entry; /* of the first task; of all if repeated */
    uint64_t start, step;
    size_t prefix, suffix; /* offsets into the text */
    struct bats_bag_traits traits;
};

/* The state of the reader, and the properties of the next task. */
struct scan {
    struct bats_bagfile *bag;
    struct bats_dependencies *waits; /* NULL: no line has dependencies */
    size_t prefix, suffix; /* offsets of the current prefix and suffix */
    struct bats_bag_traits traits;
    bool new_group;
    bool once; /* the current line has @once */
    uint32_t line;
    struct bats_text command; /* room for one command */
    struct bats_error *err;
};

/* Returns BATS_EINPUT about the current line. */
#define FAIL(scan, ...)                                                       \
    bats_error_at((scan)->err, (scan)->bag->name, (scan)->line, __VA_ARGS__)

/* Adds a line with the command at `offset`. BATS_ENOMEM. */
int bats_bag_add_entry(struct bats_bagfile *bag, size_t offset, uint32_t line,
                       struct bats_error *err);

/* `text` is the rest of the line after "#BATS ": a key and its value as one
 * word, or KEY=VALUE pairs. Each applies to the tasks below until the key
 * occurs again. */
bool bats_bag_is_trait(const char *text);
int bats_bag_trait(struct scan *scan, const char *text);

/* `text` is the rest of the line after "#HQ": applies --cpus N and --resource
 * gpus/nvidia=N or gpus/amd=N. Other options say nothing about needs. */
int bats_bag_hyperqueue(struct scan *scan, const char *text);

/* Applies the lines "#BATS KEY=VALUE" of a script with parameters to all of its
 * tasks. Cuts bag->text into lines. BATS_EINPUT, BATS_ENOMEM. */
int bats_bag_read_script(struct bats_bagfile *bag, struct bats_error *err);

/* Reads the columns of a sweep named after such keys, except "class".
 * BATS_EINPUT, naming the task; BATS_ENOMEM. */
int bats_bag_read_columns(struct bats_bagfile *bag, struct bats_error *err);

/* Call when all tasks are read: if any task has a class, classes become the
 * categories of the bag. BATS_ENOMEM. */
int bats_bag_list_classes(struct bats_bagfile *bag, struct bats_error *err);

/* Reads the bag's text of this length, and cuts it into lines. BATS_EINPUT
 * with "file:line: sentence"; BATS_ENOMEM. */
int bats_bag_read_lines(struct bats_bagfile *bag, size_t length,
                        struct bats_error *err);

#endif
