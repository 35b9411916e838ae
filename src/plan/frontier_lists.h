/*
 * frontier_lists: the configurations that are undominated in price per window
 * and rate, as far as they can be on the frontier at all.
 *
 * Layer: plan, private to frontier.c. The method is told in frontier.h. The
 * lists are kept short by bounds: what loses more against the linear
 * relaxation than the list does already is not tried, and what costs more than
 * fewer windows are known to is dropped.
 */
#ifndef BATS_FRONTIER_LISTS_H
#define BATS_FRONTIER_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/units.h"
#include "plan/knapsack.h"

/* A configuration of the clusters seen so far. In a list price and rate
 * ascend. */
struct bats_frontier_state {
    bats_money price;
    double rate;
    uint32_t origin; /* its state in the list before this cluster */
    uint32_t count;  /* machines of this cluster */
};

#define BATS_FRONTIER_WINDOWS 1024

/* [k]: what the bag is known to cost at most in k windows or fewer. Who costs
 * more and takes longer is dominated. */
struct bats_frontier_least {
    double cost[BATS_FRONTIER_WINDOWS];
};

struct bats_frontier_bounds; /* private to frontier_lists.c */

struct bats_frontier_lists {
    struct bats_knapsack types; /* set and sorted by the caller; what all
                                   pieces cost must fit */
    uint64_t n_tasks;           /* set by the caller */
    int64_t span;               /* set by the caller: the least windows */
    struct bats_frontier_least *least; /* the caller's: what is known, at first
                                          INFINITY; becomes better */
    struct bats_frontier_state *list, *spare; /* `capacity` each */
    size_t n, capacity;
    size_t kept; /* what is behind it is in `spare` while the list is joined
                    with itself; else SIZE_MAX */
    uint32_t
        *origin[BATS_CLUSTERS_MAX]; /* of each state in the list that the */
    uint32_t *count[BATS_CLUSTERS_MAX]; /* type has left behind */
    struct bats_frontier_bounds *bounds;
    bool full; /* given up: the lists are too long */
};

/* Fills the list from the types. False: out of memory. */
bool bats_frontier_lists_make(struct bats_frontier_lists *l);

/* The machines behind state i of the list, by item. */
void bats_frontier_lists_trace(const struct bats_frontier_lists *l, size_t i,
                               uint32_t *machines);

void bats_frontier_lists_release(struct bats_frontier_lists *l);

#endif
