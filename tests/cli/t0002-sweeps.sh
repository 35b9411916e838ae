#!/bin/bash
# Sweeps: commands with values, as GNU parallel has them. GNU parallel itself
# is the judge: both print the commands of random command lines.
# SWEEP_CASES=2000 makes more of these.
. "$TOP/tests/mpi/lib.sh"
needs parallel

# commands ARGUMENT...: what would be run, into out.
commands() {
    verb run --dry-run "$@"
}

perl "$TOP/tests/cli/sweeps.pl" "$BATS_MPI" "${SWEEP_CASES:-40}" 7 >out
test "$(cat out)" -gt 100
ok 'they are those of GNU parallel'
perl "$TOP/tests/cli/sweeps.pl" "$BATS_MPI" "${SWEEP_CASES:-12}" 7 run >out
test "$(cat out)" -gt 12
ok 'and what they print, with -n, -N, --link, -0 and -k, and whether they fail'

printf 'rate,name\r\n0.1,"a ""b"""\r\n0.2,"c,\nd"\r\n' >p.csv
commands --csv p.csv -- run {name} --rate={rate} {#}
printf '%s\n' "run 'a \"b\"' --rate=0.1 1" "run 'c," "d' --rate=0.2 2" |
    cmp - out
ok 'values may come from CSV'

printf '%s\n' '{"a": 1, "b": "x y"}' '{"b": [1,2], "c": null}' >p.json
commands --from-json p.json -- echo {a}.{b}.{c}
printf '%s\n' "echo 1.'x y'.''" "echo ''.'[1,2]'.''" | cmp - out
echo '[1, "two", 0.07]' >q.json
commands --from-json q.json -- echo {}
printf 'echo %s\n' 1 two 0.07 | cmp - out
ok 'values may come from JSON'

commands --array 1-7:3,20 -- echo {} {array_id}
printf 'echo %s\n' '1 1' '4 4' '7 7' '20 20' | cmp - out
commands --array 20,1-3 -- echo
printf 'echo\n%.0s' 1 2 3 20 | cmp - out
ok 'values may be numbers as Slurm writes them'

printf 'x y\n' | "$BATS_MPI" run --dry-run -C ' ' echo {2} {3} :::: - ::: z >out
test "$(cat out)" = 'echo y z'
ok 'values may come from standard input'

# refuses SENTENCE ARGUMENT...
refuses() {
    expect 2 commands "${@:2}"
    grep -qF -e "$1" err || note_failure 1 "no '$1' in: $(cat err)"
}
csv() { # SENTENCE TEXT
    printf "$2" >bad.csv
    refuses "bad.csv:$1" --csv bad.csv -- echo
}
csv '1: more than 1000 columns' "$(seq -s, 1001)"
csv '3: 1 fields, but the header has 2' 'a,b\n1,2\n3\n'
csv '2: this record has a quote that is not closed' 'a,b\n1,"2\n\n'
csv '2: a quote in a field' 'a,b\n1,x"2\n'
csv "1: two columns are called 'a'" 'a,a\n'
printf '{"a": 1}\n\n{"a": }\n' >bad.json
refuses 'bad.json:3:7: ' --from-json bad.json -- echo
refuses "--array: '1-' is not of the form" --array 1- -- echo
refuses "--array: '' is not of the form" --array '' -- echo
refuses "--array: '1,,2' is not of the form" --array 1,,2 -- echo
refuses "--array: '5-1' has a range that ends below" --array 5-1 -- echo
refuses "--array: '1-10:0' has a step of 0" --array 1-10:0 -- echo
refuses "'1-3%2' limits the tasks at a time; use -j for that" \
    --array 1-3%2 -- echo
refuses '--array: the ranges from 1 and from 5 overlap' --array 5,1-9:4 -- echo
refuses 'none.txt: No such file' echo :::: none.txt
refuses "--colsep: '(' is not" -C '(' echo ::: a
refuses "--colsep: 'x*' matches the empty string" -C 'x*' echo ::: a
refuses "called 'array_id'" --array 1 --array 2 -- echo
refuses 'no values' echo :::
refuses 'more than 4294967294 points' --array 1-100000 -- echo {} \
    :::: <(seq 100000)
refuses 'a sweep needs a command' --array 1
refuses "task 2: unknown built-in task '@x'" ::: 'echo a' '@x'
refuses "add a command and '::: VALUE...'" --header : -- echo
refuses "a verb comes before the options" -j 2 run -q echo ::: a
commands -j 2 -- run -q ::: a
echo 'run -q a' | cmp - out
ok 'bad values are named'

verb run --dry-run --header=: -- "awk '{ print \$1 } {x}' {rtae} \${rtae} f{a,b} {rate" \
    ::: rate 1
grep -qF "awk '{ print \$1 } {x}' {rtae} \${rtae} f{a,b} {rate" out
ok 'other braces stay as they are'

run() {
    "$BATS_MPI" run -q -j 2 "$@" 2>err
}
run --header=: --tag echo {n} ::: n : b c | sort >out
printf '%s\t%s\n' 1 : 2 b 3 c | cmp - out
both='until [ -e slot.1 ] && [ -e slot.2 ]; do sleep 0.05; done'
run --bind none "echo {%} >slot.{%}; $both; echo {%}" ::: $(seq 40) | sort -u >out
consists out 1 2
ok 'a sweep runs, a value may be a colon, and {%} is the slot'

run -k --tagstring '{2/}-{#}' echo {1} ::: 1 2 ::: "a/b 'c" >out
printf "b 'c-%s\t%s\n" 1 1 2 2 | cmp - out
echo 'echo a b' | run --tagstring '{} {1}' - >out
printf 'echo a b echo a b\ta b\n' | cmp - out
exits 2 '--tagstring: {%}: {%} is for commands' run --tagstring '{%}' echo ::: 1
ok '--tagstring has replacement strings'
run --results 'res/{1}/{n}' --header=: -- 'echo "$BATS_RESULTS"; ls {n} >&2' \
    ::: m 1 2 ::: n 'a b' c >out || :
test ! -s out
test "$(cat res/[12]/*/stdout | xargs -d '\n')" = \
    'res/1/a b res/1/c res/2/a b res/2/c'
grep -q "'a b'" 'res/2/a b/stderr'
exits 2 '--results: tasks 2 and 4 have the same directory, no/\./a' \
    run --results 'no/{1}' echo ::: 1 a/b 2 ./a//c/../b/
test ! -e no
ok '--results may name the directory of each task, which is its own'
exits 2 "--env: no variable or function 'NONE' is exported" \
    run --env PATH,NONE echo ::: 1
test "$(x=1 run --env x,_ 'echo $x' ::: a)" = '1 a'
ok '--env wants exported names'

printf 'rate,my name,x\n0.1,a b,"1\n2"\n' >p.csv
run --csv p.csv -- 'echo "$rate;$x;"{my name}; env | grep name' >out || :
consists out '0.1;1' '2;a b'
x=0 run --csv p.csv --array 3-4 -- env |
    grep -E '^(rate|x|array_id)=' | sort >out
consists out array_id=3 array_id=4 rate=0.1 rate=0.1 x=1 x=1
ok 'values with names are variables of the task'

sweep() {
    run --record s.bats --header=: "$@" >out
}
sweep -- true {rate} {r} ::: rate 0.05 0.1 ::: r 1 2
test "$(sql s.bats 'SELECT rate, sum(r), sum(cost) > 0 FROM tasks GROUP BY rate' |
    xargs)" = '0.05|3|1 0.1|3|1'
test "$("$BATS_MPI" tasks s.bats --where 'rate > 0.05 AND r = 2' --json |
    jq -c .parameters)" = '{"rate":0.1,"r":2}'
for where in "load_extension('x')" 'abs(-9223372036854775807 - 1) > 0' \
    "json_extract('{', '\$.a') = 1" 'zeroblob(2000000000) > 1'; do
    expect 2 verb tasks s.bats --where "$where"
    grep -qF -- "--where '$where': " err
done
exits 2 "no such column: rat; its parameters are rate, r\$" \
    verb tasks s.bats --where 'rat > 1'
ok 'parameters are columns of the record; functions that are refused damage nothing'

sweep --resume -- true {rate} {r} ::: rate 0.01 0.05 0.1 ::: r 1 2 3
test "$(sql s.bats 'SELECT rate, r, attempts FROM tasks ORDER BY 1, 2' | xargs)" = \
    '0.01|1|1 0.01|2|1 0.01|3|1 0.05|1|1 0.05|2|1 0.05|3|1 0.1|1|1 0.1|2|1 0.1|3|1'
tells '^2 sessions, .*: all agree$' record verify s.bats
test "$("$BATS_MPI" status --left s.bats)" -eq 0
test "$("$BATS_MPI" tasks s.bats | grep -c '  done  *1  ok  ')" -eq 9
ok '--resume runs the new points of a sweep that has grown'

expect 1 "$BATS_MPI" -j 1 -q --record c.bats --header : -- \
    'test {word} = a' ::: word a 'b,"c' ::: n 1 >out 2>err </dev/null
"$BATS_MPI" tasks --csv c.bats | cut -d, -f 1-5,16- >out
consists out task,state,attempts,exit_status,signal,line,command,word,n \
    '1,done,1,0,0,0,test a = a,a,1' \
    "2,failed,1,1,0,0,\"test 'b,\"\"c' = a\",\"b,\"\"c\",1"
"$BATS_MPI" tasks --csv --where 0 c.bats >out
test "$(wc -l <out)" -eq 1
ok 'tasks --csv has a column for each value, and quotes what needs it'

# ---- src/doc/parallel.md ----

# It says what to type instead of parallel and xargs: its rows are run by both, and
# print and end alike.
bin=$(dirname "$BATS_MPI")
mkdir parallel
export PARALLEL_HOME=$PWD/parallel SHELL=/bin/bash
touch parallel/will-cite

# beside NAME LINE: runs the line where its files are, into NAME.out; its exit
# code becomes 0 or 1.
beside() {
    rm -rf "$1"
    mkdir -p "$1/d"
    (
        cd "$1" || exit
        printf 'x.txt\ny.txt\nz z.txt\n' >list
        printf 'echo one\nexit 2\necho three\n' >commands
        printf '#BATS time 1s\necho short\n#BATS time 9s\necho long\n' >timed
        printf 'a\tb c\nd\te\n' >table
        touch d/a.txt 'd/b c.txt'
        echo x >x.txt
        echo yy >y.txt
        echo z >'z z.txt'
        code=0
        PATH=$bin:$PATH timeout 60 bash -c "$2" 2>../err </dev/null || code=1
        echo "ends with $code"
    ) >"$1.out"
}

sed -n '/^## GNU parallel/,/^These have/s/^| `\(.*\)` | `\(bats-mpi.*\|.*bats-mpi.*\)` |$/\1\t\2/p' \
    "$TOP/src/doc/parallel.md" | sed 's/\\|/|/g' >rows
test "$(wc -l <rows)" -ge 35
n=0
while IFS=$'\t' read -r there here <&3; do
    beside there "$there"
    beside here "$here"
    case $there in
    *-k*) ;;
    *) for side in there here; do sort -o $side.out $side.out; done ;;
    esac
    cmp -s there.out here.out ||
        note_failure 1 "$here: $(diff there.out here.out | xargs -0 echo)"
    n=$((n + 1))
done 3<rows
test $n -ge 35
ok "the rows of parallel.md do the same with both programs"

done_testing
