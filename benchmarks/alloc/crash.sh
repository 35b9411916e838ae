#!/bin/bash
# crash.sh [KILLS]: kills the master of bats-mpi alloc at random moments, and
# resumes, until it was killed so often (default 50). Then no job of the run may
# be in the queue, and the ledger has to be what sacct says, to a hundredth of
# a percent. In the testbed, with slurmdbd; from the top of the sources, after
# make.
. "${TOP:-$PWD}/benchmarks/alloc/lib.sh"
kills=${1-50}
RANDOM=${SEED-1}
killed=0 bags=0 runs=0 worst=0
while [ $killed -lt "$kills" ]; do
    bags=$((bags + 1))
    bag=bag$bags.txt
    for i in $(seq 40); do echo "sleep 0.$((RANDOM % 9 + 1)); echo $i >>ran$bags"; done >$bag
    code=137
    while [ $code -eq 137 ]; do
        runs=$((runs + 1))
        bats-mpi alloc $bag --host 10.77.0.1 --poll 1s --resume -b 500 \
            -p fast,slow --slots 2 --max-jobs 4 --window 15s \
            --silence 5s >>out 2>>err &
        master=$!
        sleep 0.$((RANDOM % 10)) $((RANDOM % 6)).$((RANDOM % 10))
        if [ $killed -lt "$kills" ] && kill -KILL $master 2>/dev/null; then
            killed=$((killed + 1))
        fi
        code=0
        wait $master || code=$?
    done
    name=$(sqlite3 $bag.bats "SELECT jobs_name
        FROM session ORDER BY id DESC LIMIT 1")
    charged=$(sqlite3 $bag.bats 'SELECT sum(amount) / 1e6 FROM charge WHERE account = 0')
    billed=$(sacct -X -n -P -j "$(squeue -h -t all -n "$name" -o %i |
        paste -sd,)" -o ElapsedRaw,AllocTRES | awk -F'|' '{ rate = $2
            if (sub(/.*billing=/, "", rate)) { sub(/,.*/, "", rate)
                sum += $1 * rate } } END { printf "%.6f", sum / 3600 }')
    left=$(squeue -h -n "$name" -o %i | wc -l)
    done=$(sort -u ran$bags | wc -l)
    echo "bag $bags: exit $code, killed $killed so far, $done of 40 tasks," \
        "charged $charged, billed $billed, $left jobs left"
    awk -v c="$charged" -v b="$billed" 'BEGIN {
        exit !(c - b <= 1e-4 + b / 1e4 && b - c <= 1e-4 + b / 1e4) }' &&
        [ "$left" -eq 0 ] && [ "$code" -eq 0 ] && [ "$done" -eq 40 ] || {
        worst=1
        sacct -X -n -P --starttime now-1days --name "$name" \
            -o JobID,State,ElapsedRaw,AllocTRES
        sqlite3 $bag.bats "SELECT session, time_us / 1e6, machine, amount
            FROM charge"
    }
done
echo "$killed kills in $runs runs of $bags bags: $([ $worst = 0 ] && echo all agree || echo THEY DIFFER)"
exit $worst
