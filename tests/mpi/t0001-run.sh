#!/bin/bash
# A bag on MPI ranks: every task runs once, and its end is told truly.
. "$TOP/tests/mpi/lib.sh"

for i in $(seq 40); do echo "echo line-\$BATS_TASK_ID-$i"; done >bag
by_mpi 3 bag --joblog log
seq 40 | sed 's/.*/line-&-&/' | sort | cmp - <(sort out)
ok 'every task runs once, BATS_TASK_ID is its number in the bag, exit status 0'

cat >bag <<'BAG'
exit 0
exit 3
kill -TERM $$
/nonexistent/program
kill -KILL $$
BAG
expect 1 by_mpi 3 bag --joblog log
tail -n +2 log | sort -n | cut -f1,7,8 | tr '\t\n' ':;' >got
grep -qx '1:0:0;2:3:0;3:[0-9]*:15;4:127:0;5:[0-9]*:9;' got
ok 'failed tasks make it exit with 1; exit status and signal of each arrive'

cat >bag <<'BAG'
env | grep -E '^(OMPI|PMIX|PMI|PRTE|ORTE)_' | grep -v -E '^OMPI_(ALLOW|MCA_(rmaps|mpi_yield|hwloc))'; echo "t=$BATS_TASK_ID a=$BATS_ATTEMPT c=$BATS_CLUSTER m=$BATS_MACHINE r=${BATS_RUN_ID:+set} d=${DISBATCH_TASKID-none}"
BAG
by_mpi 2 bag
consists out 't=1 a=1 c=all m=all-1 r=set d=none'
ok 'a task sees BATS_ variables and none of the launcher'

cat >tasks.db <<'BAG'
#DISBATCH PREFIX echo x
true
#DISBATCH PREFIX echo $DISBATCH_TASKID $DISBATCH_TASKID_ZP $DISBATCH_NAMETASKS ${DISBATCH_JOBID:+job}
:
BAG
bats 2 "$PWD/tasks.db"
grep -qE '^1 000001 tasks.db job' out
ok 'a disBatch file gets the DISBATCH_ variables'

# Eight writers, each line from many small writes.
for i in $(seq 8); do
    echo "for k in \$(seq 50); do printf $i; printf $i; printf $i; echo $i; done"
done >bag
by_mpi 5 bag
test "$(sort out | uniq -c | tr -s ' ' | tr '\n' ';')" = \
    ' 50 1111; 50 2222; 50 3333; 50 4444; 50 5555; 50 6666; 50 7777; 50 8888;'
ok 'nothing interleaves within a line'

# More than any buffer on the way, with a master that also has to read.
echo 'seq 1 300000; printf no-newline' >bag
by_mpi 2 bag
{ seq 1 300000; echo no-newline; } | cmp -s out -
ok 'two megabytes of one task arrive in order, and a last line gets a newline'

{ yes /bin/true | head -n 1500; yes '@sleep 0' | head -n 20000; } >bag
by_mpi 5 bag --joblog log
test "$(tail -n +2 log | cut -f1 | sort -nu | wc -l)" -eq 21500
ok '21500 tasks, most of them empty, have 21500 results'

yes 'sleep 0.1; echo $PPID' | head -n 20 >bag
by_mpi 3 bag --policy rr
test "$(sort -u out | wc -l)" -eq 2
verb bag
test "$(wc -l <out)" -eq 20
ok 'rank 0 runs no tasks; without a launcher it has a worker'

ini '[cluster one]; ranks = 1-4; machine = node; charge = 2' >clusters.ini
ini '[cluster one]; partition = quick; charge = 2' >partition.ini
# Two groups; Slurm gives SLURM_JOB_PARTITION of the last one everywhere.
(
    export SLURM_HET_SIZE=2 SLURM_JOB_PARTITION=long
    export SLURM_JOB_NODELIST_HET_GROUP_0=elsewhere[1-4]
    export SLURM_JOB_PARTITION_HET_GROUP_0=long
    export SLURM_JOB_NODELIST_HET_GROUP_1="other,$(uname -n)"
    export SLURM_JOB_PARTITION_HET_GROUP_1=quick
    by_mpi 3 bag --clusters partition.ini --dry-run
)
ok 'in a heterogeneous job it is in the partition of the group of its host'

sed 's/1-4/1-9/' clusters.ini >wrong.ini
exits 2 'wrong.ini:[0-9]' by_mpi 3 bag --clusters wrong.ini
exits 2 nofile by_mpi 3 nofile
ok 'clusters that do not fit, or a bag that is not there, are refused on all ranks'

done_testing
