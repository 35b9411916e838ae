#!/bin/bash
# Runs of alloc in Grid Engine that are killed: RUNS (2) of random shapes, each with up
# to six kills of what takes part in it; SEED says which. LOG gets a line for each.
. "$TOP/tests/gridengine/lib.sh"
. "$TOP/tests/gridengine/alloc.sh"
. "$TOP/tests/gridengine/kills.sh"

tasks dead 24
start dead -p fast.q --max-jobs 2 -b 1
within 60 ran dead 6
killed
within 60 none_left dead
is_billed() { billed "$1" | awk '{ exit !($1 > 0 && $1 <= 1) }'; }
within 60 is_billed dead
expect '0|4' alloc dead -p fast.q --max-jobs 2 -b 1 --resume
settled dead 1
ok 'when the run is killed its jobs end themselves, and --resume charges them'

RANDOM=${SEED-1}
shapes=$common
for bag in $(seq "${RUNS-2}"); do
    common="$shapes -p fast.q,slow.q -b 5"
    common+=" --slots $((1 + RANDOM % 3)) --max-jobs $((1 + RANDOM % 4))"
    survives kill$bag $((1 + RANDOM % 6)) "${parts[@]}" >told
    cat told >>"${LOG-kills}"
    all+=$killed
done
test -n "$all"
ok 'whatever is killed at random, all jobs are charged what they were billed'
done_testing
