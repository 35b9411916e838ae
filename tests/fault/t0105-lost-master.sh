#!/bin/bash
# Rank 0 is busy for long, or dies, before it has said a word to the others.
. "$TOP/tests/mpi/lib.sh"

name='a master that reads its bag for longer than --silence is not lost'
if ! ${MPIRUN:-mpirun} --version 2>/dev/null | grep -q 'Open MPI'; then
    skip "$name" 'not Open MPI'
    done_testing
    exit
fi

# Nobody writes to it: rank 0 waits for its bag.
mkfifo bag
env "$mark" timeout -k 5 200 ${MPIRUN:-mpirun} --enable-recovery -n 3 \
    "$BATS_MPI" bag --no-record --silence 4s >out 2>err </dev/null &
launcher=$!
three_wait() {
    test -n "$(rank_pid 0)" && test -n "$(rank_pid 1)" &&
        test -n "$(rank_pid 2)"
}
within 60 three_wait
sleep 7
three_wait
test ! -s err
ok "$name"
kill -KILL "$(rank_pid 0)"
within 30 nobody_left
ok 'the others leave when it dies before it has read it'
kill_alive
expect '[1-9][0-9]*' wait $launcher
ok 'the exit status is not 0'
done_testing
