#!/bin/bash
# A run without a launcher forks its workers, on this machine.
. "$TOP/tests/mpi/lib.sh"

yes 'echo $BATS_MACHINE' | head -n 3 >bag

if [ "$(id -u)" = 0 ]; then
    mkdir theirs
    cp bag "$BATS_MPI" theirs
    chown -R 65534 theirs
    chmod 755 .
    (cd theirs && HOME=$PWD BATS_MPI=setpriv && alone --reuid=65534 \
        --regid=65534 --clear-groups ./bats-mpi -j 8 bag)
    test "$(wc -l <theirs/out)" -eq 3
    ok 'it works for a user who is not root'
else
    skip 'it works for a user who is not root' 'not root now'
fi

# ---- as many workers as are wanted ----

alone bag -j 3 --json report
holds '.clusters[0].machines == 3'
test "$(wc -l <out)" -eq 3
test "$(cat err)" = "bats-mpi: all 3 tasks done in $(grep -o '[^ ]*$' err)"
ok '-j N starts N workers, and nothing is said but a line at the end'
seq 300 | sed 's/.*/[ $((& % 7)) -gt 0 ] || sleep 0.05; echo &; echo & >\&2/' >many
alone many -j 8 -k --no-record
seq 300 | tee wanted | cmp - out
grep -v bats-mpi: err | cmp wanted -
alone many -j 8 -k --tag --no-record
paste wanted wanted | tee tagged | cmp - out
grep -v bats-mpi: err | cmp tagged -
ok '-k shows output in the order of the bag'
ini '[cluster a]; charge = 2' >clusters.ini
# begins ORDER OPTION...: in which order tasks begin (file, random).
begins() {
    alone many -j 1 --no-record "${@:2}"
    sort -n out | cmp - wanted
    if [ $1 = file ]; then
        cmp out wanted
    else
        expect 1 cmp -s out wanted
    fi
}
begins file
begins random --shuf
begins random --budget 1
grep -q ', random order, seed ' err
begins file --budget 1 --order file
begins file --clusters clusters.ini
expect 1 grep -q 'random order' err
begins random --clusters clusters.ini --deadline 1h
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
expect 2 alone some -j 1 --order longest --shuf
ok '--order longest goes by what tasks took before, or are said to take'
rm some.bats*
printf '%s\n' 'echo 1' 'exit 3' 'sleep 0.3; echo 3' 'echo 4' >some
expect 1 alone some -j 2 -k
sed -i 's/exit 3/echo 2/' some
alone some -j 2 -k --resume
test "$(cat out)" = 2
ok '-k does not wait for tasks that are done already'
# piped INPUT LINES ARGUMENT...: with this on standard input it prints that.
piped() {
    printf "$1" | env "$mark" timeout -k 5 900 "$BATS_MPI" -j2 "${@:3}" >out 2>err
    test "$(tr '\n' ';' <out)" = "$2"
}
piped '1\n2\n' 'x 1;x 2;' -k echo x {}
piped '1\n2\n' '1;2;' -k echo
piped '1\n2\n3\n' '1 2;3;' -k -n 2 echo
piped 'a b\0c\0' 'a b;c;' -k -0 echo
piped 'echo a\necho b\n' 'a;b;' -k
doit() { echo "did $1"; }
export -f doit
piped '1\n2\n' 'did 1;did 2;' -k doit
unset -f doit
echo 1 | exits 2 'mistyped: No such file' \
    timeout 60 "$BATS_MPI" -j2 mistyped 2>err
expect 2 alone -n 2 bag
exits 2 'a dry run is --dry-run' alone -n bag
ok 'lines of standard input are values of a command, or commands'
rules='-j2 --joblog log'
expect 1 alone $rules --retries 2 'echo {} >>tries; test -e {}' ::: here gone
test "$(sort tries | xargs)" = 'gone gone here here'
touch here gone
alone $rules --resume-failed 'echo {} >>tries; test -e {}' ::: here gone
test "$(cut -f 7 log | xargs)" = 'Exitval 0 0'
test "$(wc -l <tries)" -eq 6
expect 2 alone $rules --resume --no-record echo ::: 1
ok '--retries counts all executions; --resume-failed needs --joblog only'
alone -j2 -k --no-record --wd / --nice 7 ::: pwd nice
consists out / 7
exits 2 '--wd /nowhere: No such file' alone -j2 --wd /nowhere bag
begun=$(date +%s%N)
alone -j4 -k --delay 0.2s ::: 'date +%s%N' 'date +%s%N' 'date +%s%N'
test $(($(sed -n 3p out) - begun)) -ge 400000000
rm bag.bats*
behind "$BATS_MPI" -j2 --memfree 99999G bag
within 60 told '2 running, 1 pending' "$BATS_MPI" status bag
kill -TERM $run
expect 143 wait $run
test ! -s out
alone -j2 --memfree 1M bag
test "$(wc -l <out)" -eq 3
ok 'tasks run elsewhere, nicely, one after the other, where there is memory'
exits 0 '^bats-mpi: 1 worker, on this machine; -j N starts N ' alone bag
test "$(sort -u out)" = all-1
expect 2 alone no-bag
expect 1 grep '1 worker' err
ok 'without -j there is one, which is said where there is something to run'
seq 5 | sed 's/^/echo /' | env "$mark" "$BATS_MPI" -qj2 - 2>err | sort >out
test "$(xargs <out)" = '1 2 3 4 5'
test ! -s err
ok 'the bag comes from a pipe, the output goes into one, nothing else is said'
echo '"$BATS_MPI" --quiet --no-record -j 2 bag' >outer
alone outer -j 2
test "$(grep -c '^all-[12]$' out)" -eq 3
alone clusters -j 2
grep -q '^all  *2  *2 ' out
ok 'a task may be such a run, too; clusters shows what such a run would find'

for jobs in 250%=$((nproc = $(nproc), 250 * nproc / 100)) +1=$((nproc + 1)) \
    -999=1; do
    alone bag -j "${jobs%=*}" --json report
    holds ".clusters[0].machines == ${jobs#*=}"
done
ok '-j knows +N, -N and N%'
for jobs in x 1x 5%% ' 1' 99999999999999999999; do
    expect 2 alone bag -j "$jobs"
    tr -s '\n ' ' ' <err |
        grep -q -- "--jobs takes a number of workers.*, not '$jobs'"
done
(ulimit -n 40 && expect 2 alone bag -j 300)
grep -q '300 workers need 664 open files, and the limit is 40' err
if [ "$(id -u)" = 0 ]; then
    (ulimit -u 1 && expect 2 setpriv --reuid=65533 --clear-groups \
        theirs/bats-mpi -j 4 --no-record ::: true 2>err)
    grep -q 'worker [1-4] of 4 cannot be started: .*ulimit -u' err
    test "$(wc -l <err)" -eq 1
fi
exits 2 '1000000 workers need 2000064 open files, and the limit' \
    alone bag -j 1000000
within 60 nobody_left
ok 'a number that is none, or too large for the limits, is refused'

# ---- standard streams ----

seq 300 | sed 's/.*/echo &/' >many
here() {
    timeout 60 "$BATS_MPI" -j 2 "$@" 2>err
}
# unwritten REASON: the rest is run later.
unwritten() {
    grep -q "standard output cannot be written: $1" err
    "$BATS_MPI" -q -j 2 many --resume >rest
    test "$("$BATS_MPI" status --left many)" -eq 0
}
expect 3 here many >&-
unwritten 'Bad file'
sort -n rest | cmp - wanted
expect 3 here many >/dev/full
unwritten 'No space'
sort -n rest | cmp - wanted
{ here many || exit $?; } | head -n 1 >out
test "${PIPESTATUS[0]}" -eq 3
unwritten 'Broken pipe'
printf 'seq 1000000; true\n%.0s' 1 2 3 >large
{ here large --no-record || exit $?; } | head -n 1 >out
test "${PIPESTATUS[0]}" -eq 3
grep -q 'standard output cannot be written: Broken pipe' err
exits 2 'standard input: ' here - <&-
exits 2 "there is no file 'echo', and a command needs values" here echo <&-
exits 2 '-n needs N, the number of values for each task' here -n
exits 1 '^more  *bats-mpi tasks --failed log, bats-mpi why log TASK$' \
    here --joblog log false ::: 1
"$BATS_MPI" tasks --failed log | grep -q 'false 1'
timeout 60 "$BATS_MPI" -q -j 2 many 2>&- | wc -l >out
consists out 300
ok 'no output is lost where it cannot be written'

exits 2 '--jobs is for a run without a launcher' by_mpi 3 -j 2 bag
test "$(grep -c '^bats-mpi: ' err)" -eq 1
ok 'under a launcher, which has decided, -j is refused, once'

# ---- the end ----

printf 'true\nfalse\n' >failing
expect 1 alone -q -j 2 failing
test ! -s err
expect 2 alone -q -j 2 missing
consists err 'bats-mpi: missing: No such file or directory'
ok 'the exit code is that of the run, also where it cannot start'

# signalled SIGNAL WHOM: sends it, to the process or to its whole group, as a
# terminal does, when two tasks run. They take more than a second to save their
# work, mpirun's patience.
printf '%s\n' 'trap "sleep 1.5; echo >>saved; exit 85" TERM
echo >>began; while :; do sleep 0.1; done' | paste -sd ';' >saving
cat saving saving >two
echo true >>two
signalled() {
    rm -f began saved
    # A background job of a shell ignores SIGINT.
    behind perl -e '$SIG{INT} = "DEFAULT"; exec "setsid", @ARGV' \
        "$BATS_MPI" -j 2 --grace 10s --no-record two
    within 60 has_lines 2 began
    kill -"$1" "$2$run"
    wait $run
}
# in_order SIGNAL WHOM CODE: both tasks save their work, and nothing is left.
in_order() {
    expect $3 signalled $1 "$2"
    [ "$(wc -l <began) $(wc -l <saved)" = '2 2' ]
    within 60 nobody_left
}
in_order INT - 130
grep -q 'stopped by SIGINT' err
in_order TERM - 143
in_order HUP '' 143
ok 'Ctrl-C, TERM, even if all processes hear it, and HUP end the run in order'

mkfifo late
behind "$BATS_MPI" -j 2 --no-record late
within 60 rank_pid 0 >pid
kill -TERM $run
expect 143 wait $run
within 60 nobody_left
ok 'a signal before rank 0 has read its bag ends the run, as 128 + signal'

done_testing
