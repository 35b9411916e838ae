#!/bin/bash
# Runs of alloc in Grid Engine that are killed: RUNS (3) of random shapes, at random
# moments; SEED says which. LOG gets a line for each.
. "$TOP/tests/gridengine/lib.sh"
. "$TOP/tests/gridengine/alloc.sh"

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
killed=0
for bag in $(seq "${RUNS-3}"); do
    tasks kill$bag 30
    like="--slots $((1 + RANDOM % 3)) --max-jobs $((1 + RANDOM % 4))"
    code=137
    while [ $code -eq 137 ]; do
        start kill$bag -p fast.q,slow.q -b 5 $like --resume
        sleep $((RANDOM % 5)).$((RANDOM % 10))
        if [ $((RANDOM % 3)) -gt 0 ] && kill -KILL $master 2>/dev/null; then
            killed=$((killed + 1))
        fi
        code=0
        wait $master 2>/dev/null || code=$?
    done
    test $code -eq 0
    ran kill$bag 30
    settled kill$bag 5
    echo "$bag: $like, $killed kills so far, $(grep '^billed' out)" >>"${LOG-kills}"
done
test $killed -gt 0
ok 'however often runs are killed, all jobs are charged what they were billed'
done_testing
