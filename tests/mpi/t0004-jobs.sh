#!/bin/bash
# A run without a launcher forks its workers, on this machine.
. "$TOP/tests/mpi/lib.sh"

# alone ARGUMENT...: without a launcher, into out and err.
alone() {
    env "$mark" timeout -k 5 60 "$BATS_MPI" "$@" >out 2>err </dev/null
}
number() { # KEY FILE: its value
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$2" | head -n 1
}

for i in 1 2 3; do echo "echo \$BATS_MACHINE"; done >bag

# ---- README's first command, on this machine ----

first=$(sed -n 's/^\(bats-mpi -j [^>]*\) >.*/\1/p' "$TOP/README.md" | head -n 1)
cp bag bag.txt
# pasted [PREFIX...]: as whoever it is, with bats-mpi in the PATH.
pasted() {
    PATH=$(dirname "$BATS_MPI"):$PATH "$@" sh -c "$first" >out 2>err </dev/null
}
pasted
test "$(sort out | uniq | grep -c '^all-[1-8]$')" -eq 3
ok "the first command of README works as it is: $first"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir theirs
    cp bag.txt theirs
    cp "$BATS_MPI" theirs
    chown -R 65534 theirs
    chmod 755 .
    (cd theirs && BATS_MPI=$PWD/bats-mpi HOME=$PWD pasted setpriv \
        --reuid=65534 --regid=65534 --clear-groups)
    test "$(wc -l <theirs/out)" -eq 3
    ok 'also as a user who is not root'
    cat theirs/err >err
else
    skip 'also as a user who is not root' 'not root now'
fi

# ---- as many workers as are wanted ----

alone bag -j 3 --json json
test "$(number machines json)" -eq 3
test "$(wc -l <out)" -eq 3
expect 1 grep -q '1 worker' err
ok '-j N starts N workers'
test "$(cat err)" = "bats-mpi: all 3 tasks done in $(grep -o '[^ ]*$' err)"
ok 'nothing is said but a line at the end'
seq 300 | sed 's/.*/[ $((& % 7)) -gt 0 ] || sleep 0.05; echo &; echo & >\&2/' >many
for tag in '' --tag; do
    alone many -j 8 -k $tag --no-record
    seq 300 | if [ "$tag" ]; then awk '{ print $1 "\t" $1 }'; else cat; fi | cmp - out
    seq 300 | if [ "$tag" ]; then awk '{ print $1 "\t" $1 }'; else cat; fi |
        cmp - <(grep -v bats-mpi: err)
done
ok '-k shows output in the order of the bag'
alone many -j 1 --no-record
seq 300 | cmp - out
alone many -j 1 --shuf --no-record
expect 1 cmp -s <(seq 300) out
seq 300 | cmp - <(sort -n out)
alone many -j 1 --budget 1 --no-record
expect 1 cmp -s <(seq 300) out
grep -q ', random order, seed ' err
alone many -j 1 --budget 1 --order file --no-record
seq 300 | cmp - out
ini '[cluster a]; charge = 2' >clusters.ini
alone many -j 1 --clusters clusters.ini --no-record
seq 300 | cmp - out
expect 1 grep -q 'random order' err
alone many -j 1 --clusters clusters.ini --deadline 1h --no-record
expect 1 cmp -s <(seq 300) out
grep -q ', random order, seed ' err
ok 'tasks begin in the order of the bag, unless a budget needs a sample'
# What is told counts before what is remembered; what is neither, as their mean.
printf '%s\n' 'sleep 0.2; echo 1' 'sleep 2.6; echo 2' 'echo 3' \
    'sleep 1.2; echo 4' 'echo 5' >some
alone some -j 1 --order longest
test "$(tr -d '\n' <out)" = 12345
grep -q 'longest first: 0 of 5 runtimes are known' err
printf '%s\n' 'echo new' '#BATS time 1.8s' 'echo 5' >>some
alone some -j 1 --order longest
test "$(head -n 5 out | tr '\n' ' ')" = '2 5 4 new 1 '
grep -q 'longest first: 6 of 7 runtimes are known' err
"$BATS_MPI" record verify some >out
ok '--order longest goes by what tasks took before, or are said to take'
expect 2 alone some -j 1 --order longest --shuf
rm some.bats*
printf '%s\n' 'echo 1' 'exit 3' 'sleep 0.3; echo 3' 'echo 4' >some
expect 1 alone some -j 2 -k
sed -i 's/exit 3/echo 2/' some
alone some -j 2 -k --resume
test "$(cat out)" = 2
ok '-k does not wait for tasks that are done already'
# piped INPUT ARGUMENT...: with this on standard input.
piped() {
    printf "$1" | env "$mark" timeout -k 5 60 "$BATS_MPI" "${@:2}" >out 2>err
}
lines() {
    test "$(tr '\n' ';' <out)" = "$1"
}
piped '1\n2\n' -j2 -k echo x {}
lines 'x 1;x 2;'
piped '1\n2\n' -j2 -k echo
lines '1;2;'
piped '1\n2\n3\n' -j2 -k -n 2 echo
lines '1 2;3;'
piped 'a b\0c\0' -j2 -k -0 echo
lines 'a b;c;'
piped 'echo a\necho b\n' -j2 -k
lines 'a;b;'
doit() { echo "did $1"; }
export -f doit
piped '1\n2\n' -j2 -k doit
lines 'did 1;did 2;'
unset -f doit
exits 2 'mistyped: No such file' piped '1\n' -j2 mistyped
expect 2 alone -n 2 bag
exits 2 'a dry run is --dry-run' alone -n bag
ok 'lines of standard input are values of a command, or commands'
piped '' -j2 --joblog log --retries 2 'echo {} >>tries; test -e {}' ::: here \
    gone || test $? -eq 1
test "$(sort tries | xargs)" = 'gone gone here here'
touch here gone
piped '' -j2 --resume-failed --joblog log 'echo {} >>tries; test -e {}' ::: \
    here gone
test "$(cut -f 7 log | xargs)" = 'Exitval 0 0'
test "$(wc -l <tries)" -eq 6
expect 2 piped '' -j2 --resume --joblog log --no-record echo ::: 1
ok '--retries counts all executions; --resume-failed needs --joblog only'
alone -j2 -k --no-record --wd / --nice 7 ::: pwd nice
lines '/;7;'
exits 2 '--wd /nowhere: No such file' alone -j2 --wd /nowhere bag
begun=$(date +%s%N)
alone -j4 -k --delay 0.2s ::: 'date +%s%N' 'date +%s%N' 'date +%s%N'
test $(($(sed -n 3p out) - begun)) -ge 400000000
env "$mark" timeout 20 "$BATS_MPI" -j2 --memfree 99999G bag >out 2>&1 &
sleep 1
expect 1 test -s out
kill -INT $!
expect '130|143' wait $!
alone -j2 --memfree 1M bag
test "$(wc -l <out)" -eq 3
ok 'tasks run elsewhere, nicely, one after the other, where there is memory'
alone bag
grep -q '^bats-mpi: 1 worker, on this machine; -j N starts N ' err
test "$(sort -u out)" = all-1
ok 'without it there is one, which is said'
expect 2 alone no-bag
expect 1 grep '1 worker' err
ok 'but not where there is nothing to run'
seq 5 | sed 's/^/echo /' | env "$mark" "$BATS_MPI" -qj2 - 2>err | sort >out
test "$(xargs <out)" = '1 2 3 4 5'
test ! -s err
ok 'the bag comes from a pipe, the output goes into one, nothing else is said'
echo '"$BATS_MPI" --quiet --no-record -j 2 bag' >outer
alone outer -j 2
test "$(grep -c '^all-[12]$' out)" -eq 3
ok 'a task may be such a run, too'
alone clusters -j 2
grep -q '^all  *2  *2 ' out
ok 'clusters shows what such a run would find'

for jobs in 250%=$((nproc = $(nproc), 250 * nproc / 100)) +1=$((nproc + 1)) \
    -999=1; do
    alone bag -j "${jobs%=*}" --json json
    test "$(number machines json)" -eq "${jobs#*=}"
done
ok '-j knows +N, -N and N%'
for jobs in x 1x 5%% ' 1' 99999999999999999999; do
    expect 2 alone bag -j "$jobs"
    tr -s '\n ' ' ' <err |
        grep -q -- "--jobs takes a number of workers.*, not '$jobs'"
done
(ulimit -n 40 && expect 2 alone bag -j 300)
grep -q '300 workers need 664 open files, and the limit is 40' err
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    (ulimit -u 1 && expect 2 setpriv --reuid=65533 --clear-groups \
        theirs/bats-mpi -j 4 --no-record ::: true 2>err)
    grep -q 'worker [1-4] of 4 cannot be started: .*ulimit -u' err
    test "$(wc -l <err)" -eq 1
fi
expect 2 alone bag -j 1000000
grep -q '1000000 workers need 2000064 open files, and the limit' err
within 60 nobody_left
ok 'a number that is none, or too large for the limits, is refused'

# ---- standard streams ----

seq 300 | sed 's/.*/echo &/' >many
# unwritten REASON: the rest is run later.
unwritten() {
    grep -q "standard output cannot be written: $1" err
    "$BATS_MPI" -q -j 2 many --resume >rest
    test "$("$BATS_MPI" status --left many)" -eq 0
}
expect 3 timeout 60 "$BATS_MPI" -j 2 many >&- 2>err
unwritten 'Bad file'
seq 300 | cmp - <(sort -n rest)
expect 3 timeout 60 "$BATS_MPI" -j 2 many >/dev/full 2>err
unwritten 'No space'
seq 300 | cmp - <(sort -n rest)
timeout 60 "$BATS_MPI" -j 2 many 2>err | head -n 1 >out
test "${PIPESTATUS[0]}" -eq 3
unwritten 'Broken pipe'
printf 'seq 1000000; true\n%.0s' 1 2 3 >large
timeout 60 "$BATS_MPI" -j 2 large --no-record 2>err | head -n 1 >out
test "${PIPESTATUS[0]}" -eq 3
grep -q 'standard output cannot be written: Broken pipe' err
exits 2 'standard input: ' timeout 60 "$BATS_MPI" -j 2 - <&- 2>err
expect 2 timeout 60 "$BATS_MPI" -j 2 echo <&- 2>err
grep -q "there is no file 'echo', and a command needs values" err
expect 2 timeout 60 "$BATS_MPI" -n 2>err
grep -q -- '-n needs N, the number of values for each task' err
expect 1 timeout 60 "$BATS_MPI" -j 2 --joblog log false ::: 1 2>err
grep -qx 'more  *bats-mpi tasks --failed log, bats-mpi why log TASK' err
"$BATS_MPI" tasks --failed log | grep -q 'false 1'
timeout 60 "$BATS_MPI" -q -j 2 many 2>&- | wc -l >out
lines '300;'
ok 'no output is lost where it cannot be written'

# ---- a worker is lost ----

printf 'echo began >>began; sleep 1; echo %s\n' 1 2 3 4 5 6 >slow
rm -f began
env "$mark" timeout -k 5 60 "$BATS_MPI" -j 3 slow >out 2>err </dev/null &
within 60 test -s began
kill -KILL "$(rank_pid 2)"
wait $!
test "$(sort out | xargs)" = '1 2 3 4 5 6'
grep -q 'rank 2 on .* is lost: its process has ended' err
within 60 nobody_left
ok 'a worker that dies is noticed, and its task runs elsewhere'

# ---- under a launcher ----

exits 2 '--jobs is for a run without a launcher' by_mpi 3 -j 2 bag
test "$(grep -c '^bats-mpi: ' err)" -eq 1
ok 'under a launcher, which has decided, -j is refused, once'

# ---- the end ----

printf 'true\nfalse\n' >failing
expect 1 alone -q -j 2 failing
test ! -s err
ok 'the exit code is that of the run'
expect 2 alone -q -j 2 missing
test "$(cat err)" = \
    'bats-mpi: missing: No such file or directory'
ok 'also where it cannot start'

# signalled SIGNAL WHOM: sends it, to the process or to its whole group, as a
# terminal does, when two tasks run. They take more than a second to save their
# work, mpirun's patience.
printf '%s\n' 'trap "sleep 1.5; echo >>saved; exit 85" TERM
echo >>began; while :; do sleep 0.1; done' | paste -sd ';' >saving
cat saving >two
cat saving >>two
echo true >>two
signalled() {
    rm -f began saved
    # A background job of a shell ignores SIGINT.
    env "$mark" perl -e '$SIG{INT} = "DEFAULT"; exec "setsid", @ARGV' \
        "$BATS_MPI" -j 2 --grace 10s --no-record two >out 2>err </dev/null &
    within 60 both
    kill -"$1" "$2$!"
    wait $!
}
both() {
    [ "$(cat began saved 2>/dev/null | wc -l)" -ge 2 ]
}
both_saved() {
    [ "$(cat saved | wc -l)" -eq 2 ]
}
expect 130 signalled INT -
both_saved
grep -q 'stopped by SIGINT' err
within 60 nobody_left
ok 'Ctrl-C ends the run in good order'
expect 143 signalled TERM -
both_saved
within 60 nobody_left
ok 'so does TERM, even if all processes hear it'
expect 143 signalled HUP ''
both_saved
within 60 nobody_left
ok 'and the end of the terminal'
printf 'echo >>began; sleep 2\n' >drain
for i in 2 3 4 5 6; do cat drain; done >two
cat drain drain >>two
expect 5 signalled USR1 ''
test "$(wc -l <began)" -lt 8
ok 'SIGUSR1 is the order to start no more tasks'
printf 'echo >>began; sleep 1001\n' >two
cat two two >four
mv four two
expect 137 signalled KILL ''
within 60 nobody_left
ok 'nothing is left of a run whose rank 0 is killed'

mkfifo late
env "$mark" "$BATS_MPI" -j 2 --no-record late >out 2>err </dev/null &
rank_0_reads() {
    test -n "$(rank_pid 0)"
}
within 60 rank_0_reads
kill -TERM $!
expect 143 wait $!
within 60 nobody_left
ok 'a signal before rank 0 has read its bag ends the run, as 128 + signal'

done_testing
