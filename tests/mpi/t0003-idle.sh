#!/bin/sh
# Ranks that wait cost next to nothing. The figure that is promised is 1 % of
# a core each; the test is content with a mean below 2.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/idle.sh 33 5) >out 2>err
for kind in master timer parked; do
    awk -v kind=$kind '$1 == kind && $3 < 2 { found = 1 }
        END { exit !found }' out
    ok "$kind: below 2 % of a core, with 33 ranks"
done
sed 's/^/# /' out
within 5 nobody_left
ok 'and they are gone afterwards'

done_testing
