#!/bin/bash
# Machines that are bought as jobs of their own. What they were billed is asked
# of Slurm's controller, which knows when a job began and ended.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"
common="$common --json report"

# dry BAG OPTION...: the first jobs, as a dry run shows them; finds those words.
dry() {
    alloc "$@" --dry-run
}
tasks bag 12
jobs='-p fast -b 100 --slots 2 --max-jobs 2 --window 20s'
dry bag $jobs
finds out '^fast: 16 billing-h per hour' '^ *sbatch .* --array=0-1 ' \
    "^exec .*bats-mpi' lease 75 srun .*bats-mpi' worker --join "
test ! -e ran.bag
test ! -e bag.bats
dry bag -p fast -b 100
grep -q "^exec .*bats-mpi' lease 75 '[^ ]*bats-mpi' worker --join " out
dry bag -p fast -b 100 --guarantee limit
grep -q "^exec '[^ ]*bats-mpi' worker --join " out
ok 'a dry run shows the first jobs and starts nothing'
dry bag -p fast,slow --minimize cost
grep -q '^ *sbatch .* --partition=slow .* --array=0-6 ' out
test "$(grep -c '^ *sbatch .* --partition=fast ' out)" -eq 1
ok 'for the least cost all of them but one are in the cheapest partition'
printf '#!/bin/sh\n#BATS parameter x integer range from 1 to 4 step 1\necho "$x"\n' >sweep.sh
dry sweep.sh $jobs
finds out '^fast: 16 billing-h per hour' '^ *sbatch .* --array=0-1 '
chain 12 'sleep 1' >chain.txt
dry chain.txt $jobs
test "$(grep -c '^ *sbatch ' out)" -eq 1
ok 'a script with parameters is a bag, and a chain of tasks gets one job'
# works WORDS [OPTION...]: what a dry run says of the time for which jobs work.
works() {
    dry bag -p slow,fast -b 100 --guarantee limit "${@:2}"
    grep -qx "A job works for $1." out
}
max() { scontrol update PartitionName=$1 MaxTime=$2; }
works '20s, or for less at the end of the bag' --window 20s
works '10m, or for less at the end of the bag; for longer if the tasks need it'
max fast 1:00:00
works '10m, .* for longer, at most 59m, if the tasks need it'
dry bag -p slow,fast -b 100
finds out '^A job asks for 59m, and ends when it has no more to do\.$' \
    '^It is paid for 1m15s ahead, and ends if nobody prolongs that\.$' \
    '--time=60 '
max fast 10:00
works '9m50s, or for less at the end of the bag'
words='a job in partition fast may ask for 10m at most: the window is 9m50s'
grep -qx "bats-mpi: $words" err
max slow UNLIMITED
max fast UNLIMITED
ok 'and tells for how long jobs may work in these partitions'
for took in '"slow", "sum_s": 4500, "squares": 2250000' \
    '"fast", "sum_s": 9, "squares": 9'; do
    printf "{\"run\": \"%d\", \"ended_s\": 1700000000, \"kind\": \"sleep\",
        \"tasks\": 9, \"cluster\": $took}" 1 2 | tr -d '\n' | sed 's/}/&\n/g'
done >past.json
bats-mpi history import past.json --history past.db >out
yes 'sleep 1' | head -n 200 >sleeps
dry sleeps -p slow,fast -b 0.7 --max-jobs 2 --window 60s --history past.db
grep -q '^from 2 earlier bags: 1s, .* on fast; 500 times as fast as slow$' out
test "$(sed -n 's/^ *sbatch .*--partition[= ]\([a-z]*\).*/\1/p' out | sort -u)" = fast
ok 'the first jobs are of the partition that the history says is worth it'
# buys BAG N OPTION...: all N tasks are done by jobs that are bought for it.
buys() {
    rm -f ran.$1
    alloc $1 "${@:3}"
    sort -nu ran.$1 | diff - <(seq $2)
    settled $1
    test "$(charged $1)" != 0.000000
}
buys bag 12 $jobs
holds '.outcome == "all_done"'
ok 'a bag is done by jobs that are bought for it, and charged what they held'

# 16 per hour: a job may be billed for 60 s and KillWait and 5 s, 0.423. 0.9
# pays two at a time, but not three.
buys bag 12 -p fast -b 0.9 --slots 2 --max-jobs 8 --window 20s --guarantee limit
awk -v charged="$(charged bag)" 'BEGIN { exit charged > 0.9 }'
test "$(sql bag.bats "SELECT sum(what = 'acquire') OVER (ORDER BY seq) -
        sum(what = 'billed') OVER (ORDER BY seq) AS n FROM happened
    ORDER BY n DESC LIMIT 1")" = 2
ok 'money is held for jobs until they are billed'

# Nodes have 64 cores at 8, though the job asks for 2 of them.
buys bag 12 -p fast -b 100 --slots 2 --max-jobs 1 --window 20s --sbatch --exclusive
grep -q 'whole nodes and are billed for all of them, 512' err
ok 'a job that holds a whole node is priced as one before it starts'

# The sixth of twelve tasks, one after the other, ends the job that it runs in,
# the first time. By then it is known how long a task takes: what is left needs
# no whole window, and the next job asks for less, and holds less money.
chain 12 'sleep 1; echo $BATS_TASK_ID >>ran.short' >short
sed -i "12s/.*/[ -e cut ] || { touch cut; squeue -h -t R -o %i | xargs scancel; sleep 60; }; echo 6 >>ran.short/" \
    short
buys short 12 -p fast -b 100 --max-jobs 1 --window 30m --guarantee limit
squeue -h -t all -n "$(name_of short)" -O JobID:20,TimeLimit:20 |
    sort -n | awk '{ print $2 }' >limits
test "$(head -n 1 limits)" = 31:00
test "$(wc -l <limits)" -eq 2
awk -F: 'END { exit !(NF == 2 && $1 < 31) }' limits
sql short.bats "SELECT value / 60e6 FROM happened
    WHERE what = 'acquire' ORDER BY seq" >lengths
awk -F: 'NR == FNR { minutes[FNR] = $1; next }
    { n += minutes[FNR] == $1 + 1 } END { exit n != 2 }' limits lengths
ok 'a job that the rest of the bag does not fill asks for less time, as wanted'

# Two tasks, of which one outlasts any job of this window.
printf '%s\n' 'sleep 1' 'echo half >&2; exec sleep 600' >long
expect 1 alloc long -p fast -b 100 --slots 2 --max-jobs 1 --window 8s
words='it did not end within three whole jobs, and needs a longer --window'
# says FILE PATTERN, in lines of any length.
says() { tr -s '\n ' '  ' <"$1" | grep -qE "$2"; }
says err "task 2 on [^ ]*, too long: $words .*: half "
says <(bats-mpi tasks --failed long) "task 2 on [^ ]*, too long: $words .*: half "
says <(bats-mpi why long 2) "failed: too long after [^ ]* on [^ ]*: $words "
says <(bats-mpi why long) "too long: $words"
bats-mpi report long -o page.html
says page.html "too long\",\"advice\":\": $words"
test "$(sql long.bats "SELECT count(*) FROM happened
    WHERE what = 'billed'")" -ge 3 # a job that starts late is not a whole one
settled long
test "$(charged long)" != 0.000000
ok 'a task that outlasts three jobs has failed for that, and is said to need more'

exits 4 'does not pay one job: 0.155556 billing-h are held for one in' \
    alloc bag -p fast -b 0.1 --slots 2 --window 20s
exits 2 'partition' alloc bag -p nowhere -b 1
exits 2 '--partition is missing' alloc bag -b 1
BATS_GRAMS_PER_KWH=much exits 2 "BATS_GRAMS_PER_KWH: 'much' is not" alloc bag -p fast -b 1
ok 'a small budget, an unknown or a missing partition are refused before a job'
done_testing
