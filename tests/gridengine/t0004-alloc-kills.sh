#!/bin/bash
# Runs of alloc in Grid Engine that are killed: KILLS times (3) at random moments,
# SEED says which.
. "$TOP/tests/gridengine/lib.sh"
. "$TOP/tests/gridengine/alloc.sh"

tasks dead 24
start dead -p fast.q --max-jobs 2 -b 1
within 60 ran dead 6
kill -KILL $master
wait $master 2>/dev/null || :
within 60 none_left dead
is_billed() { billed "$1" | awk '{ exit !($1 > 0 && $1 <= 1) }'; }
within 60 is_billed dead
expect '0|4' alloc dead -p fast.q --max-jobs 2 -b 1 --resume
settled dead 1
ok 'when the run is killed its jobs end themselves, and --resume charges them'

RANDOM=${SEED-1}
killed=0
for bag in $(seq "${KILLS-3}"); do
    [ $killed -lt "${KILLS-3}" ] || break
    tasks kill$bag 30
    code=137
    while [ $code -eq 137 ]; do
        start kill$bag -p fast.q,slow.q -b 5 --slots 2 --max-jobs 4 --resume
        sleep $((RANDOM % 4)).$((RANDOM % 10))
        if [ $killed -lt "${KILLS-3}" ] && kill -KILL $master 2>/dev/null; then
            killed=$((killed + 1))
        fi
        code=0
        wait $master 2>/dev/null || code=$?
    done
    test $code -eq 0
    ran kill$bag 30
    settled kill$bag 5
done
test $killed -gt 0
ok 'however often the run is killed, all jobs are charged what they were billed'
done_testing
