/*
 * resources: the memory and the GPUs of its node that a rank's job may use.
 *
 * Layer: site. Used by node.c. The memory is that of the node, or less if the
 * batch system or a control group (version 1 or 2) limits it. The GPUs are
 * those of CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES, as Slurm sets them
 * for a step: the first of these that is set counts.
 */
#ifndef BATS_SITE_RESOURCES_H
#define BATS_SITE_RESOURCES_H

#include <stdint.h>

struct bats_node; /* util/node.h */

/* Fills in gpus and usable_bytes; the latter needs the hardware to be
 * known. */
void bats_resources_look(struct bats_node *node);

/* For tests: the smallest memory limit of a control group and its ancestors,
 * as listed in `groups` (a file like /proc/self/cgroup), below the directory
 * `root` (like /sys/fs/cgroup); UINT64_MAX: none. */
uint64_t bats_resources_limit(const char *groups, const char *root);

#endif
