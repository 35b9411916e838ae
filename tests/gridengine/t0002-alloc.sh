#!/bin/bash
# Machines that are bought as jobs of Grid Engine. What they were billed is the
# time that its accounting has for each, times the charge of its queue.
. "$TOP/tests/gridengine/lib.sh"
. "$TOP/tests/gridengine/alloc.sh"

tasks bag 20
alloc bag -p slow.q,fast.q -b 10 --slots 2 --max-jobs 2 --dry-run
finds out '^slow.q: 6 charge-h per hour and job of 2 slots' \
    '^fast.q: 16 charge-h per hour and job of 2 slots' \
    '^ *qsub .* -pe \* 2 .*-l h_rt='
test ! -e ran.bag
alloc bag -p slow.q -b 10 --memory 1G --dry-run
grep -q -- '-l mem_free=1048576K ' out
expect 2 alloc bag -p slow.q -b 10 --memory 999T --no-record
qstat -u '*' >left
test ! -s left
ok 'a dry run asks for prices and memory, and leaves no job in the queue'
alloc bag -p slow.q,fast.q -b 10 --slots 2 --max-jobs 4
ran bag 20
billed bag | grep -qvx 0.000000
settled bag 10
grep :bats- "$accounting" | cut -d: -f36 | grep -qx '[1-4]'
ok 'a bag is done, and what was charged is what the accounting says, to the second'

# refuses WORDS OPTIONS
refuses() {
    exits 2 "$1" alloc bag -p slow.q --no-record --sbatch "$2"
}
refuses 'seen to end 90 s late' '-l mem=4G,s_rt=10'
refuses 'beyond its limit' -notify
refuses 'submits arrays itself' '-t 1-3'
refuses 'use --window' '-l h_rt=100'
exits 2 'unknown queue "no.q"' alloc bag -p no.q --no-record
ok 'options that break what is guaranteed are refused, and unknown queues'
limits() { # OF SLOW.Q: s_rt h_rt
    qconf -mattr queue s_rt $1 slow.q >>set 2>&1
    qconf -mattr queue h_rt $2 slow.q >>set 2>&1
}
limits 0:2:00 0:2:03
alloc bag -p slow.q -b 10 --dry-run
limits INFINITY INFINITY
grep -q 'slow.q may ask for 1m at most: the window is 50s' err
grep -q -- '-l h_rt=60 ' out
ok 'jobs end a minute before the s_rt of their queue'

# Two GPUs a host, consumed by the slot: one for each of two slots. What a prolog
# would say of them is in the environment.
{ qconf -sc; echo 'gpu gpu INT <= YES YES 0 0'; } >complexes
qconf -Mc complexes >>set 2>&1
for host in slow1 slow2; do
    qconf -rattr exechost complex_values gpu=2 $host >>set 2>&1
done
tasks cards 4
two="cards -p slow.q -b 10 --slots 2 --gpus 1 --max-jobs 1"
CUDA_VISIBLE_DEVICES=0,1 alloc $two
ran cards 4
alloc $two --no-record --dry-run
grep -q -- '-pe \* 2 -l gpu=1 ' out
settled cards 10
ok 'what is consumed by the slot is asked for by the slot'

blocker=$(echo "sleep 600" | qsub -terse -cwd -V -S /bin/sh -o /dev/null -j y -q fast.q -pe mpi 16)
tasks full 8
runs() { qstat -s r -u '*' | grep -q "^ *$1 "; }
within 60 runs "$blocker"
# waits WORDS OPTION...: until it says so; then Ctrl-C.
waits() {
    start full -p fast.q -b 10 "${@:2}"
    within 60 grep -qE "$1" err
    kill -INT $master
    expect 130 wait $master
}
waits "2 jobs wait in the queue of Grid Engine, the oldest for [0-9]+s: .*offers 0 slots" \
    --slots 2 --max-jobs 2
waits "1 job waits in the queue .*: .* dropped because it is full" --max-jobs 1
settled full 0
qdel "$blocker" >>out
ok 'when nothing comes, it says why; after Ctrl-C no job is left, or has cost anything'

tasks drain 60
start drain -p fast.q --max-jobs 2 --slots 8 --sbatch '-pe mpi' -b 10
within 60 ran drain 8
job=$(qstat -s r | awk '/fast1/ { print $1 }' | head -n 1)
qmod -d '*@fast1' >>out
gone() { ! qstat | grep -q "^ *$1 "; }
within 60 gone "$job"
expect 0 wait $master
qmod -e '*@fast1' >>out
test "$(sort ran.drain | uniq | wc -l)" -eq "$(wc -l <ran.drain)"
ran drain 60
settled drain 10
ok 'a job on a drained host is given back when its tasks have ended'

done_testing
