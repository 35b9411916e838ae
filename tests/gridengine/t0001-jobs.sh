#!/bin/bash
# A bag in a job of Grid Engine: what the job holds, charges and allows is known,
# notices are heard, and a job that is queued again goes on where it was.
. "$TOP/tests/gridengine/lib.sh"

cat >look.sh <<'SH'
mpirun bats-mpi clusters --json >report 2>err
qstat -xml -j $JOB_ID >xml
SH
submit -cwd -V -S /bin/sh -pe mpi 20 -l h_rt=1800,s_rt=1500 -o look.out -j y look.sh
jq -r '.clusters | sort_by(.name)[] |
    "\(.name) \(.machine) \(.slots) \(.charge) \(.charge_source)"' report >out
# All of one queue and a half of one host of the other, or the other way round.
grep -qE '^fast.q (node 1[56] 64|rank 4 8) Grid Engine: charge=8 of fast.q' out
grep -qE '^slow.q (node 1[56] 24|rank 4 3) Grid Engine: charge=3 of slow.q' out
test "$(grep -c ' node ' out)" = 1
ok 'each queue is a cluster with the charge that the site has set for a slot'
start=$(sed -n 's/.*<JAT_start_time>\([0-9]*\)<.*/\1/p' xml)
# 16 x 8 + 4 x 3, 16 x 3 + 4 x 8
holds "(.gridengine.billing_per_hour | tonumber | . == 140 or . == 80) and
    .end_s == $start + 1500"
ok 'the job ends when the first of its limits is over'

script=$TOP/jobscripts/gridengine/simple.sh
for i in $(seq 30); do echo "echo task $i of 30"; done >bag.txt
echo 'env | grep -cE "^(JOB_ID|NSLOTS|QUEUE|PE_HOSTFILE|SGE_TASK_ID)="' >>bag.txt
echo 'mpirun -n 2 hostname' >>bag.txt
expect 1 submit -pe mpi 12 "$script"
test "$(grep -c '^task [0-9]* of 30$' "bag.o$job")" = 30
test "$(cut -f7 "bag-$job.joblog" | sort | uniq -c | xargs)" = \
    '31 0 1 1 1 Exitval'
grep -qx 0 "bag.o$job"
ok 'tasks see nothing of the job, may be MPI programs, and fail the job if they fail'

# Three jobs at once, for each takes long.
# job DIR QSUB-OPTION...: there, with the bag on standard input; its number.
job() {
    mkdir "$1"
    cat >"$1/bag.txt"
    (cd "$1" && qsub -terse "${@:2}" "$script")
}
limit=$(seq 14 | sed 's/.*/sleep 3; echo & >>ran/' |
    job limit -q fast.q -pe mpi 3 -l s_rt=24 -l h_rt=300)
lost=$(seq 16 | sed 's/.*/sleep 1; echo & >>ran/' | job lost -q slow.q -pe mpi 2)
ended=$(printf '%s\n' 'touch began; sleep 100' 'sleep 100' 'echo never' |
    job ended -q fast.q -pe mpi 3)

# qdel of a job with -notify: USR2 first. mpirun passes it on.
within 60 test -e ended/began
qdel "$ended" >deleted
within 60 has_lines 3 lost/ran
kill -KILL "$(cat "node.$(qstat -s r | sed -n "s/^ *$lost .*@\([a-z0-9]*\) .*/\1/p")")"
within 60 bills "$ended" 1
grep -q 'stopped by SIGTERM: 0 of 3 tasks done, 3 left' "ended/bag.o$ended"
test "$(bats-mpi status --left ended/bag.txt)" = 3
ok 'before it is ended, the run stops in order, and keeps its tasks'

# The first life hears that s_rt is over: what runs ends, no more is started.
lives() { # and the last one ends well
    awk -F: -v job="$limit" '$6 == job { print $13 }' "$accounting" | xargs |
        grep -qxE '99( 99)* 0'
}
within 240 lives
sort -n limit/ran | diff - <(seq 14)
bats-mpi status limit/bag.txt | grep -q '^tasks  *14: 14 done'
ok 'after s_rt the job is queued again, and no task runs twice'

# The job begins again on another host (reschedule_unknown).
within 180 has_lines 16 lost/ran
within 60 bills "$lost" 2
test "$(sort -u lost/ran | wc -l)" = 16
test "$(wc -l <lost/ran)" -le 17
ok 'after its host is lost the job runs elsewhere, and only what ran runs again'

done_testing
