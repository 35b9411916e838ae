#!/bin/bash
# Machines that are taken away with a notice: by emulation, and by SIGTERM to
# the rank on a node.
. "$TOP/tests/mpi/lib.sh"

notices() { sqlite3 "$1.bats" "SELECT count(*) FROM happened WHERE what = '$2'"; }
# In virtual time: an hour is 3.6 s. Each of the two spot machines lives for
# half an hour, for which nothing is charged.
printf '# age\n1ms\n\n2ms # the second\n' >ages
ini '[run]; window = 30m' \
    '[cluster spot]; ranks = 1-2; charge = 1/h; reclaimable = yes' \
    'notice = 5m; guaranteed = 30m; free = 10h; lifetime = trace ages' \
    '[cluster demand]; ranks = 3; charge = 4/h' >clusters
for i in $(seq 24); do echo '@sleep 7m'; done >bag
by_mpi 4 run bag --clusters clusters --time-scale 1000 --budget 200 --seed 1 --grace 10ms
test "$(notices bag preempt-notice)" -eq 2
test "$(notices bag lost)" -eq 2
test "$(sqlite3 bag.bats 'SELECT done FROM progress')" -eq 24
test "$(sqlite3 bag.bats "SELECT count(*) FROM execution WHERE outcome = 0")" -eq 24
ok 'all tasks are done, each once, though both machines are taken'
test "$(sqlite3 bag.bats "SELECT total(l.amount) FROM charge l JOIN machine m
    ON l.machine = m.id JOIN cluster c ON m.cluster = c.id
    WHERE c.name = 'spot'")" = 0.0
sqlite3 bag.bats 'SELECT total(amount) / 1e6 FROM charge WHERE account = 0' |
    awk '{ exit !($1 > 4 && $1 <= 200) }'
ok 'what is taken soon is free, and the rest is charged'
"$BATS_MPI" record verify bag >verified
ok 'the record of it is true'
sed -e '/demand/,$d' -e 's/ranks = 1-2/ranks = 1-3/' clusters >spot
expect 3 by_mpi 4 run bag --clusters spot --time-scale 1000 --seed 1 --grace 10ms
grep -q 'no machine is left: .* of 24 tasks done' err
left=$(sqlite3 bag.bats 'SELECT pending FROM progress')
by_mpi 4 run bag --clusters clusters --time-scale 1000 --budget 200 --seed 1 --grace 10ms --resume
test "$left" -gt 0
test "$(sqlite3 bag.bats 'SELECT done FROM progress')" -eq 24
"$BATS_MPI" record verify bag >verified
ok 'it survives the loss of all machines, and goes on with others later'
refused() { # TEXT SENTENCE
    printf "$1" >ages
    expect 2 "$BATS_MPI" run bag --clusters clusters --master-works 2>err
    grep -q "clusters:10: lifetime: ages$2" err
}
refused '1h\n1h 2h\n' ':2: expected one age in a line'
refused '1h\nsoon\n' ":2: 'soon'"
refused 'never\n' ': no age'
ok 'mistakes in a trace are named with file and line'

# A task saves its state when it is told to stop, and goes on on the machine
# that is left; the rank hears of it by SIGTERM.
ini '[run]; window = 1h' \
    '[cluster spot]; ranks = 1; charge = 1/h; reclaimable = yes; notice = 20s' \
    '[cluster demand]; ranks = 2; charge = 1/h' >real
cat >task <<'END'
trap 'echo saved >>"$state"; kill $! ; exit 85' TERM
state=state.$1
echo "begun $1 $BATS_CLUSTER" >>log
test -s "$state" || { sleep 60 & wait $!; }
echo "ended $1 $BATS_CLUSTER" >>log
END
echo 'sh task 1' >one
bats_in_background() {
    by_mpi 3 run one --clusters real --time-scale 10 --grace 1s --tail none \
        --seed 1 &
    launcher=$!
}
bats_in_background
has_begun() { grep -q 'begun 1' log 2>/dev/null; }
within 60 has_begun
where=$(sed -n 's/begun 1 //p' log)
test "$where" = spot
kill -TERM "$(rank_pid 1)"
wait $launcher
test "$(tr '\n' ' ' <log)" = 'begun 1 spot begun 1 demand ended 1 demand '
test "$(cat state.1)" = saved
test "$(notices one notice)" -eq 1
ok 'a task whose rank gets SIGTERM migrates with its state'

# A rank falls silent before the emulated end of its machine, which is not told of
# what is gone: the run goes on.
printf '10m\n' >ages
sed -e '/notice/a lifetime = trace ages' -e 's/window = 1h/window = 10h/' \
    -e 's/notice = 20s/notice = 100s/' real >early
rm -f one.bats
rm -f log
for i in 1 2; do echo "echo begun $i >>log; exec sleep 8"; done >one
by_mpi 3 run one --clusters early --time-scale 60 --tail none --silence 3s --seed 1 &
launcher=$!
have_begun() { test "$(grep -c begun log 2>/dev/null)" = 2; }
is_lost() { test "$(notices one lost)" -eq 1; }
within 60 have_begun
stopped=$(rank_pid 1)
kill -STOP "$stopped"
within 60 grep -q 'rank 1 on .* is lost' err
kill -CONT "$stopped"
wait $launcher
is_lost
test "$(sqlite3 one.bats 'SELECT done FROM progress')" -eq 2
"$BATS_MPI" record verify one >verified
ok 'a machine that is lost before its notice goes only once'

done_testing
