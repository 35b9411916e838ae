#!/bin/bash
# The policy expert on ranks that may not answer.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; billing = use' \
    '[cluster cheap]; ranks = 1-6; charge = 1; reliability = 0.6' \
    'charge_lost = no; expected = 10m' \
    '[cluster safe]; ranks = 7-8; charge = 30; expected = 10m' >clusters
yes '@sleep 10m' | head -n 24 >bag
scale='--time-scale 1000 --seed 4'
options="$scale -c clusters --policy expert"
# run BAG ARGUMENT...: on nine ranks, with report.
run() {
    bats 9 run "$@" --json report
}

run bag $options --strategy N=1,T=1x,D=2x,Mr=0.4
holds '.tasks_done == 24'
grep -q '^timed out  [1-9]' err
verb record verify bag
ok 'all tasks are done though executions are lost, and the record is true'

# Lost after 5 s, in the middle of the second command.
ini '[cluster cheap]; ranks = 1; charge = 1; survival = weibull 2000s 30' >killed
printf '%s\n' 'echo a1; echo b1' 'echo a2; sleep 60; echo b2' >two
exits 1 '^timed out  1 ' bats 2 run two --clusters killed --time-scale 400 \
    --timeout 4000s --tail none
test "$(sort out | tr '\n' ' ')" = 'a1 a2 b1 '
ok 'without it, a command that outlives its machine is lost in the middle'

# Each execution that answered on a cheap machine is charged once, no other one
# is.
cheap() { # RECORD
    "$BATS_MPI" log $1 --json | jq -c 'select(.machine // "" | startswith("cheap-"))'
}
cheap bag >log
answered=$(grep -E '"what": *"(done|superseded)"' log | grep -vcE "signal|timed out")
test "$(grep -c '"what": *"charged"' log)" -eq "$answered"
grep -q 'timed out' log
ok 'what is lost is not charged'

# Lost tasks have not run for 30 s here; tasks take 10 minutes.
sed 's/^reliability.*/&\nnoticed = 30s/' clusters >told
run bag $scale -c told --policy expert --strategy AUR --record n
holds '.tasks_done == 24'
verb record verify n
lost=$("$BATS_MPI" log n | grep -c ' preempted ')
test "$lost" -eq 15 # by the draws of the seed for 24 tasks
expect 1 grep -q '^timed out' err
done=$(cheap n | grep -E '"what": *"(done|superseded)"' | grep -vc signal)
"$BATS_MPI" frontier n --plays 5 >frontier
awk -v a=$done -v l=$lost 'BEGIN { printf "where %.1f %% of executions " \
    "answer and losses are noticed\n", 100 * a / (a + l) }' | grep -qFf - frontier
ok 'a loss that is noticed puts the task back before it is given up'

# Nothing is emulated: a rank that dies is noticed by --silence.
sed 's/^reliability.*/reliable = no/' clusters >real
sed 's/^reliability.*/noticed = no/' clusters >silent
forever='--policy expert --strategy N=0,T=inf,D=inf'
run bag $scale -c real --silence 2s $forever --record r
test "$(sql r "SELECT json_extract(options, '\$.engine.noticed_us')
    FROM session")" = '[2000000000,0]'
exits 2 'D = inf waits for ever for silent losses' \
    run bag $scale -c silent $forever --no-record
ok 'losses of machines that are not emulated are noticed, if nothing is said'

run bag $options --utility fastest --record u
grep -q '^strategy   N=.*, chosen at .* answered' err
verb record verify u
"$BATS_MPI" frontier bag --plays 10 >frontier
grep -q '24 tasks; 6 unreliable slots.* after [1-9][0-9]*m' frontier
ok 'it chooses a strategy when the tail begins; its record tells the next frontier'

# refuses WORDS CLUSTERS ARGUMENT...
refuses() {
    exits 2 "$1" run bag -c "$2" --no-record "${@:3}"
}
sed '/safe/,$d' clusters >alone
expert='--policy expert'
refuses 'strategy goes with --policy expert' clusters --policy rr --strategy TRR
refuses 'T is longer than D' clusters $expert --strategy N=1,T=3x,D=2x
refuses "utility: an unknown name in 'nonsense + 1'" clusters $expert \
    --utility 'nonsense + 1'
run() { bats 7 run "$@"; }
refuses 'needs a reliable cluster' alone $expert --strategy TRR
refuses 'needs a reliable cluster' alone $expert --strategy N=inf,T=1x,D=2x,Mr=0.1
exits 0 '^policy     expert' run bag -c alone --time-scale 5000 --no-record
ok 'what cannot be is refused; without a name, the policy is this one'

done_testing
