#!/bin/bash
# People and programs are told of a run what is true.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; window = 60m; currency = SU' \
    '[cluster slow]; ranks = 1-2; charge = 3' \
    '[cluster fast]; ranks = 3-4; charge = 12.5' >clusters.ini
scale='--clusters clusters.ini --time-scale 3600'

yes '@sleep 10m' | head -n 30 >bag
bats 5 bag $scale --budget 500 --seed 7 --json report
finds err '^bats-mpi: all 30 tasks done in ' '^policy .*seed 7$' \
    'budget 500 SU, random order, seed 7$' '^bats-mpi: [0-9hms]*  start: '
expect 1 grep -q "$(printf '\033')" err
ok 'progress is plain lines without a terminal, and the end and the seed are told'
# The same bill, added up here from the clusters.
charged='([.clusters[] | .windows * (.charge | tonumber)] | add) == (.charged | tonumber)'
holds "$charged and (.charged | tonumber) <= 500"
holds '(.makespan_s / .settings.window_s | ceil) as $held |
    .reserved_windows == $held and (.reserved | tonumber) ==
        $held * ([.clusters[] | .machines * (.charge | tonumber)] | add)'
holds '([.clusters[] | .tasks_done + .tasks_failed] | add) == 30 and
    .tasks_done == 30 and .tasks == 30 and .exit_code == 0 and
    .outcome == "all_done" and .decisions[0].reason == "start" and
    .settings.seed == 7 and .settings.time_scale == 3600'
ok 'charged is windows x charge; what was reserved, and the tasks, add up'
verb status bag
grep -o ' [1-9][0-9]m[0-9s]*$' out >means
paste <(seconds $(cat means)) <(json '.clusters[].mean_runtime_s') |
    awk '($1 - $2) ^ 2 <= 1 { n++ } END { exit NR != 2 || n != 2 }'
ok 'status shows runtimes in the time of the bag'

expect 4 bats 5 bag $scale --budget 31 --json report
tr -s ' \n' ' ' <err >line
finds line 'budget exhausted: [0-9]* of 30 tasks done, [0-9]* left' \
    'run again with --resume --budget [0-9]'
holds "$charged"' and (.charged | tonumber) <= 31 and .tasks_left > 0 and
    .tasks_done + .tasks_left == 30 and (.rest_cost | tonumber) > 0 and
    .outcome == "budget_exhausted"'
ok 'an exhausted budget is exit code 4, and it is said what is left and what to do'

for i in $(seq 12); do echo "exit $i"; done >bag
echo 'echo well' >>bag
exits 1 '1 of 13 tasks done, 12 failed' bats 3 bag --json report
finds err '^why they failed$' 'no clusters file: .* of 1h: all [0-9]* core-h'
holds '(.failed_tasks | length == 12 and all(.exit_status == .task)) and
    .tasks_failed == 12 and .budget == null and .clusters[0].name == "all"'
ok 'it is said why tasks failed, and all that did are in the JSON'

printf 'echo a; echo b\necho c >&2\n' >bag
bats 3 bag --quiet
test "$(cat err)" = c
test "$(sort out | tr -d '\n')" = ab
bats 3 bag --quiet --tag
test "$(sort out | tr '\t\n' '>;')" = '1>a;1>b;'
test "$(tr '\t' '>' <err)" = '2>c'
ok '--quiet leaves the output of tasks only; --tag puts their numbers before it'
bats 3 bag --quiet --output none --json -
holds '.tasks_done == 2' out
ok '--json - writes to standard output'

for i in $(seq 50); do echo "touch task$i"; done >bag
dry='bag --clusters clusters.ini --budget 100 --dry-run'
bats 5 $dry --seed 3
test ! -e task1
finds out '^slow  *2  *2  *3  *6$' '^fast  *2  *2  *12.5  *25$' \
    'slow 2, fast 2, charged 31 SU for the first window'
mv out first
bats 5 $dry --seed 3
cmp -s out first
bats 5 $dry --seed 4
expect 1 cmp -s out first
ok 'a dry run shows the start and its charge; a seed always draws the same tasks'

done_testing
