#!/bin/bash
# Ends of steps whose job is taken away, or whose ranks die.
. "$TOP/tests/slurm/lib.sh"
configure SlurmdTimeout=6 KillWait=2

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
within 60 three_have_begun
srun -p slow -N4 --exclusive true >out 2>&1
bats-mpi status taken | grep -q '0 running, 3 pending; 3 executions cut off'
test "$(sort saved | tr '\n' ' ')" = '1 2 3 '
ok 'a task has --grace to save its work when its job is preempted'

# ---- rank 0 dies ----

# rank NODE N SIGNAL: to the rank of this number there.
rank() {
    nsenter -t "$(cat "$BED/node.$1")" -p -m sh -c '
        for pid in $(pgrep -x bats-mpi); do
            tr "\0" "\n" 2>/dev/null <"/proc/$pid/environ" |
                grep -qx "SLURM_PROCID=$0" &&
                kill -s "$1" "$pid" && exit
        done
        exit 1' "$2" "$3"
}
# step DIR NODES ARGUMENT...: a step there, in the background: $!. Each rank
# writes a file of its own, err.0 and so on: srun may drop the last lines of a
# step with a rank that was killed.
step() {
    mkdir -p "$1"
    (cd "$1" && nodes=$2 && shift 2 &&
        exec srun -p all -w "$nodes" -e err.%t "$@" >out 2>err) || :
}
# is_over PID
is_over() {
    ! kill -0 "$1" 2>/dev/null
}
cat >lasts <<'TASK'
trap 'sleep 0.5; echo saved; echo "$BATS_TASK_ID" >>saved; exit 1' TERM
echo "$BATS_TASK_ID" >>begun
while :; do sleep 0.1; done
TASK
mkdir -p reads runs gone
# Nobody writes to it: rank 0 waits for its bag.
mkfifo reads/bag
step reads 'fast[1-2]' bats-mpi bag --no-record --silence 6s &
reads=$!
for step in runs gone; do echo 'sh ../lasts' >$step/bag; done
step runs 'fast[3-4]' bats-mpi bag --policy rr --silence 3s --output stream &
runs=$!
step gone 'slow[1-2]' bats-mpi bag --policy rr --silence 3s &
gone=$!
within 60 test -s runs/begun
within 60 test -s gone/begun
rank fast3 0 KILL
kill -KILL "$(cat "$BED/node.slow1")"
within 60 is_over $runs
grep -q 'rank 0 has been silent' runs/err.1
ok 'a step whose rank 0 is killed ends'
test "$(cat runs/saved)" = 1
ok 'its tasks have their grace time'
expect 1 nsenter -t "$(cat "$BED/node.fast4")" -p -m pgrep -x 'bats.*|lasts' >out
grep -q saved runs/bag.out/stream-*
ok 'their output files are complete, and no process is left'
within 60 is_over $gone
grep -q 'rank 0 has been silent' gone/err.1
test "$(cat gone/saved)" = 1
ok 'a step whose rank 0 is gone with its node ends, too'
expect 1 is_over $reads
expect 1 grep -q silent reads/err.0 reads/err.1
cp reads/err.1 err
ok 'a master that reads its bag for longer than --silence is not lost'
rank fast1 0 KILL
within 60 is_over $reads
grep -q 'rank 0 has been silent' reads/err.1
ok 'killed while it reads, it does not leave the others behind'

# ---- the others are sent home ----

mkdir -p ends
cat >ends/waits <<'TASK'
touch "on.$BATS_MACHINE"
until test -e "go.$BATS_MACHINE"; do sleep 0.1; done
TASK
printf 'sh waits\nsh waits\n' >ends/bag
step ends 'slow[3-4]' -n3 --ntasks-per-node=2 \
    bats-mpi bag --policy rr --silence 6s &
ends=$!
within 60 test -e ends/on.all-1
within 60 test -e ends/on.all-2
touch ends/go.all-1
one_is_left() {
    test "$(bats-mpi status --left ends/bag)" = 1
}
within 60 one_is_left
# It does not say good-bye: rank 0 waits for that for 10 s.
rank slow3 1 STOP
touch ends/go.all-2
is_closed() {
    bats-mpi status ends/bag | grep -q 'all done'
}
within 60 is_closed
grep -q makespan ends/err.0
rank slow3 0 KILL
ok 'record and report are complete before the others are sent home'
rank slow3 1 CONT
within 60 is_over $ends
ok 'and when rank 0 dies then, the others leave all the same'
for pid in $reads $runs $gone $ends; do is_over $pid || kill -KILL $pid; done
done_testing
