#!/bin/bash
# The records of real runs agree with themselves, whatever ended them.
. "$TOP/tests/mpi/lib.sh"

# verify RUN N: its N sessions agree.
verify() {
    tells "^$2 sessions\\{0,1\\}, .*: all agree\$" record verify "$1"
}
# has RECORD WHAT...: each of these has happened.
has() {
    local what
    for what in "${@:2}"; do
        test "$(sql "$1" "SELECT count(*) > 0 FROM happened
            WHERE what = '$what'")" = 1
    done
}

# ---- money: parked machines, tasks that are cut off, a budget that ends ----

awk 'BEGIN { srand(3); for (i = 0; i < 150; i++)
    printf "@sleep %dm\n", 5 + rand() * 50 }' >bag
ini '[run]; window = 60m' '[cluster slow]; ranks = 1-4; charge = 3' \
    '[cluster fast]; ranks = 5-8; charge = 8.123456; speed = 2' >clusters.ini
scale='--clusters clusters.ini --time-scale 3600'
expect 4 bats 9 bag $scale --budget 150
has bag.bats park acquire
test "$(sql 'SELECT (SELECT count(*) >= 2 FROM decision),
    count(*) > 0 FROM execution WHERE outcome = 1 AND cancelled')" = '1|1'
verify bag 1
ok 'that of a run with preempted tasks and parked machines, out of money'
sed -i '5d; 20s/.*/@sleep 1m/; $a @sleep 2m' bag
expect '0|1' bats 9 bag $scale --budget 15000 --resume --timeout 300% --tail random
verify bag 2
ok 'so does that of a session that goes on with a changed bag'

cp bag.bats changed
sql changed 'UPDATE charge SET amount = amount - 1 WHERE seq =
    (SELECT min(seq) FROM charge WHERE session = 2)'
expect 1 verb record verify changed
finds out 'the record does not agree with itself:$' \
    '^  session 2: [0-9]* is charged to account 0, but [0-9]* by its charges$'
ok 'a charge that is less by a millionth is noticed'

# ---- a master that is killed, and what comes after it ----

# It cannot end before it is killed: what begins after task 50 waits for that.
for i in $(seq 200); do
    echo "test -e x$i || { touch x$i; exit 3; }; test ! -e x50 ||" \
        'until test -e go; do sleep 0.1; done; sleep 0.05'
done >bag3
start 4 bag3 --retries 2
within 60 test -e x50
verb record verify bag3
kill -KILL "$(rank_pid 0)"
wait $run || :
within 60 nobody_left
touch go
rm -f x7
bats 4 bag3 --retries 2 --resume
bats 4 bag3 --retry-failed
verify bag3 3
ok 'that of a live run, as far as it is; a session that was killed, and those after'

done_testing
