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
verified() { # RECORD
    tells ': all agree$' record verify $1
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
for pair in '4 2' '4 3' '2 1' '3 1' '9 10' '1 5' '1 9'; do before $pair; done
ok 'every task finds what those before it have made, and the record has the order'
finds err '10 of 13 tasks done, 1 failed, 2 skipped' \
    '^skipped *2 tasks, which waited for one that failed$'
test ! -e worse
test ! -e worst
test "$("$BATS_MPI" tasks bag.bats --state skipped | grep -c skipped)" = 2
"$BATS_MPI" why bag.bats 12 | grep -q 'skipped: a task that it waited for was not done'
verified bag.bats
ok 'what waited for a failed task is not run, and bill, record and why say so'

expect 1 bats 4 bag --resume
"$BATS_MPI" status bag.bats | grep -q '10 done, 1 failed, .* 2 skipped'
touch repaired
bats 4 bag --retry-failed
test -e worse
test -e worst
test "$(wc -l <many)" = 5
tells '^3 sessions, .*: all agree$' record verify bag.bats
ok '--resume keeps the failure; --retry-failed runs it and what waited for it'

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
cd flow
flow() { # CODE ARGUMENT...
    expect "$1" bats 2 Makeflow "${@:2}"
}
seq 3 >a.txt
flow 2 --no-record
grep -q "Makeflow:4: the rule on line 4 reads 'b.txt', which does not exist" err
seq 4 >b.txt
flow 2 --no-record --wd /
grep -q -- '--wd: the files of a workflow are found where it is started' err
ok 'a source that is not there is refused, and another directory'
touch broken
flow 1 --no-record
finds err '3 of 5 tasks done, 1 failed, 1 skipped' '^late was not made'
test ! -e last
flow 1 --no-record --results results
grep -qx 'late was not made' results/4/stderr
flow 1 --record stream.bats --output stream
tells '^late was not made$' output stream.bats -t 4 --stderr
"$BATS_MPI" why stream.bats 4 | grep -q 'late was not made'
ok 'a rule that does not make what it should fails'
rm broken
flow 0 --dry-run
test "$(sed -n 's/^ *\([0-9]\)  .*/\1/p' out)" = 4
flow 2 --dry-run --policy expert
cp err some
flow 2 --no-record --policy expert
cmp err some
ok '--dry-run shows what is left to do, and refuses what a run does'
flow 0 --no-record
test "$(cat last)" = 3+4
touch -d '+1 minute' b.txt
touch -d '+2 minutes' a.n
flow 0 --joblog log
test "$(tail -n +2 log | wc -l)" = 4
test "$("$BATS_MPI" tasks Makeflow.bats --state done | grep -c done)" = 5
verified Makeflow.bats
ok 'what is missing is made, and what is older than its sources is made again'
rule='cat a.n b.n | paste -sd+ >sum.n'
"$BATS_MPI" tasks Makeflow.bats --json | jq -r .command | grep -qxF "$rule"
grep -q "[[:blank:]]$rule\$" log
tells "^task 3, line 8: $rule\$" why Makeflow.bats 3
"$BATS_MPI" report Makeflow.bats -o page
grep -q 'paste -sd+' page
expect 1 grep -q 'exit \$s' page
ok 'lists, why, joblog and page show a rule as it was written'

sed -i 's/cp late last/& \&\& echo edited >>last/' Makeflow
flow 0 --resume
grep -q 'Makeflow:12: task 5 has another command than before: it is run' err
test "$(tail -n 1 last)" = edited
ok 'a rule whose command was edited is run again when its run is resumed'
cd ..

# ---- a rule that was interrupted ----

mkdir half
cd half
printf 'x:\n\techo half >x; touch begun; [ -e calm ] || sleep 60; %s\n%s\n' \
    'echo rest >>x' 'y: x
	cp x y' >Makeflow
# interrupted: a run of it is killed in the middle of its first rule.
interrupted() {
    rm -f x y begun calm
    start 2 Makeflow
    within 60 test -e begun
    kill_alive
    wait
    test "$(cat x)" = half
    touch calm
}
interrupted
bats 2 Makeflow --resume
grep -q '1 task interrupted: what it had made was removed' err
consists y half rest
interrupted
expect 2 bats 3 Makeflow --clusters /nowhere.ini
expect 2 bats 3 Makeflow --time-limit 1s --machine rank --budget account
test "$(cat x)" = half
test ! -e Makeflow.bats.2
bats 2 Makeflow
consists y half rest
ok 'a rule that was interrupted is run again, by --resume and by a new run'
cat >Makeflow <<'FLOW'
x:
	echo half >>x; [ -e died ] || { touch died; kill -9 $PPID; exec sleep 60; }; echo rest >>x
y:
	echo half >>y; [ -e saved ] || { touch saved; exit 85; }; echo rest >>y
FLOW
rm x y
exits 0 'is lost: its process has ended' bats 3 Makeflow --no-record
within 60 nobody_left
consists x half rest
consists y half half rest
ok 'a rule whose worker dies begins anew elsewhere, one that saves its state not'
cd ..

# ---- WfFormat ----

echo '{"workflow": {"specification": {"tasks": [{"id": "b", "name": "b"}]},
    "execution": {"tasks": [{"id": "b", "runtimeInSeconds": 60}]}}}' >none.json
exits 2 "none.json: task 'b' has no command: this workflow can only be simulated" \
    bats 2 none.json
ok 'a WfFormat without commands is refused'

done_testing
