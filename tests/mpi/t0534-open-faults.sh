#!/bin/bash
# What goes wrong around an open bag: its clients, its driver, its record.
. "$TOP/tests/mpi/open.sh"

exits 2 'BATS_SOCKET is not set' bats-submit true 2>err
BATS_SOCKET=$PWD/none expect 3 bats-submit true 2>err
touch file
BATS_SOCKET=$PWD/file exits 3 'no run listens at' bats-submit true 2>err
BATS_SOCKET=$(printf %0200d 0) exits 2 'too long' bats-submit true 2>err
python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind("other"); s.listen()
open("listens", "w")
for answer in b"", b"{}\n":
    c = s.accept()[0]; c.recv(10); c.sendall(answer); c.close()' & other=$!
within 60 test -e listens
BATS_SOCKET=$PWD/other exits 3 'ended before it answered' bats-submit true 2>err
BATS_SOCKET=$PWD/other exits 3 'answered without a state' bats-state 1 2>err
wait $other
ok 'a socket of another kind is told in a sentence'

python3 - <<'P'
import os, signal, socket, subprocess
s = socket.socket(socket.AF_UNIX)
s.bind('mute')
s.listen()
client = subprocess.Popen(['bats-submit', '--wait', 'true'],
                          env={**os.environ, 'BATS_SOCKET': 'mute'})
run = s.accept()[0]
requests = run.makefile('rb')
requests.readline()
run.sendall(b'{"id":7}\n')
client.send_signal(signal.SIGTERM)
assert requests.readline() == b'{"cancel":[7]}\n'
for _ in range(600):
    client.send_signal(signal.SIGTERM)
    try:
        client.wait(0.1)
        break
    except subprocess.TimeoutExpired:
        pass
client.kill()
assert client.wait() == 128 + signal.SIGTERM, client.returncode
P
ok 'a client of a run that hangs ends at the second signal'

open_bag & run=$!
listens
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$dir"
    chmod 666 open.bats.sock
    cat >stranger.py <<'P'
import os, socket, sys
os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b'{"submit":"touch intruder"}\n')
    sys.exit(s.recv(100) != b'')
except ConnectionError:
    sys.exit(0)
P
    python3 stranger.py "$BATS_SOCKET"
    bats-submit --wait true
    [ ! -e intruder ]
    ok 'another user is not heard'
else
    skip 'another user is not heard' 'only root can become one'
fi

(exec bats-submit --wait 'touch begun; until [ -e go ]; do sleep 0.05; done;
    touch ended' >/dev/null) & client=$!
within 60 test -e begun
kill -KILL $client
wait $client 2>/dev/null || :
python3 - <<'P' # half a request, and then it has gone
import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ['BATS_SOCKET'])
s.sendall(b'{"submit":"touch half"')
P
touch go
bats-submit --wait true
within 60 test -e ended
[ ! -e half ]
ok 'the task of a client that is killed runs to its end; half a request is none'

head -c 1000000 /dev/zero | tr '\0' x >long
{ cat long; echo; echo 'echo after'; } | bats-submit --stdin >ids || :
grep -q 'has 1000000 bytes' ids
tail -n 1 ids | grep -qE '^[0-9]+$'
{ printf 'true '; head -c 120000 long; } >fits
bats-submit --stdin <fits >ids
grep -qE '^[0-9]+$' ids
ok 'a command of a megabyte is refused, and the next one is not'
bats-mpi close open
wait $run
unset BATS_SOCKET

cat >driver <<'D'
bats-submit 'touch begun2; until [ -e go2 ]; do sleep 0.05; done'
bats-submit 'touch second'
bats-submit --after 2 -- 'touch third'
until [ -e begun2 ]; do sleep 0.05; done
echo $$ >pid
exec sleep 100
D
{ open_bag -j 1 --record killed.bats -- sh driver || exit $?; } & run=$!
within 60 test -s pid
kill -KILL $(cat pid)
touch go2
expect 137 wait $run
[ "$(states killed.bats)" = '1 done,2 done,3 done,' ]
grep -q 'the driver ended' err
ok 'what a driver has submitted before it was killed is run'

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    cat >full <<'F'
mkdir small
mount -t tmpfs -o size=4m none small
cd small
cat >driver <<'D'
bats-submit --wait 'echo first'
head -c 8000000 /dev/zero >filler 2>/dev/null
for i in $(seq 20); do # each waits for an answer, until one is refused
    bats-submit --key $i "touch ../ran.$i" >>../acknowledged 2>>../refusal &
done
# One that comes while the first write fails waits with what was to be written.
until [ -s ../refusal ]; do bats-submit true 2>>../refusal & sleep 0.1; done
rm filler
wait
for i in $(seq 20); do # those that were acknowledged are known by their key
    until bats-submit --key $i "touch ../ran.$i" >>../again 2>/dev/null
    do sleep 0.1; done
done
D
exec bats-mpi run --open -j 2 -- sh driver
F
    env "$mark" timeout -k 5 900 unshare -m bash full >out 2>err </dev/null
    grep -q 'the record cannot be written' refusal
    [ "$(ls ran.* | wc -l)" = 20 ]
    [ "$(sort -u again | wc -l)" = 20 ]
    [ "$(sort -u again acknowledged | wc -l)" = 20 ]
    ok 'while the record cannot be written tasks are refused, and none is lost'
else
    skip 'a full disk' 'only root can mount one'
fi
done_testing
