#!/bin/bash
# Faults that befall alloc in Grid Engine: a job is deleted, its host is lost.
. "$TOP/tests/gridengine/lib.sh"
. "$TOP/tests/gridengine/alloc.sh"

# Two runs at once, on other hosts each.
tasks killed 40
tasks lost 40
start killed -p fast.q --max-jobs 3 -b 10
killed=$master
# Grid Engine notices first, or it would put other jobs on the lost host: they
# would be in its state t for ever.
start lost -p slow.q --max-jobs 2 --slots 2 -b 10 --sbatch '-pe mpi' --silence 40s
within 60 ran killed 6
qdel "$(qstat -s r -q fast.q | awk '/bats-/ { print $1 }' | head -n 1)" >>out
within 60 ran lost 8
kill -KILL "$(cat node.slow2)"
expect 0 wait $killed
ran killed 40
settled killed 10
ok 'a job that somebody deletes is charged what it was billed, and replaced'

expect 0 wait $master
ran lost 40
settled lost 10
ok 'a job whose host is lost is replaced, deleted by force, and charged'
done_testing
