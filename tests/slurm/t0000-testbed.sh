#!/bin/bash
# The testbed itself: eight nodes, and nothing is left of it.
. "$TOP/tests/tap.sh"
testbed="env $mark SHM=$$ sh $TOP/tests/slurm/testbed.sh"

# first skipped? Then the others would be, too.
code=0
$testbed sh -c 'echo "$BED" >bed
    srun -N8 sh -c "echo \$(hostname) \$(hostname -I) >$BED/host.\$SLURM_NODEID
        sleep 1; touch /tmp/mine.1 /dev/shm/mine.$SHM
        sleep 1; ls -d /tmp/mine.* /dev/shm/mine.* | wc -l"
    sort "$BED"/host.* >hosts; exit 7' >out 2>err || code=$?
if grep SKIP out; then
    exit
fi
test "$(sort -u out)" = 2
consists hosts 'fast1 10.77.0.11' 'fast2 10.77.0.12' 'fast3 10.77.0.13' \
    'fast4 10.77.0.14' 'slow1 10.77.0.15' 'slow2 10.77.0.16' \
    'slow3 10.77.0.17' 'slow4 10.77.0.18'
ok 'eight nodes, each with a name, an address, a /tmp and a /dev/shm of its own'

gone() {
    nobody_left && ! [ -e "$(cat bed)" ]
}
gone
expect 1 ip link show bats >out 2>&1
[ ! -e /dev/shm/mine.$$ ]
test $code -eq 7
ok 'it leaves nothing, and ends with the exit code of the command'

# start: a testbed in the background, until it has written bed.
start() {
    rm -f bed
    $testbed sh -c 'srun -N8 sleep 100 & echo "$BED" >bed.new
        until squeue -h -t R -o %i | grep -q .; do sleep 0.1; done
        mv bed.new bed; sleep 100' >out 2>err &
    pid=$!
    within 60 test -e bed
}
start
kill -KILL $pid
within 60 nobody_left
ok 'a KILL leaves no process'
killed=$(cat bed)
start
test -d "$(cat bed)"
test ! -e "$killed"
$testbed test -d "$(cat bed)"
kill -TERM $pid
expect 143 wait $pid
within 60 gone
ok 'and the next testbed removes its directory, but not that of a live one'

env -u CI setpriv --bounding-set=-sys_admin $testbed true >out 2>err
grep -q '^1..0 # SKIP.*namespaces' out
ok 'without namespaces the test is skipped'
CI=true expect 1 setpriv --bounding-set=-sys_admin $testbed true >out 2>err
grep -q '^not ok 1' out
ok 'and fails under CI=true'

echo 'srun -N8 hostname | sort | xargs; exit' |
    script -qec "$mark SHELL=/bin/sh make -s -C '$TOP' B='$B' slurm-shell" \
        /dev/null >out 2>&1
grep -q 'fast1 fast2 fast3 fast4 slow1 slow2 slow3 slow4' out
within 60 nobody_left
ok 'make slurm-shell gives a shell in it'
done_testing
