#!/bin/bash
# A run that goes on is watched by its status file, on three sizes of screen.
. "$TOP/tests/mpi/lib.sh"

two_clusters >c.ini
for i in $(seq 5); do # and a slot for the others
    printf ": '\\033[31m'; until test -e go -o -e go.\$BATS_TASK_ID; do sleep 0.1; done\\n"
done >bag
for i in $(seq 3); do
    echo 'echo "cp: out.$BATS_TASK_ID: No space left" >&2; exit 1'
done >>bag

# in_background ARGUMENT...: a run of the bag.
in_background() {
    rm -f go go.1
    env "$mark" timeout -k 5 400 ${MPIRUN:-mpirun} -n 7 "$BATS_MPI" bag \
        "$@" >out.run 2>err.run </dev/null &
    run=$!
}
in_background -c c.ini --budget 72 --quiet --seed 1 --no-replicate
within 60 eval 'test -e bag.bats.live && grep -q "\"running\": 5" bag.bats.live &&
    grep -q "failed\": 3" bag.bats.live'
ok 'a run keeps its status beside its record'

"$BATS_MPI" top --once bag >out
grep -q '^tasks  *37% .* 3/8, 5 running, 3 failed$' out
grep -q '^money   36 of 72 SU charged, left 36, 36 reserved$' out
grep -q '^slow  *3/3  *[23]/3 ' out
grep -q '^next    in .* 3 windows of fast end, to be renewed' out
grep -q '^failed  3 on .*, exit 1: cp: out.*: No space left' out
test "$(grep -cF ": '\\e[31m'; until test -e go" out)" -eq 5
ok '--once prints it'
"$BATS_MPI" top --json bag >json
perl -MJSON::PP -0e '$o = decode_json(<>);
    exit !($o->{tasks} == 8 && $o->{money}{charged} == 36 &&
        abs($o->{money}{runs_out_s} - 72 / 36 * 3600) < 60 &&
        @{$o->{longest}} == 5 &&
        $o->{clusters}[1]{held} == 3 && $o->{clusters}[1]{ending} == 3)' json
ok '--json is for programs'
first=$(stat -c %i bag.bats.live)
within 60 eval 'test "$(stat -c %i bag.bats.live)" != '"$first"
test "$(wc -c <bag.bats.live)" -lt 16384 && test ! -e bag.bats.live.new
ok 'it is replaced, and small'

ESC=$(printf '\033')
# screens ROWS COLUMNS KEYS: the screens that top draws, one after the other, in
# `out`, with <home> before each.
screens() {
    rm -f typescript left
    { within 60 grep -q money typescript && printf %s "$3" &&
        within 60 test -e left; } 2>/dev/null |
        TERM=xterm timeout 60 script -qefc \
            "stty rows $1 cols $2; '$BATS_MPI' top bag; touch left" \
            typescript >/dev/null
    sed "1d;s/\r//g;s/$ESC\[H/\n<home>\n/g;s/$ESC\[[0-9;?]*[a-zA-Z]//g" \
        typescript | sed '/^Script done/d' >out
}
if script --version 2>/dev/null | grep -q util-linux; then
    for size in '24 80' '50 132' '12 40'; do
        screens $size ftdoq
        rows=${size% *} columns=${size#* }
        awk -v columns="$columns" 'length > columns { exit 1 }' out
        awk -v rows="$rows" '/<home>/ { n = 0 } n++ > rows { exit 1 }' out
        test "$(grep -c '<home>' out)" -ge 5
        grep -q '^cluster ' out && grep -q '^    time  decision' out
        grep -q '^failed .*exit 1' out
        ok "top has pages on a screen of $rows x $columns"
    done
    # A slow line would fall behind if all were written again and again.
    rm -f typescript left
    { within 60 eval '[ "$(grep -aoc "s ago" typescript)" -ge 4 ]' &&
        printf q && within 60 test -e left; } 2>/dev/null |
        TERM=xterm timeout 90 script -qefc \
            "stty rows 24 cols 80; '$BATS_MPI' top bag; touch left" \
            typescript >/dev/null
    test "$(grep -ac '^cluster ' typescript)" -eq 1
    test "$(grep -aoc 's ago' typescript)" -ge 4
    ok 'only lines that have changed are written again'
    rm -f typescript
    mkfifo keys
    { TERM=xterm timeout 60 script -qec "stty rows 24 cols 80; tty >tty;
        exec '$BATS_MPI' top bag" typescript <keys >/dev/null; } &
    exec 3>keys
    within 60 eval 'grep -q "money" typescript'
    stty -F "$(cat tty)" rows 40 cols 120
    within 60 eval 'grep -q "$(printf "\033")\[40;1H" typescript'
    printf q >&3
    wait $!
    exec 3>&-
    ok 'it follows the size of the screen'

    # The shell gets a usual screen, and top its own one again.
    cat >shell <<SH
set -m
stty rows 24 cols 80
'$BATS_MPI' top bag
echo \$? >stopped
stty -a >modes
touch is-stopped
until test -e on; do sleep 0.1; done
fg
SH
    rm -f typescript
    { TERM=xterm timeout 90 script -qefc 'bash shell' typescript \
        <keys >/dev/null; } &
    exec 3>keys
    within 60 grep -q money typescript
    printf '\032' >&3
    within 60 test -e is-stopped
    test "$(cat stopped)" -eq $((128 + $(kill -l TSTP)))
    grep -qw icanon modes
    grep -q ' echo ' modes
    expect 1 grep -q -- '-icanon\|-echo ' modes
    test "$(grep -ao 'h\|\[?1049l' typescript | tail -n 1)" = '[?1049l'
    touch on
    within 60 eval '[ "$(grep -aoc "^cluster " typescript)" -eq 2 ]'
    printf q >&3
    expect 0 wait $!
    exec 3>&-
    ok 'Ctrl-Z stops it, with the terminal as it was, and fg brings it back'
else
    skip 'top on a terminal' 'no script(1) of util-linux'
fi
exits 2 'needs a terminal' "$BATS_MPI" top bag </dev/null >out 2>err
ok 'without a terminal it says what to do'

touch go.1
within 60 grep -q '"tasks_per_hour": [0-9.]*[1-9]' bag.bats.live
ok 'once a task has ended, it has the rate, though the run is quiet'

if script --version 2>/dev/null | grep -q util-linux; then
    rm -f typescript left
    { within 60 grep -qa '5 running\|4 running' typescript &&
        touch go && within 60 grep -qa 'The run is over' typescript &&
        printf q && within 60 test -e left; } 2>/dev/null |
        TERM=xterm timeout 90 script -qefc \
            "stty rows 24 cols 80; '$BATS_MPI' top bag; touch left" \
            typescript >/dev/null
    grep -qa 'bag, policy bats; done, 3 failed' typescript
    grep -qa '100% .* 8/8, 0 running, 3 failed' typescript
    ok 'top shows how the run has ended'
fi
touch go
expect 1 wait $run
test ! -e bag.bats.live
expect 2 "$BATS_MPI" top --once bag >out 2>err
test "$(cat err)" = \
    "bats-mpi: the run is over: 'bats-mpi status bag' tells how it ended"
ok 'it goes with the run'

# One that had such a file would replace it, and remove it at its end.
echo mine >bag.bats.live
in_background --no-record
within 60 eval 'grep -q "No space" err.run'
touch go
expect 1 wait $run
test "$(cat bag.bats.live)" = mine
ok 'without a record there is none'

printf '%s\n' '#BATS task a' 'until test -e go; do sleep 0.1; done' \
    '#BATS task b after a' true '#BATS task c after b' true true >graph
rm go
env "$mark" timeout -k 5 400 ${MPIRUN:-mpirun} -n 2 "$BATS_MPI" graph --quiet \
    >out.run 2>err.run </dev/null &
run=$!
within 60 eval 'grep -q "\"blocked\": 2" graph.bats.live &&
    grep -q "\"running\": 1" graph.bats.live'
"$BATS_MPI" top --once graph >out
cp out out.graph
grep -q '^graph   1 ready, 2 wait for others' out
touch go
wait $run
ok 'it says how many tasks are ready, and how many wait for others'
grep -q '^cluster ' out.graph
expect 1 grep '^next ' out.graph
ok 'no window is said to end where none does'

echo '{"written_unix": "x"}' >bag.bats.live
exits 2 'is not the status of a run' "$BATS_MPI" top --once bag >out 2>err
printf '{"written_unix": 5, "bag": "\\u001b[2J"}' >bag.bats.live
"$BATS_MPI" top --once bag >out
grep -qF '\e[2J, policy ?; NOT CURRENT, written ' out
ok 'what is no status is refused, and what is old says so'

done_testing
