#!/bin/bash
# runs.sh [RUNS]: bats-mpi alloc with different bags, partitions, jobs and
# budgets (default 20): what the ledger has charged, and what sacct says was
# billed.
. "${TOP:-$PWD}/benchmarks/alloc/lib.sh"
partitions=(fast slow fast,slow preemptible,fast)
echo 'run partitions       slots jobs window tasks done budget  charged   billed  ratio  first task'
{
# Each subshell of bash begins with a seed of its own.
RANDOM=${SEED-1}
for run in $(seq "${1-20}"); do
    bag=bag$run.txt
    tasks=$((20 + RANDOM % 60))
    # Lognormal runtimes, mean about 0.7 s.
    awk -v n=$tasks -v seed=$RANDOM 'BEGIN { srand(seed)
        for (i = 0; i < n; i++) {
            z = sqrt(-2 * log(1 - rand())) * cos(6.283185 * rand())
            printf "sleep %.2f\n", exp(-0.7 + 0.8 * z) } }' >$bag
    partition=${partitions[run % 4]}
    slots=$((1 + RANDOM % 4)) jobs=$((2 + RANDOM % 6)) window=$((8 + RANDOM % 20))
    # From what pays one job at a time to what pays everything.
    budget=$(awk -v s=$slots -v f="$((RANDOM % 40))" 'BEGIN {
        printf "%.2f", 8 * s * 95 / 3600 * (1.1 + f / 10) }')
    code=0
    alloc $bag -p "$partition" -b "$budget" --slots $slots --max-jobs $jobs \
        --window ${window}s || code=$?
    charged=$(charged_of $bag)
    billed=$(billing "$(jobs_of $bag)")
    done=$(sqlite3 $bag.bats 'SELECT done FROM progress')
    # From the decision, which is at the start, to the first task.
    first=$(sqlite3 $bag.bats 'SELECT (SELECT min(start_us) FROM execution) / 1e6 -
        (SELECT min(started_us) FROM session) / 1e6')
    awk -v run="$run" -v f="${first:-0}" -v p="$partition" -v s=$slots -v j=$jobs -v w=$window \
        -v t=$tasks -v d="$done" -v B="$budget" -v c="$charged" \
        -v b="$billed" 'BEGIN {
        printf("%3d %-16s %5d %4d %5ds %5d %4d %6.2f %8.5f %8.5f %6s %6.2f s %s\n",
            run, p, s, j, w, t, d, B, c, b,
            (b > 0) ? sprintf("%.4f", c / b) : "-", f,
            (b > B + 1e-9) ? "ABOVE BUDGET" : "") }'
done
} | tee table
awk '$10 > 0 { r = $9 / $10; n++; if (r > max) max = r
        if (!min || r < min) min = r; f[n] = $12 } /ABOVE/ { above++ }
    END { printf "%d runs: charged / billed %.4f to %.4f, %d above budget\n",
        n, min, max, above
        for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++)
            if (f[k] < f[i]) { t = f[i]; f[i] = f[k]; f[k] = t }
        printf "decision to first task: %.2f to %.2f s, median %.2f\n",
            f[1], f[n], f[int((n + 1) / 2)] }' table
