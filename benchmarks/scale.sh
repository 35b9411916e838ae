#!/bin/sh
# Instructions of the engine per event, by policy, for bags and graphs.
#
#   sh benchmarks/scale.sh [POLICY...]                default: all
#
# See scale.c for what runs. Counted by callgrind in bats_sched_handle with all
# it calls, so that it is the same on a busy machine; a run that takes callgrind
# more than LIMIT seconds (default 60) is a dash.
cd "$(dirname "$0")/.." || exit 1
build=${B:-build} limit=${LIMIT:-60}
sizes=${SIZES:-1000x10 1000x1000 10000x100 10000x10000 100000x1000}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
command -v valgrind >/dev/null || { echo "no valgrind here" && exit 0; }
[ $# -gt 0 ] || set -- rr bats bkp dbc-time expert miser mw-dbs flow

count() { # POLICY SHAPE TASKS MACHINES
    timeout "$limit" valgrind --tool=callgrind \
        --callgrind-out-file=/dev/null --toggle-collect=bats_sched_handle \
        "$build/bench/scale" "$@" >"$tmp/out" 2>"$tmp/err"
    awk '/^(joins|run|tail) / { events += $2 }
         / Collected : / { n = $NF }
         END { printf " %s |", events && n ? int(n / events + 0.5) : "-" }' \
        "$tmp/out" "$tmp/err"
}

printf '| instructions per event |'
for size in $sizes; do printf ' %s |' "$size"; done
printf '\n|---|'
for size in $sizes; do printf -- '--:|'; done
echo
for policy; do
    for shape in bag chain diamond random; do
        case $policy,$shape in miser,bag | mw-dbs,bag | flow,bag) continue ;; esac
        printf '| %s, %s |' "$policy" "$shape"
        for size in $sizes; do
            count "$policy" $shape "${size%x*}" "${size#*x}"
        done
        echo
    done
done
