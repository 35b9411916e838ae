#!/bin/bash
# Emulation of machines that do not answer: an execution that is lost is silent
# until it is stopped.
. "$TOP/tests/mpi/lib.sh"

ini '[cluster cheap]; ranks = 1-4; charge = 1; reliability = 0.5' \
    '[cluster safe]; ranks = 5; charge = 3' >clusters
yes '@sleep 60s
echo $BATS_TASK_ID $BATS_CLUSTER' | head -n 12 >bag
bats 6 run bag --clusters clusters --time-scale 1000 --timeout 10m \
    --retries 31 --tail none --seed 3
test "$(cut -d' ' -f1 out | sort -n | tr '\n' ' ')" = '2 4 6 8 10 12 '
grep -q '^timed out  [1-9]' err
verb record verify bag
ok 'lost commands and sleeps are timed out, and all tasks end elsewhere'

# Lost after 5 s, in the middle of the second command.
ini '[cluster cheap]; ranks = 1; charge = 1; survival = weibull 2000s 30' >killed
printf '%s\n' 'echo a1; echo b1' 'echo a2; sleep 60; echo b2' >two
exits 1 '^timed out  1 ' bats 2 run two --clusters killed --time-scale 400 \
    --timeout 4000s --tail none
test "$(sort out | tr '\n' ' ')" = 'a1 a2 b1 '
ok 'a command that outlives its machine is lost in the middle'

done_testing
