#!/bin/bash
# Machines that are taken away with a notice: by emulation, and by SIGTERM to
# the rank on a node.
. "$TOP/tests/mpi/lib.sh"

happened() { # RECORD WHAT: how often
    sql "$1.bats" "SELECT count(*) FROM happened WHERE what = '$2'"
}
done_of() { # RECORD: tasks that have one result
    sql "$1.bats" 'SELECT count(DISTINCT task) FROM execution WHERE outcome = 0'
}
# In virtual time: an hour is 3.6 s. Each of the two spot machines lives for
# half an hour, for which nothing is charged.
printf '# age\n1ms\n\n2ms # the second\n' >ages
ini '[run]; window = 30m' \
    '[cluster spot]; ranks = 1-2; charge = 1/h; reclaimable = yes; notice = 5m' \
    'guaranteed = 30m; free = 10h; lifetime = trace ages' \
    '[cluster demand]; ranks = 3; charge = 4/h' >clusters
yes '@sleep 7m' | head -n 24 >bag
scale='--time-scale 1000 --seed 1 --grace 10ms'
bats 4 run bag --clusters clusters $scale --budget 200
test "$(happened bag preempt-notice) $(happened bag lost)" = '2 2'
test "$(done_of bag)" -eq 24
test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 24
test "$(sql "SELECT total(l.amount) FROM charge l JOIN machine m
    ON l.machine = m.id JOIN cluster c ON m.cluster = c.id
    WHERE c.name = 'spot'")" = 0.0
sql 'SELECT total(amount) / 1e6 FROM charge WHERE account = 0' |
    awk '{ exit !($1 > 4 && $1 <= 200) }'
verb record verify bag
ok 'all tasks are done once, though both machines are taken, and that soon is free'
sed -e '/demand/,$d' -e 's/ranks = 1-2/ranks = 1-3/' clusters >spot
exits 3 'no machine is left: .* of 24 tasks done' bats 4 run bag --clusters spot $scale
test "$(sql 'SELECT pending FROM progress')" -gt 0
bats 4 run bag --clusters clusters --budget 200 $scale --resume
test "$(done_of bag)" -eq 24
verb record verify bag
ok 'it survives the loss of all machines, and goes on with others later'
refused() { # TEXT SENTENCE
    printf "$1" >ages
    exits 2 "clusters:10: lifetime: ages$2" \
        verb run bag --clusters clusters
}
refused '1h\n1h 2h\n' ':2: expected one age in a line'
refused '1h\nsoon\n' ":2: 'soon'"
refused 'never\n' ': no age'
ok 'mistakes in a trace are named with file and line'

# A task saves its state when it is told to stop, and goes on on the machine
# that is left; the rank hears of it by SIGTERM.
ini '[run]; window = 1h' \
    '[cluster spot]; ranks = 1; charge = 1/h; reclaimable = yes; notice = 100s' \
    '[cluster demand]; ranks = 2; charge = 1/h' >real
cat >task <<'END'
trap 'echo saved >>"$state"; kill $! ; exit 85' TERM
state=state.$1
echo "begun $1 $BATS_CLUSTER" >>log
test -s "$state" || { sleep 60 & wait $!; }
echo "ended $1 $BATS_CLUSTER" >>log
END
echo 'sh task 1' >one
by_mpi 3 run one --clusters real --time-scale 10 --grace 4s --tail none --seed 1 &
launcher=$!
within 60 has_lines 1 log
kill -TERM "$(rank_pid 1)"
wait $launcher
consists log 'begun 1 spot' 'begun 1 demand' 'ended 1 demand'
test "$(cat state.1)" = saved
test "$(sql one.bats "SELECT count(*) FROM happened WHERE what = 'notice' AND
    sentence LIKE 'machine spot-1 will be taken away in %'")" -eq 1
ok 'a task whose rank gets SIGTERM migrates with its state'

# A rank falls silent before the emulated end of its machine, which is not told of
# what is gone: the run goes on.
printf '20m\n' >ages
sed -e '/notice/a lifetime = trace ages' -e 's/window = 1h/window = 10h/' \
    real >early
rm -f one.bats log
for i in 1 2; do echo "echo begun $i >>log; exec sleep 12"; done >one
by_mpi 3 run one --clusters early --time-scale 60 --tail none --silence 5s --seed 1 &
launcher=$!
within 60 has_lines 2 log
stopped=$(rank_pid 1)
kill -STOP "$stopped"
within 60 grep -q 'rank 1 on .* is lost' err
kill -CONT "$stopped"
wait $launcher
test "$(happened one lost)" -eq 1
test "$(done_of one)" -eq 2
verb record verify one
ok 'a machine that is lost before its notice goes only once'

done_testing
