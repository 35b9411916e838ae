# Sourced by the tests of jobs that alloc buys, in Slurm's testbed or Grid Engine's:
# the run that `start` begins is $master, into out and err. Its options are $common
# and, if it is set, $budget.
common='--host 10.77.0.1 --poll 1s'
alloc() { # BAG OPTION...
    bats-mpi alloc "$1" $common ${budget:+-b $budget} "${@:2}" >out 2>err
}
start() {
    rm -f out err
    bats-mpi alloc "$1" $common ${budget:+-b $budget} "${@:2}" >out 2>err &
    master=$!
}
# killed: the run, at once.
killed() {
    kill -KILL $master
    wait $master 2>/dev/null || :
}
name_of() { # BAG
    sql "$1.bats" 'SELECT jobs_name FROM session ORDER BY id DESC LIMIT 1'
}
charged() { # BAG
    sql "$1.bats" "SELECT printf('%.6f', total(amount) / 1e6) FROM charge
        WHERE account = 0"
}
# tasks BAG N [SECONDS]: that note their numbers in ran.BAG.
tasks() {
    for i in $(seq "$2"); do echo "sleep ${3-1}; echo $i >>ran.$1"; done >"$1"
}
ran() { test "$(sort -u "ran.$1" 2>/dev/null | wc -l)" -ge "$2"; }
