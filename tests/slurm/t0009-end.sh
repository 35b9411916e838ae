#!/bin/sh
# How a step ends whose job is taken away.
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" sh "$0"
. "$TOP/tests/slurm/lib.sh"

# ---- taken away ----

# A task takes 3 s to save its work. mpirun would not give it one.
cat >saves <<'TASK'
trap 'sleep 3; echo "$BATS_TASK_ID" >>saved; exit 1' TERM
echo "$BATS_TASK_ID" >>begun
while :; do sleep 0.1; done
TASK
for i in 1 2 3; do echo 'sh saves'; done >taken
cat >taken.sh <<'JOB'
#!/bin/sh
srun bats-mpi taken --policy rr --grace 8s
JOB
job=$(sbatch --parsable -p preemptible -N2 -n4 -o err taken.sh)
three_have_begun() {
    test "$(cat begun 2>/dev/null | wc -l)" -eq 3
}
within 30 three_have_begun
srun -p slow -N4 --exclusive true >out 2>&1
bats-mpi status taken | grep -q '0 running, 3 pending; 3 executions cut off' &&
    test "$(sort saved | tr '\n' ' ')" = '1 2 3 '
ok 'a task has --grace to save its work when its job is preempted'
done_testing
