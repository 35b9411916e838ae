#!/bin/bash
# The history: what runs add to it, also those that were killed; what it does
# not keep; that a run does not mind whether it can be used. No launcher.
. "$TOP/tests/mpi/lib.sh"

# tasks KIND: how many tasks of it are known.
tasks() {
    tasks_in h.db "$1"
}
tasks_in() {
    "$BATS_MPI" history --json --history "$1" |
        sed -n "s/.*\"kind\":\"$2\".*\"tasks\":\([0-9]*\),.*/\1/p"
}

# imports FILE HISTORY [OPTION...]
imports() {
    "$BATS_MPI" history import "$1" --history "$2" "${@:3}" >out
}

# ---- a run adds what it has measured ----

for i in 1 2 3 4 5 6; do
    echo "@once sh ./work --token hush$i $i" # no copies on a busy machine
done >bag
echo 'exec true' >work
bats 3 bag --history h.db
test "$(tasks 'sh work --token')" = 6
expect 1 grep -q hush h.db
test "$(stat -c %a "$(dirname h.db)")" != '' -a -f h.db
ok 'a run adds its tasks, by kind, and none of their arguments'

bats 3 bag --history h.db
test "$(tasks 'sh work --token')" = 12
bats 3 bag --no-history
bats 3 bag --no-record --time-scale 60
test "$(tasks 'sh work --token')" = 12
BATS_HISTORY=$dir/h.db bats 3 bag --no-record
test "$(tasks 'sh work --token')" = 18
test ! -e "$dir/.local"
XDG_STATE_HOME=$dir/state bash -c 'unset BATS_HISTORY; "$@"' - \
    "$BATS_MPI" -j 2 bag --no-record 2>err
test -s state/bats-mpi/history.db
test "$(stat -c %a state/bats-mpi)" = 700
ok 'it is where --history, BATS_HISTORY or XDG_STATE_HOME say'

printf '%s\n' 'true --plain' '#BATS class=align memory=1G' 'true --a' 'true --b' \
    '#BATS class=-' 'true --plain' >classes
bats 3 classes --history c.db
test "$(tasks_in c.db align)" = 2
test "$(tasks_in c.db 'true --plain')" = 2
test "$(tasks_in c.db 'true --a')" = ''
printf 'class,x\nalign,1\nsort,2\n,3\n' >classes.csv
echo '[{"class": "align", "x": 1}, {"x": 2}]' >classes.json
bats 3 --csv classes.csv --history c.db --no-record -- true --x {x}
bats 3 --from-json classes.json --history c.db --no-record -- true --x {x}
test "$(tasks_in c.db align) $(tasks_in c.db sort) $(tasks_in c.db 'true --x')" = \
    '4 1 2'
echo 'false' >fails
expect 1 bats 3 fails --history f.db
BATS_HISTORY=f.db tells 'no runtimes yet' history
ok 'the class of a task is its kind; one that failed tells no runtime'

rm -f h.db
seq 5 | sed 's/.*/sh .\/work --token &/' >one
seq 7 | sed 's/.*/sh .\/work --token &/' >two
"$BATS_MPI" -j 2 one --history h.db 2>err &
"$BATS_MPI" -j 2 two --history h.db 2>err2
wait $!
test "$(tasks 'sh work --token')" = 12
ok 'two runs at a time lose nothing'

# ---- a run that was killed ----

printf '%s\n' 'sh ./work --a 1' '#BATS class=second' 'sh ./work --a 2' \
    '#BATS class=-' 'while test ! -e go; do sleep 0.1; done; : --b' >slow
behind "$BATS_MPI" -j 3 slow --history k.db --record-sync 10ms --no-replicate
within 60 told '2 done' "$BATS_MPI" status slow
kill -KILL $run
wait $run || :
test ! -e k.db || test -z "$("$BATS_MPI" history --json --history k.db)"
touch go
within 60 nobody_left
bats 3 slow --resume --history k.db
"$BATS_MPI" history --json --history k.db >out
finds out '"kind":"sh work --a",.*"tasks":1,' '"kind":"second",.*"tasks":1,'
test "$(wc -l <out)" = 3
"$BATS_MPI" history import slow --history k.db | grep -q '^0 bags added'
ok 'what a killed run had measured is added when its record is looked at'

"$BATS_MPI" history import slow --history other.db | grep -q '^2 bags added'
"$BATS_MPI" history export --history k.db | sort >a
imports <(cat a) third.db
grep -q '^2 bags added' out
"$BATS_MPI" history export --history third.db | sort | cmp - a
ok 'records and exports are imported'

verb history forget 'sh work --a' --history k.db
verb history --history k.db
expect 1 grep -q -- '--a' out
exits 2 "knows no tasks of the kind 'sh work --a'" \
    verb history forget 'sh work --a' --history k.db
expect 2 verb history lose
expect 2 verb history import --history k.db
exits 2 'nowhere: No such file' verb history import nowhere --history k.db
exits 2 'there is no history' env BATS_HISTORY= "$BATS_MPI" history 2>err
ok 'kinds are forgotten, and mistakes are named'

# ---- the second bag is planned from the first ----

ini '[run]; window = 60m; currency = SU' \
    '[cluster slow]; ranks = 1-2; charge = 1' \
    '[cluster fast]; ranks = 3-4; charge = 3' >clusters.ini
# Two bags, of 100 s on slow and 50 s on fast.
for run in 1 2; do
    for cluster in slow:400 fast:200; do
        echo "{\"run\": \"$run\", \"ended_s\": 170000000$run," \
            "\"kind\": \"fit --a\", \"cluster\": \"${cluster%:*}\"," \
            "\"tasks\": 4, \"sum_s\": ${cluster#*:}," \
            "\"squares\": $((${cluster#*:} * ${cluster#*:} / 4))}"
    done
done >two.json
imports two.json p.db
grep -q '^2 bags added' out
seq 200 | sed 's/.*/.\/fit --a &/' >fits
bats 5 fits --clusters clusters.ini --history p.db --budget 50 --dry-run
grep -q '^From 2 earlier bags: 50s, .* on fast; 2 times as fast as slow\.$' out
# 2 machines of each do 12 tasks in 200 s; 8 an hour is 7.41 in 3333 s.
grep -q '^These machines would take 55m33s for it, .* and cost 7\.41 SU, ' out
bats 5 fits --clusters clusters.ini --no-history --budget 50 --dry-run
expect 1 grep -q 'earlier bag' out
ok 'a dry run says what is believed, from whence, and what it may cost'

plan() {
    verb plan "$@" --clusters clusters.ini
}
plan fits --history p.db
grep -q '^from 2 earlier bags: 50s, ' out
grep -Eq '^slow +1 +~1m40s ' out
grep -Eq '^fast +3 +~50s ' out
plan fits --history p.db --runtime slow=7s
grep -Eq '^slow +1 +7s ' out
expect 2 plan fits --no-history
expect 2 plan fits --history none.db
test ! -e none.db
ok 'plan BAG takes the runtimes of the history'

# ---- a sweep: points that were never run have a price ----

bats 3 --history e.db --no-record -- true {1} {2} ::: 1 2 3 4 ::: a b c
"$BATS_MPI" history export --history e.db >e.json
# Names, how many, and the sums of two forms in four parts: first the tasks.
awk -F'"sweep": "' '{ sub(/".*/, "", $2)
    ok = sub(/^p1\\n1 /, "", $2); n = split($2, x, " ")
    exit !(ok && n == 48 && x[1] + x[7] + x[13] + x[19] == 12) }' e.json
imports e.json e2.db
"$BATS_MPI" history export --history e2.db | cmp - e.json
# sums_of EXPRESSION: those of n = 1 to 40 where a task takes that long.
sums_of() {
    awk 'function note(k, f, a, b, c) {
             s[k, f, 0]++; s[k, f, 1] += a; s[k, f, 2] += b
             s[k, f, 3] += a * a; s[k, f, 4] += a * b; s[k, f, 5] += b * b
         }
         BEGIN {
             for (n = 1; n <= 40; n++) {
                 t = '"$1"'; all += t; squares += t * t
                 note(0, n % 4, n, t); note(1, n % 4, log(n), log(t))
             }
             for (k = 0; k < 2; k++)
                 for (f = 0; f < 4; f++)
                     for (i = 0; i < 6; i++)
                         list = list sprintf(" %.15g", s[k, f, i])
             printf "{\"run\": \"%s\", \"ended_s\": 1700000000, ", "r"
             printf "\"kind\": \"fit --n\", \"cluster\": \"fast\", "
             printf "\"tasks\": 40, \"sum_s\": %.15g, ", all
             printf "\"squares\": %.15g, ", squares
             printf "\"sweep\": \"n\\n1%s\"}\n", list
         }'
}
sums_of '30 + 2 * n' >line.json
sums_of '40 + n * 7919 % 41' >noise.json
printf '#!/bin/sh\n#BATS parameter n integer select anyof 10 300 60\n' >sweep.sh
points='sweep.sh --clusters clusters.ini --points'
imports <(sed "s/fit --n/sh sweep.sh/" line.json) script.db
# 30 + 2 n on fast, which charges 3 an hour.
verb plan $points --history script.db
cut -f1,4,5 out | diff - <(printf '%s\t%s\t%s\n' task fast_s fast_cost \
    1 50 0.04167 2 630 0.525 3 150 0.125)
# Two tasks of 2 of 5 cores share a machine.
sed '/^.cluster fast/a machine = node\nslots = 5' clusters.ini >nodes.ini
for says in --cores=2 '#BATS cores=2' '#BATS parameter cores 2'; do
    [ "$says" = --cores=2 ] || echo "$says" >>sweep.sh
    verb plan sweep.sh --clusters nodes.ini --points --history script.db \
        $([ "$says" != --cores=2 ] || echo "$says")
    cut -f5 out | diff - <(printf '%s\n' fast_cost 0.02083 0.2625 0.0625)
    sed -i '3d' sweep.sh
done
echo '#BATS coxes=2' >>sweep.sh
exits 2 "sweep.sh:3: unknown key 'coxes'" verb plan $points --history script.db
sed -i '3d' sweep.sh
plan sweep.sh --history script.db
grep -q '^from 1 earlier bag: 4m36s, ' out # (50 + 630 + 150) / 3
imports <(sed "s/fit --n/true --n/" line.json) true.db
bats 2 --order longest --history true.db --no-record --joblog order.log \
    --header : -- true --n {n} ::: n 10 300 60
test "$(sed 1d order.log | cut -f1 | xargs)" = '2 3 1'
imports <(sed "s/fit --n/sh sweep.sh/" noise.json) noise.db
verb plan $points --history noise.db
test "$(sed 1d out | cut -f4 | sort -u | wc -l)" = 1
exits 2 'the history knows nothing of these tasks' verb plan $points --history none.db
exits 2 '--points needs a bag' \
    verb plan --tasks 5 --clusters clusters.ini --points
ok 'each point of a sweep is priced, if its numbers explain runtimes'

# Fast does 3 times as much for twice the money: known, none of slow is used.
ini '[run]; window = 60m; policy = bats; budget = 40' \
    '[cluster slow]; charge = 4; machines = 4; speed = 1' \
    '[cluster fast]; charge = 8; machines = 4; speed = 3' \
    '[bag]; tasks = 120; runtime = constant 10m; class = fit --a' >told.scn
imports <(sed 's/"sum_s": 400/"sum_s": 2400/; s/"sum_s": 200/"sum_s": 800/
    s/"squares": [0-9]*/"squares": 0/' two.json) told.db
tells '"slow": 0' simulate told.scn --json --history told.db
verb simulate told.scn --json
expect 1 grep -q '"slow": 0' out
exits 2 'nowhere.db: there is no such history' \
    verb simulate told.scn --history nowhere.db
ok 'a simulation believes a history'

printf '@once true --%s\n' short long >mixed
printf '%s\n' 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand' \
    '1\tn\t1700000000\t1\t0\t0\t0\t0\ttrue --short' \
    '2\tn\t1700000000\t9\t0\t0\t0\t0\ttrue --long' |
    sed 's/\\t/\t/g' >log.mixed
imports log.mixed m.db --cluster all
longest='mixed --order longest --no-record --joblog order.log'
bats 2 $longest --history m.db
expect 1 grep -q 'runtimes are known' err
test "$(sed -n 2p order.log | cut -f1)" = 2
exits 0 '0 of 2 runtimes are known' bats 2 $longest --no-history
test "$(sed -n 2p order.log | cut -f1)" = 1
ok '--order longest asks it'

cp h.db b.db
ini '[run]; window = 60m' '[cluster all]; charge = 1' >all.ini
bats 3 bag --history b.db --budget 10 --clusters all.ini
finds err 'from [0-9]* earlier bags: .* on all$' \
    'the history expected .* of a task on all: it was '
sql 'SELECT options FROM session ORDER BY id DESC LIMIT 1' |
    grep -q '"prior":{"mean_us":\['
"$BATS_MPI" report bag --out page.html 2>err
grep -q '"prior":{[^}]*"mean_us":' page.html
ok 'a run says what was believed and how it turned out, and so does its page'

# ---- it never ends a run ----

# unused FILE WHY: the run goes on without it.
unused() {
    exits 0 "the history is not used: $1$2" bats 3 bag --history $1
}
echo 'this is a text and not a database' >damaged.db
unused damaged.db ' is not a history'
consists damaged.db 'this is a text and not a database'
unused damaged.db/h.db ': '
cp h.db cut.db
dd if=/dev/zero of=cut.db bs=1 seek=4096 count=8192 conv=notrunc 2>/dev/null
unused cut.db
ok 'a damaged history is a warning'

# The task resumes its own run.
echo 'test -e again && ! "$BATS_MPI" -j 1 own --resume 2>said' >own
expect 1 "$BATS_MPI" -j 1 own --quiet --history h.db
touch again
"$BATS_MPI" -j 1 own --quiet --history h.db --resume-failed --order longest
grep -q '^bats-mpi: own.bats is in use by another run$' said
ok 'the record of a resumed run that has asked the history is locked'

mkfifo hold
sqlite3 h.db <hold >/dev/null 2>&1 &
locker=$!
exec 7>hold
printf '%s\n' '.timeout 60000' 'BEGIN EXCLUSIVE; CREATE TABLE locked (a);' >&7
within 60 told locked sqlite3 h.db 'SELECT count(*) FROM kind'
unused h.db ': .*locked'
exec 7>&-
wait $locker || :
test "$(tasks 'sh work --token')" = 12
bats 3 bag --history h.db
test "$(tasks 'sh work --token')" = 24
ok 'so is a locked one; what was not added is added later'

cp h.db full.db
(
    ulimit -f $(($(stat -c %s full.db) / 1024))
    for i in {1..60}; do
        echo "sh ./work --one-of-many-options-which-are-long-enough-$i"
    done >many
    bats 3 many --history full.db --no-record
)
grep -q 'the history is not used: full.db: ' err
cmp full.db h.db
ok 'and one that cannot grow'

done_testing
