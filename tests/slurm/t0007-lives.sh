#!/bin/bash
# Jobs with several lives: a limit of one minute, and a partition whose jobs
# are taken away. And a job of 32 ranks.
export BED_REQUEUES=1
. "$TOP/tests/slurm/lib.sh"

# lived BAG N: all N tasks are done, in two sessions or more; what had a result
# did not run again.
lived() {
    test "$(sql "$1.bats" 'SELECT done, sessions > 1 FROM progress')" = "$2|1"
    test "$(sql "$1.bats" 'SELECT count(*) - count(DISTINCT task)
        FROM execution WHERE outcome = 0')" = 0
}

yes '@sleep 10m' | head -n 500 >bag
srun --mpi=pmix -p all -N8 -n32 --ntasks-per-node=4 bats-mpi bag \
    --time-scale 600 --policy rr >out 2>err
grep -q 'all 500 tasks done' err
ok 'a bag on 32 ranks and eight nodes'

# 20 tasks of 10 s on 4 machines take 50 s, of which a job of one minute has
# less. Slurm warns it at some time from 5 s to 35 s on: it looks every 30 s.
# This goes on in the background.
mkdir minute
for i in $(seq 20); do echo "sleep 10; echo task $i"; done >minute/bag.txt
minute=$(cd minute && sbatch --parsable -p fast -N1 -n5 --time=1 \
    --signal=B:USR1@25 "$TOP/jobscripts/resume.sh" bag.txt --policy rr)

sed 's/^\(#SBATCH --ntasks\)=65/\1=5 --nodes=4/' \
    "$TOP/jobscripts/preemptible.sh" >preemptible.sh
for i in $(seq 60); do echo "sleep 0.5; echo task $i >>ran"; done >bag.txt
some_have_run() {
    test -s ran && test "$(wc -l <ran)" -ge 8
}
job=$(sbatch --parsable preemptible.sh)
within 60 some_have_run
srun -p slow -N4 --exclusive sleep 1 >out 2>err
await "$job" 120
cat bag-$job.out >err
scontrol show job "$job" | grep -q ' Restarts=1 '
lived bag.txt 60
ok 'preemptible.sh is started again, and nothing is lost or run again'

await "$minute" 120
cat minute/bag-$minute.out >err
scontrol show job "$minute" | grep -q ' TimeLimit=00:01:00 '
lived minute/bag.txt 20
test "$(sort -u err | grep -c '^task')" -eq 20
ok 'resume.sh does in lives of a minute what takes longer'
grep -q 'drained by SIGUSR1: .* left' err
test "$(sql minute/bag.txt.bats 'SELECT count(*) FROM execution')" -eq 20
expect 1 grep -q 'DUE TO TIME LIMIT' err
ok 'a warning by Slurm ends a life in good order: the tasks come to their ends'
done_testing
