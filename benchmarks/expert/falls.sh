#!/bin/bash
# Two builds of bats-mpi where reliability changes during a run: is it worth
# knowing sooner? The mixture of ExPERT (mixture.sh), with 150 and 600 tasks;
# the change comes a third, half or all of the way to the end of the bag, as
# long as it would take without one. Ratios of OTHER to the build: geometric
# means over the same seeds, with half their 95 % intervals.
#
#   [TASKS=600] bash benchmarks/expert/falls.sh OTHER [SEEDS]
#                                                    default 3001-3100
#
# OTHER is a bats-mpi; CHANGE_AT (seconds), GAMMA_BEFORE and GAMMA_AFTER are in
# its environment, for one that looks up what it should have to find out.
other=$(realpath "${1:?which other bats-mpi?}") || exit 1
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/expert/mixture.sh
seeds=${2:-3001-3100}

runs() { # PROGRAM: seed, makespan and charge
    nice "$1" simulate scenario --csv | awk -F, 'NR > 1 { print $1, $7, $9 }'
}

ratios() { # TASKS UTILITY RELIABILITY
    mixture "billing = use\npolicy = expert\nseeds = $seeds\nutility = $2" \
        "reliability = $3\ncharge_lost = no" |
        sed "s/^tasks = .*/tasks = $1/" >scenario
    join <(runs "$build/bats-mpi") <(runs "$other") | awk '
        { n++; d[1] = log($4 / $2); d[2] = log($5 / $3); d[3] = d[1] + d[2]
          for (i = 1; i <= 3; i++) { s[i] += d[i]; ss[i] += d[i] * d[i] } }
        END { for (i = 1; i <= 3; i++) {
            v = (ss[i] / n - (s[i] / n) ^ 2) / (n - 1)
            printf " %.2f ± %.2f |", exp(s[i] / n), 1.96 * sqrt(v > 0 ? v : 0)
        } }'
}

echo '| tasks | gamma | change | utility | makespan | charge | product |'
echo '|--:|---|---|---|--:|--:|--:|'
for tasks in ${TASKS:-150 600}; do
    while read -r before after share; do
        CHANGE_AT=$(awk -v n="$tasks" -v gamma="$before" -v share="$share" \
            'BEGIN { printf "%.0f", n / 50 * 2066 / gamma * share }')
        export CHANGE_AT GAMMA_BEFORE=$before GAMMA_AFTER=$after
        gamma="$before, $after from ${CHANGE_AT}s"
        for utility in product fastest cheapest; do
            echo "| $tasks | $before to $after | $share | $utility |$(
                ratios "$tasks" "$utility" "$gamma")"
        done
    done <<END
0.827 0.827 1
0.95 0.95 1
0.95 0.6 0.333
0.95 0.6 0.5
0.95 0.6 1
0.83 0.5 0.333
0.83 0.5 0.5
0.6 0.95 0.333
END
done
