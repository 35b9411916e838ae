#!/bin/sh
# Table 2.1 of Oprescu's thesis in the simulator: all fifteen rows, for many
# bags, beside the published figures (which come from one bag each).
#
#   sh benchmarks/sim/table21.sh [SEEDS [KEY=VALUE...]]
#
# SEEDS (default 1-100) is as in a scenario; KEY=VALUE is added to [run];
# without one it is tail=none, for there were no copies of tasks in that
# chapter. Exit status 0 if no run was charged more than its budget.
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/sim/bag.sh
build=${B:-build}
out=$build/sim
seeds=${1:-1-100}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- tail=none
mkdir -p "$out" || exit 1

# scenario $scenario $charge $speed, one policy $policy and budget $budget
scenario() {
    cat <<END
[run]
window = 60m
policy = $policy
budget = $budget
seeds = $seeds
END
    [ $# -eq 0 ] || printf '%s\n' "$@"
    bag 'normal 15m 2.2360680m' "$charge" "$speed"
}

echo "1000 tasks of N(15, 5) minutes, seeds $seeds; budgets as published.
M: windows until the last task ended. machines: of cluster0 and cluster1 after
sampling, the most frequent choice and its share of the runs. cost, makespan: means,
the latter with the 95 % interval; range of the makespan. left: tasks not done,
mean; in brackets the runs that left some, whose makespans do not count.

                   | ------------------------- simulated ------------------------- | --------- published ----------
run         budget | M    cost machines      makespan +-   range     left          | M cost machines makespan | cost makespan"
bad=0
while read -r scenario charge speed run budget p_windows p_cost p_machines \
    p_makespan; do
    case $scenario in '#'* | '') continue ;; esac
    policy=bkp
    [ "$run" = rr ] && policy=rr
    file=$out/$scenario-$run
    [ "$budget" = - ] && budget=unlimited
    scenario "$@" >"$file.scn"
    "$build/bats-mpi" simulate "$file.scn" --csv >"$file.csv" || bad=1
    sed 1d "$file.csv" | sort -t, -k7,7n | awk -F, -v scenario="$scenario" \
        -v run="$run" -v budget="$budget" -v p_windows="$p_windows" \
        -v p_cost="$p_cost" -v p_machines="$p_machines" \
        -v p_makespan="$p_makespan" '
        function minutes(s) { return int(s / 60) "m" int(s % 60) "s" }
        {
            charged += $9
            left += $14
            partial += $14 > 0
            machines[$19 "," $20]++
            if ($14 > 0)
                next
            n++
            sum += $7
            square += $7 * $7
            windows[int($7 / 3600) + ($7 % 3600 > 0)]++
            if (n == 1)
                low = $7
            high = $7
        }
        END {
            for (m in machines)
                if (machines[m] > most) { most = machines[m]; best = m }
            for (w in windows)
                if (windows[w] > often) { often = windows[w]; window = w }
            split(p_makespan, p, /[ms]/)
            published = 60 * p[1] + p[2]
            mean = n > 0 ? sum / n : 0
            margin = n > 1 ? 1.98 * sqrt((square - n * mean * mean) / \
                (n - 1) / n) : 0
            printf "%-4s %-8s %5s | %d %7.1f %6s %3d%% %9s %4ds %s-%s %5.1f (%d) | %s %4s %6s %8s | %+5.1f%% %+5.1f%%\n",
                scenario, run, budget == "unlimited" ? "-" : budget, window,
                charged / NR, best, 100 * most / NR, minutes(mean), margin,
                minutes(low), minutes(high), left / NR, partial, p_windows,
                p_cost, p_machines, p_makespan,
                100 * (charged / NR / p_cost - 1),
                100 * (mean / published - 1)
        }'
done <benchmarks/das/published.tsv
exit $bad
