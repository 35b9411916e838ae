#!/bin/bash
# A run as WfFormat: valid by the schema of
# https://github.com/wfcommons/WfFormat (wfformat-1.5.json, commit 6bd37dc, LGPL
# 3), and read back by our own reader.
. "$TOP/tests/mpi/lib.sh"

export_to() {
    "$BATS_MPI" export --wfformat "$1" -o "$2" >out 2>err
}
# json FILE SQL: the answer, where FILE is the table doc with one column, j.
json() {
    sqlite3 :memory: "CREATE TABLE doc AS SELECT CAST(readfile('$1') AS TEXT)
        AS j; $2"
}
is_valid() {
    jsonschema -i "$1" "$TOP/tests/mpi/wfformat-1.5.json" 2>&1
}
tasks="FROM doc, json_each(j, '\$.workflow.specification.tasks') t"
executed="FROM doc, json_each(j, '\$.workflow.execution.tasks') t"

# ---- a Makeflow, with commands that are easily spoilt ----

cat >flow.makeflow <<'FLOW'
CATEGORY="first"
a b: src
	  cp  src a;   cp src "b"
CATEGORY="second"
c: a
	echo echo 'x  y' >c
d: b
	awk '{print $1,  "q\"uote", "\\"}' b >d; sleep .2
e+f: c d
	cat c d >e+f
never: e+f
	test -e repaired && touch never
FLOW
echo hello >src
expect 1 bats 3 flow.makeflow
export_to flow.makeflow flow.json
grep -q 'left out: 1 file with' err
ok 'a Makeflow that has run is exported'
if command -v jsonschema >/dev/null; then
    is_valid flow.json
    ok 'it is valid by the published schema'
else
    skip 'it is valid by the published schema' 'no jsonschema'
fi
test "$(json flow.json "SELECT group_concat(json_extract(value, '\$.id') || ' ' ||
    json_extract(value, '\$.name') || json_extract(value, '\$.parents') ||
    json_extract(value, '\$.children'), ' ') $tasks")" = 'ID0000001 first[]["ID0000002","ID0000003"] ID0000002 second["ID0000001"]["ID0000004"] ID0000003 second["ID0000001"]["ID0000004"] ID0000004 second["ID0000002","ID0000003"]["ID0000005"] ID0000005 second["ID0000004"][]'
ok 'with parents, children and categories'
test "$(json flow.json "SELECT count(*) || max(json_extract(value, '\$.runtimeInSeconds')
    > .2 AND json_extract(value, '\$.id') = 'ID0000003') $executed")" = 41
test "$(json flow.json "SELECT json_extract(j, '\$.workflow.execution.machines[0].nodeName')
    FROM doc")" = "$(uname -n)"
ok 'what was done has its runtime and its machine; what failed has none'

# The last one is repaired, and is all that is left to do.
touch repaired
bats 3 flow.makeflow --resume-failed
export_to flow.makeflow flow.json
mkdir again
cd again
cp ../src ../repaired ../flow.json .
bats 3 flow.json
for file in a b c d e+f; do
    cmp $file ../$file
done
ok 'read back and run, every command makes the same file again'
export_to flow.json more.json
test "$(json more.json "SELECT json_group_array(json_extract(value, '\$.command'))
    $executed")" = "$(json ../flow.json "SELECT
    json_group_array(json_extract(value, '\$.command')) $executed")"
ok 'exported again, the commands are the same'
ini '[bag]; workflow = flow.json' \
    '[run]; budget = unlimited; seeds = 1; policy = rr' \
    '[cluster one]; machines = 2; charge = 1; speed = 1' >scenario.ini
"$BATS_MPI" simulate scenario.ini --csv >out 2>err
test "$(sed -n 2p out | cut -d, -f12)" = 5
ok 'and it is simulated with the runtimes measured'
cd ..

# Of a run that finds some of its files made already; and of one that finds all.
mkdir fresh
cd fresh
printf 'a: src\n\tcp src a\nb: a\n\tcp a b\n' >f.makeflow
echo x >src
bats 2 f.makeflow --no-record
rm b
bats 2 f.makeflow
export_to f.makeflow some.json
test "$(json some.json "SELECT group_concat(json_extract(value, '\$.id') || ' ' ||
    (json_extract(value, '\$.runtimeInSeconds') > 0) || ' ' ||
    json_extract(value, '\$.command.arguments'), ' ') $executed")" = \
    'ID0000001 0 ["src","a"] ID0000002 1 ["a","b"]'
rm f.makeflow.bats
bats 2 f.makeflow
export_to f.makeflow all.json
if command -v jsonschema >/dev/null; then
    is_valid some.json
    is_valid all.json
fi
mkdir again
cd again
cp ../src ../all.json .
bats 2 all.json
cmp b ../b
ok 'what was there already keeps its command, and took no time'
cd ../..

# ---- a bag with a barrier, and one that is gone ----

cat >bag <<'BAG'
#DISBATCH REPEAT 3 start 1 true
#DISBATCH BARRIER CHECK
true x
#DISBATCH BARRIER CHECK
true y
BAG
bats 3 bag
export_to bag bag.json
test "$(json bag.json "SELECT group_concat(json_extract(value, '\$.parents'), '')
    $tasks")" = '[][][]["ID0000001","ID0000002","ID0000003"]["ID0000004"]'
ok 'a barrier becomes edges, and only those that it needs'
rm flow.makeflow
export_to flow.makeflow.bats gone.json
grep -q 'flow.makeflow is not there or has other commands' err
test "$(json gone.json "SELECT json_array_length(j, '\$.workflow.execution.tasks')
    FROM doc")" = 5
ok 'without its bag a run is exported without names and files'
expect 2 "$BATS_MPI" export bag
ok 'a format has to be named'

done_testing
