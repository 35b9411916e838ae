#!/bin/sh
# Table III of the deadline-and-budget paper: its seven clusters emulated on 114
# ranks of this machine in compressed time, 200 tasks, a deadline of two hours,
# a budget of 600. A task waits for 10 to 70 units of time, and a unit is so
# long that the bag costs 188 where a minute costs 1, as it did in the paper.
#
# The paper ran its two strategies one after the other, and blames what the
# second one cost on machines that had become slower or did not answer in the
# meantime. Here both meet both: at 10, all machines; at 11, of the clusters at
# 1 a minute the Canadian SP, the physics cluster and node2001, at 0.68 of their
# speed (188 / 277), and the dearer ones as they were.
#
#   sh benchmarks/dbc/ranks.sh [SCALE [SEEDS]]   default 30 and 1; 5 minutes
cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
build=${B:-build}
scale=${1:-30}
out=$build/bench/dbc/ranks
mkdir -p "$out" || exit 1

cluster() { # NAME FIRST LAST CHARGE SPEED: 188 minutes / 200 tasks
    printf '[cluster %s]\nranks = %d-%d\ncharge = %d\nspeed = %s\n' "$@"
    echo 'expected = 56.4s'
}

platform() { # SPEED [all]: 1 G$ is for a minute
    printf '[run]\nwindow = 1m\nbilling = use\ncurrency = G$\n'
    cluster hpc76 1 4 1 "$1"
    cluster node2001 5 20 1 "$1"
    cluster lem 21 30 1 "$1"
    cluster node1001 31 54 3 1
    cluster fs0 55 86 2 1
    [ "$2" != all ] || {
        cluster herschel 87 106 1 1
        cluster gnet01 107 114 1 1
    }
}

bag() { # SEED: figure 9 with its function as a wait
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        for (i = 1; i <= 200; i++) sum += x[i] = 10 + 60 * rand()
        for (i = 1; i <= 200; i++) printf "@sleep %.3f\n", x[i] * 188 * 60 / sum
    }'
}

play() { # HOUR POLICY SEED
    ranks=115
    [ "$1" = 10 ] || ranks=87
    "$build/bats-mpi" run -j $((ranks - 1)) "$out/bag.txt" --policy "$2" --quiet \
        --no-record --clusters "$out/$1.ini" --time-scale "$scale" \
        --deadline 2h --budget 600 --seed "$3" --json "$out/run.json" \
        >/dev/null || exit
    perl benchmarks/json.pl "$out/run.json" makespan_s charged tasks_done |
        xargs
}

platform 1 all >"$out/10.ini"
platform 0.68 >"$out/11.ini"
printf '%-6s %-14s %5s %9s %6s %6s\n' hour policy seed minutes 'G$' tasks
for seed in $(seq "${2:-1}"); do
    bag "$seed" >"$out/bag.txt"
    for hour in 10 11; do
        for policy in dbc-cost dbc-cost-time; do
            set -- $(play $hour $policy "$seed") || exit 1
            echo "$hour $policy $seed $1 $2 $3" |
                awk '{ printf "%-6s %-14s %5d %9.1f %6.1f %6d\n", $1, $2, $3,
                    $4 / 60, $5, $6 }'
        done
    done
done
