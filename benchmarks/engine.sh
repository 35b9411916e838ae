#!/bin/sh
# The engine from 10^3 to 10^5 machines and 10^4 to 10^7 tasks, without MPI.
#
#   sh benchmarks/engine.sh [REPEATS [LARGEST]]     default 3, 10000000 tasks
#
# Seconds of CPU. See engine.c for what is measured.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} repeats=${1:-3} largest=${2:-10000000}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. benchmarks/results.sh

for repeat in $(seq "$repeats"); do
    for tasks in 10000 100000 1000000 10000000; do
        for machines in 1000 10000 100000; do
            [ $tasks -le "$largest" ] && [ $machines -lt $tasks ] || continue
            for policy in rr bats; do
                "$build/bench/engine" $policy $tasks $machines 1000000 \
                    >"$tmp/out" || exit 1
                read -r ns _ tick most_tick lost most_lost task machine \
                    alone <"$tmp/out"
                printf "$tasks $machines $policy\t%s\t%s\n" ns "$ns" \
                    tick "$tick" \
                    most_tick "$most_tick" lost "$lost" \
                    most_lost "$most_lost" task "$task" machine "$machine" \
                    >>"$tmp/samples"
                printf 'all\talone\t%s\n' "$alone" >>"$tmp/samples"
            done
        done
    done
    echo "engine.sh: repeat $repeat of $repeats" >&2
done

summary "$tmp/samples" >"$tmp/summary"
awk -F '\t' '
    { split($1, k, " "); m[$1, $2] = $4; low[$1, $2] = $5; high[$1, $2] = $6 }
    $2 == "ns" {
        key = k[1] " " k[2]
        if (!(key in seen))
            keys[++n] = key
        seen[key] = 1
    }
    function ns(key) {
        return sprintf("%.0f (%.0f - %.0f)", m[key, "ns"], low[key, "ns"],
            high[key, "ns"])
    }
    function ms(key, what) {
        return sprintf("%.2f, %.2f", m[key, what] / 1000,
            m[key, "most_" what] / 1000)
    }
    END {
        print "| tasks | machines | rr, ns per event | bats, ns per event |" \
            " bats: tick, ms | plan anew, ms | bytes per task | machine |"
        print "|--:|--:|--:|--:|--:|--:|--:|--:|"
        for (i = 1; i <= n; i++) {
            split(keys[i], k, " ")
            b = keys[i] " bats"
            printf "| %d | %d | %s | %s | %s | %s | %.0f | %.0f |\n", k[1],
                k[2], ns(keys[i] " rr"), ns(b), ms(b, "tick"), ms(b, "lost"), m[b, "task"], m[b, "machine"]
        }
        print "\nOf these the calendar of the benchmark takes " \
            m["all", "alone"] " ns by itself."
    }' "$tmp/summary"
awk -F '[ \t]' '$4 == "ns" { print $1, $2, $3, $6 }' "$tmp/summary" >"$tmp/plot"
keep engine "$tmp/plot"
echo
echo "Medians of $repeats repeats. Of the times of ticks and plans within a run"
echo "the median and, after the comma, the longest."
