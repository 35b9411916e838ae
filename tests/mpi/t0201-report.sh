#!/bin/bash
# People and programs are told of a run what is true.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; window = 60m; currency = SU' \
    '[cluster slow]; ranks = 1-2; charge = 3' \
    '[cluster fast]; ranks = 3-4; charge = 12.5' >clusters.ini

# holds EXPRESSION [FILE]: true of $r, the report.
holds() {
    perl -MJSON::PP -e 'local $/; open my $f, "<", $ARGV[1] or die;
        my $r = decode_json(<$f>);
        exit !eval($ARGV[0]) if 1' "$1" "${2:-report.json}"
}

# The same bill, added up here from the clusters.
sums='my ($charged, $windows, $price, $tasks) = (0, 0, 0, 0);
    for (@{$r->{clusters}}) {
        $charged += $_->{windows} * $_->{charge};
        $price += $_->{machines} * $_->{charge};
        $tasks += $_->{tasks_done} + $_->{tasks_failed};
    }
    use POSIX;
    my $held = ceil($r->{makespan_s} / $r->{settings}{window_s});'

# ---- a run that ends well ----

for i in $(seq 30); do echo '@sleep 10m'; done >bag
bats 5 bag --clusters clusters.ini --time-scale 3600 --budget 500 --seed 7 \
    --json report.json
grep -q '^bats-mpi: all 30 tasks done in ' err
ok 'the closing line says that all is done'
finds err 'budget 500 SU, random order, seed 7$' '^policy .*seed 7$'
ok 'the seed is shown'
holds "$sums"'$r->{charged} == $charged && $r->{charged} <= 500'
ok 'charged is windows x charge, and within the budget'
holds "$sums"'$r->{reserved_windows} == $held &&
    $r->{reserved} == $held * $price'
ok 'reserved is all machines for the windows started'
holds "$sums"'$tasks == 30 && $r->{tasks_done} == 30 && $r->{tasks} == 30 &&
    $r->{exit_code} == 0 && $r->{outcome} eq "all_done"'
ok 'the tasks of the clusters add up'
holds '$r->{decisions}[0]{reason} eq "start" &&
    $r->{settings}{seed} == 7 && $r->{settings}{time_scale} == 3600'
ok 'decisions and settings are in the JSON'
expect 1 grep -q "$(printf '\033')" err
grep -q '^bats-mpi: [0-9]*s  start: ' err
ok 'without a terminal progress is plain lines'
"$BATS_MPI" status bag >out 2>err
test "$(grep -c ' [1-9][0-9]m[0-9s]*$' out)" = 2
ok 'status shows runtimes in the time of the bag'

# ---- a budget that does not reach ----

expect 4 bats 5 bag --clusters clusters.ini --time-scale 3600 --budget 31 \
    --json report.json
ok 'an exhausted budget is exit code 4'
grep -q 'budget exhausted: [0-9]* of 30 tasks done, [0-9]* left' err
tr -s ' \n' ' ' <err | grep -q 'run again with --resume --budget [0-9]'
ok 'it is said what is left and what to do'
holds "$sums"'$charged <= 31 && $r->{charged} == $charged &&
    $r->{tasks_done} + $r->{tasks_left} == 30 && $r->{tasks_left} > 0 &&
    $r->{rest_cost} > 0 && $r->{outcome} eq "budget_exhausted"'
ok 'the bill is within the budget, and the rest has its price'

# ---- failed tasks ----

for i in $(seq 12); do echo "exit $i"; done >bag
echo 'echo well' >>bag
exits 1 '1 of 13 tasks done, 12 failed' bats 3 bag --json report.json
grep -qE '^ +[0-9]+  exit [0-9]+ .* exit [0-9]+$' err
grep -q '\.\.\.  2 more' err
ok 'the first ten failed tasks are shown, and how many more there are'
holds '@{$r->{failed_tasks}} == 12 && $r->{tasks_failed} == 12 &&
    !grep { $_->{exit_status} != $_->{task} } @{$r->{failed_tasks}}'
ok 'all are in the JSON with their exit status'
grep -q 'no clusters file: .* of 1h: all [0-9]* core-h' err
holds '!defined $r->{budget} && $r->{clusters}[0]{name} eq "all"'
ok 'without a clusters file it is said what that means'

# ---- standard output ----

printf 'echo a; echo b\necho c >&2\n' >bag
bats 3 bag --quiet
test "$(cat err)" = c
test "$(sort out | tr -d '\n')" = ab
ok '--quiet leaves nothing but the output of tasks'
bats 3 bag --quiet --tag
test "$(sort out | tr '\t\n' '>;')" = '1>a;1>b;'
test "$(tr '\t' '>' <err)" = '2>c'
ok '--tag puts the number of the task and a tab before each line'
echo true >bag
bats 3 bag --quiet --json -
holds '$r->{tasks_done} == 1' out
ok '--json - writes to standard output'

# ---- dry run ----

for i in $(seq 50); do echo "touch task$i"; done >bag
bats 5 bag --clusters clusters.ini --budget 100 --dry-run --seed 3
test ! -e task1
finds out '^slow  *2  *2  *3  *6$' '^fast  *2  *2  *12.5  *25$' \
    'slow 2, fast 2, charged 31 SU for the first window'
ok 'a dry run shows the clusters, the start and its charge'
mv out first
bats 5 bag --clusters clusters.ini --budget 100 --dry-run --seed 3
cmp -s out first
ok 'the same seed draws the same tasks'
bats 5 bag --clusters clusters.ini --budget 100 --dry-run --seed 4
expect 1 cmp -s out first
ok 'another seed draws others'

# ---- standard output that cannot be written ----

for i in $(seq 6000); do echo 'echo line; sleep 0.1'; done >bag
expect 3 timeout 60 "$BATS_MPI" bag 2>err </dev/null | head -n 1 >out
grep -q 'cannot be written: Broken pipe' err
ok 'a reader that goes away stops the run, exit code 3'
if [ -w /dev/full ]; then
    expect 3 timeout 60 "$BATS_MPI" bag >/dev/full 2>err </dev/null
    grep -q 'cannot be written: No space left' err
    ok 'a full disk stops the run, exit code 3'
else
    skip 'a full disk stops the run, exit code 3' 'no /dev/full'
fi

done_testing
