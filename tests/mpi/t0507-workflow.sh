#!/bin/bash
# Tasks that wait for others: their order, what is left out when one fails, and
# what a session after that does.
. "$TOP/tests/mpi/lib.sh"

# before A B: attempt A of the record ended before task B began.
before() {
    test "$(sql "SELECT (SELECT max(seq) FROM execution e JOIN task t
        ON t.id = e.task WHERE outcome = 0 AND t.number = $1) <
        (SELECT min(given) FROM execution e JOIN task t ON t.id = e.task
        WHERE t.number = $2)")" = 1
}

# ---- a diamond, a group, and a branch that fails ----

cat >bag <<'BAG'
#BATS task join after left right
cat left right >joined
#BATS task left after top
cp top left
#BATS task right after top
cp top right
#BATS task top
echo x >top
#BATS task many after join
#DISBATCH REPEAT 5 start 1 echo $DISBATCH_REPEAT_INDEX >>many
#BATS task sum after many
wc -l <many >sum
#BATS task bad
test -e repaired
#BATS task worse after bad
touch worse
#BATS task worst after worse sum
touch worst
BAG
expect 1 bats 4 bag
test "$(cat joined sum)" = "$(printf 'x\nx\n5')"
ok 'every task finds what those before it have made'
before 4 2
before 4 3
before 2 1
before 3 1
before 9 10
before 1 5
before 1 9
ok 'the record has them in their order'
grep -q '10 of 13 tasks done, 1 failed, 2 skipped' err
ok 'the bill counts what was left out'
grep -q '^skipped *2 tasks, which waited for one that failed: 12-13$' err
ok 'and names it'
test ! -e worse
test ! -e worst
test "$("$BATS_MPI" tasks bag.bats --state skipped | grep -c skipped)" = 2
ok 'what waited for a failed task was not run, and the record says so'
"$BATS_MPI" why bag.bats 12 | grep -q 'skipped: a task that it waited for was not done'
ok 'why says it, too'
"$BATS_MPI" record verify bag.bats >out
grep -q ': all agree$' out
ok 'the record is verified with its graph'

# ---- again ----

expect 1 bats 4 bag --resume
"$BATS_MPI" status bag.bats | grep -q '10 done, 1 failed, .* 2 skipped'
ok '--resume keeps the failure, and leaves out the same'
touch repaired
expect 0 bats 4 bag --retry-failed
test -e worse && test -e worst && test "$(wc -l <many)" = 5
ok '--retry-failed runs what failed and what waited for it, and no more'
"$BATS_MPI" record verify bag.bats >out &&
    grep -q '^3 sessions, .*: all agree$' out
ok 'all three sessions are verified'

# ---- mistakes ----

# wrong LINE SENTENCE: the bag on standard input is refused with this.
wrong() {
    cat >bag
    expect 2 bats 2 bag --no-record && grep -q "bag:$1: $2" err && test ! -s out
}
wrong 2 'these tasks wait for each other: a after b after c after a' <<'BAG'
true
#BATS task a after b d
true
#BATS task b after c
true
#BATS task c after a
true
#BATS task d
true
BAG
ok 'a circle is refused, with its tasks'
wrong 1 "'a' waits for 'nobody', but no task has this name" <<'BAG'
#BATS task a after nobody
true
BAG
ok 'so is an unknown name'
wrong 3 "the task 'a' is already on line 1" <<'BAG'
#BATS task a
true
#BATS task a
true
BAG
ok 'and one that is there twice'
wrong 2 "no command follows for the task 'b'" <<'BAG'
true
#BATS task b
BAG
ok 'and one without a command'

# ---- a Makeflow: made once, checked, made again where sources are newer ----

mkdir flow
cat >flow/Makeflow <<'FLOW'
CATEGORY=count
a.n: a.txt
	wc -l <a.txt >a.n
b.n: b.txt
	wc -l <b.txt >b.n
CATEGORY=
SUM=sum.n
$SUM: a.n b.n
	cat a.n b.n | paste -sd+ >$SUM
late: $SUM
	test ! -e broken && cp $SUM late || touch late.other
last: late
	cp late last
FLOW
# flow CODE ARGUMENT...: runs it there, without a record.
flow() {
    local code=$1
    shift
    (cd flow && expect "$code" bats 2 Makeflow "$@"; cp out err ..)
}
seq 3 >flow/a.txt
flow 2 --no-record
grep -q "Makeflow:4: the rule on line 4 reads 'b.txt', which does not exist" err
ok 'a source that is not there is refused'
seq 4 >flow/b.txt
touch flow/broken
flow 1 --no-record
finds err '3 of 5 tasks done, 1 failed, 1 skipped' '^late was not made'
test ! -e flow/last
flow 1 --no-record --results results
grep -qx 'late was not made' flow/results/4/stderr
flow 1 --record stream.bats --output stream
(cd flow && "$BATS_MPI" output stream.bats -t 4 --stderr >../out 2>../err)
grep -qx 'late was not made' out
"$BATS_MPI" why flow/stream.bats 4 | grep -q 'late was not made'
ok 'a rule that does not make what it should fails'
flow 2 --no-record --wd /
grep -q -- '--wd: the files of a workflow are found where it is started' err
ok 'a workflow is run where its files are'
rm flow/broken
flow 0 --dry-run
sed -n 's/^ *\([0-9]\)  .*/\1/p' out | tr '\n' ' ' >some
test "$(cat some)" = '4 '
flow 2 --dry-run --policy expert
cp err some
flow 2 --no-record --policy expert
cmp err some
ok '--dry-run shows what is left to do, and refuses what a run does'
flow 0 --no-record
test "$(cat flow/last)" = 3+4
ok 'what is missing is made'
touch -d '+1 minute' flow/b.txt
touch -d '+2 minutes' flow/a.n
flow 0 --joblog log
test "$(tail -n +2 flow/log | wc -l)" = 4
ok 'what is newer than its sources is not made again, and what depends on it is'
test "$("$BATS_MPI" tasks flow/Makeflow.bats --state done | grep -c done)" = 5
"$BATS_MPI" record verify flow/Makeflow.bats >out
grep -q ': all agree$' out
ok 'the record knows both, and is verified'
rule='cat a.n b.n | paste -sd+ >sum.n'
test "$("$BATS_MPI" tasks flow/Makeflow.bats --json |
    sed -n 's/.*"command":"\(cat [^"]*\)".*/\1/p')" = "$rule"
grep -q "[[:blank:]]$rule\$" flow/log
"$BATS_MPI" why flow/Makeflow.bats 3 >out
grep -q "^task 3, line 8: $rule\$" out
"$BATS_MPI" report flow/Makeflow.bats -o page
grep -q 'paste -sd+' page
expect 1 grep -q 'exit \$s' page
ok 'lists, why, joblog and page show a rule as it was written'

sed -i 's/cp late last/& \&\& echo edited >>last/' flow/Makeflow
flow 0 --resume
grep -q 'Makeflow:12: task 5 has another command than before: it is run' err
test "$(tail -n 1 flow/last)" = edited
ok 'a rule whose command was edited is run again when its run is resumed'

# ---- a rule that was interrupted ----

mkdir half
printf 'x:\n\techo half >x; touch begun; [ -e calm ] || sleep 60; %s\n%s\n' \
    'echo rest >>x' 'y: x
	cp x y' >half/Makeflow
cd half
# interrupted: a run of it is killed in the middle of its first rule.
interrupted() {
    rm -f x y begun calm
    env "$mark" ${MPIRUN:-mpirun} -n 2 "$BATS_MPI" Makeflow "$@" \
        >out 2>err </dev/null &
    within 60 test -e begun
    kill_alive
    wait
    test "$(cat x)" = half
    touch calm
}
interrupted
expect 0 bats 2 Makeflow --resume
grep -q '1 task interrupted: what it had made was removed' err
test "$(cat y)" = "$(printf 'half\nrest')"
ok 'a rule that was interrupted is run again when its run is resumed'
interrupted
expect 2 bats 3 Makeflow --clusters /nowhere.ini
expect 2 bats 3 Makeflow --time-limit 1s --machine rank --budget account
test "$(cat x)" = half
test ! -e Makeflow.bats.2
expect 0 bats 2 Makeflow
test "$(cat y)" = "$(printf 'half\nrest')"
ok 'and by a new run, which asks the earlier record; one that is refused is none'
cat >Makeflow <<'FLOW'
x:
	echo half >>x; [ -e died ] || { touch died; kill -9 $PPID; }; echo rest >>x
y:
	echo half >>y; [ -e saved ] || { touch saved; exit 85; }; echo rest >>y
FLOW
rm x y
expect 0 "$BATS_MPI" -j 2 Makeflow --no-record
test "$(cat x)" = "$(printf 'half\nrest')"
test "$(cat y)" = "$(printf 'half\nhalf\nrest')"
ok 'a rule whose worker dies begins anew elsewhere, one that saves its state not'
cd ..

# ---- WfFormat and DAX run if they have commands ----

cat >w.json <<'JSON'
{"workflow": {"specification": {"tasks": [
  {"id": "b", "name": "b", "parents": ["a"]},
  {"id": "a", "name": "a", "parents": []}]},
 "execution": {"tasks": [
  {"id": "a", "command": {"program": "cp", "arguments": ["w.json w.a"]}},
  {"id": "b", "command": {"program": "mv", "arguments": ["w.a", "w.b"]}}]}}}
JSON
expect 0 bats 3 w.json --no-record
cmp w.json w.b
ok 'a WfFormat with commands runs'
printf '%s\n' '<adag><job id="a" name="x" runtime="60"/>' \
    '<job id="b" name="x" runtime="120"/>' \
    '<child ref="b"><parent ref="a"/></child></adag>' >w.dax
expect 2 bats 2 w.dax
grep -q "w.dax:1: task 'a' has no command: this workflow can only be simulated" err
ok 'a DAX without is refused'
ini '[bag]; workflow = w.dax' '[cluster c]; machines = 2; charge = 1' >w.scn
"$BATS_MPI" simulate w.scn --csv >out 2>err && grep -q ',180.000000,' out
ok 'and simulated: two tasks, one after the other'
echo '{"rules": [{"command": "cp j.a j.b", "inputs": ["j.a"],
    "outputs": ["j.b"]}, {"command": "echo $X >j.a", "outputs": ["j.a"],
    "environment": {"X": "a  b"}}]}' >w.jx
expect 0 bats 2 w.jx --no-record
test "$(cat j.b)" = 'a b'
ok 'JX, the other language of Makeflow, runs'

# ---- with money: what cannot be paid is left, and goes on later ----

for i in 1 2 3 4 5 6 7 8; do
    printf '#BATS task t%d%s\n@sleep 40m\n' $i \
        "$(test $i = 1 || echo " after t$((i - 1))")"
done >bag
printf '[cluster c]\nranks = 1-3\ncharge = 1\n' >clusters.ini
rm -f bag.bats
exits 4 ' left' bats 4 bag --clusters clusters.ini --budget 3 --time-scale 20000
ok 'a chain ends with its budget'
expect 0 bats 4 bag --clusters clusters.ini --budget 100 --time-scale 20000 --resume
"$BATS_MPI" status bag.bats | grep -q '8: 8 done'
ok 'and goes on with more'
for i in 1 2 3 4 5 6 7; do before $i $((i + 1)) || break; done
ok 'in its order'
"$BATS_MPI" record verify bag.bats >out
ok 'both sessions are verified'

# ---- categories: two of them have done nothing ----

printf 'a:\n\tmv none a\nb:\n\ttouch b\nc:\n\tcp none c\n' >three.makeflow
expect 1 bats 3 three.makeflow
test "$(grep -A3 '^category' err | awk 'NR > 1 { print $1 }' | xargs)" = \
    'touch cp mv'
ok 'the bill lists categories by the time that their tasks took'
done_testing
