#!/bin/sh
# The time of a simulated run, by file: instructions that callgrind counts in
# the functions of each file, so that a busy machine does not matter.
#
#   sh benchmarks/profile.sh [RUNS]      default 20
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} runs=${1:-20}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v valgrind >/dev/null || { echo "no valgrind here" && exit 0; }

profile() { # NAME ARGUMENT...
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file="$tmp/profile" \
        --toggle-collect=bats_sim_run "$build/bench/simulator" "$@" \
        >/dev/null 2>"$tmp/err" || { cat "$tmp/err" >&2 && exit 1; }
    # "1,234 ( 5.6%)  src/engine/sched.c:next_due [program]"
    callgrind_annotate --auto=no --threshold=100 "$tmp/profile" |
        sed -n 's/^ *\([0-9,]*\) *([^)]*) *\([^ ]*\):.*/\1 \2/p' |
        awk -v name="$name" -v runs="$runs" '
            { gsub(",", "", $1) }
            { ours = sub(/.*src\//, "", $2) }
            !ours { $2 = "libraries" }
            { printf "%s\t%s\t%.0f\n", name, $2, $1 / runs }'
}

{
    profile rr rr 1000 72 "$runs"
    profile 860 bats 1000 72 "$runs" 860
    profile 600 bats 1000 72 "$runs" 600
} >"$tmp/all"
awk -F '\t' '
    { n[$1, $2] += $3; total[$1] += $3; files[$2] += $3 }
    function row(order, name, rr, more, less) {
        printf "%d\t| %s | %.0f | %.0f | %.0f |\n", order, name, rr / 1e3,
            more / 1e3, less / 1e3
    }
    END {
        for (f in files)
            row(files[f], f, n["rr", f], n["860", f], n["600", f])
        row(0, "all", total["rr"], total["860"], total["600"])
    }' "$tmp/all" | sort -nr | cut -f 2 >"$tmp/rows"
echo "| thousand instructions per run in | rr | bats, 860 | bats, 600 |"
echo "|---|--:|--:|--:|"
cat "$tmp/rows"
