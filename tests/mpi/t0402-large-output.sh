#!/bin/bash
# The master dies while it is being sent the output of a task that has ended,
# which its worker has kept until it was known to be the result.
. "$TOP/tests/mpi/lib.sh"

echo 'echo x >>runs; seq 300000' >bag

# Nobody reads what the master prints, but for the first lines: it waits.
mkfifo pipe
env "$mark" timeout -k 5 900 ${MPIRUN:-mpirun} \
    -n 1 sh -c 'exec "$@" >pipe' sh "$BATS_MPI" bag --tail random : \
    -n 1 "$BATS_MPI" bag --tail random >/dev/null 2>err </dev/null &
exec 3<pipe
head -c 1000 <&3 >seen
sleep 0.5
kill -KILL "$(rank_pid 0)"
exec 3<&-
wait $! || :
test -s seen
test "$(wc -l <runs)" -eq 1
test "$(sql 'SELECT count(outcome) FROM execution')" -eq 0
ok 'a result is not recorded before its output is there'

by_mpi 2 bag --resume
seq 300000 | cmp -s out -
test "$(wc -l <runs)" -eq 2
test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 1
by_mpi 2 bag --resume
test ! -s out
test "$(wc -l <runs)" -eq 2
ok 'so the task is run again, recorded then, and never more'

done_testing
