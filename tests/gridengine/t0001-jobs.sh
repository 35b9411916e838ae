#!/bin/bash
# A bag in a job of Grid Engine: what the job holds, charges and allows is known,
# notices are heard, and a job that is queued again goes on where it was.
. "$TOP/tests/gridengine/lib.sh"

cat >look.sh <<'SH'
mpirun bats-mpi clusters --json >json 2>err
qstat -xml -j $JOB_ID >xml
SH
submit -cwd -V -S /bin/sh -pe mpi 20 -l h_rt=1800,s_rt=1500 -o look.out -j y look.sh
perl -MJSON::PP -0777 -e '
    my $r = decode_json(<STDIN>);
    print join(" ", @$_{qw(name machine slots charge charge_source hosts)}), "\n"
        for sort { $a->{name} cmp $b->{name} } @{$r->{clusters}};
    print join(" ", $r->{currency}, @{$r->{gridengine}}{qw(job billing_per_hour)},
        $r->{end_s}), "\n";' <json >out
# All of one queue and a half of one host of the other, or the other way round.
whole=$(grep -c ' node ' out)
grep -qE '^fast.q (node 1[56] 64|rank 4 8) Grid Engine: charge=8 of fast.q, ' out
grep -qE '^slow.q (node 1[56] 24|rank 4 3) Grid Engine: charge=3 of slow.q, ' out
test "$whole" = 1
ok 'each queue is a cluster with the charge that the site has set for a slot'
rate=$(tail -n 1 out | cut -d' ' -f3)
test "$rate" = 140 || test "$rate" = 80 # 16 x 8 + 4 x 3, 16 x 3 + 4 x 8
start=$(sed -n 's/.*<JAT_start_time>\([0-9]*\)<.*/\1/p' xml)
test "$(tail -n 1 out | cut -d' ' -f4)" = $((start + 1500)).0 ||
    test "$(tail -n 1 out | cut -d' ' -f4)" = $((start + 1500))
ok 'the job ends when the first of its limits is over'

script=$TOP/jobscripts/gridengine/simple.sh
for i in $(seq 30); do echo "echo task $i of 30"; done >bag.txt
echo 'env | grep -cE "^(JOB_ID|NSLOTS|QUEUE|PE_HOSTFILE|SGE_TASK_ID)="' >>bag.txt
echo 'mpirun -n 2 hostname' >>bag.txt
expect 1 submit -pe mpi 12 "$script"
ok 'the job fails when a task fails'
test "$(grep -c '^task [0-9]* of 30$' "bag.o$job")" = 30
test "$(cut -f7 "bag-$job.joblog" | sort | uniq -c | tr -s ' ' | tr '\n' ' ')" = \
    ' 31 0  1 1  1 Exitval '
grep -qx 0 "bag.o$job"
ok 'tasks see nothing of the job, and may be MPI programs themselves'

# The first life hears that s_rt is over: what runs ends, no more is started.
for i in $(seq 14); do echo "sleep 3; echo $i >>ran"; done >bag.txt
rm -rf bag.txt.bats*
submit -pe mpi 3 -l s_rt=24 -l h_rt=300 "$script"
test "$(sort ran | uniq | wc -l)" = 14
test "$(wc -l <ran)" = 14
await_bill "$job" 2
bats-mpi status bag.txt >out
grep -q '^tasks  *14: 14 done' out
ok 'after s_rt the job is queued again, and no task runs twice'

# qdel of a job with -notify: USR2 first. mpirun passes it on.
printf '%s\n' 'touch began; sleep 100' 'sleep 100' 'echo never' >bag.txt
rm -rf bag.txt.bats*
number=$(qsub -terse -pe mpi 3 "$script")
within 60 test -e began
qdel "$number" >deleted
await_bill "$number" 1
grep -q 'stopped by SIGTERM: 0 of 3 tasks done, 3 left' "bag.o$number"
test "$(bats-mpi status --left bag.txt)" = 3
ok 'before it is ended, the run stops in order, and keeps its tasks'

# A host is lost: the job begins again on another one (reschedule_unknown).
for i in $(seq 16); do echo "sleep 1; echo $i >>lost"; done >bag.txt
rm -rf bag.txt.bats* lost
number=$(qsub -terse -pe mpi 2 -q slow.q "$script")
lost() { test "$(cat lost 2>/dev/null | wc -l)" -ge "$1"; }
within 60 lost 3
kill -KILL "$(cat "node.$(qstat -s r | sed -n 's/.*@\([a-z0-9]*\) .*/\1/p')")"
within 120 lost 16
await_bill "$number" 2
test "$(sort -u lost | wc -l)" = 16
test "$(wc -l <lost)" -le 17
ok 'after its host is lost the job runs elsewhere, and only what ran runs again'

done_testing
