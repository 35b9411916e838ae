# Sourced by the tests of open bags, for mpi/lib.sh.
. "$TOP/tests/mpi/lib.sh"
PATH=$(dirname "$BATS_MPI"):$PATH
unset BATS_SOCKET

# open_bag ARGUMENT...: a run on 2 workers, unless -j says else, into out and err.
open_bag() {
    env "$mark" timeout -k 5 900 bats-mpi run --open -j 2 "$@" \
        >out 2>err </dev/null
}
states() { # [RECORD]
    sql "${1-open.bats}" 'SELECT number, state FROM tasks ORDER BY number' |
        tr '|\n' ' ,'
}
# The run in this directory accepts tasks.
listens() {
    export BATS_SOCKET=$PWD/open.bats.sock
    until bats-submit --wait true 2>/dev/null; do sleep 0.05; done
}
# given KEY: what the tasks of open.bats were given for it.
given() {
    sql open.bats "SELECT json_extract(given, '$.$1') FROM submission ORDER BY task"
}
