#!/bin/bash
# Rank 0 is killed while money is held that nobody has charged yet: the resumed
# run knows it, and stays within the budget.
. "$TOP/tests/mpi/lib.sh"

# charged RECORD [CONDITION]: to the run itself, unless the condition says else.
charged() {
    sql "$1" "SELECT coalesce(sum(amount), 0) FROM charge
        WHERE ${2-account = 0}"
}

# crash BAG ARGUMENT...: kills rank 0 when the first task has begun.
crash() {
    rm -f began quick
    start 2 "$@"
    within 60 test -e began
    kill -KILL "$(rank_pid 0)"
    wait $run || :
    within 60 nobody_left
    test "$(charged "$1.bats")" -eq 0
    : >quick
}

cat >task <<'TASK'
[ -e quick ] && exit
touch began
exec sleep 1001
TASK
yes 'sh ./task' | head -n 3 >bag
ini '[run]; window = 60m; billing = second' \
    '[cluster a]; ranks = 1; charge = 3/h; reclaimable = yes; free = 30m' \
    >second.ini

crash bag -c second.ini --budget 4
expect 4 bats 2 bag -c second.ini --budget 4 --resume
test "$(charged bag.bats)" -eq 3000000
tr -s ' \n' ' ' <err | grep -q \
    ', 3 of it before this session, with 3 for what was open when the run was killed'
ok 'the window that a killed run held is charged, and leaves too little'

bats 2 bag -c second.ini --budget 7 --resume
test "$(charged bag.bats)" -ge 3000000
test "$(charged bag.bats)" -le 7000000
tr -s ' \n' ' ' <err | expect 1 grep -q 'when the run was killed'
"$BATS_MPI" log bag.bats | grep -q 'notice.* 3 was charged for what was open'
"$BATS_MPI" record verify bag.bats | grep -q '^3 sessions, .*: all agree$'
ok 'more budget finishes the bag; it is charged once, and all sessions verify'

{ echo '#BATS workflow one budget=3'; cat bag; } >flow
sed 's/second/use/; s,/h,,; /free/d; /reclaim/d' second.ini >use.ini
crash flow -c use.ini --budget 5
expect '0|4' bats 2 flow -c use.ini --budget 5 --resume
held=$(charged flow.bats 'account = 0 AND session = 1')
test "$held" -gt 0
test "$(charged flow.bats 'session = 1 AND account > 0')" -eq "$held"
test "$(charged flow.bats)" -le 5000000
test "$(charged flow.bats 'account > 0')" -le 3000000
"$BATS_MPI" record verify flow.bats | grep -q '^2 sessions, .*: all agree$'
ok 'use that was held is charged, to its workflow, too'

done_testing
