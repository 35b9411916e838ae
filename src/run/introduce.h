/*
 * introduce: the data that a rank sends when it joins.
 * Layer: run. Used by the worker, and by the master for itself.
 */
#ifndef BATS_INTRODUCE_H
#define BATS_INTRODUCE_H

#include "proto/proto.h"
#include "site/node.h"

struct bats_introduction {
    struct bats_hello hello; /* its texts belong to the node */
    struct bats_node node;
};

void bats_introduce(struct bats_introduction *introduction, int rank);

/* The node of a rank that sent this HELLO. */
struct bats_node bats_introduced_node(const struct bats_hello *hello);

#endif
