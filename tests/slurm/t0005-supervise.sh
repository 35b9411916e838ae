#!/bin/bash
# Jobs that change while they run: nodes are lost.
export BED_REQUEUES=1
. "$TOP/tests/slurm/lib.sh"

ini '[cluster fast]; nodes = fast[1-4]; charge = 8; machine = node' \
    '[cluster slow]; nodes = slow1; charge = 3; machine = node' >clusters.ini
# The script as it is, but for the number of ranks.
sed 's/^\(#SBATCH.*--ntasks-per-node\)=16/\1=2/' \
    "$TOP/jobscripts/supervise.sh" >supervise.sh

# In the start of rank 0, when it waits for the other ranks, as Open MPI 4.1 now
# and then does under srun. A segment in /dev/shm says that it is that far.
mkdir bin crash
cat >bin/bats-mpi <<SH
#!/bin/sh
if [ ! -e "$BED/crashed" ] && [ "\$PMIX_RANK" = 0 ]; then
    $BATS_MPI "\$@" &
    until ls /dev/shm/vader* >/dev/null 2>&1; do sleep 0.1; done
    touch "$BED/crashed"
    kill -SEGV \$!
    wait \$!
    exit
fi
until [ -z "\$PMIX_RANK" ] || [ -e "$BED/crashed" ]; do sleep 0.1; done
exec $BATS_MPI "\$@"
SH
chmod +x bin/bats-mpi
for i in $(seq 6); do echo "echo $i >>ran"; done >crash/bag.txt
cd crash
PATH=$BED/bin:$PATH submit -p all --nodes=2 ../supervise.sh bag.txt
cd ..
cp crash/bag-$job.out err
grep 'Segmentation fault' err
sort -n crash/ran >out
seq 6 | diff - out
ok 'rank 0 crashes before the run begins: the step is started once more'

# A step that Slurm ends has KillWait to do so.
configure SlurmdTimeout=6 KillWait=2
sed -i 's/while sleep 10/while sleep 1/' supervise.sh
# lossy DIR TASKS NODES OTHERS OPTION...: a job there, of so many tasks of a
# second, on so many nodes, none of the others.
lossy() {
    mkdir "$1"
    for i in $(seq "$2"); do echo "sleep 1; echo $i >>ran"; done >"$1/bag.txt"
    (cd "$1" && sbatch --parsable -p all --nodes="$3" --exclude="$4" \
        ../supervise.sh bag.txt --silence 5s --joblog joblog "${@:5}")
}
# once DIR TASKS: each has one result, and what had one did not run again.
once() {
    seq "$2" >numbers
    tail -n +2 "$1/joblog" | cut -f1 | sort -n | diff - numbers &&
        sqlite3 "$1/bag.txt.bats" 'SELECT done FROM progress' |
        grep -qx "$2" &&
        test -z "$(sqlite3 "$1/bag.txt.bats" 'SELECT task FROM execution
            WHERE outcome = 0 GROUP BY task HAVING count(*) > 1')"
}
sessions() {
    test "$(sqlite3 "$1/bag.txt.bats" 'SELECT count(*) FROM session')" -ge "$2"
}
# ended DIR JOB: exits as the job does, with all that may tell why in err.
ended() {
    code=0
    await "$2" 120 || code=$?
    { cat "$1/bag-$2.out"; sinfo; } >err
    scontrol show job "$2" >out
    return $code
}
# Its clusters file names the nodes that are lost, too.
others=$(lossy others 200 5 'slow[2-4]' -c ../clusters.ini)
first=$(lossy first 60 3 'fast[1-4],slow1')
within 60 has_lines 15 others/ran
within 60 has_lines 10 first/ran
kill -KILL "$(cat "$BED/node.fast2")"
# The node of rank 0, with which the script goes, too.
kill -KILL "$(cat "$BED/node.slow2")"
within 120 has_lines 60 others/ran
ip link set slow1 down
# Slurm may end a step that has lost nodes, or not. Without rank 0 it is over.
within 120 has_lines 120 others/ran
kill -KILL "$(rank_pid 0 "$others")"

ended others "$others"
ok 'two nodes are lost, then rank 0: the job goes on to its end'
once others 200
ok 'no task that had ended is lost or run again'
sessions others 2
expect 1 grep -q ' NodeList=.*fast\[1-' out
ok 'on the nodes that are left, in a new step'

# It needs three nodes again, and these are free now.
within 60 job_is "$first" PENDING
scontrol update JobId="$first" ExcNodeList=
ended first "$first"
grep -q ' Restarts=1 ' out
ok 'the node of rank 0 dies: the job is queued again and goes on to its end'
once first 60
sessions first 2
expect 1 grep -q ' NodeList=slow\[2' out
ok 'no task that had ended is lost or run again'
done_testing
