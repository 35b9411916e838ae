#!/bin/bash
# The watchdog of jobs that alloc buys: "$BATS_MPI" lease SECONDS COMMAND...
. "$TOP/tests/mpi/lib.sh"

# lease SECONDS SCRIPT
lease() {
    "$BATS_MPI" lease "$1" sh -c "$2" >out 2>err
}

expect 7 lease 600 'echo one; echo bats-lease nonsense; printf two; exit 7'
printf 'one\nbats-lease nonsense\ntwo' | cmp - out
expect 137 lease 600 'kill -KILL $$'
ok 'what the command prints and its exit code are passed on'
expect 3 lease 1 'exec sleep 600'
grep -q 'the lease of this job was not prolonged: it ends' err
ok 'a job whose lease nobody prolongs ends'
expect 3 lease 1 'exec >&-; exec sleep 600'
ok 'also one that has closed its output'
expect 3 lease 600 'echo bats-lease 9000000000; echo bats-lease 1000000; exec sleep 600'
test ! -s out
ok 'and one that was told the end of its lease: the latest one counts'
expect 0 lease 5 'echo bats-lease 600000000; sleep 6'
ok 'a job whose lease is prolonged goes on'

# A pipe that nobody reads.
mkfifo pipe
sleep 600 <>pipe >/dev/null &
holder=$!
yes 0123456789 | "$BATS_MPI" lease 1 cat >pipe 2>err &
code=0
wait $! || code=$?
[ $code -eq 142 ] || note_failure $code 'the watchdog'
kill $holder
ok 'a job ends even if what it prints cannot be written'

"$BATS_MPI" lease 600 sh -c 'echo $$ >pid; exec sleep 600' >out 2>err &
within 60 test -s pid
kill -KILL $!
within 60 sh -c '! kill -0 $(cat pid) 2>/dev/null'
ok 'if the watchdog is killed, so is the command'

expect 2 "$BATS_MPI" lease 0 true 2>err
expect 2 "$BATS_MPI" lease x true 2>err
expect 127 "$BATS_MPI" lease 9 /nowhere 2>err
ok 'a lease without an end or a command is refused'
done_testing
