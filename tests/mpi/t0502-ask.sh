#!/bin/bash
# Which schedule? A person at a terminal, script(1), types the answer.
. "$TOP/tests/mpi/lib.sh"

if ! script --version 2>/dev/null | grep -q util-linux; then
    skip 'a question on a terminal' 'no script(1) of util-linux'
    done_testing
    exit
fi
export TERM=xterm

cat >clusters <<END
[run]
currency = SU
[cluster slow]
ranks = 1-3
charge = 3
[cluster fast]
ranks = 4-6
charge = 9
speed = 4
END
for i in $(seq 600); do echo "@sleep $((10 + i % 10))m"; done >long
head -n 60 long >bag

asked() { # N: so many questions are on the screen
    test "$(grep -o 'schedule? ' typescript | wc -l)" -ge "$1"
}

# Types each answer when there is a question for it, then what `then` does.
answers() {
    n=0
    for answer; do
        n=$((n + 1))
        within 60 asked $n
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
        run $arguments --time-scale 600 --seed 5 -c clusters" \
        typescript >/dev/null 2>err || code=$?
    tr -d '\r' <typescript >out
    return $code
}

# Done, or as far as the money of the schedule goes on a busy machine.
carried_out='0|4'

then=:
expect "$carried_out" ask 'bag --choose ask' quickest cheapest+20%
grep -q 'promised  *cheapest+20%: ' out
ok 'the schedule that is typed is run'
grep -q "invalid value 'quickest'; expected one of cheapest, .*Which schedule? cheapest+20%" out
ok 'a wrong answer is told, and asked again'
expect "$carried_out" ask 'bag --choose ask' ''
grep -q 'promised  *fastest: ' out
ok 'an empty line takes the fastest'

chosen() { "$BATS_MPI" log long 2>/dev/null | grep -q 'chosen:'; }
stop() { within 60 chosen; kill -TERM "$(rank_pid 0)"; }

then=stop
expect 143 ask long 3
grep -q '^The run goes on as the fastest. Another schedule? ' out
grep -q 'promised  *cheapest+20%: ' out
ok 'a plain run asks, too, and goes on meanwhile'
done_testing
