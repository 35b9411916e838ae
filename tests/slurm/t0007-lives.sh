#!/bin/bash
# Jobs with several lives: a limit of one minute, and a partition whose jobs
# are taken away. And a job of 64 ranks.
export BED_REQUEUES=1
. "$TOP/tests/slurm/lib.sh"

# once BAG N: all N tasks are done; what had a result did not run again.
once() {
    sqlite3 "$1.bats" 'SELECT done FROM progress' | grep -qx "$2" &&
        test -z "$(sqlite3 "$1.bats" 'SELECT task FROM execution
            WHERE outcome = 0 GROUP BY task HAVING count(*) > 1')"
}
sessions() {
    test "$(sqlite3 "$1.bats" 'SELECT count(*) FROM session')" -ge "$2"
}

# ---- 64 ranks ----

for i in $(seq 500); do echo '@sleep 10m'; done >bag
srun --mpi=pmix -p all -N8 -n64 --ntasks-per-node=8 bats-mpi bag \
    --time-scale 600 --policy rr --json report >out 2>err
grep -q 'all 500 tasks done' err
ok 'a bag on 64 ranks and eight nodes'

# 20 tasks of 10 s on 4 machines take 50 s, of which a job of one minute has
# less. Slurm warns it at some time from 5 s to 35 s on: it looks every 30 s.
# This goes on in the background.
mkdir minute
for i in $(seq 20); do echo "sleep 10; echo task $i"; done >minute/bag.txt
minute=$(cd minute && sbatch --parsable -p fast -N1 -n5 --time=1 \
    --signal=B:USR1@25 "$TOP/jobscripts/resume.sh" bag.txt --policy rr)

# ---- taken away ----

sed 's/^\(#SBATCH --ntasks\)=65/\1=5 --nodes=4/' \
    "$TOP/jobscripts/preemptible.sh" >preemptible.sh
for i in $(seq 60); do echo "sleep 0.5; echo task $i >>ran"; done >bag.txt
some_have_run() {
    test -s ran && test "$(wc -l <ran)" -ge 8
}
job=$(sbatch --parsable preemptible.sh)
within 60 some_have_run
srun -p slow -N4 --exclusive sleep 1 >out 2>err
ok 'a job of another partition takes the nodes'
await "$job" 120
cat bag-$job.out >err
scontrol show job "$job" >out
grep -q ' Restarts=1 ' out
ok 'preemptible.sh is started again, and ends'
once bag.txt 60
sessions bag.txt 2
ok 'nothing that had ended is lost or run again'

# ---- one minute ----

await "$minute" 120
cat minute/bag-$minute.out >err
scontrol show job "$minute" >out
grep -q ' TimeLimit=00:01:00 ' out
ok 'resume.sh does in lives of a minute what takes longer'
once minute/bag.txt 20
sessions minute/bag.txt 2
test "$(sort -u err | grep -c '^task')" -eq 20
ok 'nothing that had ended is lost or run again'
grep -q 'drained by SIGUSR1: .* left' err
test "$(sqlite3 minute/bag.txt.bats 'SELECT count(*) FROM execution')" -eq 20
ok 'a warning by Slurm ends a life in good order: the tasks come to their ends'
expect 1 grep -q 'DUE TO TIME LIMIT' err
ok 'and is not cut down by Slurm'
done_testing
