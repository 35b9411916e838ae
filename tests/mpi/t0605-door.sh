#!/bin/bash
# Whoever is not a worker job of the same user and version stays outside, and
# the run goes on.
. "$TOP/tests/mpi/lib.sh"

# Its parts wait for a minute each: together they have four, and the test fails.
env "$mark" sh -c "sleep ${DOOR_SECONDS:-240} && kill $$" &

ini '[run]; currency = SU' '[cluster w]; ranks = 1-8; charge = 1' >clusters.ini
echo 'touch begun; until test -e go; do sleep 0.1; done' >bag

port=$((20000 + $$ % 10000))
master() { # waits for workers
    rm -f door go
    behind timeout 200 "$BATS_MPI" bag --clusters clusters.ini --welcome door \
        --host 127.0.0.1 --port $port --no-record --silence 3s
    within 60 test -s door
}
# worker FILE: a job at this door, to its end; into worker.err.
worker() {
    env "$mark" timeout 60 "$BATS_MPI" worker --join "$1" --job worker \
        >worker.err 2>&1 </dev/null
}
# refused DOOR SENTENCE: so is a job there, which says why.
refused() {
    [ ! -e "$1" ] || chmod ${3-600} "$1"
    expect 2 worker "$1"
    finds worker.err "$2"
}
# knocks HOW SENTENCE: what the master answers.
knocks() {
    python3 "$TOP/tests/mpi/knock.py" "$1" door passed >answer 2>knocked
    grep -q "$2" answer || note_failure "$(cat answer)" "$1, not: $2"
}
# the run is none the worse, and told why nobody came in.
still_runs() {
    touch go
    worker door
    expect 0 wait $run
    grep -q '1 of 1 task done' err
}

refused nowhere 'nowhere: No such file'
master
finds door "\"port\": $port"
cp door open
refused open 'only you may read it' 644
sed 's/^ "port": .*/ "port": x,/' door >bad
refused bad '^bats-mpi: job worker, rank 0: bad:4: '
sed 's/^ "bats-mpi": .*/ "bats-mpi": 4,/' door >old
refused old 'old: the master speaks version 4 '
ok 'a file that is missing, readable for others, wrong or old is refused, by line'

sed "s/^ \"secret.*/ \"secret\": \"$(printf '%064d' 0)\"/" door >wrong
refused wrong 'is not the master: it has another secret'
knocks forge closed
strangers() { # N: of so many the run has said why it rejects them
    test "$(grep -c "a client was rejected: it does not have this" err)" -ge $1
}
within 60 strangers 2
ok 'who has another secret finds no master, and none lets him in'
rm -f passed
python3 "$TOP/tests/mpi/knock.py" pass door passed &
within 60 test -s passed
expect 3 worker passed
expect 0 wait $!
knocks replay closed
within 60 strangers 3
ok 'what was said once proves nothing again'

# changes WHAT CODE SENTENCE FILE: somebody between the two changes a bit of a
# HELLO (change), or of the master's first answer (answer).
changes() {
    rm -f passed
    python3 "$TOP/tests/mpi/knock.py" "$1" door passed >answer &
    within 60 test -s passed
    expect "$2" worker passed
    expect 0 wait $!
    within 60 grep -q "$3" "$4"
}
changes change 3 'a message arrived that its gateway did not send' err
changes answer 2 'this is not the master' worker.err
ok 'what is changed on its way is refused'

knocks garbage closed
within 60 strangers 5
ok 'nonsense is sent away'

# Who is silent, before or after the handshake, has 15 s.
rm -f passed
python3 "$TOP/tests/mpi/knock.py" mute door >mute &
mute=$!
python3 "$TOP/tests/mpi/knock.py" shy door passed >shy &
shy=$!
within 60 test -s passed
env "$mark" timeout 60 "$BATS_MPI" worker --join passed --job shy >/dev/null 2>&1 &
rm -f begun
worker door &
within 60 test -e begun
test ! -s mute
expect 0 wait $mute $shy
finds mute closed
finds shy closed
late() {
    test "$(grep -c 'rejected: it takes too long to identify itself' err)" -eq 2
}
within 60 late
ok 'who says nothing, before or after the handshake, is sent away and delays nobody'
touch go
expect 0 wait $run
grep -q '1 of 1 task done' err
master
# The master waits 15 s for a stranger. On a busy machine the rest may take as
# long: three times is too often.
for try in 1 2 3; do
    [ $try -eq 1 ] || master
    rm -f answer
    env "$mark" python3 "$TOP/tests/mpi/knock.py" crowd door >answer &
    crowd=$!
    within 60 test -s answer
    SECONDS=0
    still_runs
    took=$SECONDS
    kill $crowd
    expect 143 wait $crowd
    [ $took -ge 14 ] || break
done
test $took -lt 14
ok 'a crowd at the door keeps nobody out, and the run goes on'
done_testing
