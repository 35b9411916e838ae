#!/bin/bash
# A run that goes on is watched by its status file.
. "$TOP/tests/mpi/lib.sh"
needs script

two_clusters >c.ini
for i in $(seq 5); do # and a slot for the others
    printf ": '\\033[31m'; until test -e go -o -e go.\$BATS_TASK_ID; do sleep 0.1; done\\n"
done >bag
yes 'echo "cp: out.$BATS_TASK_ID: No space left" >&2; exit 1' | head -n 3 >>bag

# in_background N BAG ARGUMENT...: a run.
in_background() {
    rm -f go go.1 out.run err.run
    env "$mark" timeout -k 5 900 ${MPIRUN:-mpirun} -n $1 "$BATS_MPI" "${@:2}" \
        >out.run 2>err.run </dev/null &
    run=$!
}
in_background 7 bag -c c.ini --budget 72 --quiet --seed 1 --no-replicate
within 60 eval 'test -e bag.bats.live && grep -q "\"running\": 5" bag.bats.live &&
    grep -q "failed\": 3" bag.bats.live'
"$BATS_MPI" top --once bag >out
finds out '^tasks  *37% .* 3/8, 5 running, 3 failed$' \
    '^money   36 of 72 SU charged, left 36, 36 reserved$' \
    '^slow  *3/3  *[23]/3 ' \
    '^failed  3 on .*, exit 1: cp: out.*: No space left'
test "$(grep -cF ": '\\e[31m'; until test -e go" out)" -eq 5
"$BATS_MPI" top --json bag >report
holds '.tasks == 8 and (.money.charged | tonumber) == 36 and (.longest | length) == 5 and
    (.money.runs_out_s - 72 / 36 * 3600 | fabs) < 60 and
    .clusters[1].held == 3 and .clusters[1].ending == 3'
ok 'a run keeps its status beside its record: --once prints it, --json is it'
first=$(stat -c %i bag.bats.live)
within 60 eval 'test "$(stat -c %i bag.bats.live)" != '"$first"
test "$(wc -c <bag.bats.live)" -lt 16384
test ! -e bag.bats.live.new
ok 'it is replaced, and small'

mkfifo keys
{ TERM=xterm timeout 120 script -qefc "stty rows 24 cols 80; tty >tty
    '$BATS_MPI' top bag; stty -a >modes" typescript <keys >/dev/null; } &
exec 3>keys
within 60 eval 'grep -q money typescript 2>/dev/null'
stty -F "$(cat tty)" rows 40 cols 120
# The bar of the first screen ends at column 80, that of the second one at 120.
within 60 eval 'grep -q "#-\{40,\}\] 3/8" typescript'
printf q >&3
expect 0 wait $!
exec 3>&-
grep -qw icanon modes
grep -q ' echo ' modes
expect 1 grep -q -- '-icanon\|-echo ' modes
test "$(grep -ao 'h\|\[?1049l' typescript | tail -n 1)" = '[?1049l'
ok 'top follows the size of the screen, ends by q, leaves the terminal as it was'
exits 2 'needs a terminal' verb top bag
touch go.1
within 60 grep -q '"tasks_per_hour": [0-9.]*[1-9]' bag.bats.live
ok 'once a task has ended, it has the rate, though the run is quiet'
rm typescript
{
    within 60 grep -qas '4 running' typescript
    touch go
    within 60 test -e left
} | TERM=xterm timeout 90 script -qefc \
    "stty rows 24 cols 80; '$BATS_MPI' top bag; touch left" typescript >/dev/null
grep -qa '^charged ' typescript
cat -v typescript >out
finds out 'bag: done, 3 failed' '^tasks     8: 5 done, 3 failed, 0 running'
ok 'when the run ends, top ends with its status'
expect 1 wait $run
test ! -e bag.bats.live
expect 2 verb top --once bag
consists err \
    "bats-mpi: the run is over: 'bats-mpi status bag' tells how it ended"
ok 'it goes with the run'

# One that had such a file would replace it, and remove it at its end.
echo mine >bag.bats.live
in_background 7 bag --no-record
within 60 grep -q "No space" err.run
touch go
expect 1 wait $run
test "$(cat bag.bats.live)" = mine
ok 'without a record there is none'

printf '%s\n' '#BATS task a' 'until test -e go; do sleep 0.1; done' \
    '#BATS task b after a' true '#BATS task c after b' true true >graph
in_background 2 graph --quiet
within 60 eval 'grep -q "\"blocked\": 2" graph.bats.live &&
    grep -q "\"running\": 1" graph.bats.live'
"$BATS_MPI" top --once graph >out
touch go
wait $run
finds out '^graph   1 ready, 2 wait for others' '^cluster '
expect 1 grep '^next ' out
ok 'it says how many tasks are ready, and of no window whose end is none'

echo '{"written_unix": "x"}' >bag.bats.live
exits 2 'is not the status of a run' verb top --once bag
printf '{"written_unix": 5, "bag": "\\u001b[2J"}' >bag.bats.live
"$BATS_MPI" top --once bag >out
grep -qF '\e[2J, policy ?; NOT CURRENT, written ' out
ok 'what is no status is refused, and what is old says so'

done_testing
