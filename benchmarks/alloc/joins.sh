#!/bin/sh
# Worker jobs of one rank, many at once, that join a run over the loopback
# interface and leave it: how fast, at what cost to the master, and whether a
# result is lost or counted twice.
#
#   sh benchmarks/alloc/joins.sh [JOBS [TASKS]]     default 200, 20 each
#
# JOBS processes `bats-mpi worker` are started at once. When a quarter of the
# tasks (`@sleep 0.5`: no process, no load) are done, a tenth of the jobs is
# killed and a fifth told to end (SIGTERM, as when a job is preempted); for each
# of them another one starts. At the end all are sent off.
#
# Second table: one worker job that comes to a run with one task. From the
# start of its process to that of the task.
. "$(dirname "$0")/loopback.sh"
jobs=${1:-200}
tasks=${2:-$((20 * jobs))}
command -v sqlite3 >/dev/null || { echo "No sqlite3 here." && exit 0; }

# now: seconds since 1970
now() {
    date +%s.%N
}
workers() { # FIRST LAST: starts them; their processes are in the file pids
    for i in $(seq "$1" "$2"); do
        "$bats" worker --join door --job "j$i" >>said 2>&1 &
        echo $! >>pids
    done
}
results() {
    tail -n +2 joblog 2>/dev/null | wc -l
}

printf '%s\n' '[cluster w]' "ranks = 1-$((2 * jobs))" 'charge = 1' \
    >clusters.ini
yes '@sleep 0.5' | head -n "$tasks" >bag
begin bag --policy rr --tail none --joblog joblog --record record --silence 30s
start=$(now)
workers 1 "$jobs"
started=$(now)
until [ "$(results)" -ge $((tasks / 4)) ]; do sleep 0.1; done
awk 'NR % 10 == 5' pids | xargs kill -KILL
awk 'NR % 10 < 2' pids | xargs kill -TERM
workers $((jobs + 1)) $((jobs + 3 * jobs / 10))
while kill -0 "$master" 2>/dev/null; do # its time, while it can be asked
    cp "/proc/$master/stat" stat.new 2>/dev/null && mv stat.new stat
    sleep 0.05
done
wait "$master"
code=$?
ended=$(now)
wait
left=$(now)
ticks=$(getconf CLK_TCK)
once=$(tail -n +2 joblog | awk '$7 == 0 { n[$1]++ }
    END { for (i in n) once += n[i] == 1; print once + 0 }')
sqlite3 record "SELECT time_us / 1e6 FROM happened WHERE what = 'joined'
    ORDER BY time_us" >joins
awk -v jobs="$jobs" -v code=$code -v once="$once" -v tasks="$tasks" \
    -v start="$start" -v started="$started" -v ended="$ended" -v left="$left" \
    -v ticks="$ticks" '
    FILENAME == "joins" { t[++n] = $1; next }
    { cpu = ($14 + $15) / ticks }
    END {
        print "| jobs | started in | all joined after | tasks | done once |" \
            " makespan | all left after | time of the master |"
        print "|--:|--:|--:|--:|--:|--:|--:|--:|"
        printf "| %d + %d | %.1f s | %.1f s | %d | %d | %.1f s | %.1f s |" \
            " %.2f s |\n", jobs, n - jobs, started - start, t[jobs] - t[1],
            tasks, once, ended - start, left - ended, cpu
        exit code != 0 || once != tasks
    }' joins stat || { cat err said >&2; exit 1; }

# ---- one job ----

echo
echo 'date +%s.%N' >one
echo '| repeats | process to task, ms: p50 | largest |'
echo '|--:|--:|--:|'
for i in $(seq 20); do
    begin one --no-record
    sleep 0.1
    start=$(now)
    "$bats" worker --join door --job one
    wait "$master"
    echo "$start $(cat out)"
done | awk '{ print 1000 * ($2 - $1) }' | sort -n | awk '
    { t[NR] = $1 }
    END { printf "| %d | %.0f | %.0f |\n", NR, t[int((NR + 1) / 2)], t[NR] }'
