#!/bin/bash
# Machines that are bought as jobs of their own. What they were billed is asked
# of Slurm's controller, which knows when a job began and ended.
. "$TOP/tests/slurm/lib.sh"

alloc() {
    bag=$1
    shift
    bats-mpi alloc "$bag" --host 10.77.0.1 --poll 1s --json report "$@" \
        >out 2>err
}
agrees() { # BAG
    test "$(charged "$1")" != 0.000000
    same "$(billed_by_squeue "$1")" "$(charged "$1")"
}

for i in $(seq 12); do echo "sleep 1; echo $i >>ran"; done >bag.txt
alloc bag.txt -p fast -b 100 --slots 2 --max-jobs 2 --window 20s --dry-run
finds out '^fast: 16 billing-h per hour' "^ *sbatch .* --array=0-1 "
test ! -e ran
test ! -e bag.txt.bats
grep -q "^exec .*bats-mpi' lease 75 srun .*bats-mpi' worker --join " out
alloc bag.txt -p fast -b 100 --dry-run
grep -q "^exec .*bats-mpi' lease 75 '[^ ]*bats-mpi' worker --join " out
alloc bag.txt -p fast -b 100 --dry-run --guarantee limit
grep -q "^exec '[^ ]*bats-mpi' worker --join " out
ok 'a dry run shows the first jobs and starts nothing'
alloc bag.txt -p fast,slow --minimize cost --dry-run
grep -q '^ *sbatch .* --partition=slow .* --array=0-6 ' out
test "$(grep -c '^ *sbatch .* --partition=fast ' out)" -eq 1
ok 'for the least cost all of them but one are in the cheapest partition'
printf '#!/bin/sh\n#BATS parameter x integer range from 1 to 4 step 1\necho "$x"\n' >sweep.sh
alloc sweep.sh -p fast -b 100 --slots 2 --max-jobs 2 --window 20s --dry-run
finds out '^fast: 16 billing-h per hour' "^ *sbatch .* --array=0-1 "
ok 'and so does that of a script with parameters'
for i in $(seq 12); do
    echo "#BATS task t$i${before:+ after $before}"
    echo 'sleep 1'
    before=t$i
done >chain.txt
alloc chain.txt -p fast -b 100 --slots 2 --max-jobs 2 --window 20s --dry-run
test "$(grep -c '^ *sbatch ' out)" -eq 1
ok 'and buys no more for a chain of tasks than one can use'
# works WORDS [OPTION...]: what a dry run says of the time for which jobs work.
works() {
    words=$1
    shift
    alloc bag.txt -p slow,fast -b 100 --guarantee limit --dry-run "$@"
    grep -qx "A job works for $words." out
}
works '20s, or for less at the end of the bag' --window 20s
works '10m, or for less at the end of the bag; for longer if the tasks need it'
scontrol update PartitionName=slow MaxTime=1-00:00:00
works '10m, .* for longer, at most 23h59m, if the tasks need it'
scontrol update PartitionName=fast MaxTime=1:00:00
works '10m, .* for longer, at most 59m, if the tasks need it'
alloc bag.txt -p slow,fast --dry-run
grep -qx 'A job asks for 59m, and ends when it has no more to do.' out
alloc bag.txt -p slow,fast -b 100 --dry-run
grep -qx 'A job asks for 59m, and ends when it has no more to do.' out
grep -qx 'It is paid for 1m15s ahead, and ends if nobody prolongs that.' out
grep -q -- '--time=60 ' out
scontrol update PartitionName=fast MaxTime=10:00
works '9m50s, or for less at the end of the bag'
words='a job in partition fast may ask for 10m at most: the window is 9m50s'
grep -qx "bats-mpi: $words" err
for partition in slow fast; do
    scontrol update PartitionName=$partition MaxTime=UNLIMITED
done
ok 'and tells for how long jobs may work in these partitions'
# believe SECONDS_ON_SLOW SECONDS_ON_FAST BUDGET: where the first jobs go, and what
# a history in which tasks took so long says.
believe() {
    rm -f past.db
    for job in 1 2; do
        for cluster in "slow $1" "fast $2"; do
            set -- $cluster "$@"
            echo "{\"run\": \"$job\", \"ended_s\": 170000000$job," \
                "\"kind\": \"sleep\", \"cluster\": \"$1\"," \
                "\"tasks\": 9, \"sum_s\": $((9 * $2))," \
                "\"squares\": $((9 * $2 * $2))}"
            shift 2
        done
    done >past.json
    bats-mpi history import past.json --history past.db >out
    alloc sleeps.txt -p slow,fast -b "$3" --max-jobs 2 --window 60s \
        --history past.db --dry-run
    sed -n 's/^ *sbatch .*--partition[= ]\([a-z]*\).*/\1/p' out >where
}
for i in $(seq 200); do echo 'sleep 1'; done >sleeps.txt
believe 500 1 0.7
grep -q '^from 2 earlier bags: 1s, .* on fast; 500 times as fast as slow$' out
test "$(sort -u where)" = fast
believe 9 10 2
grep -q '^from 2 earlier bags: 9s, .* on slow' out
head -n 1 where | grep -qx slow
ok 'the first jobs are of the partition that the history says is worth it'
# mark WORDS: of jobs that are asked for with these words of --sbatch.
mark() {
    alloc bag.txt -p fast -b 100 --slots 2 --max-jobs 2 --window 20s --dry-run \
        --sbatch "$1" && grep -o -m 1 'comment=[^ ]*' out
}
test "$(mark '-s -c 1')" = "$(mark '-s -c 1')"
test "$(mark '-s -c 1')" != "$(mark '-s -c1')"
ok 'jobs that ask for something else have another mark'

alloc bag.txt -p fast -b 100 --slots 2 --max-jobs 2 --window 20s
test "$(sort -u ran | wc -l)" -eq 12
grep -q '"outcome": "done"' report || cat report >err
ok 'a bag is done by jobs that are bought for it'
within 60 none_left bag.txt
ok 'no job is left'
agrees bag.txt
ok 'what was charged is what the jobs held'
bats-mpi record verify bag.txt >out 2>err
ok 'and the record agrees with itself'

# 16 per hour: a job may be billed for 60 s and KillWait and 5 s, 0.423. 0.9
# pays two at a time, but not three.
rm ran
alloc bag.txt -p fast -b 0.9 --slots 2 --max-jobs 8 --window 20s \
    --guarantee limit
test "$(sort -u ran | wc -l)" -eq 12
agrees bag.txt
awk -v charged="$(charged bag.txt)" 'BEGIN { exit charged > 0.9 }'
sqlite3 bag.txt.bats "SELECT sum(what = 'acquire') OVER (ORDER BY seq) -
        sum(what = 'billed') OVER (ORDER BY seq) AS n FROM happened
    ORDER BY n DESC LIMIT 1" >most
grep -qx 2 most
ok 'money is held for jobs until they are billed'

# Nodes have 64 cores at 8, though the job asks for 2 of them.
rm ran
alloc bag.txt -p fast -b 100 --slots 2 --max-jobs 1 --window 20s \
    --sbatch --exclusive
grep -q 'whole nodes and are billed for all of them, 512' err
test "$(sort -u ran | wc -l)" -eq 12
agrees bag.txt
ok 'a job that holds a whole node is priced as one before it starts'

# The sixth of twelve tasks, one after the other, ends the job that it runs in,
# the first time. By then it is known how long a task takes: what is left needs
# no whole window, and the next job asks for less, and holds less money.
for i in $(seq 12); do
    echo "#BATS task t$i${after:+ after $after}"
    if [ $i -eq 6 ]; then
        echo '[ -e cut ] || { touch cut; squeue -h -t R -o %i |' \
            'xargs scancel; sleep 60; }; echo 6 >>ran3'
    else
        echo "sleep 1; echo $i >>ran3"
    fi
    after=t$i
done >short.txt
alloc short.txt -p fast -b 100 --max-jobs 1 --window 30m --guarantee limit
test "$(sort -u ran3 | wc -l)" -eq 12
squeue -h -t all -n "$(name_of short.txt)" -O JobID:20,TimeLimit:20 |
    sort -n | awk '{ print $2 }' >limits
test "$(head -n 1 limits)" = 31:00
test "$(wc -l <limits)" -eq 2
awk -F: 'END { exit !(NF == 2 && $1 < 31) }' limits
ok 'a job that the rest of the bag does not fill asks for less time'
sqlite3 short.txt.bats "SELECT value / 60e6 FROM happened
    WHERE what = 'acquire' ORDER BY seq" >lengths
awk -F: 'NR == FNR { minutes[FNR] = $1; next }
    { n += minutes[FNR] == $1 + 1 } END { exit n != 2 }' limits lengths
agrees short.txt
bats-mpi record verify short.txt >out 2>err
ok 'which is what the engine wanted'

# Two tasks, of which one outlasts any job of this window.
printf '%s\n' 'sleep 1' 'echo half >&2; exec sleep 600' >long.txt
expect 1 alloc long.txt -p fast -b 100 --slots 2 --max-jobs 1 --window 8s
words='it did not end within three whole jobs, and needs a longer --window'
says() { tr -s '\n ' '  ' <"$1" | grep -qE "$2"; }
says err "task 2 on [^ ]*, too long: $words .*: half "
bats-mpi tasks --failed long.txt >out
says out "task 2 on [^ ]*, too long: $words .*: half "
bats-mpi why long.txt 2 >out
says out "failed: too long after [^ ]* on [^ ]*: $words "
bats-mpi why long.txt >out
says out "too long: $words"
bats-mpi report long.txt -o page.html
says page.html "too long\",\"advice\":\": $words"
test "$(sqlite3 long.txt.bats "SELECT count(*) FROM happened
    WHERE what = 'billed'")" -ge 3 # a job that starts late is not a whole one
agrees long.txt
ok 'a task that outlasts three jobs has failed for that, and is said to need more'

expect 4 alloc bag.txt -p fast -b 0.1 --slots 2 --window 20s
grep -q 'does not pay one job: 0.155556 billing-h are held for one in' err
ok 'where the budget does not pay one job, none is submitted'
exits 2 'partition' alloc bag.txt -p nowhere -b 1
ok 'a partition that does not exist is refused before anything starts'
exits 2 '--partition is missing' alloc bag.txt -b 1
ok 'a partition has to be given'
done_testing
