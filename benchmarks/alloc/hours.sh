#!/bin/bash
# hours.sh [JOBS [TASKS [MEAN]]]: so many jobs at a time (default 100) on tasks of MEAN
# seconds (60: ten minutes, ten times shorter; lognormal, deviation a half), with 1.1
# times the bill of an ideal array of one job per task: bill by sacct, charge and wall
# time beside the array's. In the testbed, with slurmdbd; from the top of the sources,
# after make.
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/jobs.sh"
trap - ERR
jobs=${1-100} tasks=${2-700} mean=${3-60}
awk -v n="$tasks" -v mean="$mean" -v jobs="$jobs" 'BEGIN {
    srand(1)
    v = log(1.25)
    for (i = 0; i < n; i++) {
        z = sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
        x = mean * exp(sqrt(v) * z - v / 2)
        printf "sleep %.2f\n", x >"bag"
        b = 0
        for (k = 1; k < jobs; k++)
            if (free[k] + 0 < free[b] + 0) b = k
        free[b] += x + 0.6
        sum += x + 0.25
        if (free[b] > wall) wall = free[b]
    }
    printf "%.6f %.1f\n", sum * 3 / 3600, wall }' >array
read -r bill wall <array
start=$(date +%s.%N)
alloc bag -p slow --max-jobs "$jobs" --silence 60s --grace 5s \
    -b "$(awk -v b="$bill" 'BEGIN { printf "%.4f", 1.1 * b }')"
echo "exit $?, wall $(date +%s.%N | awk -v s="$start" '{ printf "%.1f", $1 - s }')" \
    "(array $wall), $(sqlite3 bag.bats "SELECT count(*) FROM tasks
        WHERE state = 'done'") of $tasks done"
name=$(name_of bag)
within 60 sh -c "! sacct -X -n -P -S now-1days --name=$name -o End | grep -q Unknown"
echo "charged $(charged_of bag), billed $(sacct -X -D -n -P -S now-1days \
    --name="$name" -o ElapsedRaw,AllocTRES | awk -F'|' '
    sub(/.*billing=/, "", $2) { sum += $1 * $2 } END { printf "%.6f", sum / 3600 }')" \
    "(array $bill), jobs $(sacct -X -D -n -P -S now-1days --name="$name" \
        -o ElapsedRaw | grep -vc '^0$')"
