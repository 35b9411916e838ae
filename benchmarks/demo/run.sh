#!/bin/sh
# make demo: a parameter sweep on MPI ranks within a budget, and its bill.
#
#   sh benchmarks/demo/run.sh [SEEDS [BUDGET]]     default 20 seeds, 160 SU
#
# Everything runs on this machine: 8 workers and a master, two clusters that
# are emulated by stopping and continuing the workers' processes. The time that
# machines are charged for is compressed: a run on economy counts as 400
# seconds, so that an hour lasts about 3.
cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
build=${B:-build}
seeds=${1:-20}
budget=${2:-160}
out=$build/demo
rm -rf "$out"
mkdir -p "$out" || exit 1

# The bag: one command per line.
for seed in $(seq "$seeds"); do
    for rate in 0.1 0.3 0.5 0.7 0.9; do
        for radius in 1 2 3 5 8; do
            echo "$build/apps/som --data benchmarks/apps/iris.csv" \
                "--iterations 30000 --seed $seed --rate $rate" \
                "--radius $radius"
        done
    done
done >"$out/bag.txt"
tasks=$(wc -l <"$out/bag.txt")

means() { # REPORT: mean runtimes on economy and express, in seconds
    sed -n 's/.*"mean_runtime_s": \([0-9.]*\).*/\1/p' "$1"
}

# A few of them, to see how long they take on this machine as it is now.
head -n 48 "$out/bag.txt" >"$out/some.txt"
"$build/bats-mpi" run -j 8 "$out/some.txt" --policy rr --quiet \
    --clusters benchmarks/demo/clusters.ini --json "$out/some.json" \
    >"$out/some.out" || exit
scale=$(means "$out/some.json" | awk 'NR == 1 { printf "%.0f", 400 / $1 }')
hour=$(awk -v s="$scale" 'BEGIN { printf "%.1f", 3600 / s }')
cat <<END
A sweep: $tasks runs of a self-organising map over Fisher's Iris flowers,
$seeds seeds x 5 learning rates x 5 radii. Two clusters of 4 machines each:

    economy   1 SU for a machine and hour
    express   8 SU, but twice as fast

Budget $budget SU. The scheduler knows neither how long a run takes nor which
machines are the faster: it tries both kinds, then holds what it can pay.
(Emulated on this machine: an hour passes in $hour s.)

\$ $build/bats-mpi run -j 8 $out/bag.txt \\
      --clusters benchmarks/demo/clusters.ini --budget $budget \\
      --time-scale $scale --seed 1 >$out/results.txt

END
"$build/bats-mpi" run -j 8 "$out/bag.txt" \
    --clusters benchmarks/demo/clusters.ini --budget "$budget" \
    --time-scale "$scale" --seed 1 --json "$out/run.json" \
    >"$out/results.txt"
status=$?
case $status in
0) ;;
4) printf '\nThis machine got busier meanwhile: the budget was too small.\n' ;;
*) exit $status ;;
esac

# An unlimited budget would have bought this, with the runtimes just measured.
set -- $(means "$out/run.json")
"$build/bats-mpi" plan --tasks "$tasks" --runtime "economy=$1,express=$2" \
    --clusters benchmarks/demo/clusters.ini --json >"$out/plan.json"
printf '\nHolding all machines to the end would have cost about %s SU.\n' "$(
    perl benchmarks/json.pl "$out/plan.json" schedules.name=fastest.cost)"

"$build/bats-mpi" report "$out/bag.txt" 2>/dev/null &&
    printf '\nWhat it did, as a page for your browser: %s\n' "$out/bag.txt.html"

results=$(wc -l <"$out/results.txt")
printf '\nThe best parameters of %s results (means over the seeds):\n\n' "$results"
printf '%8s %8s %20s %20s\n' rate radius 'held-out accuracy' \
    'quantization error'
tr '=' ' ' <"$out/results.txt" | awk '
    { n[$5, $7]++; accuracy[$5, $7] += $15; error[$5, $7] += $11 }
    END {
        for (k in n) {
            split(k, p, SUBSEP)
            printf "%8s %8s %20.4f %17.4f cm\n", p[1], p[2],
                accuracy[k] / n[k], error[k] / n[k]
        }
    }' | sort -k3,3nr -k4,4n | head -n 5
