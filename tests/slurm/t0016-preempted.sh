#!/bin/bash
# Worker jobs in a partition whose jobs make way: a job of higher priority takes
# their nodes while the run goes on.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"
configure KillWait=2

# A task waits until it is told to stop, saves its state, and ends soon the next
# time.
cat >task <<'END'
save() {
    echo saved >>"saved.$1"
    exit 85
}
trap 'save $1' TERM
echo "$1 $BATS_CLUSTER" >>begun
# Slurm tells every process: sleep may be the first to end.
test -s "saved.$1" || { sleep 300 & wait $! || save "$1"; }
echo "$1" >>ended
END
# Slurm bills whole seconds: each job has run for one.
billed() { ! squeue -h -t R -p preemptible -o %M | grep -qx '0:00'; }

for mode in REQUEUE CANCEL; do
    scontrol update PartitionName=preemptible PreemptMode=$mode
    rm -f bag bag.bats begun ended saved.*
    for i in 1 2 3 4; do echo "sh task $i"; done >bag
    start bag --silence 20s --grace 2s -p preemptible --slots 2 --max-jobs 2 \
        --window 120s -b 20 --sbatch '-x slow[3-4]'
    within 120 lines begun 4
    within 60 billed
    srun -p slow -w 'slow[1-2]' --exclusive true &
    higher=$!
    expect 0 wait $master
    wait $higher
    test "$(sort ended | tr '\n' ' ')" = '1 2 3 4 '
    test "$(ls saved.* | wc -l)" -eq 4
    test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 4
    test "$(sql "SELECT count(*) FROM happened WHERE what = 'preempt-notice'")" -ge 2
    settled bag
    test "$(charged bag)" != 0.000000
    ok "PreemptMode=$mode: all tasks go on with their state, end once, in the budget"
done

done_testing
