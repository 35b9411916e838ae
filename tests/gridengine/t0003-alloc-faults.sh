#!/bin/bash
# Faults that befall alloc in Grid Engine: a job is deleted, its host is lost, or
# hangs.
. "$TOP/tests/gridengine/lib.sh"
. "$TOP/tests/gridengine/alloc.sh"

# Two runs at once, on other hosts each.
tasks killed 40
tasks lost 40
start killed -p fast.q --max-jobs 3 -b 10
killed=$master
start lost -p slow.q --max-jobs 2 --slots 2 -b 10 --sbatch '-pe mpi'
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
ok 'a job whose host is lost is replaced, deleted by force, and charged

# For minutes, as at a site, Grid Engine does not notice that a host hangs. Jobs
# that it puts there are in its state t.
qconf -sconf | sed 's/^\(max_unheard\).*/\1 00:05:00/' >global
qconf -Mconf global >>out
qmod -d fast.q@fast1 >>out
kill -STOP "$(pgrep -P "$(cat node.fast2)" sge_execd)"
tasks hung 6
start hung -p fast.q --max-jobs 2 -b 1
within 60 grep -q 'is given up: its host has not answered for' err
qmod -e fast.q@fast1 >>out
qmod -d fast.q@fast2 >>out
expect 0 wait $master
ran hung 6
settled hung 1
ok 'a job whose host does not confirm its start is given up, and charged
done_testing
