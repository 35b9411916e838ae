#!/bin/sh
# The speed of the simulator, and SimGrid's on the same bags.
#
#   sh benchmarks/simulator.sh [REPEATS [RUNS]]     default 9, 300
#
# Seconds of CPU, not of the clock. The budgets of policy bats are what rr is
# charged (860) and less; see workload.h. SimGrid takes part where `make bench`
# has found it: its makespans must be ours, and the ratio is that of the CPU
# time of the same runs in one process.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} repeats=${1:-9} runs=${2:-300}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. benchmarks/results.sh

sample() { # NAME ARGUMENT...
    name=$1
    shift
    "$build/bench/simulator" "$@" >"$tmp/out" || exit 1
    read -r seconds events memory <"$tmp/out"
    printf '%s\t%s\t%s\n' "$name" seconds "$seconds" \
        "$name" events "$events" "$name" memory "$memory" >>"$tmp/samples"
}

peer() { # NAME ARGUMENT...
    name=$1
    shift
    "$build/bench/simgrid/peer" "$@" >"$tmp/out" || exit 1
    read -r ours theirs error <"$tmp/out"
    printf '%s\t%s\t%s\n' "$name" bats-mpi "$ours" "$name" SimGrid "$theirs" \
        >>"$tmp/peers"
    echo "$error" >>"$tmp/errors"
}

for repeat in $(seq "$repeats"); do
    sample "rr, no budget, 1000 tasks, 72 machines" rr 1000 72 "$runs"
    sample "the same without copies (tail none)" rr 1000 72 "$runs" 0 none
    sample "bats, budget 860, 1000 tasks, 72 machines" \
        bats 1000 72 "$runs" 860
    sample "bats, budget 600, 1000 tasks, 72 machines" \
        bats 1000 72 "$runs" 600
    sample "rr, no budget, 10^6 tasks, 10^4 machines" rr 1000000 10000 1
    sample "bats, budget 400000, 10^6 tasks, 10^4 machines" \
        bats 1000000 10000 1 400000
    if [ -x "$build/bench/simgrid/peer" ]; then
        peer "1000 tasks, 72 machines" 1000 72 $((runs / 20 + 1))
        peer "10^4 tasks, 1000 machines" 10000 1000 2
        peer "10^5 tasks, 1000 machines" 100000 1000 1
    fi
    echo "simulator.sh: repeat $repeat of $repeats" >&2
done

summary "$tmp/samples" >"$tmp/summary"
awk -F '\t' '
    { m[$1, $2] = $4; low[$1, $2] = $5; high[$1, $2] = $6 }
    $2 == "seconds" { names[++n] = $1 }
    END {
        print "| policy, bag | runs/s | range | events/s | memory, MB |"
        print "|---|--:|--:|--:|--:|"
        for (i = 1; i <= n; i++) {
            k = names[i]
            s = m[k, "seconds"]
            f = s < 0.1 ? "%.0f" : "%.2f"
            printf "| %s | " f " | " f " - " f " | %.2g million | %.0f |\n", k,
                1 / s, 1 / high[k, "seconds"], 1 / low[k, "seconds"],
                m[k, "events"] / s / 1e6, m[k, "memory"]
        }
    }' "$tmp/summary"
echo
echo "Medians of $repeats repeats; the small bags are $runs runs each."
if [ ! -f "$tmp/peers" ]; then
    echo
    echo "No SimGrid here (libsimgrid-dev)."
    exit
fi
summary -v invert=1 "$tmp/peers" >"$tmp/summary"
keep simulator "$tmp/summary"
awk -F '\t' '
    { m[$1, $2] = $4; r[$1, $2] = sprintf("%.1f | %.1f - %.1f", 1 / $7, 1 / $9, 1 / $8) }
    $2 == "SimGrid" { names[++n] = $1 }
    END {
        print "\n| policy rr | bats-mpi, ms | SimGrid, ms | times faster | range |"
        print "|---|--:|--:|--:|--:|"
        for (i = 1; i <= n; i++)
            printf "| %s | %.2f | %.2f | %s |\n", names[i],
                1e3 * m[names[i], "bats-mpi"], 1e3 * m[names[i], "SimGrid"],
                r[names[i], "SimGrid"]
    }' "$tmp/summary"
sort -g "$tmp/errors" | tail -n 1 |
    awk '{ printf "\nThe makespans differ by %g seconds at most.\n", $1 }'
# More than rounding: one of the two is wrong.
sort -g "$tmp/errors" | tail -n 1 | awk '{ exit $1 > 1e-5 }'
