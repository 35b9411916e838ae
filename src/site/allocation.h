/*
 * allocation: the resources of the job that this process is part of, their end
 * and their rate, and the remainder of its account. The same for every batch
 * system.
 *
 * Layer: site. Used by site.c and the survey.
 *
 * A job has parts, the components of a heterogeneous job; most jobs have one.
 * A node belongs to one part. A rate is the amount billed per hour, in the
 * currency of the batch system, with its source in words.
 */
#ifndef BATS_SITE_ALLOCATION_H
#define BATS_SITE_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"
#include "util/node.h"

#define BATS_ALLOCATION_NAME 64
#define BATS_ALLOCATION_SOURCE 320
#define BATS_ALLOCATION_WEIGHTS 256

struct bats_batch_system; /* site/batch_system.h */

struct bats_allocation_part {
    char partition[BATS_NODE_PARTITION]; /* or queue; "" if unknown */
    char source[BATS_ALLOCATION_SOURCE]; /* source of the rates of its nodes */
    /* For the batch system itself: */
    char weights[BATS_ALLOCATION_WEIGHTS]; /* weights of resources; "": none */
    bool exclusive;                        /* the job has its nodes for
                                            * itself */
    double billing; /* the system's bill per hour; <= 0: unknown */
};

struct bats_allocation_node {
    char host[BATS_NODE_HOST]; /* without domain */
    uint32_t part;             /* index of its part */
    uint32_t cpus;             /* CPUs that the job holds on this node */
    bool whole;                /* the job holds the whole node */
    double rate;               /* per hour */
    /* For the batch system itself: */
    double memory_mb;
    char gres[64]; /* as Slurm writes them, "gpu:2" */
};

/* All zero: not in a job. Release with bats_allocation_release. */
struct bats_allocation {
    const struct bats_batch_system *system; /* NULL: no job */
    char job[BATS_ALLOCATION_NAME];
    char qos[BATS_ALLOCATION_NAME];     /* class of service; "": none */
    char account[BATS_ALLOCATION_NAME]; /* the account that pays; "" if
                                         * unknown */
    char user[BATS_ALLOCATION_NAME];
    int64_t start_s;  /* start of this life of the job, since 1970; 0:
                       * unknown */
    uint32_t life;    /* number of earlier lives */
    int64_t queued_s; /* when the job was queued for this life, which is the
                       * end of the life before; 0: unknown */
    int64_t end_s;    /* of the part that ends first, since 1970; 0: no end */
    double rate;      /* of the whole job, according to the system; 0:
                       * unknown */
    struct bats_allocation_part *parts;
    size_t n_parts; /* 0: no job, or the system does not answer */
    struct bats_allocation_node *nodes;
    size_t n_nodes;
};

/* The node of the job with this name; a domain in `host` is ignored. NULL:
 * there is none. */
struct bats_allocation_node *
bats_allocation_find(const struct bats_allocation *allocation,
                     const char *host);

void bats_allocation_release(struct bats_allocation *allocation);

/* ---- for batch systems ---- */

/* Both copy their arguments. BATS_ENOMEM. */
int bats_allocation_add_part(struct bats_allocation *allocation,
                             const struct bats_allocation_part *part,
                             struct bats_error *err);
int bats_allocation_add_node(struct bats_allocation *allocation,
                             const struct bats_allocation_node *node,
                             struct bats_error *err);

/* Sorts by host, which bats_allocation_find needs. */
void bats_allocation_sort(struct bats_allocation *allocation);

/* ---- accounts ---- */

#define BATS_ACCOUNT_NAME 64

struct bats_account {
    char account[BATS_ACCOUNT_NAME]; /* the account with the least left */
    bool of_user;                    /* the limit is the user's share of the
                                      * account */
    bool of_qos;         /* it is not an account, but the jobs' class of
                          * service */
    double factor;       /* factor by which usage is billed; 0: 1 */
    bool limited;        /* false: there is no limit */
    int64_t limit, used; /* billing-minutes, if limited */
};

/* In billing-hours, never below 0; BATS_UNLIMITED without a limit. */
bats_money bats_account_left(const struct bats_account *account);

#define BATS_ACCOUNT_WORDS 192

/* "account phys: 220 of 1000 billing-minutes are used". Returns `text`. */
const char *bats_account_words(char text[BATS_ACCOUNT_WORDS],
                               const struct bats_account *account);

#endif
