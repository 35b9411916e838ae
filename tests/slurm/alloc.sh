# Sourced after lib.sh by tests of jobs that alloc buys, whose bill is asked of
# squeue: the run that `start` begins is $master, into out and err.
common='--host 10.77.0.1 --poll 1s'
alloc() { # BAG OPTION...
    bats-mpi alloc "$1" $common "${@:2}" >out 2>err
}
start() {
    bats-mpi alloc "$1" $common "${@:2}" >out 2>err &
    master=$!
}
# killed: the run, at once.
killed() {
    kill -KILL $master
    wait $master 2>/dev/null || :
}
# settled BAG: no job is left, what was charged is what squeue knows, and the
# record is true.
settled() {
    within 60 none_left "$1"
    same "$(billed_by_squeue "$1")" "$(charged "$1")"
    bats-mpi record verify "$1" >>out
}
# tasks BAG N [SECONDS]: that note their numbers in ran.BAG.
tasks() {
    for i in $(seq "$2"); do echo "sleep ${3-1}; echo $i >>ran.$1"; done >"$1"
}
ran() { test "$(sort -u "ran.$1" 2>/dev/null | wc -l)" -ge "$2"; }
lines() { test "$(cat "$1" 2>/dev/null | wc -l)" -eq "$2"; } # FILE N
# drain NODE WORDS; undrain: the node; the words are told in err.
drain() {
    scontrol update NodeName="$1" State=DRAIN Reason=test
    within 60 grep -q "$2" err
}
undrain() { scontrol update NodeName="$1" State=RESUME; }
