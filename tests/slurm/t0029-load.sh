#!/bin/bash
# What a run asks of slurmctld, counted by sdiag: nothing per task.
. "$TOP/tests/slurm/lib.sh"

# rpcs: of all types but sdiag's own.
rpcs() {
    sdiag | sed -n '/by message type/,/by user/p' |
        awk '!/STATS_INFO/ && match($0, /count:[0-9]+/) {
            sum += substr($0, RSTART + 6, RLENGTH - 6) } END { print sum + 0 }'
}
# asked TASKS: RPCs from the submission of a job with so many tasks to its end.
asked() {
    for i in $(seq "$1"); do echo true; done >bag
    rm -f bag.bats*
    local before
    before=$(rpcs)
    sbatch --wait -p fast -n 5 -o out --wrap 'srun --mpi=pmix bats-mpi bag' \
        >submitted 2>err
    grep -q "all $1 tasks done" out
    echo $(($(rpcs) - before)) >count
}
asked 20
few=$(cat count)
asked 800
many=$(cat count)
echo "# $few RPCs for a job of 20 tasks, $many for 800"
test "$few" -gt 5
test "$many" -lt $((few + 20)) # sbatch --wait asks, too
ok 'the controller is asked no more for 800 tasks than for 20'
done_testing
