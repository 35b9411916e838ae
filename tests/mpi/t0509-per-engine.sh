#!/bin/bash
# disBatch's PERENGINE: what is done on a node before its first task, and after
# its last.
. "$TOP/tests/mpi/lib.sh"

export TMPDIR=$dir

cat >bag <<'BAG'
#DISBATCH PREFIX (
#DISBATCH SUFFIX ) 2>&1
#DISBATCH PERENGINE START sleep 0.3; test ! -e data -a $(umask) = 0027 && echo $DISBATCH_ENGINE_RANK >data
#DISBATCH PERENGINE START echo second >>data; echo "starts for $BATS_CLUSTER"
#DISBATCH PERENGINE STOP echo "stops $DISBATCH_ENGINE_RANK"; mv data gone
#DISBATCH REPEAT 20 test "$(head -n 1 data)" = $DISBATCH_ENGINE_RANK && tail -n 1 data
BAG
umask 027
by_mpi 5 bag
test "$(cat out)" = "$(yes second | head -n 20)"
test "$(cat gone)" = "$(grep -o 'stops [1-4]' err | cut -c7-; echo second)"
test "$(grep -c 'starts for\|stops' err)" -eq 2
expect 1 grep 'gets no tasks' err
test "$(echo bats-mpi-*)" = 'bats-mpi-*'
rm gone
verb bag
test "$(wc -l <out)" -eq 20
consists gone 1 second
ok 'the ranks of a node, or a single one, run START once, before tasks, STOP after'

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
bats 3 bag --resume-failed
test "$(sql 'SELECT tasks, done, sessions FROM progress')" = '3|3|2'
test "$(sql 'SELECT count(*) FROM execution')" -eq 4
verb record verify bag
ok 'each session does it again; they are no tasks, and STOP cannot fail'

# A machine is charged from its first task on: START is before that.
two_clusters >clusters.ini
{ echo '#DISBATCH PERENGINE START sleep 0.5'; yes '@sleep 5m' | head -n 6; } >bag
bats 7 bag --clusters clusters.ini --time-scale 3600 --budget 9000
test "$(sql "SELECT min(time_us) >= 1800000000 FROM happened
    WHERE what = 'acquire'")" = 1
ok 'no window begins before START has ended'

printf '%s\n' '#DISBATCH PERENGINE START ! mkdir first' \
    '#DISBATCH REPEAT 6 test -e first' >bag
bats 4 bag
test "$(grep -c "^bats-mpi: rank . on .* gets no tasks: PERENGINE START has \
failed, exit 1" err)" -eq 1
grep -q "'#DISBATCH PERENGINE START ! mkdir first' has failed, exit 1" err
test "$(sql "SELECT count(DISTINCT machine) FROM execution")" -le 2
printf '%s\n' '#DISBATCH PERENGINE START false' true >bag
exits 3 'no node can run tasks: see the output of PERENGINE START' bats 3 bag
test "$("$BATS_MPI" status --left bag)" -eq 1
sed -i 's/START false/START true/' bag
bats 3 bag --resume
ok 'a rank whose START fails gets no tasks; if all fail, nothing runs until mended'

printf '%s\n' '#DISBATCH PERENGINE START touch begun; exec sleep 1000' \
    '#DISBATCH PERENGINE STOP touch ended' true >bag
start 3 bag
within 60 test -e begun
kill -TERM "$(rank_pid 0)"
wait $run || :
grep -q '0 of 1 task done' err
test -e ended
within 60 nobody_left
ok 'a run that is stopped meanwhile does not wait for START'

# The first rank that leaves is not the last one; one that was killed has left.
printf '%s\n' '#DISBATCH PERENGINE START echo begun >>node' \
    '#DISBATCH PERENGINE STOP echo ended >>node' 'mkdir killed && kill -KILL $PPID; true' >bag
bats 4 bag
consists node begun ended
test "$(echo bats-mpi-*)" = 'bats-mpi-*'
ok 'START and STOP are run once, also where a rank was killed'

# Two ranks play two nodes: one is lost at work, then START fails on the other.
mkdir one two
printf '%s\n' '#DISBATCH PERENGINE START sh ./begin' 'touch lost; kill -KILL $PPID' >bag
cat >begin <<'SH'
case $TMPDIR in *one) exit ;; esac
until test -e lost; do sleep 0.1; done
sleep 1
exit 1
SH
expect "1|3" launched --enable-recovery -n 1 "$BATS_MPI" bag : \
    -n 1 env TMPDIR="$dir/one" "$BATS_MPI" bag : \
    -n 1 env TMPDIR="$dir/two" "$BATS_MPI" bag
grep -q 'no machine is left: 0 of 1 task done' err
ok 'a START that fails when all other machines are lost ends the run with a report'

done_testing
