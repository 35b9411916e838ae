#!/bin/bash
# A bag that is filled while it runs.
. "$TOP/tests/mpi/open.sh"

# ---- a driver ----

cat >driver <<'END'
a=$(bats-submit 'until [ -e told ]; do sleep 0.05; done; echo one')
b=$(bats-submit --after $a -- echo 'two  words')
bats-state $b >early
touch told
bats-submit --wait 'echo waited; echo beside >&2; exit 7' >waited 2>beside
echo $? >code
c=$(bats-submit false)
d=$(bats-submit --after $b $c -- touch never)
bats-submit --wait --after $a -- true
for i in $b $c $d; do
    while [ "$(bats-state $i)" = running ]; do sleep 0.05; done
    bats-state $i
done >states
END
open_bag -- sh driver
consists <(cat early waited beside code states) running waited beside 7 \
    success failed failed
[ ! -e never ]
consists out one 'two  words'
[ "$(states)" = '1 done,2 done,3 failed,4 failed,5 skipped,6 done,' ]
bats-mpi record verify open.bats >/dev/null
grep -q '1 task, which were withdrawn, or waited for one that failed' err
ok 'a driver sees output, exit status and states, and has the last word'
exits 5 'driver ended with exit status 5' open_bag --record none.bats -- sh -c 'exit 5'
expect 2 open_bag --record no.bats -- /nonexistent
# fails CODE NAME DRIVER: the exit status of a run with a driver that exits with 0.
fails() {
    echo "$3" >driver
    expect "$1" open_bag --record "$2".bats -- sh driver
}
fails 1 unseen 'bats-submit false'
fails 0 seen 'a=$(bats-submit false); bats-submit --after $a -- true
while [ "$(bats-state $a)" = running ]; do sleep 0.05; done'
fails 0 gone 'a=$(bats-submit false); bats-submit --after $a -- true
while bats-state | grep -qx "$a running"; do sleep 0.05; done'
fails 0 again 'bats-submit --key k false
bats-submit --wait --key k false || bats-submit --wait true'
# An earlier session has told of its failures.
fails 1 old 'bats-submit --key k false; bats-submit false; exit 3'
open_bag --resume --record old.bats -- true
expect 1 open_bag --resume --record old.bats -- bats-submit --key k false
expect 3 open_bag --resume --record old.bats -- \
    sh -c 'bats-submit --key k false; bats-state 1; exit 3'
ok 'its exit status counts, and a failure that it does not know of makes it 1'

cat >driver <<'END'
{ echo '{"submit":"until [ -e all ]; do sleep 0.05; done; exit 1"}'
  seq 150000 | sed 's/.*/{"submit":"true","after":[&]}/'
} | bats-submit --stdin | tail -n 1 >last
touch all
END
expect 1 open_bag --record long.bats -- sh driver
[ "$(cat last)" = 150001 ]
[ "$(sql long.bats "SELECT count(*) FROM tasks WHERE state = 'skipped'")" = 150000 ]
ok 'a failure is told along a chain, however long it is'

# ---- cancel, keys, lines ----

exits 2 "'one' is not the number of a task" bats-cancel 2 one 2>err
cat >driver <<'END'
for i in 1 2; do bats-submit "touch began.$i; exec sleep 100"; done >ids
bats-submit 'touch never' >>ids
until [ -e began.1 ] && [ -e began.2 ]; do sleep 0.05; done
bats-cancel 3 1 999
bats-cancel 2
for i in 1 2 3; do
    while [ "$(bats-state $i)" = running ]; do sleep 0.05; done
    bats-state $i
done >states
bats-submit --key k 'echo once' >keys
bats-submit --key k 'echo once' >>keys
printf '%s\n' 'echo a' '' '{"submit":"echo b"}' '{"submit":1}' |
    bats-submit --stdin --class lines >lines
echo $? >>lines
bats-submit --stdin word </dev/null >/dev/null 2>&1 || echo $? >>lines
mkdir 'a dir' && cd 'a dir' && X="1 '2" bats-submit --wait --env \
    'pwd; echo "$X"' >../where
END
open_bag --record c.bats -- sh driver
consists <(cat states keys) failed failed failed 4 4
[ ! -e never ]
[ "$(states c.bats)" = '1 failed,2 failed,3 skipped,4 done,5 done,6 done,7 done,' ]
consists <(sed '3d' lines) 5 6 2 2
[ "$(sql c.bats "SELECT json_extract(given, '$.class') FROM submission WHERE task = 5")" = lines ]
grep -q 'without NUL' lines
consists where "$PWD/a dir" "1 '2"
ok 'what is cancelled stops; a key is one task, lines are many, with their directory'

printf '%s\n' '#!/usr/bin/env bash' '# properties of another kind' \
    '[[ -z "$1" ]] || echo "$0 has $1"' >script.sh
cat >driver <<'END'
bats-submit --stdin <<'J' >/dev/null
{"submit":"touch first; exec sleep 100","key":"k","repeats":true}
J
until [ -e first ]; do sleep 0.05; done
bats-submit --stdin <<'J'
{"submit":"touch second","key":"k","repeats":true}
{"submit":"false"}
J
bats-submit --after-any 3 --after 2 -- touch both
bats-submit --after-any 3 --after 1 -- touch neither
bats-submit --script script.sh 'a word'
rm script.sh
END
expect 1 open_bag --record r.bats -- sh driver
[ "$(states r.bats)" = '1 failed,2 done,3 failed,4 done,5 skipped,6 done,' ]
[ -e both ]
[ ! -e neither ]
grep -qx 'script.sh has a word' out
ok 'a key that repeats stops the task that had it; a script is copied'

# ---- needs ----

cat >driver <<'END'
busy() { echo "touch on.$1; until [ -e go ]; do sleep 0.05; done; rm on.$1"; }
bats-submit --class wide --cores 2 -- sh -c "$(busy 1); echo \$OMP_NUM_THREADS"
until [ -e on.1 ]; do sleep 0.05; done
bats-submit --cores 1 -- sh -c '[ ! -e on.1 ]; echo $?'
touch go
bats-submit --wait --limit 300ms sleep 100 >&2
echo $? >code
for wrong in '--cores 3' '--gpus 1' '--memory 8E' '--limit soon' '--cores two'; do
    ! bats-submit $wrong true
done
END
open_bag --record needs.bats -- sh driver
[ "$(sort out | tr '\n' ' ')" = '0 1 2 2 ' ]
[ "$(cat code)" = 124 ]
finds err 'the task needs 3 cores; the largest machine, all-1, has 2 ranks' \
    'the task needs 1 GPU'
[ "$(grep -c '^bats-submit: ' err)" = 5 ]
ok 'a task has the cores and time that it asks for; what it cannot have is refused'
bats-mpi why needs.bats 1 | grep -qx 'it needs 2 cores of a machine'
bats-mpi why needs.bats 2 | grep -qx 'it needs 1 core of a machine'
[ "$(bats-mpi tasks needs.bats --csv | cut -d, -f 1,13-15 | xargs)" = \
    'task,asked_cores,asked_gpus,asked_kib 1,2,0,0 2,1,0,0 3,1,0,0' ]
ok 'why and tasks know the needs of tasks that were added'
sed 's/ /,"disk_mb":/; s/.*/{"submit":"true","limit":"15m","properties":{"rule":"r","resources":{"mem_mb":&}}}/' \
    >requests <<'END'
1000 1000
9000 9000
8000 9000
8000 50000
8000 4000
END
SLURM_MEM_PER_NODE=16000 open_bag --record mb.bats --history mb.db -- \
    sh -c 'bats-submit --stdin <requests'
[ "$(sqlite3 mb.bats "SELECT group_concat(ifnull(json_extract(given, '$.memory'),
    'none'), ' ') FROM submission")" = 'none none none 8000M 8000M' ]
ok 'the memory that Snakemake 7, 8 and 9 give by default is no request'
[ "$(sql mb.db 'SELECT asked_kib, sum(tasks), name, limit_s FROM memory
    JOIN kind ON kind.id = kind GROUP BY 1' | xargs)" = \
    '0|3|r|900.0 8192000|2|r|900.0' ]
bats-mpi history import mb.bats --history import.db
bats-mpi history --history import.db --json | grep -q '"kind": *"r"'
ok 'the history has tasks by their class, and what each asked for'
rm -f go on.*
cat >driver <<'END'
bats-submit --cores 2 --class wide -- 'sleep 100'
bats-submit --after 1 -- touch never
bats-submit --after-any 1 -- touch both
kill -KILL $PPID
END
expect 137 open_bag --record back.bats -- sh driver
exits 2 'the task needs 2 cores' env "$mark" bats-mpi run --open -j 1 --resume \
    --record back.bats -- true 2>err
open_bag --resume --record back.bats -- bats-cancel 1 || :
[[ $(states back.bats) =~ ^1\ (failed|skipped),2\ skipped,3\ done,$ ]]
open_bag --record usual.bats --cores 2 -- bats-submit 'echo $OMP_NUM_THREADS'
grep -qx 2 out # beside the number of the task, 1
ok 'needs are kept for a session that goes on; --cores of the run is the default'

# ---- make and xargs ----

mkdir make.d
cd make.d
cat >Makefile <<'END'
NAMES := $(shell echo a b c)
export X = 1 'two'
all: $(NAMES) ; @echo all "$$X" >all
%: ; @echo $@ $$BATS_TASK_ID >$@
bad: ; @exit 7
END
shell=SHELL=$(command -v bats-shell)
open_bag -- make -j 10 "$shell" all
[ "$(cat a b c all | cut -d' ' -f1 | tr '\n' ' ')" = 'a b c all ' ]
[ "$(cat all)" = "all 1 'two'" ]
[ "$(states)" = '1 done,2 done,3 done,4 done,' ]
exits 2 'Error 7' open_bag --record bad.bats -- make "$shell" bad
seq 20 >numbers
open_bag --record x.bats -- xargs -P 10 -a numbers -I{} \
    bats-submit --wait echo x{}
[ "$(sort -u out | wc -l)" = 20 ]
ok 'the recipes of make are tasks, with its variables and their status; also xargs'
cd ..

# ---- wrong requests ----

printf '%s\n' '#!/bin/sh' '# properties = {"rule":' true >damaged
exits 2 'the properties in the script damaged are not JSON' \
    bats-submit --script damaged 2>err
ok 'a damaged script is refused'
cat >driver <<'END'
bats-submit ' ' ; bats-submit --after 7 -- true; bats-submit '@unknown'
bats-submit --after x -- touch x; bats-submit --after-any 3 x -- touch x
bats-state 9; bats-submit --wat
python3 - <<'P'
import os, socket
def ask(bytes):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['BATS_SOCKET'])
    try:
        s.sendall(bytes)
    except BrokenPipeError:
        pass
    return s.recv(200).decode()
print(ask(b'nonsense\n'), ask(b'[]\n'), ask(b'{}\n'), end='')
print(ask(b'x' * (9 << 20)), end='')
ask(b'{"close":false}\n')
P
stat -c %a "$BATS_SOCKET"
END
open_bag --record w.bats -- sh driver
[ "$(grep -cE 'empty|no task 7|unknown|no such task' err)" -ge 4 ]
[ "$(grep -c "'x' is not the number of a task" err)" = 2 ]
[ "$(grep -c '"error"' out)" -ge 4 ]
grep -q 'too long' out
[ "$(tail -n 1 out)" = 600 ]
ok 'what is no request is refused, and the run goes on'
for wrong in --no-record --keep-order '--order file' '--policy bkp' '--idle 1s'; do
    expect 2 open_bag $wrong -- true
done
expect 2 bats-mpi run --idle 1s open
ok 'options that make no sense are refused'

# ---- without a driver ----

mkdir no
cd no
open_bag --idle 300ms
rm -f open.bats
open_bag & run=$!
listens
bats-mpi submit 'echo submitted' >ids
bats-mpi close open
wait $run
grep -qx submitted out
ok 'it ends after it was idle, or when it is closed'
cd ..

# ---- money ----

ini '[run]; window = 1h' '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 5' >two.ini
echo 'bats-submit true; until grep -q "running" err; do sleep 0.1; done' >driver
# starts WORDS TASKS OPTION...: what it starts with, and how it counts.
starts() {
    rm -f e.bats
    open_bag --record e.bats --clusters two.ini --budget 50 "${@:3}" -- sh driver
    finds err " start: $1\$" "s  $2  0 running"
}
starts 'slow 1, fast 1' '1/1 so far'
starts 'slow 1' '100%  1/1' --expect 1
starts 'slow 1, fast 1' '2%  1/40' --expect 40
ok 'what is expected counts from the start; otherwise all is "so far"'

# ---- killed and resumed ----

cat >client <<'END'
for i in $(seq 150); do
    until bats-submit --key $i "echo $i >>ran.$i" >>acknowledged 2>/dev/null
    do sleep 0.05; done
done
END
mkdir kill
cd kill
export BATS_SOCKET=$PWD/open.bats.sock
sh ../client & client=$!
for life in 1 2 3 4 5; do
    env "$mark" bats-mpi run --open -j 2 --resume >>out 2>>err </dev/null &
    run=$!
    sleep 0.$((RANDOM % 5 + 2))
    kill -KILL $run
    wait $run || true
done
open_bag --resume & run=$!
wait $client
until bats-mpi close open.bats 2>/dev/null; do sleep 0.05; done
wait $run
[ "$(sort -un acknowledged | wc -l)" = 150 ]
[ "$(states | tr ',' '\n' | grep -c done)" = 150 ]
[ "$(sql open.bats 'SELECT count(*) FROM task')" = 150 ]
[ "$(ls ran.* | wc -l)" = 150 ]
bats-mpi record verify open.bats >/dev/null
ok 'however often it is killed, no task is lost and none is doubled'
cd ..

cat >driver <<'END'
bats-submit 'until [ -e go ]; do sleep 0.1; done; echo a' >ids
bats-submit --after 1 --key b -- echo b >>ids
bats-submit --after 2 -- echo c >>ids
bats-submit true | xargs bats-cancel
touch submitted
until [ -e go ]; do sleep 0.1; done
END
mkdir driver.d
cd driver.d
behind bats-mpi run --open -j 1 -- sh ../driver
within 60 test -e submitted
kill -KILL $run
wait $run || true
exits 2 'driver of an earlier session still runs' open_bag --resume -- true
touch go
flock open.bats.sock.driver true
expect '0|1' open_bag --resume -- bats-submit --key b 'echo b'
grep -qx c out
grep -qx 2 out
[ "$(states | cut -d, -f1-3)" = '1 done,2 done,3 done' ]
ok 'no second driver runs beside the first, and then all goes on'
done_testing
