#!/bin/bash
# Plans where a price falls with the age of a machine. No launcher.
. "$TOP/tests/mpi/lib.sh"

# A new machine of the second cluster is dearer than one of the first; kept for
# more than six hours it is cheaper.
ini '[run]; policy = bats; budget = 66; seeds = 1-20' \
    '[bag]; tasks = 600; runtime = lognormal 10m 6m' \
    '[cluster demand]; machines = 10; charge = 0.6/h' \
    '[cluster preempt]; machines = 10; charge = 1/h for 2h, 0.25/h after' \
    >age.scn
verb simulate age.scn --csv
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
    if ($i == name) at = i; next } { print $at }' out; }
test "$(column undone | sort -u)" = 0
test "$(column undone | wc -l)" -eq 20
ok 'machines that have become cheap are kept, and the whole bag is paid'
test "$(column violations | sort -u)" = 0
ok 'within the budget'

done_testing
