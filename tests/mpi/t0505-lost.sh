#!/bin/bash
# Emulation of machines that do not answer: an execution that is lost is silent
# until it is stopped.
. "$TOP/tests/mpi/lib.sh"

ini '[cluster cheap]; ranks = 1-4; charge = 1; reliability = 0.5' \
    '[cluster safe]; ranks = 5; charge = 3' >clusters
for i in 1 2 3 4 5 6; do
    echo '@sleep 60s'
    echo 'echo $BATS_TASK_ID $BATS_CLUSTER'
done >bag
bats 6 run bag --clusters clusters --time-scale 1000 --timeout 10m \
    --retries 31 --tail none --seed 3
test "$(cut -d' ' -f1 out | sort -n | tr '\n' ' ')" = '2 4 6 8 10 12 '
grep -q '^timed out  [1-9]' err
ok 'lost commands and sleeps are timed out, and all tasks end elsewhere'
"$BATS_MPI" record verify bag >verified
ok 'and the record of it is true'

# Lost after 5 s, in the middle of the second command.
ini '[cluster cheap]; ranks = 1; charge = 1; survival = weibull 2000s 30' \
    >killed
printf '%s\n' 'echo a1; echo b1' 'echo a2; sleep 60; echo b2' >two
expect 1 bats 2 run two --clusters killed --time-scale 400 --timeout 4000s \
    --tail none
test "$(sort out | tr '\n' ' ')" = 'a1 a2 b1 '
grep -q '^timed out  1 ' err
ok 'a command that outlives its machine is lost in the middle'

printf '[cluster x]\nreliability = 1.5\ncharge = 1\n' >wrong
expect 2 bats 3 run bag --clusters wrong
grep -q "wrong:2: reliability: '1.5' is not a number above 0" err
ok 'a reliability above 1 is refused by file and line'

done_testing
