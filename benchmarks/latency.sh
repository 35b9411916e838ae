#!/bin/sh
# Latency of an idle worker: from the end of its task to the start of the next
# one, which includes the way of the result to the master, its decision, the
# commit of the record and the way back. Beside it bare MPI round trips between
# the same ranks.
#
#   sh benchmarks/latency.sh [SECONDS]      default 10, for each number of ranks
#
# Tasks of 200 ms (`@sleep`: no process, no load) are long enough not to be
# given ahead, so a worker is idle when its result arrives. The times are those
# of the workers in the record.
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
. benchmarks/results.sh
build=${B:-build} seconds=${1:-10}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v sqlite3 >/dev/null || { echo "No sqlite3 here." && exit 0; }

percentiles() { # median, 99th percentile, number
    sort -n | awk '
        { x[NR] = $1 }
        END {
            if (NR == 0)
                exit 1
            printf "%.0f\t%.0f\t%d\n", x[int((NR + 1) / 2)],
                x[int(0.99 * NR + 0.999)], NR
        }'
}

for ranks in 2 8 32; do
    yes '@sleep 0.2' | head -n $((seconds * 5 * (ranks - 1))) >"$tmp/bag"
    rm -f "$tmp/record"*
    launch $ranks "$build/bench/latency" 200 >"$tmp/bare" || exit 1
    launch $ranks "$build/bats-mpi" run "$tmp/bag" --quiet --policy rr \
        --record "$tmp/record" </dev/null >&2 || exit 1
    sqlite3 "$tmp/record" "SELECT start_us - lag(start_us + wall_us) OVER
        (PARTITION BY machine ORDER BY start_us) AS gap FROM execution" |
        grep . >"$tmp/ours"
    printf '%d\t%s\t%s\n' $ranks "$(percentiles <"$tmp/ours")" \
        "$(percentiles <"$tmp/bare")"
    echo "latency.sh: $ranks ranks" >&2
done >"$tmp/all"
keep latency "$tmp/all"
awk -F '\t' '
    BEGIN {
        print "| ranks | end to start, us: p50 | p99 | gaps |" \
            " MPI round trip, us: p50 | p99 | trips |"
        print "|--:|--:|--:|--:|--:|--:|--:|"
    }
    { printf "| %d | %d | %d | %d | %d | %d | %d |\n", $1, $2, $3, $4, $5, $6,
        $7 }' "$tmp/all"
