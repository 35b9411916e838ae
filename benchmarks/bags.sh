#!/bin/sh
# A bag of ten million lines: time to load it, and memory.
#
#   sh benchmarks/bags.sh [REPEATS [TASKS]]     default 3, 10000000
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} repeats=${1:-3} tasks=${2:-10000000}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. benchmarks/results.sh

seq -f "./simulate --seed %.0f" "$tasks" >"$tmp/bag"
for repeat in $(seq "$repeats"); do
    "$build/bench/bags" "$tmp/bag" >"$tmp/out" || exit 1
    read -r _ load create file all <"$tmp/out"
    printf '%s\t%s\t%s\n' load s "$load" create s "$create" file s "$file" \
        all s "$all" >>"$tmp/samples"
done
summary "$tmp/samples" | awk -F '\t' -v tasks="$tasks" '
    { m[$1] = $4; range[$1] = sprintf("%.2f - %.2f", $5, $6) }
    END {
        printf "%d lines load in %.2f s of CPU (%s), the engine is created " \
            "in %.2f s (%s).\nBytes per task beside its text: %.1f, with " \
            "the engine %.1f.\n", tasks, m["load"], range["load"],
            m["create"], range["create"], m["file"], m["all"]
    }'
