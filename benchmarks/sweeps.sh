#!/bin/sh
# Sweeps of a million and of ten million points: time to create and to expand,
# and memory. Then the tool beside GNU parallel on the same command line: the
# commands of 10,000 points printed, and 2,000 tasks run on two slots.
#
#   sh benchmarks/sweeps.sh [REPEATS [POINTS...]]   default 3, 1000000 10000000
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} repeats=${1:-3}
[ $# -eq 0 ] || shift
points=${*:-1000000 10000000}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. benchmarks/results.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

echo '| values | points | create, s of CPU | expand, us each | bytes a point | with the engine |'
echo '|---|--:|--:|--:|--:|--:|'
for n in $points; do
    seq "$n" >"$tmp/lines"
    : >"$tmp/samples"
    for repeat in $(seq "$repeats"); do
        "$build/bench/sweeps" "$n" "$tmp/lines" >"$tmp/out" || exit 1
        while read -r name count create expand bytes all; do
            printf '%s\t%s\t%s\n' "$name" create "$create" "$name" expand \
                "$expand" "$name" bytes "$bytes" "$name" all "$all"
        done <"$tmp/out" >>"$tmp/samples"
    done
    summary "$tmp/samples" | awk -F '\t' -v n="$n" '
        { m[$1, $2] = $4; if (!seen[$1]++) name[++k] = $1 }
        END {
            for (i = 1; i <= k; i++)
                printf "| %s | %d | %.2f | %.2f | %.1f | %.1f |\n", name[i],
                    n, m[name[i], "create"], m[name[i], "expand"] / n * 1e6,
                    m[name[i], "bytes"], m[name[i], "all"]
        }'
done

# timed NAME COMMAND...: the seconds of a command, as a sample of this group.
timed() {
    name=$1
    shift
    start=$(date +%s.%N)
    "$@" >"$tmp/$name" 2>/dev/null </dev/null
    end=$(date +%s.%N)
    printf '%s\t%s\t%s\n' "$group" "$name" \
        "$(echo "$end - $start" | bc)" >>"$tmp/samples"
}

command -v parallel >/dev/null || exit 0
: >"$tmp/samples"
seq 100 >"$tmp/a"
seq 20 >"$tmp/b"
for repeat in $(seq "$repeats"); do
    group='print 10,000 commands'
    timed bats-mpi "$build/bats-mpi" run --dry-run ./simulate --rate {1} \
        {2.} :::: "$tmp/a" "$tmp/a"
    timed parallel parallel --will-cite --dry-run -k -j1 ./simulate --rate \
        {1} {2.} :::: "$tmp/a" "$tmp/a"
    cmp "$tmp/bats-mpi" "$tmp/parallel" || exit 1
    group='run 2,000 tasks, 2 slots'
    timed bats-mpi "$build/bats-mpi" run -q -j 2 /bin/echo {1} {2} :::: \
        "$tmp/a" "$tmp/b"
    timed parallel parallel --will-cite -j 2 /bin/echo {1} {2} :::: \
        "$tmp/a" "$tmp/b"
    sort "$tmp/bats-mpi" >"$tmp/sorted"
    sort "$tmp/parallel" | cmp - "$tmp/sorted" || exit 1
done
echo
echo '| the same command line | bats-mpi, s | range | parallel, s | range | ratio |'
echo '|---|--:|--:|--:|--:|--:|'
summary "$tmp/samples" | awk -F '\t' '
    $2 == "bats-mpi" { own = $4; line = sprintf("%.2f | %.2f - %.2f", $4, $5, $6) }
    $2 == "parallel" {
        printf "| %s | %s | %.2f | %.2f - %.2f | %.1f |\n", $1, line, $4, $5,
            $6, $4 / own
    }'
echo
echo "Medians of $repeats repeats; starting mpirun is in the times."
