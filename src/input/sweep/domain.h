/*
 * domain: the values of a parameter in a plan file.
 *
 * Layer: input, private to plan files.
 *
 *     [label "TEXT"] [integer|float|text|files]
 *         VALUE | default VALUE...
 *       | range from A to B [step S | points N]
 *       | random from A to B [points N]
 *       | select anyof|oneof VALUE... [default VALUE...]
 *
 * A range includes B if a step meets it; the default step is 1. Random values
 * depend only on the parameter's name, so that they are the same when the plan
 * is read again. A selection gives its default values or, without them, all
 * (anyof) or the first (oneof). Files are names or patterns; every match is a
 * value, in alphabetical order.
 */
#ifndef BATS_SWEEP_DOMAIN_H
#define BATS_SWEEP_DOMAIN_H

#include "input/sweep/points.h"
#include "input/sweep/source.h"

/* Reads a statement from after the name of the parameter to its end. */
void bats_domain_read(struct bats_source *source, struct bats_axis *axis,
                      const char *name);

#endif
