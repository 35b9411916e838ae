#!/bin/bash
# A run as WfFormat: valid by the schema of
# https://github.com/wfcommons/WfFormat (wfformat-1.5.json, commit 6bd37dc, LGPL
# 3), and read back by our own reader.
. "$TOP/tests/mpi/lib.sh"
needs jsonschema

# export_to RUN FILE: it is valid by the published schema.
export_to() {
    verb export --wfformat "$1" -o "$2"
    jsonschema -i "$2" "$TOP/tests/mpi/wfformat-1.5.json" >out 2>&1
}
# all FILTER FILE: what it makes of each task, in words; executed: likewise of
# those that were.
all() {
    jq -c ".workflow.specification.tasks[] | $1" "$2" | xargs -d '\n'
}
executed() {
    jq -c ".workflow.execution.tasks[] | $1" "$2" | xargs -d '\n'
}

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
test "$(all '[.id, .name, .parents, .children] | tostring | gsub("ID000000"; "") | fromjson' flow.json)" = \
    '["1","first",[],["2","3"]] ["2","second",["1"],["4"]] ["3","second",["1"],["4"]] ["4","second",["2","3"],["5"]] ["5","second",["4"],[]]'
finds <(executed '.runtimeInSeconds > 0.2' flow.json) '^[a-z]* [a-z]* true [a-z]*$'
holds ".workflow.execution.machines[0].nodeName == \"$(uname -n)\"" flow.json
ok 'a Makeflow that has run is exported, with its graph, runtimes and machine'

# The last one is repaired, and all that is left to do but for a new one.
touch repaired
printf 'more: never\n\techo more >more\n' >>flow.makeflow
bats 3 flow.makeflow --resume-failed
export_to flow.makeflow flow.json
test "$(all .parents flow.json | cut -d' ' -f5-)" = '["ID0000004"] ["ID0000005"]'
mkdir again
cd again
cp ../src ../repaired ../flow.json .
bats 3 flow.json
for file in a b c d e+f more; do
    cmp $file ../$file
done
export_to flow.json more.json
test "$(executed .command more.json)" = "$(executed .command ../flow.json)"
ok 'read back and run, commands make the same files, and are exported the same'
ini '[bag]; workflow = flow.json' \
    '[run]; budget = unlimited; seeds = 1; policy = rr' \
    '[cluster one]; machines = 2; charge = 1; speed = 1' >scenario.ini
verb simulate scenario.ini --csv
test "$(sed -n 2p out | cut -d, -f12)" = 6
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
test "$(executed '[.id, .runtimeInSeconds > 0, .command.arguments]' some.json)" = \
    '["ID0000001",false,["src","a"]] ["ID0000002",true,["a","b"]]'
rm f.makeflow.bats
bats 2 f.makeflow
export_to f.makeflow all.json
mkdir again
cd again
cp ../src ../all.json .
bats 2 all.json
cmp b ../b
ok 'what was there already keeps its command, and took no time'
cd ../..

cat >bag <<'BAG'
#DISBATCH REPEAT 3 start 1 true
#DISBATCH BARRIER CHECK
true x
#DISBATCH BARRIER CHECK
true y
BAG
bats 3 bag
export_to bag bag.json
test "$(all '.parents' bag.json)" = \
    '[] [] [] ["ID0000001","ID0000002","ID0000003"] ["ID0000004"]'
ok 'a barrier becomes edges, and only those that it needs'
exits 2 'needs a format' verb export bag
ok 'a format has to be named'

done_testing
