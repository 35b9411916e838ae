#!/bin/bash
# The watchdog of jobs that alloc buys: "$BATS_MPI" lease SECONDS COMMAND...
. "$TOP/tests/mpi/lib.sh"

# lease SECONDS SCRIPT
lease() {
    verb lease "$1" sh -c "$2"
}

expect 7 lease 600 'echo one; echo bats-lease nonsense; printf two; exit 7'
printf 'one\nbats-lease nonsense\ntwo' | cmp - out
expect 137 lease 600 'kill -KILL $$'
ok 'what the command prints and its exit code are passed on'
exits 3 'the lease of this job was not prolonged: it ends' lease 1 'exec sleep 600'
expect 3 lease 1 'exec >&-; exec sleep 600'
expect 3 lease 600 'echo bats-lease 9000000000; echo bats-lease 1000000; exec sleep 600'
test ! -s out
ok 'a job ends that is not prolonged, or was told its end: the latest one counts'
expect 0 lease 5 'echo bats-lease 600000000; sleep 6'
ok 'a job whose lease is prolonged goes on'

# A pipe that nobody reads.
mkfifo pipe
sleep 600 <>pipe >/dev/null &
holder=$!
yes 0123456789 | { "$BATS_MPI" lease 1 cat >pipe 2>err || exit $?; } &
expect 142 wait $!
kill $holder
ok 'a job ends even if what it prints cannot be written'

behind "$BATS_MPI" lease 600 sh -c 'echo $$ >pid; exec sleep 600'
within 60 test -s pid
kill -KILL $run
within 60 sh -c '! kill -0 $(cat pid) 2>/dev/null'
ok 'if the watchdog is killed, so is the command'

expect 2 verb lease 0 true
expect 2 verb lease x true
expect 127 verb lease 9 /nowhere
ok 'a lease without an end or a command is refused'
done_testing
