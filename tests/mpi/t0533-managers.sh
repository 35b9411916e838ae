#!/bin/bash
# Makeflow, and managers that submit to Slurm, in an open bag.
. "$TOP/tests/mpi/open.sh"

needs makeflow
# ---- Makeflow ----

cat >flow <<'F'
export GREETING="hello you"
CORES=2
a:
	echo $GREETING >a
b: a
	cat a a >b
c: b
	wc -l <b >c; test $CORES = 2
F
export BATCH_QUEUE_CLUSTER_NAME=bats
export BATCH_QUEUE_CLUSTER_SUBMIT_COMMAND=bats-submit
export BATCH_QUEUE_CLUSTER_SUBMIT_OPTIONS='--env --cores ${CORES:-1}'
export BATCH_QUEUE_CLUSTER_SUBMIT_JOBNAME_VAR=-N
export BATCH_QUEUE_CLUSTER_REMOVE_COMMAND=bats-cancel
open_bag -j 3 -- makeflow -T cluster flow
consists <(cat a c) 'hello you' 2
test "$(paste -d' ' <(given class) <(given cores) | sort | uniq -c | xargs)" = \
    '3 makeflow 2'
expect 1 grep -q PMIX <(sql open.bats 'SELECT command FROM task')
ok 'the rules of a Makeflow are tasks, with its environment'
rm -f open.bats

# It behaves as Nextflow does: writes a script for each task, submits it, looks
# at the queue until the number is gone from there, and reads the exit code.
cat >manager <<'M'
PATH=$TOP/src/client/slurm:$PATH
mkdir -p w/1 w/2 w/3
for i in 1 2 3; do
    cat >w/$i/.command.run <<S
#!/bin/bash
#SBATCH -J nf-say_($i)
#SBATCH -o $PWD/w/$i/.command.log
#SBATCH --no-requeue
#SBATCH --signal B:USR2@30
#SBATCH -c 2
#SBATCH -t 00:10:00
#SBATCH --mem 64M
NXF_CHDIR=$PWD/w/$i
cd "\$NXF_CHDIR"
on_exit() { printf "\${1:-\$?}" >.exitcode; }
trap on_exit EXIT
echo "it's \$0 \$OMP_NUM_THREADS \${SLURM_JOB_ID:+job}"
echo beside >&2
exit \$(($i - 1))
S
    cd w/$i
    sbatch .command.run | sed -n 's/^Submitted batch job //p' >../../id.$i
    cd ../..
    mv w/$i/.command.run w/$i/gone
done
while squeue --noheader -o '%i %t' -t all -u me | grep -qx "$(cat id.3) R"; do
    sleep 0.1
done
sbatch --parsable -o '%x-%j' -J named9 --wrap 'touch began; exec sleep 100' >four
until [ -e began ]; do sleep 0.05; done
squeue
scancel -Q $(cat four)
sbatch -d afterok:$(cat id.1):$(cat id.1) --wrap='echo $PWD' -D w -o out
! sbatch --mem 900G --wrap true
sbatch -c 2 <<'S'
#!/bin/bash
#SBATCH -o from-stdin
echo "$0 $OMP_NUM_THREADS \n $((1 + 1))"
S
! sbatch --array 0-4 --wrap 'touch array'
! sbatch -d afternotok:1 --wrap 'touch array'
! sbatch -d afterok:x --wrap 'touch array'
sbatch --verbose --wait --wrap 'exit 7' -o waited || echo "waited, $?"
M
open_bag -j 3 -- bash manager
for i in 1 2 3; do
    [ "$(cat w/$i/.exitcode)" = $((i - 1)) ]
    consists w/$i/.command.log "it's .command.run 2 job" beside
done
[ "$(sqlite3 open.bats "SELECT DISTINCT json_remove(given, '$.class')
    FROM submission WHERE task < 4")" = \
    '{"cores":2,"memory":"64M","limit":"00:10:00"}' ]
[ "$(given class | grep -c nf-say)" = 3 ]
ok 'scripts for Slurm run with the cores, time, name and output they ask for'
grep -qx '4 R' out
[ -e named9-4 ]
[ "$(cat w/out)" = "$PWD/w" ]
[ "$(cat from-stdin)" = 'sbatch 2 \n 2' ]
[ "$(sqlite3 open.bats 'SELECT state FROM tasks WHERE number = 4')" = failed ]
grep -q 'needs 900G of memory' err
grep -q -e '--array is not known' err
grep -q 'afternotok:1 is not known' err
grep -q "'x' is not the number of a task" err
tail -n 2 out | paste -s | grep -qx 'Submitted batch job [7-9]	waited, 7'
[ ! -e array ]
ok 'the queue shows what runs, jobs wait for others, and are cancelled'
done_testing
