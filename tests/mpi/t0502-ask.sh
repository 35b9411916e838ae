#!/bin/bash
# Which schedule? A person at a terminal, script(1), types the answer.
. "$TOP/tests/mpi/lib.sh"

if ! script --version 2>/dev/null | grep -q util-linux; then
    skip 'a question on a terminal' 'no script(1) of util-linux'
    done_testing
    exit
fi
export TERM=xterm

two_clusters >clusters
for i in $(seq 600); do echo "@sleep $((10 + i % 10))m"; done >long
head -n 60 long >bag

asked() { # N: so many questions are on the screen
    test "$(grep -c '^> ' typescript)" -ge "$1"
}

counted() { grep -q 'in 5[0-9] s' typescript; }

# Types each answer when there is a question for it, and the seconds that are
# left have become fewer; then what `then` does.
answers() {
    n=0
    for answer; do
        n=$((n + 1))
        within 60 asked $n
        within 60 counted
        echo "$answer"
    done
    $then
}

# ask ARGUMENTS ANSWER...: a run on a terminal; its screen goes to `out`.
ask() {
    arguments=$1
    shift
    local code=0
    : >typescript
    # In the foreground: mpirun reads no terminal from the background, where
    # timeout(1) would put it when the shell of script(1) forks.
    answers "$@" | env "$mark" script -qefc \
        "timeout --foreground -k 5 120 ${MPIRUN:-mpirun} -n 7 '$BATS_MPI' \
        run $arguments --seed 5" \
        typescript >/dev/null 2>err || code=$?
    tr -d '\r' <typescript >out
    return $code
}

# Done, or as far as the money of the schedule goes on a busy machine.
carried_out='0|4'

then=:
emulated='--time-scale 600 -c clusters'
expect "$carried_out" ask "bag --choose ask $emulated" quickest cheapest
grep -q 'promised  *cheapest: ' out
ok 'the schedule that is typed is run'
grep -q "invalid value 'quickest'; expected one of cheapest, " out
test "$(grep -c '^> ' out)" -eq 2
ok 'a wrong answer is told, and asked again'
grep -q '^Type 1 to [2-5] or a name, and Enter; in 60 s: fastest\.' out
ok 'it says what to type, and what will be taken'
printf '\0337\033[1A\r' >up
grep -qF "$(cat up)Type 1 to" typescript
ok 'and counts down, above what is being typed'
expect "$carried_out" ask "bag --choose ask $emulated" ''
grep -q 'promised  *fastest: ' out
ok 'an empty line takes the fastest'

chosen() { "$BATS_MPI" log long 2>/dev/null | grep -q 'chosen:'; }
stop() { within 60 chosen; kill -TERM "$(rank_pid 0)"; }

then=stop
expect 143 ask "long $emulated" 1
grep -q '^The run goes on with all machines\.' out
grep -q 'Enter; in 60 s it stays as it is\.' out
grep -q 'promised  *cheapest: ' out
ok 'a plain run asks, too, and goes on meanwhile'

# ---- the strategy of the policy expert ----

cat >pools <<END
[run]
billing = use
[cluster cheap]
ranks = 1-4
charge = 1
reliable = no
noticed = no
[cluster safe]
ranks = 5-6
charge = 30
END
for i in 2 2 2 2 400 400 400; do echo "@sleep ${i}m"; done >tail
expert='--policy expert --choose ask -c pools'
followed() { grep -q '^bats-mpi: strategy: ' typescript; }
stop() { within 60 followed; kill -TERM "$(rank_pid 0)"; }
expect 143 ask "tail $expert --time-scale 60" none 1
grep -q '^1.* N=' out
grep -q '^[1-9]\*  *N=' out
ok 'when the tail begins the strategies are shown, and the best is marked'
grep -q "'none' is not a number from 1 to [2-9]" out
grep -q '^strategy .*, chosen by you at ' out
grep -q '^expected  *in .* for ' out
ok 'the one that is typed is followed'
"$BATS_MPI" record verify tail >verified
ok 'the record knows which'
sed 's/400/20/' tail >short
bats 7 run short $expert --time-scale 2000
grep -q 'The tail begins' err
grep -q '^strategy .*, chosen at ' err
ok 'where nobody can be asked the best is taken'
expect 2 bats 7 run tail -c pools --policy expert --choose fastest --no-record
grep -q "it is 'ask', for the strategy" err
expect 2 bats 7 run tail -c pools --policy expert --choose ask --strategy AUR \
    --no-record
grep -q 'exclude each other' err
ok 'what cannot be chosen is refused'
done_testing
