#!/bin/bash
# The policy expert on ranks that may not answer.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; billing = use' \
    '[cluster cheap]; ranks = 1-6; charge = 1; reliability = 0.6' \
    'charge_lost = no; expected = 10m' \
    '[cluster safe]; ranks = 7-8; charge = 30; expected = 10m' >clusters
for i in $(seq 24); do
    echo '@sleep 10m'
done >bag
options='--time-scale 1000 --seed 4 -c clusters --policy expert'
report() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" report
}

bats 9 run bag $options --strategy N=1,T=1x,D=2x,Mr=0.4 --json report
test "$(report tasks_done)" -eq 24
grep -q '^timed out  [1-9]' err
"$BATS_MPI" record verify bag >verified
ok 'all tasks are done though executions are lost, and the record is true'

# Each execution that answered on a cheap machine is charged once, no other one
# is.
"$BATS_MPI" log bag --json | grep '"machine": *"cheap-' >cheap
charged=$(grep -c '"what": *"charged"' cheap)
answered=$(grep -E '"what": *"(done|superseded)"' cheap | grep -vcE "signal|timed out")
lost=$(grep -c 'timed out' cheap)
test "$charged" -eq "$answered" && test "$lost" -gt 0
ok 'what is lost is not charged'

# Lost tasks have not run for 30 s here; tasks take 10 minutes.
sed 's/^reliability.*/&\nnoticed = 30s/' clusters >told
bats 9 run bag --time-scale 1000 --seed 4 -c told --policy expert \
    --strategy AUR --record n --json report
test "$(report tasks_done)" -eq 24
"$BATS_MPI" record verify n >verified
lost=$("$BATS_MPI" log n | grep -c ' preempted ')
test "$lost" -gt 0
expect 1 grep -q '^timed out' err
done=$("$BATS_MPI" log n --json | grep '"machine": *"cheap-' |
    grep -E '"what": *"(done|superseded)"' | grep -vc signal)
"$BATS_MPI" frontier n --plays 5 >frontier
awk -v a="$done" -v l="$lost" \
    'BEGIN { printf "where %.1f %% of executions answer and losses are noticed\n",
        100 * a / (a + l) }' >share
grep -qFf share frontier
ok 'a loss that is noticed puts the task back before it is given up'

# Nothing is emulated: a rank that dies is noticed by --silence.
sed 's/^reliability.*/reliable = no/' clusters >real
sed 's/^reliability.*/noticed = no/' clusters >silent
bats 9 run bag --time-scale 1000 --seed 4 -c real --policy expert \
    --silence 2s --strategy N=0,T=inf,D=inf --record r
test "$(sqlite3 r "SELECT json_extract(options, '\$.engine.noticed_us')
    FROM session")" = '[2000000000,0]'
expect 2 bats 9 run bag --time-scale 1000 -c silent --policy expert \
    --strategy N=0,T=inf,D=inf --no-record
grep -q 'D = inf waits for ever for silent losses' err
ok 'losses of machines that are not emulated are noticed, if nothing is said'

bats 9 run bag $options --utility fastest --record u --save learned
grep -q '^strategy   N=.*, chosen at .* answered' err
"$BATS_MPI" record verify u >verified
ok 'it chooses a strategy when the tail begins, and the record knows'

"$BATS_MPI" frontier bag --plays 10 --save pools >frontier
grep -q '24 tasks; 6 unreliable slots.* after 1[0-9]m' frontier
grep -q '"charge_lost": false' pools
ok 'its record tells the frontier of the next run'

# All that was sent to them is known at the end.
"$BATS_MPI" log u --json | grep '"machine": *"cheap-' |
    grep -E '"what": *"(done|superseded|failed|preempted)"' >ended
lost=$(grep -c 'timed out' ended)
answered=$(grep -v 'timed out' ended | grep -E '"(done|superseded)"' |
    grep -vc signal)
awk -v a="$answered" -v l="$lost" \
    'BEGIN { printf "where %.1f %% of executions answer,\n", 100 * a / (a + l) }' >share
"$BATS_MPI" frontier learned --plays 10 >frontier
grep -qFf share frontier
"$BATS_MPI" frontier u --plays 10 --csv >of-record
"$BATS_MPI" frontier learned --plays 10 --csv | cmp - of-record
ok 'a run keeps in its profile how the unreliable machines answer'

head -n 4 bag >small
bats 9 run small $options --profile learned --record k
grep -q '^strategy   .*, chosen at .* answered' err
"$BATS_MPI" record verify k >verified
bats 9 run small $options --profile pools --no-record
grep -q '^strategy   .*, chosen at .* answered' err
expect 2 bats 9 run small $options --profile learned --budget 30% --no-record
grep -q 'the policy expert knows no schedules' err
ok 'a profile of another bag may tell it of the pools'

expect 4 bats 9 run bag $options --strategy TRR --budget 3 --record b \
    --json report
awk -v c="$(report charged)" 'BEGIN { exit !(c <= 3) }'
"$BATS_MPI" record verify b >verified
ok 'the budget holds'

for i in $(seq 12); do
    echo "echo $i; sleep 0.1"
done >commands
bats 9 run commands $options --strategy TRR 
test "$(sort -n out | tr '\n' ' ')" = "$(seq -s' ' 12) "
ok 'commands that are replicated print once'

# No task waits for a reliable machine before the tail.
printf '%s\n' 1,0,100000 2,100,100000 >trace
sed 's/^reliability.*/outages = trace/' clusters >by-trace
head -n 6 commands >six
bats 9 run six --time-scale 1000 --seed 4 -c by-trace --policy expert \
    --strategy TRR --record t
test "$(sort -n out | tr '\n' ' ')" = "$(seq -s' ' 6) "
"$BATS_MPI" record verify t >verified
ok 'what a trace loses is done elsewhere, also of as many tasks as machines'

sed 's/^reliability.*/reliability = 1/' clusters >sure
bats 9 run bag --time-scale 1000 -c sure --policy expert --record s \
    --strategy N=0,T=4x,D=4x,Mr=0.4 --json report
awk -v c="$(report charged)" 'BEGIN { exit !(c >= 4 && c < 8) }'
expect 1 grep -qE '^(timed out|replicated)' err
grep -q '^safe .* 0  *[~-]' err
ok 'where all answer it is plain self-scheduling'

expect 2 bats 9 run bag -c sure --policy rr --strategy TRR
grep -q 'strategy goes with --policy expert' err
expect 2 bats 9 run bag -c sure --policy expert --strategy N=1,T=3x,D=2x
grep -q 'T is longer than D' err
expect 2 bats 9 run bag -c sure --policy expert --utility 'nonsense + 1' \
    --no-record
grep -q "utility: an unknown name in 'nonsense + 1'" err
sed '/safe/,$d' clusters >alone
expect 2 bats 7 run bag -c alone --policy expert --strategy TRR --no-record
grep -q 'needs a reliable cluster' err
expect 2 bats 7 run bag -c alone --policy expert --no-record \
    --strategy N=inf,T=1x,D=2x,Mr=0.1
grep -q 'needs a reliable cluster' err
bats 7 run bag -c alone --time-scale 5000 --no-record
grep -q '^policy     expert' err
ok 'what cannot be is refused; without a name, the policy is this one'

sed 's/^billing.*//; s/^charge_lost.*//' clusters >windows
bats 9 sample bag -c windows --time-scale 2000 --seed 4 --record s
"$BATS_MPI" frontier bag.profile --plays 5 >frontier
grep -q '6 unreliable slots, where [0-9][0-9]\.' frontier
sed 's/,"pools":.*/}/' bag.profile >without
expect 2 "$BATS_MPI" frontier without 2>err
grep -q '^bats-mpi: without: this profile knows of no clusters' err
ok 'the profile of a sample tells the frontier of the pools'

expect '0|4' bats 9 run bag -c windows --policy expert --strategy TRR \
    --budget 80 --time-scale 2000 --seed 4 --record w --json report
awk -v c="$(report charged)" 'BEGIN { exit !(c <= 80 && c == int(c)) }'
grep -q '^safe  *[0-9]/2  *30 ' err
"$BATS_MPI" record verify w >verified
ok 'where windows are charged the budget holds, too'

done_testing
