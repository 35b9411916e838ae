#!/bin/sh
# Seconds, of CPU and by the clock, that the verbs which read, and queries of a
# user, need for the record of a run of empty tasks.
#
#   sh benchmarks/readers.sh [TASKS [PROGRAM]]   default 1000000; half a minute
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
row() { # NAME: of the table, from the file time
    tail -n 1 time | awk -v name="$1" '{
        printf "| %s | %.2f | %.2f | %.0f |\n", name, $1 + $2, $3, $4 / 1024 }'
}
for verb in status 'tasks --slowest 10' 'tasks --failed' tasks \
    'tasks --json' \
    'tasks --where wall_s>0.001' why 'why 5' 'why all-1' log \
    'log --last 50'; do
    set -- $verb
    first=$1
    shift
    shown=cat
    [ "$verb" = log ] && shown='head -n 50' # a page
    /usr/bin/time -o time -f '%U %S %e %M' sh -c \
        'shown=$1; shift; "$@" | $shown' sh "$shown" "$program" "$first" bag \
        "$@" >/dev/null
    row "$verb"
done
for query in 'SELECT host, avg(wall_us) FROM execution GROUP BY host' \
    'SELECT m.name, count(*) FROM execution e JOIN machine m
        ON m.session = e.session AND m.id = e.machine GROUP BY m.name' \
    'SELECT host, avg(wall_s) FROM tasks GROUP BY host'; do
    /usr/bin/time -o time -f '%U %S %e %M' sqlite3 bag.bats "$query" >/dev/null
    row "$(echo $query)"
done
