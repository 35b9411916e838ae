#!/bin/bash
# Ends of steps whose job is taken away, or whose ranks die.
. "$TOP/tests/slurm/lib.sh"
configure SlurmdTimeout=6 KillWait=2

# A task takes 3 s to save its work. mpirun would not give it one.
cat >saves <<'TASK'
trap 'sleep 3; echo "$BATS_TASK_ID" >>saved; exit 1' TERM
echo "$BATS_TASK_ID" >>begun
while :; do sleep 0.1; done
TASK
yes 'sh saves' | head -n 3 >taken
sbatch -p preemptible -N2 -n4 -o err --wrap \
    'srun bats-mpi taken --policy rr --grace 8s' >out
within 60 lines begun 3
srun -p slow -N4 --exclusive true >out 2>&1
bats-mpi status taken | grep -q '0 running, 3 pending; 3 executions cut off'
test "$(sort saved | tr '\n' ' ')" = '1 2 3 '
ok 'a task has --grace to save its work when its job is preempted'

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
    (cd "$1" && exec srun -p all -w "$2" -e err.%t "${@:3}" >out 2>err) || :
}
# is_over PID
is_over() {
    ! kill -0 "$1" 2>/dev/null
}
# silent DIR PID: its step ends, for rank 0 says nothing.
silent() {
    within 60 is_over $2
    grep -q 'rank 0 has been silent' $1/err.1
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
echo 'sh ../lasts' | tee runs/bag >gone/bag
step runs 'fast[3-4]' bats-mpi bag --policy rr --silence 3s --output stream &
runs=$!
step gone 'slow[1-2]' bats-mpi bag --policy rr --silence 3s &
gone=$!
within 60 test -s runs/begun
within 60 test -s gone/begun
rank fast3 0 KILL
kill -KILL "$(cat "$BED/node.slow1")"
silent runs $runs
test "$(cat runs/saved)" = 1
expect 1 nsenter -t "$(cat "$BED/node.fast4")" -p -m pgrep -x 'bats.*|lasts' >out
grep -q saved runs/bag.out/stream-*
ok 'a step whose rank 0 is killed ends: tasks have their grace time, output is whole'
silent gone $gone
test "$(cat gone/saved)" = 1
ok 'a step whose rank 0 is gone with its node ends, too'
expect 1 is_over $reads
expect 1 grep -q silent reads/err.0 reads/err.1
cp reads/err.1 err
rank fast1 0 KILL
silent reads $reads
ok 'a master that reads its bag for long is not lost, but leaves no others if killed'

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
within 60 told '^1$' bats-mpi status --left ends/bag
# It does not say good-bye: rank 0 waits for that for 10 s.
rank slow3 1 STOP
touch ends/go.all-2
within 60 told 'all done' bats-mpi status ends/bag
within 60 grep -q makespan ends/err.0
rank slow3 0 KILL
rank slow3 1 CONT || : # Slurm may have ended it meanwhile
within 60 is_over $ends
ok 'record and report are complete before others are sent home, who leave anyway'
for pid in $reads $runs $gone $ends; do is_over $pid || kill -KILL $pid; done
done_testing
