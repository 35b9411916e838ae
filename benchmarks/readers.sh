#!/bin/sh
# Seconds, of CPU and by the clock, that the verbs which read need for the record
# of a run of empty tasks.
#
#   sh benchmarks/readers.sh [TASKS [PROGRAM]]     default 1000000; half a minute
#
# PROGRAM: another bats-mpi to read with, of the same or a newer version.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build}
top=$(cd "$build" && pwd)
program=${2:-$top/bats-mpi}
out=$build/bench/readers
mkdir -p "$out" && cd "$out" || exit 1
rm -f bag bag.bats
seq "${1:-1000000}" | sed 's/.*/@sleep 0/' >bag
"$top/bats-mpi" -j 2 bag --output none --quiet || exit 1
echo "| verb | CPU, s | by the clock, s | MiB |"
echo "|---|--:|--:|--:|"
for verb in status 'tasks --slowest 10' 'tasks --failed' why 'why 5' log; do
    set -- $verb
    first=$1
    shift
    # of the log, a page
    /usr/bin/time -o time -f '%U %S %e %M' sh -c \
        '"$@" | head -n 50' sh "$program" "$first" bag "$@" >/dev/null
    tail -n 1 time | awk -v verb="$verb" '{
        printf "| %s | %.2f | %.2f | %.0f |\n", verb, $1 + $2, $3, $4 / 1024 }'
done
