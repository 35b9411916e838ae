#!/bin/sh
# Instructions of the engine per event, by policy, for bags and graphs.
#
#   sh benchmarks/scale.sh [POLICY...]                default: all
#
# See scale.c for what runs. Counted by callgrind in bats_sched_handle with all
# it calls, so that it is the same on a busy machine; with 10^6 tasks, every
# twentieth block of events, which misses the few plans of flow: EVERY=1 counts
# all. A run that takes callgrind more than LIMIT seconds of CPU (default 200) is
# a dash. The last columns: how much more an event takes with 10^6 tasks, and with
# 100,000 tasks and machines, than with 10,000 and 100.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} limit=${LIMIT:-200}
sizes="1000x10 10000x100 10000x10000 1000000x100 100000x100000"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v valgrind >/dev/null || { echo "no valgrind here" && exit 0; }
[ $# -gt 0 ] || set -- rr bats bkp dbc-time expert miser mw-dbs flow

count() { # POLICY SHAPE TASKS MACHINES: instructions per event, or -
    (ulimit -t "$limit" && exec valgrind --tool=callgrind \
        --callgrind-out-file=/dev/null --combine-dumps=yes \
        --instr-atstart=no --toggle-collect=bats_sched_handle \
        "$build/bench/scale" "$@" "${EVERY:-$((1 + $3 / 50000 * ($3 > $4)))}") \
        >"$tmp/out" 2>"$tmp/err"
    awk '/^counted / { events = $2 }
         / Collected : / { n = $NF }
         END { print events && n ? int(n / events + 0.5) : "-" }' \
        "$tmp/out" "$tmp/err"
}

echo '| instructions per event | 1,000 x 10 | 10,000 x 100 | 10,000 x 10,000' \
    '| 10^6 x 100 | 100,000 x 100,000 | tasks | machines |'
echo '|---|--:|--:|--:|--:|--:|--:|--:|'
for policy; do
    for shape in bag chain diamond random; do
        case $policy,$shape in miser,bag | mw-dbs,bag | flow,bag) continue ;; esac
        for size in $sizes; do
            count "$policy" $shape "${size%x*}" "${size#*x}"
        done | awk -v name="$policy, $shape" '
            function times(a, b) {
                return a == "-" || b == "-" ? "" : sprintf("%.1f", b / a)
            }
            { n[NR] = $1; cells = cells " " $1 " |" }
            END { print "| " name " |" cells " " times(n[2], n[4]) " | " \
                times(n[2], n[5]) " |" }'
    done
done
