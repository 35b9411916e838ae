#!/bin/bash
# disBatch's PERENGINE: what is done on a node before its first task, and after
# its last.
. "$TOP/tests/mpi/lib.sh"

export TMPDIR=$dir

cat >bag <<'BAG'
#DISBATCH PREFIX (
#DISBATCH SUFFIX ) 2>&1
#DISBATCH PERENGINE START sleep 0.3; test ! -e data && echo $DISBATCH_ENGINE_RANK >data
#DISBATCH PERENGINE START echo second >>data; echo "starts for $BATS_CLUSTER"
#DISBATCH PERENGINE STOP echo "stops $DISBATCH_ENGINE_RANK"; mv data gone
#DISBATCH REPEAT 20 test "$(head -n 1 data)" = $DISBATCH_ENGINE_RANK && tail -n 1 data
BAG
expect 0 by_mpi 5 bag
test "$(cat out)" = "$(yes second | head -n 20)"
test "$(cat gone)" = "$(grep -o 'stops [1-4]' err | cut -c7-; echo second)"
test "$(grep -c 'starts for\|stops' err)" -eq 2
expect 1 grep 'gets no tasks' err
test "$(echo bats-mpi-*)" = 'bats-mpi-*'
ok 'the ranks of a node run START once, before their tasks, and STOP after them'

rm gone
expect 0 "$BATS_MPI" --master-works bag >out 2>err
test "$(wc -l <out)" -eq 20
test "$(cat gone)" = "$(printf '0\nsecond')"
ok 'so does a single rank'

cat >bag <<'BAG'
#DISBATCH PERENGINE START mkdir data
#DISBATCH PERENGINE STOP rmdir data
#DISBATCH PERENGINE STOP exit 3
test -d data
test -d data && test -e repaired
test -d data
BAG
exits 1 '2 of 3 tasks done, 1 failed' bats 3 bag
grep -q "'#DISBATCH PERENGINE STOP exit 3' has failed, exit 3" err
test ! -d data
touch repaired
expect 0 bats 3 bag --resume-failed
test "$(sqlite3 bag.bats 'SELECT tasks, done, sessions FROM progress')" = \
    '3|3|2'
test "$(sqlite3 bag.bats 'SELECT count(*) FROM execution')" -eq 4
"$BATS_MPI" record verify bag >out
ok 'each session does it again; they are no tasks, and STOP cannot fail'

# A machine is charged from its first task on: START is before that.
two_clusters >clusters.ini
{
    echo '#DISBATCH PERENGINE START sleep 0.5'
    yes '@sleep 5m' | head -n 6
} >bag
expect 0 bats 7 bag --clusters clusters.ini --time-scale 3600 --budget 90
test "$(sqlite3 bag.bats "SELECT min(time_us) >= 1800000000 FROM happened
    WHERE what = 'acquire'")" = 1
ok 'no window begins before START has ended'

printf '%s\n' '#DISBATCH PERENGINE START ! mkdir first' \
    '#DISBATCH REPEAT 6 test -e first' >bag
expect 0 bats 4 bag
test "$(grep -c "^bats-mpi: rank . on .* gets no tasks: '#DISBATCH PERENGINE \
START ! mkdir first' has failed, exit 1" err)" -eq 1
test "$(sqlite3 bag.bats "SELECT count(DISTINCT machine) FROM execution")" -le 2
ok 'a rank whose START fails gets no tasks, and another one tries'

printf '%s\n' '#DISBATCH PERENGINE START false' true >bag
exits 3 'no node can run tasks: see the output of PERENGINE START' bats 3 bag
test "$("$BATS_MPI" status --left bag)" -eq 1
sed -i 's/START false/START true/' bag
expect 0 bats 3 bag --resume
ok 'if it fails everywhere, nothing runs, until it is mended'

printf '%s\n' '#DISBATCH PERENGINE START touch begun; exec sleep 1000' \
    '#DISBATCH PERENGINE STOP touch ended' true >bag
env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 3 "$BATS_MPI" bag >out 2>err \
    </dev/null &
within 60 test -e begun
kill -TERM "$(rank_pid 0)"
wait $! || :
grep -q '0 of 1 task done' err
test -e ended
within 60 nobody_left
ok 'a run that is stopped meanwhile does not wait for START'

printf 'true\n#DISBATCH PERENGINE START x\n' >bag
exits 2 "bag:2: '#DISBATCH PERENGINE' has to come before all tasks" bats 2 bag
printf '#DISBATCH PERENGINE BEGIN x\ntrue\n' >bag
expect 2 bats 2 bag
grep -q "bag:1: not of the form '#DISBATCH PERENGINE START|STOP command'" err
ok 'mistakes are refused'

done_testing
